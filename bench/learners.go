package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// The measurements of Lu et al., A general framework for auditing differentially private
// machine learning (2022). Its figures are curves; the only number that it prints of them
// is the highest detectable epsilon (corollary 4.0.1).

// learnersGroup is the largest group of poisoned rows, as in section 5 of the paper.
const learnersGroup = 8

// learnersTrials is enough for all pairs of every attack.
const learnersTrials = 20

// learnersBeta is the error of every bound.
const learnersBeta = 0.05

// learnerCell is one learner under one attack at one claim.
type learnerCell struct {
	Part    string  `json:"part"`
	Learner string  `json:"learner"`
	Table   string  `json:"table"`
	Attack  string  `json:"attack"`
	Claim   float64 `json:"claim"`
	// Exact is the median bound of all seeds, Katz that of the paper's form on the same
	// counts, Group how many rows differed in the run of the median.
	learnerBounds
	params string // further ones, name=value with spaces between
	group  int    // rows that may differ; 0: learnersGroup
	only   int    // rows that have to differ; 0: any
	spec   audit.MechanismSpec
}

// learnerBounds are what a cell comes to.
type learnerBounds struct {
	Exact   float64 `json:"exact"`
	Katz    float64 `json:"katz"`
	Group   int     `json:"group"`
	Flagged int     `json:"flagged"` // runs whose bound is above the claim
}

// learnersOf are settings of learners that a figure is made of.
type learnersOf struct {
	learner, params string
	tables, attacks []string
}

var figure2 = []learnersOf{
	{"logistic-output", "", []string{"iris", "iris-petals", "spherical", "stretched"}, []string{"influence", "coefficient", "clipbkd", "row-swap"}},
	{"logistic-objective", "", []string{"iris", "iris-petals", "spherical", "stretched"}, []string{"influence", "coefficient", "clipbkd", "row-swap"}},
	{"naive-bayes", "", []string{"iris", "iris-petals", "spherical", "stretched"}, []string{"corner-flip", "clipbkd", "row-swap"}},
	{"naive-bayes", "neighbours=add-remove", []string{"iris", "iris-petals", "spherical", "stretched"}, []string{"corner-flip", "clipbkd", "row-swap"}},
	{"random-forest", "depth=1", []string{"iris", "iris-petals", "spherical", "stretched"}, []string{"farthest-flip", "majority", "clipbkd", "row-swap"}},
}

// quickTables are those of -quick.
var quickTables = map[string][]string{
	"logistic-output": {"iris", "stretched"}, "logistic-objective": {"stretched"}, "naive-bayes": {"iris-petals"}, "random-forest": {"iris-petals", "stretched"},
}

var learnersClaims = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 50}

// learnersPlan is what is measured.
type learnersPlan struct {
	Samples int    `json:"samples"`
	Seeds   int    `json:"seeds"`
	Audits  int    `json:"audits"`
	Quick   bool   `json:"quick"`
	Only    string `json:"only"`
}

// learnersRun is what all cells have in common.
type learnersRun struct {
	learnersPlan
	claims  []float64
	call    *call
	workers int
}

// learnersResult is all that the bench measures.
type learnersResult struct {
	Samples     int              `json:"samples"`
	Seeds       int              `json:"seeds"`
	Detectable  float64          `json:"detectable"`          // by the exact bound
	Corollary   float64          `json:"publishedDetectable"` // by the paper's, corollary 4.0.1
	Cells       []learnerCell    `json:"cells"`
	Sphericity  []sphericityRow  `json:"sphericity"`
	Twins       []twinRow        `json:"twins"`
	FalseAlarms learnersAlarms   `json:"falseAlarms"`
	HeldTo      []learnersHeldTo `json:"heldTo"`
}

// learnersHeldTo is a figure that the bench is held to.
type learnersHeldTo struct {
	What    string `json:"what"`
	Found   string `json:"found"`
	Reached bool   `json:"reached"`
}

