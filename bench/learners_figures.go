package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/internal/try"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// learnersOf are a learner of figure 2 and its attacks; with -quick fewer, and fewer tables.
type learnersOf struct {
	learner                     string
	params                      audit.Params
	attacks, quick, quickTables string
}

var stumps = audit.Params{"depth": {Number: 1}}

const figure2Tables = "iris iris-petals spherical stretched"

var figure2 = []learnersOf{
	{"logistic-output", nil, "influence coefficient clipbkd row-swap", "influence coefficient clipbkd row-swap", "iris stretched"},
	{"logistic-objective", nil, "influence coefficient clipbkd row-swap", "influence clipbkd row-swap", "stretched"},
	{"naive-bayes", nil, "corner-flip clipbkd row-swap", "corner-flip row-swap", "iris-petals"},
	{"naive-bayes", audit.Params{"neighbours": {Text: "add-remove"}}, "corner-flip clipbkd row-swap", "corner-flip row-swap", "iris-petals"},
	{"random-forest", stumps, "farthest-flip majority clipbkd row-swap", "farthest-flip majority row-swap", "iris-petals stretched"},
}

// figure8 are learners and tables. No package carries the paper's images; our digits are drawn.
var figure8 = [][2]string{{"sgd-perceptron", "spherical"}, {"sgd-linear", "digits"}, {"sgd-perceptron", "digits"}}

// figure8Samples are the trainings a side of figure 8, as in section 5 of the paper.
const figure8Samples = 500

// lines are cells that differ in their claims alone.
func (r learnersRun) lines() (lines [][]*learnerCell) {
	add := func(x learnerCell, claims []float64) {
		if x.spec.Name == "" {
			x.spec = r.spec(x.learner)
		}
		if len(x.params) > 0 {
			x.learner += fmt.Sprintf(" (%s)", strings.Join(x.params.Assignments(), " "))
		}
		if x.sees != "" {
			x.learner += ", " + x.sees
		}
		x.shown = cmp.Or(x.shown, x.attack)
		if !strings.Contains(x.part+" "+x.learner, r.only) {
			return
		}
		lines = append(lines, audit.Each(claims, func(claim float64) *learnerCell {
			x := x
			x.claim = claim
			return &x
		}))
	}
	for _, f := range figure2 {
		part, tables := "figure 2", audit.Pick(r.quick, f.quickTables, figure2Tables)
		if r.table != "" {
			part, tables = "figure 5", learners.FileTable
		}
		for table := range strings.FieldsSeq(tables) {
			for attack := range strings.FieldsSeq(audit.Pick(r.quick, f.quick, f.attacks)) {
				add(learnerCell{part: part, learner: f.learner, table: table, attack: attack, params: f.params}, r.claims)
			}
		}
	}
	if r.table != "" {
		return lines
	}
	for _, attack := range []string{"corner-flip", "corner-mean"} {
		add(learnerCell{part: "figure 4a", learner: "naive-bayes", table: "iris", attack: attack}, r.claims)
	}
	add(learnerCell{part: "figure 4a", learner: "naive-bayes-counts", table: "iris", attack: "corner-flip", group: 1}, r.claims)
	for _, attack := range []string{"clipbkd", "influence"} {
		x := learnerCell{part: "figure 4b", learner: "logistic-output", table: "stretched", attack: attack}
		prediction := func(w, at []float64) float64 { return linalg.Dot(at, w) }
		add(r.seen(x, "prediction at x* only", "log odds at x*", prediction), r.claims)
		x.sees = "all coefficients"
		add(x, r.claims)
	}
	for _, f := range audit.Pick(r.quick, figure8[:2], figure8) {
		claims := audit.Pick(r.quick, []float64{2, 8}, learnersClaims)
		x := learnerCell{part: "figure 8", learner: f[0], table: f[1], samples: figure8Samples, delta: 1e-5, group: 2, attack: "shadow"}
		add(r.seen(x, "prediction at x* only", "log odds at x*", func(w, _ []float64) float64 { return w[0] }), claims)
		x.attack = "clipbkd"
		add(r.seen(x, "prediction at x* less that at zero", "log odds at x* less those at zero", func(w, _ []float64) float64 { return w[0] - w[1] }), claims)
		x.params = audit.Params{"summary": {Text: "predictions"}}
		add(x, claims)
	}
	if r.quick {
		return lines
	}
	for _, x := range []learnerCell{
		{learner: "logistic-output", attack: "influence"},
		{learner: "naive-bayes", attack: "corner-flip"},
		{learner: "random-forest", attack: "majority", params: stumps},
	} {
		for _, k := range []int{1, 2, 4, 8} {
			x.part, x.table, x.only, x.shown = "copies", "stretched", k, fmt.Sprintf("%s, k = %d", x.attack, k)
			add(x, r.claims)
		}
	}
	return lines
}

func (r learnersRun) spec(name string) audit.MechanismSpec {
	return try.Get(r.cat.Mechanism(name))
}

