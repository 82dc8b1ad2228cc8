package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// A small run has every part, and its bounds of private learners lie below the limits that it
// names.
func TestLearners(t *testing.T) {
	testsize.Native(t)
	const n = 1000
	r := learnersRun{lab: lab{t.Context(), 2, t.Logf}, samples: n, seeds: 1, quick: true, only: "random-forest", cat: catalogue, claims: []float64{0.5, 1, 2}}
	lines := r.lines()
	if tables := r.tables(lines); len(tables) != 2 {
		t.Fatalf("%d tables", len(tables))
	}
	cells := slices.Concat(lines...)
	loud := 0
	for _, c := range cells {
		if c.exact > bounds.MaxCertifiable(n, n, 0, learnersBeta) || c.katz > learnersCorollary(n) || c.copies < 1 || c.copies > learnersGroup {
			t.Errorf("%+v", c.learnerBounds)
		}
		if c.exact > 0.1*c.claim {
			loud++
		}
	}
	if len(cells) < 6 || loud < len(cells)/3 {
		t.Errorf("%d cells, %d loud", len(cells), loud)
	}
	shapes := r.sphericity()
	for _, s := range shapes {
		if s.ratio < 1 || !(s.influence >= 0.98*s.clipbkd) || s.ratio < 2 && s.influence < 1.5*s.clipbkd {
			t.Errorf("%+v: ClipBKD moves the coefficients further, or nearly as far where the table is spherical", s)
		}
	}
	if len(shapes) < 8 {
		t.Errorf("%d tables", len(shapes))
	}
}

// How far ClipBKD's row pulls, for its length, grows with the eccentricity of the clouds, as
// figure 3a of the paper has it, and comes near its end, which lambda sets. Its length, the
// median of the rows, falls.
func TestFigure3(t *testing.T) {
	last, length, most := 0.0, math.Inf(1), 0.0
	for _, table := range sphericityTables() {
		if !strings.HasPrefix(table.Name, "clouds") {
			continue
		}
		spec, p := outputOn(t, learners.On(table), audit.Params{"lambda": {Number: sphericityLambda}})
		two := clipbkd(t, spec, p, 1)[0]
		known, x := spec.Table(p), poisonedRow(two)
		d := len(x)
		w := must.Get(known.Train(two.First))(t)
		hessian := mat.NewSymDense(d, nil)
		most = 1 / (known.Ridge * float64(two.First.Len()))
		for j := range d {
			hessian.SetSym(j, j, known.Ridge*float64(two.First.Len()))
		}
		for i := range two.First.Len() {
			row := two.First.Row(i)[:d]
			odds, norm := known.Probability(w, row), max(1, floats.Norm(row, 2))
			seen := mat.NewVecDense(d, slices.Clone(row))
			seen.ScaleVec(1/norm, seen)
			hessian.SymRankOne(hessian, odds*(1-odds), seen)
		}
		var moved mat.VecDense
		must.Do(t, moved.SolveVec(hessian, mat.NewVecDense(d, x)))
		pull, norm := mat.Norm(&moved, 2)/floats.Norm(x, 2), floats.Norm(x, 2)
		if !(pull > last) || !(norm < length) {
			t.Errorf("%s: a pull of %.3f a length of %.3f, of clouds that are more spherical %.3f and %.3f", table.Name, pull, norm, last, length)
		}
		last, length = pull, norm
	}
	if last < 0.9*most {
		t.Errorf("the last pull is %.3f, lambda allows %.3f", last, most)
	}
}