// benchLearners prints what attacks on private learners show, by learner, table and
// claim, and whether it is what is asked for.
func benchLearners(c *call) (int, error) {
	r := learnersRun{call: c, claims: learnersClaims}
	c.IntVar(&r.Samples, "samples", 10_000, "trainings a side that certify")
	c.IntVar(&r.Seeds, "seeds", 3, "runs a cell, of which the median is shown; 1 with -quick")
	c.IntVar(&r.Audits, "audits", 200, "audits of private learners whose false alarms are counted")
	c.BoolVar(&r.Quick, "quick", false, "claims 0.5, 1 and 2, and fewer tables: two minutes on two cores")
	c.StringVar(&r.Only, "only", "", "only learners whose name contains this")
	workers := c.workersFlag()
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	for _, err := range []error{within("-samples", r.Samples, 1000, 1_000_000, ""), within("-seeds", r.Seeds, 1, 100, ""), within("-audits", r.Audits, 1, 100_000, "")} {
		if err != nil {
			return 0, err
		}
	}
	if !slices.ContainsFunc(learners.All(), func(m audit.MechanismSpec) bool { return strings.Contains(m.Name, r.Only) }) {
		return 0, &audit.InputError{Field: "-only", Found: fmt.Sprintf("%q", r.Only), Want: "part of a learner's name"}
	}
	if r.Quick {
		c.unlessGiven("seeds", &r.Seeds, 1)
	}
	if r.Quick {
		r.claims = []float64{0.5, 1, 2}
	}
	r.workers = *workers
	z := distuv.UnitNormal.Quantile(1 - learnersBeta/2)
	n := float64(r.Samples)
	out := learnersResult{Samples: r.Samples, Seeds: r.Seeds, Cells: r.cells(),
		Detectable: bounds.MaxCertifiable(r.Samples, r.Samples, 0, learnersBeta), Corollary: math.Log(n) - z*math.Sqrt(1-1/n)}
	var progress sync.Mutex
	done := 0
	cells, err := results(c.ctx, r.workers, len(out.Cells), func(ctx context.Context, job int) (learnerBounds, error) {
		x := out.Cells[job]
		found, err := r.measure(ctx, x)
		progress.Lock()
		defer progress.Unlock()
		done++
		c.say("%d of %d: %s, %s, %s at %g: %.3f", done, len(out.Cells), x.Learner, x.Table, x.Attack, x.Claim, found.Exact)
		return found, err
	})
	if err != nil {
		return 0, err
	}
	if out.Twins, err = r.twins(); err != nil {
		return 0, err
	}
	if out.FalseAlarms, err = r.falseAlarms(); err != nil {
		return 0, err
	}
	for i, x := range cells {
		out.Cells[i].learnerBounds = x
	}
	if out.Sphericity, err = r.sphericity(); err != nil {
		return 0, err
	}
	out.HeldTo = out.heldTo()
	reached := !slices.ContainsFunc(out.HeldTo, func(h learnersHeldTo) bool { return !h.Reached })
	return code(reached), c.emit(out, out.print)
}