// exactly keeps, of an attack's pairs, those of so many copies.
func exactly(f audit.FinderSpec, copies int) audit.FinderSpec {
	f.Name = fmt.Sprintf("%s, %d", f.Name, copies)
	make := f.New
	f.New = func(p audit.FinderProblem) (audit.Finder, error) {
		all, err := make(p)
		if err != nil {
			return nil, err
		}
		list := audit.PairList(slices.DeleteFunc(all.Propose(nil, 1000), func(two audit.Pair) bool {
			k, err := p.Relation.Steps(two, p.Domain, p.Group)
			return err != nil || k != copies
		}))
		return &list, nil
	}
	return f
}

// seen is a cell of whose models one number is seen, as in earlier audits: "a threshold of a single
// scalar output, e.g. the loss on a specific poisoning point" (section 2 of the paper). At is x*.
func (r learnersRun) seen(x learnerCell, sees, name string, see func(out, at []float64) float64) learnerCell {
	x.sees, x.spec = sees, r.spec(x.learner)
	build := x.spec.New
	x.spec.New = func(p audit.Params) (audit.Mechanism, error) {
		inner, err := build(p)
		return scalar{inner, name, see, nil}, err
	}
	return x
}

type scalar struct {
	inner audit.Mechanism
	name  string
	see   func(out, at []float64) float64
	at    []float64
}

func (m scalar) Columns() []audit.Column { return []audit.Column{{Name: m.name, Kind: audit.Real}} }

func (m scalar) For(p audit.Pair) audit.Mechanism {
	if inner, ok := m.inner.(audit.Summariser); ok {
		m.inner = inner.For(p)
	}
	for i := range p.Second.Len() {
		if row := p.Second.Row(i); i >= p.First.Len() || !slices.Equal(row, p.First.Row(i)) {
			m.at = row[:len(row)-1]
			break
		}
	}
	return m
}

func (m scalar) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	width := audit.Width(m.inner.Columns())
	all := make([]float64, width*len(out))
	if err := m.inner.Sample(d, s, all); err != nil {
		return err
	}
	for i := range out {
		out[i] = m.see(all[i*width:(i+1)*width], m.at)
	}
	return nil
}

// sphericityRow is a table of figure 3, and how far two attacks move coefficients without noise.
type sphericityRow struct {
	table              string
	ratio              float64 // of the largest singular value of the rows to the smallest
	clipbkd, influence float64
}

// sphericityLambda is small: at that of other figures the penalty outweighs the axis of the least variance.
const sphericityLambda = 1e-4

func sphericityTables() []*learners.Table {
	tables := slices.DeleteFunc(learners.BuiltIn(), func(t *learners.Table) bool { return len(t.Features) > 8 })
	for _, by := range []float64{1, 1.5, 2, 3, 4, 6} {
		t := *tables[0]
		t.Name, t.Rows, t.Features = fmt.Sprintf("clouds %g", by), audit.Dataset{Columns: 5}, []string{"x1", "x2", "x3", "x4"}
		t.Lower, t.Upper = []float64{-1, -1, -1, -1}, []float64{1, 1, 1, 1}
		s, z := stream.New(stream.Key{Seed: 5, Purpose: "sphericity"}), make([]float64, 4)
		for i := range 150 {
			s.Gaussian(z, 0.25)
			for j, v := range z {
				if v /= math.Pow(by, float64(j)); j == 0 {
					v += float64(i%2)/2 - 0.25
				}
				t.Rows.Values = append(t.Rows.Values, max(-1, min(1, v)))
			}
			t.Rows.Values = append(t.Rows.Values, float64(i%2))
		}
		tables = append(tables, &t)
	}
	return tables
}

func (r learnersRun) sphericity() (rows []sphericityRow) {
	if r.table != "" {
		return []sphericityRow{sphericityOf(r.spec("logistic-output"))}
	}
	for _, t := range sphericityTables() {
		rows = append(rows, sphericityOf(try.Get(audit.Catalogue{Mechanisms: learners.On(t)}.Mechanism("logistic-output"))))
	}
	slices.SortFunc(rows, func(a, b sphericityRow) int { return cmp.Compare(a.ratio, b.ratio) })
	return rows
}

func sphericityOf(spec audit.MechanismSpec) sphericityRow {
	p := try.Get(audit.ResolveParams(spec.Params, audit.Params{"lambda": {Number: sphericityLambda}}, audit.Claim{}))
	relation := spec.Relations(p)[0]
	table := spec.Table(p)
	moved := func(attack string) float64 {
		f := try.Get(catalogue.Finder(attack))
		find := try.Get(f.New(audit.FinderProblem{Relation: relation, Domain: spec.Domain(p, relation), Table: table, Stream: stream.New(stream.Key{Seed: 1, Purpose: "sphericity"}), Trials: 1}))
		most := 0.0
		for _, two := range find.Propose(nil, learnersTrials) {
			most = max(most, floats.Distance(try.Get(table.Train(two.First)), try.Get(table.Train(two.Second)), 2))
		}
		return most
	}
	d := len(table.Features)
	x := mat.NewDense(table.Base.Len(), d, nil)
	for i := range table.Base.Len() {
		x.SetRow(i, table.Base.Row(i)[:d])
	}
	return sphericityRow{p.Word("table"), mat.Cond(x, 2), moved("clipbkd"), moved("influence")}
}