// Why all coefficients add little to ClipBKD in figure 4b: its row moves them nearly along
// itself, and by the law of the noise, |b| is gamma distributed, the best event of all of
// them has a bound that is higher by a tenth to a third.
func TestFigure4b(t *testing.T) {
	const n, claim = 40_000, 4.0
	spec, p := outputOn(t, learners.All(), audit.Params{"table": {Text: "stretched"}, "epsilon": {Number: claim}})
	for _, two := range clipbkd(t, spec, p, 4) {
		known, x := spec.Table(p), poisonedRow(two)
		before, err1 := known.Train(two.First)
		after, err2 := known.Train(two.Second)
		m, err3 := spec.New(p)
		must.Do(t, errors.Join(err1, err2, err3))
		d := len(x)
		shift := make([]float64, d)
		floats.SubTo(shift, after, before)
		if along := math.Abs(floats.Dot(shift, x)) / floats.Norm(shift, 2) / floats.Norm(x, 2); along < 0.96 {
			t.Errorf("the coefficients move at a cosine of %.3f to x*", along)
		}
		var all, one [2][]float64 // of the likelihood ratio, and of the prediction
		for side, data := range []audit.Dataset{two.First, two.Second} {
			w := make([]float64, d*n)
			must.Do(t, m.Sample(data, stream.New(stream.Key{Seed: uint64(side + 1), Purpose: "figure 4b"}), w))
			for ; len(w) > 0; w = w[d:] {
				all[side] = append(all[side], floats.Distance(w[:d], before, 2)-floats.Distance(w[:d], after, 2))
				one[side] = append(one[side], floats.Dot(w[:d], x))
			}
		}
		// The largest ratio of an event that one side has in a twentieth of its outputs.
		ratio := func(scores [2][]float64) float64 {
			most := 0.0
			for side, list := range scores {
				list, other := slices.Sorted(slices.Values(list)), scores[1-side]
				for _, low := range []bool{true, false} {
					cut := list[n-n/20]
					if low {
						cut = list[n/20]
					}
					rare := 0
					for _, v := range other {
						if v < cut == low {
							rare++
						}
					}
					most = max(most, math.Log(float64(n/20)/float64(rare)))
				}
			}
			return most
		}
		if gain := ratio(all) / ratio(one); gain < 1.05 || gain > 1.4 {
			t.Errorf("all coefficients give %.3f of what the prediction gives", gain)
		}
	}
}

// outputOn is logistic-output of a list with these parameters.
func outputOn(t *testing.T, list []audit.MechanismSpec, given audit.Params) (audit.MechanismSpec, audit.Params) {
	t.Helper()
	spec := list[slices.IndexFunc(list, func(m audit.MechanismSpec) bool { return m.Name == "logistic-output" })]
	p := must.Get(audit.ResolveParams(spec.Params, given, audit.Claim{}))(t)
	return spec, p
}

// clipbkd are the pairs of the attack, of up to so many copies.
func clipbkd(t *testing.T, spec audit.MechanismSpec, p audit.Params, group int) []audit.Pair {
	t.Helper()
	finder := must.Get(catalogue.Finder("clipbkd"))(t)
	find := must.Get(finder.New(audit.FinderProblem{Relation: audit.Replace, Domain: spec.Domain(p, audit.Replace), Table: spec.Table(p), Group: group, Stream: stream.New(stream.Key{Seed: 1}), Trials: 9}))(t)
	return find.Propose(nil, 9)
}

// poisonedRow are the features of the row that the second dataset has.
func poisonedRow(two audit.Pair) []float64 {
	return scalar{}.For(two).(scalar).at
}

// A table of the user's takes the place of those that come along, and is refused where it
// cannot be read.
func TestLearnersTable(t *testing.T) {
	testsize.Native(t)
	var file strings.Builder
	iris := learners.BuiltIn()[0].Rows
	for i := range iris.Len() {
		row := iris.Row(i)
		fmt.Fprintf(&file, "%g,%g,%g\n", row[2], row[3], row[4])
	}
	path := filepath.Join(t.TempDir(), "petals.csv")
	must.Do(t, os.WriteFile(path, []byte(file.String()), 0o600))
	var out, errs strings.Builder
	code := run([]string{"learners", "-quick", "-only", "naive-bayes", "-samples", "1000", "-table", path, "-bounds", "-1:1"}, &out, &errs)
	if code != cli.ExitOK || errs.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	must.Say(t, out.String(), "Figure 5", "corner-flip", "file", "Figure 3")
	for _, part := range []string{"Figure 2", "Broken", "iris"} {
		if strings.Contains(out.String(), part) {
			t.Errorf("%q in what is printed", part)
		}
	}
	if code := run([]string{"learners", "-quick", "-table", path, "-bounds", "column 1=-1:1"}, &out, &errs); code != cli.ExitUsage || !strings.Contains(errs.String(), "column 2") {
		t.Errorf("a table without bounds: exit code %d: %s", code, errs.String())
	}
}