// cells are all cells of the figures.
func (r learnersRun) cells() []learnerCell {
	var cells []learnerCell
	add := func(x learnerCell) {
		if !strings.Contains(x.Learner, r.Only) {
			return
		}
		for _, m := range learners.All() {
			if name, _, _ := strings.Cut(x.Learner, " "); m.Name == name && x.spec.Name == "" {
				x.spec = m
			}
		}
		if x.params != "" && !strings.Contains(x.Learner, " ") {
			x.Learner += " (" + x.params + ")"
		}
		for _, claim := range r.claims {
			x.Claim = claim
			cells = append(cells, x)
		}
	}
	for _, f := range figure2 {
		for _, table := range f.tables {
			if r.Quick && !slices.Contains(quickTables[f.learner], table) {
				continue
			}
			for _, attack := range f.attacks {
				if r.Quick && (attack == "coefficient" && f.learner == "logistic-objective" || attack == "clipbkd" && !strings.HasPrefix(f.learner, "logistic")) {
					continue
				}
				add(learnerCell{Part: "figure 2", Learner: f.learner, Table: table, Attack: attack, params: f.params})
			}
		}
	}
	for _, attack := range []string{"corner-flip", "corner-mean"} {
		add(learnerCell{Part: "figure 4a", Learner: "naive-bayes", Table: "iris", Attack: attack})
	}
	add(learnerCell{Part: "figure 4a", Learner: "naive-bayes-counts", Table: "iris", Attack: "corner-flip", group: 1})
	for _, attack := range []string{"clipbkd", "influence"} {
		for _, m := range []audit.MechanismSpec{scalarSpec(), {}} {
			x := learnerCell{Part: "figure 4b", Learner: "logistic-output", Table: "stretched", Attack: attack, spec: m}
			if x.Learner += ", all coefficients"; m.Name != "" {
				x.Learner = "logistic-output, prediction at x* only"
			} else {
				x.spec = specOf("logistic-output")
			}
			add(x)
		}
	}
	if !r.Quick {
		for _, f := range []struct{ learner, params, attack string }{{"logistic-output", "", "influence"}, {"naive-bayes", "", "corner-flip"}, {"random-forest", "depth=1", "majority"}} {
			for _, k := range []int{1, 2, 4, 8} {
				add(learnerCell{Part: "copies", Learner: f.learner, Table: "stretched", Attack: f.attack, params: f.params, only: k})
			}
		}
	}
	return cells
}

func specOf(name string) audit.MechanismSpec {
	for _, m := range learners.All() {
		if m.Name == name {
			return m
		}
	}
	panic("bench: no learner " + name)
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
		var list pairList
		for _, two := range all.Propose(nil, 1000) {
			if k, err := p.Relation.Steps(two, p.Domain, p.Group); err == nil && k == copies {
				list = append(list, two)
			}
		}
		return &list, nil
	}
	return f
}

type pairList []audit.Pair

func (l *pairList) Propose(_ []audit.Trial, budget int) []audit.Pair {
	n := min(budget, len(*l))
	next := (*l)[:n:n]
	*l = (*l)[n:]
	return next
}

// measure is what a cell comes to.
func (r learnersRun) measure(ctx context.Context, x learnerCell) (out learnerBounds, err error) {
	cat := catalogue
	cat.Mechanisms = []audit.MechanismSpec{x.spec}
	plan := pair.Plan{Version: pair.PlanVersion, Mechanism: x.spec.Name, Parameters: audit.Params{"table": {Text: x.Table}}, Claim: new(audit.DPClaim(x.Claim, 0)),
		Finder: x.Attack, Group: cmp.Or(x.group, learnersGroup), Trials: learnersTrials, Samples: r.Samples, Explore: 4 * r.Samples, Mode: pair.Fixed, Beta: learnersBeta}
	for _, p := range strings.Fields(x.params) {
		name, value, _ := strings.Cut(p, "=")
		v := audit.ParamValue{Text: value}
		if _, err := fmt.Sscan(value, &v.Number); err == nil {
			v.Text = ""
		}
		plan.Parameters[name] = v
	}
	if x.Claim*float64(plan.Group) > 400 { // an epsilon that no group's claim can have
		plan.Group = max(1, int(400/x.Claim))
	}
	if x.only > 0 {
		f, err := cat.Finder(x.Attack)
		if err != nil {
			return out, err
		}
		cat.Finders = append(slices.Clone(cat.Finders), exactly(f, x.only))
		plan.Finder = cat.Finders[len(cat.Finders)-1].Name
		if plan.Group < x.only {
			plan.Group = x.only
		}
	}
	pool := engine.LocalPool(1)
	type found struct {
		exact, katz float64
		group       int
	}
	var all []found
	for seed := range r.Seeds {
		plan.Seed = uint64(seed + 1)
		report, err := audited(ctx, plan, cat, pool)
		if err != nil {
			return out, fmt.Errorf("%s, %s at %g: %w", x.Learner, x.Attack, x.Claim, err)
		}
		row := report.Deciding()
		k := max(1, row.Group)
		// As published: the two-sided 1 - alpha interval's lower end.
		katz := published.Katz(*row.Counts, 0, learnersBeta/2) / float64(k)
		all = append(all, found{*row.LowerBound, max(0, katz), k})
		if *row.LowerBound > x.Claim {
			out.Flagged++
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.exact, b.exact) })
	m := all[(len(all)-1)/2]
	out.Exact, out.Katz, out.Group = m.exact, m.katz, m.group
	return out, nil
}

// scalarSpec is output perturbation seen through its prediction at x* only, as earlier
// audits of learners saw a model: "A threshold of a single scalar output, e.g. the loss on
// a specific poisoning point" (section 2 of the paper).
func scalarSpec() audit.MechanismSpec {
	m := specOf("logistic-output")
	m.Name, m.Title = "logistic-output-scalar", m.Title+", its prediction at one row"
	build := m.New
	m.New = func(p audit.Params) (audit.Mechanism, error) {
		inner, err := build(p)
		return scalar{inner, nil}, err
	}
	return m
}

type scalar struct {
	inner audit.Mechanism
	at    []float64
}

func (scalar) Columns() []audit.Column {
	return []audit.Column{{Name: "log odds at x*", Kind: audit.Real}}
}

func (m scalar) For(p audit.Pair) audit.Mechanism {
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
	w := make([]float64, width*len(out))
	if err := m.inner.Sample(d, s, w); err != nil {
		return err
	}
	for i := range out {
		out[i] = 0
		for j, x := range m.at {
			out[i] += float64(x * w[i*width+j])
		}
	}
	return nil
}

// sphericityRow is a table of figure 3: how spherical its rows are, and how far two
// attacks move the coefficients of a logistic regression without noise.
type sphericityRow struct {
	Table     string  `json:"table"`
	Ratio     float64 `json:"ratio"` // of the largest singular value of the rows to the smallest
	ClipBKD   float64 `json:"clipbkd"`
	Influence float64 `json:"influence"`
}

// sphericityLambda is small: at the lambda of the figures above the penalty outweighs what
// the rows say of the axis along which they vary least.
const sphericityLambda = 1e-4

// sphericity measures the built-in tables and clouds of growing eccentricity.
func (r learnersRun) sphericity() ([]sphericityRow, error) {
	tables := slices.DeleteFunc(learners.BuiltIn(), func(t *learners.Table) bool { return len(t.Features) > 8 })
	for _, by := range []float64{1, 1.5, 2, 3, 4, 6} {
		t := *tables[0]
		t.Name = fmt.Sprintf("clouds %g", by)
		t.Rows = audit.Dataset{Columns: 5}
		t.Features = []string{"x1", "x2", "x3", "x4"}
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
	var rows []sphericityRow
	for _, t := range tables {
		var spec audit.MechanismSpec
		for _, m := range learners.On(t) {
			if m.Name == "logistic-output" {
				spec = m
			}
		}
		p, err := audit.ResolveParams(spec.Params, audit.Params{"lambda": {Number: sphericityLambda}}, audit.Claim{})
		if err != nil {
			return nil, err
		}
		relation := spec.Relations(p)[0]
		moved := func(attack string) (float64, error) {
			f, err := catalogue.Finder(attack)
			if err != nil {
				return 0, err
			}
			table := spec.Table(p)
			find, err := f.New(audit.FinderProblem{Relation: relation, Domain: spec.Domain(p, relation), Table: table, Stream: stream.New(stream.Key{Seed: 1, Purpose: "sphericity"}), Trials: 1})
			if err != nil {
				return 0, err
			}
			most := 0.0
			for _, two := range find.Propose(nil, learnersTrials) {
				before, err := table.Train(two.First)
				if err != nil {
					return 0, err
				}
				after, err := table.Train(two.Second)
				if err != nil {
					return 0, err
				}
				sum := 0.0
				for j, v := range before {
					sum += (v - after[j]) * (v - after[j])
				}
				most = max(most, math.Sqrt(sum))
			}
			return most, nil
		}
		row := sphericityRow{Table: t.Name}
		d := len(t.Features)
		x := mat.NewDense(t.Rows.Len(), d, nil)
		for i := range t.Rows.Len() {
			x.SetRow(i, t.Rows.Row(i)[:d])
		}
		var svd mat.SVD
		if !svd.Factorize(x, mat.SVDNone) {
			return nil, fmt.Errorf("the singular values of table %s were not found", t.Name)
		}
		values := svd.Values(nil)
		row.Ratio = values[0] / values[len(values)-1]
		if row.ClipBKD, err = moved("clipbkd"); err != nil {
			return nil, err
		}
		if row.Influence, err = moved("influence"); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b sphericityRow) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return rows, nil
}

// twinRow is a learner that is known to be broken, or has a claim that it breaks.
type twinRow struct {
	Learner string  `json:"learner"`
	Claim   float64 `json:"claim"`
	Bound   float64 `json:"bound"`
	Outputs int     `json:"outputs"` // of both sides, until refuted
	Refuted bool    `json:"refuted"`
}

// twins audits every broken learner until it is refuted, at its own claim, and that which
// exposes its counts at every claim.
func (r learnersRun) twins() ([]twinRow, error) {
	type job struct {
		spec  audit.MechanismSpec
		claim *audit.Claim
	}
	var jobs []job
	for _, m := range learners.All() {
		if m.Fault == "" || !strings.Contains(m.Name, r.Only) {
			continue
		}
		jobs = append(jobs, job{m, nil})
		if m.Name == "naive-bayes-counts" {
			for _, e := range []float64{0.1, 0.5, 2, 4, 6, 8} {
				jobs = append(jobs, job{m, new(audit.DPClaim(e, 0))})
			}
		}
	}
	return results(r.call.ctx, r.workers, len(jobs), func(ctx context.Context, i int) (row twinRow, err error) {
		cat := catalogue
		cat.Mechanisms = []audit.MechanismSpec{jobs[i].spec}
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: jobs[i].spec.Name, Claim: jobs[i].claim, Mode: pair.UntilRefuted, Samples: 30 * r.Samples, Trials: 4, Seed: 1}
		if plan.Mechanism == "logistic-objective-any-lambda" {
			plan.Parameters = audit.Params{"table": {Text: "iris-petals"}} // in fewer dimensions the noise hides less
		}
		if jobs[i].claim != nil { // what all of the trainings of the figures show
			plan.Mode, plan.Samples = pair.Fixed, r.Samples
		}
		report, err := pair.Run{Plan: plan, Catalogue: cat, Pool: engine.LocalPool(1)}.Do(ctx)
		if err != nil {
			return row, fmt.Errorf("%s: %w", jobs[i].spec.Name, err)
		}
		return twinRow{Learner: jobs[i].spec.Name, Claim: report.Claim.Epsilon, Bound: *report.LowerBound, Outputs: report.Termination.Outputs, Refuted: report.Verdict == audit.Violation}, nil
	})
}

// learnersAlarms are audits of learners that keep their claims.
type learnersAlarms struct {
	Audits  int     `json:"audits"`
	Flagged int     `json:"flagged"`
	Beta    float64 `json:"beta"`
	Most    int     `json:"most"` // that chance explains at a ten-thousandth
}

// falseAlarms audits learners without a fault, in turns, at their claims, with the attacks
// that fit, for single rows and for groups.
func (r learnersRun) falseAlarms() (learnersAlarms, error) {
	var private []audit.MechanismSpec
	for _, m := range learners.All() {
		if m.Fault == "" && strings.Contains(m.Name, r.Only) {
			private = append(private, m)
		}
	}
	out := learnersAlarms{Audits: r.Audits, Beta: learnersBeta}
	if len(private) == 0 {
		out.Audits = 0
		return out, nil
	}
	law := distuv.Binomial{N: float64(r.Audits), P: learnersBeta}
	for law.CDF(float64(out.Most)) < 1-1e-4 {
		out.Most++
	}
	flagged, err := results(r.call.ctx, r.workers, r.Audits, func(ctx context.Context, i int) (bool, error) {
		m := private[i%len(private)]
		cat := catalogue
		cat.Mechanisms = []audit.MechanismSpec{m}
		plan := pair.Plan{Version: pair.PlanVersion, Mechanism: m.Name, Samples: 1000, Explore: 1500, Trials: 4, Seed: uint64(i + 1), Beta: learnersBeta}
		if strings.HasPrefix(m.Name, "sgd") {
			plan.Parameters = audit.Params{"steps": {Number: 2}}
		}
		if i/len(private)%2 == 1 {
			plan.Group = learnersGroup
		}
		report, err := audited(ctx, plan, cat, engine.LocalPool(1))
		if err != nil {
			return false, fmt.Errorf("%s: %w", m.Name, err)
		}
		return report.Verdict == audit.Violation, nil
	})
	for _, violation := range flagged {
		if violation {
			out.Flagged++
		}
	}
	return out, err
}

// heldTo are the figures that are asked for.
func (x learnersResult) heldTo() []learnersHeldTo {
	var out []learnersHeldTo
	hold := func(reached bool, what, found string, a ...any) {
		out = append(out, learnersHeldTo{what, fmt.Sprintf(found, a...), reached})
	}
	best := func(of func(learnerCell) bool) learnerCell {
		var most learnerCell
		for _, c := range x.Cells {
			if c.Part == "figure 2" && of(c) && c.Exact >= most.Exact {
				most = c
			}
		}
		return most
	}
	for _, learner := range []string{"naive-bayes", "random-forest"} {
		for _, claim := range []float64{0.5, 1, 2} {
			c := best(func(c learnerCell) bool { return strings.HasPrefix(c.Learner, learner) && c.Claim == claim })
			if c.Learner != "" {
				hold(c.Exact >= claim/2, fmt.Sprintf("%s at a claim of %g: a bound of at least half of it", learner, claim), "%.3f by %s on %s", c.Exact, c.Attack, c.Table)
			}
		}
	}
	for _, learner := range []string{"logistic-output", "logistic-objective"} {
		for _, table := range []string{"iris", "stretched"} {
			mean := map[string]float64{}
			for _, c := range x.Cells {
				if c.Part == "figure 2" && c.Learner == learner && c.Table == table && c.Claim >= 0.5 && c.Claim <= 2 {
					mean[c.Attack] += c.Exact / 3
				}
			}
			if len(mean) > 0 {
				hold(mean["influence"] > max(mean["clipbkd"], mean["row-swap"]), fmt.Sprintf("%s on %s, mean of the claims 0.5, 1 and 2: influence above ClipBKD and row-swap", learner, table),
					"%.3f, %.3f and %.3f", mean["influence"], mean["clipbkd"], mean["row-swap"])
			}
		}
	}
	flagged, runs := 0, 0
	for _, c := range x.Cells {
		if c.spec.Fault == "" {
			flagged, runs = flagged+c.Flagged, runs+x.Seeds
		}
	}
	if a := x.FalseAlarms; a.Audits > 0 {
		hold(a.Flagged <= a.Most, fmt.Sprintf("private learners flagged in %d audits, at beta = %g: no more than chance explains", a.Audits, a.Beta), "%d, of up to %d; and %d of %d in the tables above", a.Flagged, a.Most, flagged, runs)
	}
	if len(x.Twins) > 0 {
		missed, most := []string{}, 0.0
		for _, t := range x.Twins {
			if !t.Refuted && !(t.Learner == "naive-bayes-counts" && t.Claim > x.Detectable) {
				missed = append(missed, fmt.Sprintf("%s at %g", t.Learner, t.Claim))
			}
			if t.Learner == "naive-bayes-counts" {
				most = max(most, t.Bound)
			}
		}
		hold(len(missed) == 0, "every broken twin is refuted, exposed counts at every claim up to the limit", "missed: [%s]; counts refuted up to %.3f", strings.Join(missed, ", "), most)
	}
	return out
}

func (x learnersResult) print(w io.Writer) {
	fmt.Fprintf(w, "Bounds on epsilon of private learners, of %d trainings a side, with 95 %% confidence; medians of %d.\n", x.Samples, x.Seeds)
	fmt.Fprintf(w, "exact: valid at this size, delta = 0. Katz: the same counts by the form of Lu et al. (2022), lemma A.3; it certifies nothing, and is 0 where the second side was never seen.\n")
	fmt.Fprintf(w, "Highest detectable epsilon: exact %.3f; by the paper's corollary 4.0.1 %.3f, the one number that the paper prints of its figures, which are curves.\n", x.Detectable, x.Corollary)
	fmt.Fprintf(w, "Up to %d copies of the poisoned row, as exploration chooses; k: copies in the run of the median.\n", learnersGroup)
	titles := map[string]string{
		"figure 2":  "Figure 2: bound by claim, learner, table and attack",
		"figure 4a": "Figure 4a: naive Bayes, its class attacked or its means, and with exposed counts under add-remove",
		"figure 4b": "Figure 4b: from ClipBKD and one prediction to influence and all coefficients",
		"copies":    "Copies of the poisoned row (appendix)",
	}
	for _, part := range []string{"figure 2", "figure 4a", "figure 4b", "copies"} {
		var claims []float64
		type line struct{ learner, table, attack string }
		var lines []line
		cells := map[line][]learnerCell{}
		for _, c := range x.Cells {
			if c.Part != part {
				continue
			}
			if !slices.Contains(claims, c.Claim) {
				claims = append(claims, c.Claim)
			}
			l := line{c.Learner, c.Table, c.Attack}
			if c.only > 0 {
				l.attack = fmt.Sprintf("%s, k = %d", c.Attack, c.only)
			}
			if cells[l] == nil {
				lines = append(lines, l)
			}
			cells[l] = append(cells[l], c)
		}
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n\n", titles[part])
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprint(t, "learner\ttable\tattack\tform")
		for _, e := range claims {
			fmt.Fprintf(t, "\t%g", e)
		}
		fmt.Fprintln(t)
		for _, l := range lines {
			exact, katz := fmt.Sprintf("%s\t%s\t%s\texact (k)", l.learner, l.table, l.attack), "\t\t\tKatz"
			for _, c := range cells[l] {
				exact += fmt.Sprintf("\t%.3f (%d)", c.Exact, c.Group)
				katz += fmt.Sprintf("\t%.3f", c.Katz)
			}
			fmt.Fprintf(t, "%s\n%s\n", exact, katz)
		}
		t.Flush()
	}
	fmt.Fprintf(w, "\nFigure 3: how far one poisoned row moves the coefficients of a logistic regression without noise, at lambda = %g, by how spherical the table is\n\n", sphericityLambda)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\tlargest over smallest singular value\tClipBKD\tinfluence")
	for _, s := range x.Sphericity {
		fmt.Fprintf(t, "%s\t%.2f\t%.4f\t%.4f\n", s.Table, s.Ratio, s.ClipBKD, s.Influence)
	}
	t.Flush()
	if len(x.Twins) > 0 {
		fmt.Fprintf(w, "\nBroken learners\n\n")
		fmt.Fprintln(t, "learner\tclaim\trefuted\tbound\toutputs of both sides")
		for _, b := range x.Twins {
			fmt.Fprintf(t, "%s\t%g\t%s\t%.3f\t%d\n", b.Learner, b.Claim, map[bool]string{true: "yes", false: "no"}[b.Refuted], b.Bound, b.Outputs)
		}
		t.Flush()
	}
	fmt.Fprintf(w, "\nHeld to\n\n")
	for _, h := range x.HeldTo {
		fmt.Fprintf(t, "%s\t%s\t%s\n", map[bool]string{true: "reached", false: "MISSED"}[h.Reached], h.What, h.Found)
	}
	t.Flush()
}
