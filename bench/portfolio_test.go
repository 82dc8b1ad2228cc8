package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/testsize"
)

func TestBenchPortfolioOutput(t *testing.T) {
	testsize.Long(t)
	text := printedBy(t, "portfolio", "-only", "raw-denominator", "-learners", "histogram,logistic,float-bits", "-samples", "3000", "-runs", "2")
	for _, want := range []string{"laplace-mean-raw-denominator", "reached", "float-bits is not among the learners alone"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// A portfolio of histograms alone sees one answer of svt6 at a time: exact bounds there differ
// by a factor of ten. What it took is what that learner alone gives on the same seed. A
// learner that cannot learn certifies nothing. Fixed seeds.
func TestBenchPortfolioFindsWhatIsMissing(t *testing.T) {
	cat := catalogue
	cat.Learners = slices.Clone(cat.Learners)
	for i := range cat.Learners {
		cat.Learners[i].ByName = cat.Learners[i].Name != "histogram"
	}
	cat.Learners = append(cat.Learners, audit.LearnerSpec{Name: "silent", ByName: true, Applies: func([]audit.Column) error { return nil },
		Learn: func(audit.Exploration) (audit.Model, error) { return nil, errors.New("has nothing to say") }})
	var learners []audit.LearnerSpec
	for _, name := range []string{"histogram", "logistic", "silent"} {
		l, err := cat.Learner(name)
		if err != nil {
			t.Fatal(err)
		}
		learners = append(learners, l)
	}
	plan := pair.Plan{Mode: pair.Fixed, Trials: 1, Samples: 3000, Explore: 3000}
	rows, err := lab{t.Context(), 2, t.Logf}.portfolio(plan, cat, []string{"svt6", "noisy-max-laplace"}, learners, 3)
	if err != nil {
		t.Fatal(err)
	}
	if j := rows[0].judge(2); j.verdict != portfolioShort || j.best != "logistic" || !(j.ratio.mean < 0.5) {
		t.Errorf("svt6: %+v; want it short of logistic", j)
	}
	if j := rows[1].judge(2); j.verdict != portfolioReached || j.ratio.mean != 1 || rows[1].picked["histogram"] != 3 {
		t.Errorf("noisy-max-laplace: %+v, picked %v; want histogram 3 times", j, rows[1].picked)
	}
	for _, r := range rows {
		if !slices.Equal(r.bounds[audit.Auto], r.bounds["histogram"]) {
			t.Errorf("%s: the portfolio has %v, its only learner %v", r.mechanism, r.bounds[audit.Auto], r.bounds["histogram"])
		}
	}
	x, short := portfolioTable(rows, learners, 3)
	if silent := x.rows[0].cells[8]; short != 1 || silent != "0.000 ± 0.000!" && silent != "0.000 ± 0.000*!" {
		t.Errorf("%d short, of the silent learner %v", short, silent)
	}
}

func TestPortfolioVerdicts(t *testing.T) {
	type by map[string][]float64
	for _, test := range []struct {
		name          string
		bounds        by
		verdict, best string
	}{
		{"equal", by{"auto": {1, 1.1, 0.9}, "a": {1, 1.1, 0.9}}, portfolioReached, "a"},
		{"float-bits does not count", by{"auto": {1, 1.1, 0.9}, "a": {1, 1.1, 0.9}, leftOut: {9, 9, 9}}, portfolioReached, "a"},
		{"just the share", by{"auto": {0.971, 0.971, 0.971}, "a": {1, 1, 1}}, portfolioReached, "a"},
		{"just under it, no noise", by{"auto": {0.969, 0.969, 0.969}, "a": {1, 1, 1}}, portfolioShort, "a"},
		{"far under it", by{"auto": {0.5, 0.52, 0.49}, "a": {1, 1.01, 1.02}, "b": {0.1, 0.1, 0.1}}, portfolioShort, "a"},
		{"under it by noise", by{"auto": {1, 0.7, 1}, "a": {1, 1, 1}}, portfolioOpen, "a"},
		{"the best by luck", by{"auto": {1, 1, 1}, "a": {3, 0.5, 0.5}, "b": {1, 1, 1}}, portfolioNothing, "a"},
		{"nothing there", by{"auto": {0, 0, 0}, "a": {0, 0, 0}, "b": {0, 0.001, 0}}, portfolioNothing, "b"},
		{"no learner applies", by{"auto": {1, 1, 1}}, portfolioNothing, ""},
	} {
		r := &portfolioRow{bounds: test.bounds}
		for _, name := range []string{"auto", "a", "b", leftOut} {
			if _, ok := test.bounds[name]; ok {
				r.learners = append(r.learners, name)
			}
		}
		quantile := distuv.StudentsT{Sigma: 1, Nu: 2}.Quantile(1 - portfolioError/float64(max(1, len(r.learners)-1)))
		if j := r.judge(quantile); j.verdict != test.verdict || j.best != test.best {
			t.Errorf("%s: %+v; want %q, %q", test.name, j, test.verdict, test.best)
		}
	}
}

// A portfolio that reaches the share exactly, against eight learners that are alike, is called
// short in portfolioError of all benches at most. 4000 benches of one mechanism: the count is
// at most the error's 99.999 % quantile, so the test fails by chance once in 100000 seeds. A
// portfolio with .8 of each is called short nearly always.
func TestShortIsSeldomByChance(t *testing.T) {
	const benches, runs = 4000, 6
	r := rand.New(rand.NewPCG(3, 4))
	names := strings.Fields("a b c d e f g h")
	var learners []audit.LearnerSpec
	for _, name := range names {
		learners = append(learners, audit.LearnerSpec{Name: name})
	}
	count := func(share float64) (all int) {
		for range benches {
			row := &portfolioRow{learners: append([]string{audit.Auto}, names...), bounds: map[string][]float64{}}
			for range runs {
				shared := 0.04 * r.NormFloat64()
				for _, name := range row.learners {
					row.bounds[name] = append(row.bounds[name], choose(name == audit.Auto, share, 1)*(1+shared+0.02*r.NormFloat64()))
				}
			}
			_, short := portfolioTable([]*portfolioRow{row}, learners, runs)
			all += short
		}
		return all
	}
	most := portfolioError*benches + distuv.UnitNormal.Quantile(1-1e-5)*math.Sqrt(benches*portfolioError*(1-portfolioError))
	if got := count(portfolioShare); float64(got) > most {
		t.Errorf("short by chance in %d of %d benches, want at most %.0f", got, benches, most)
	}
	if got := count(0.8); got < benches*9/10 {
		t.Errorf("a portfolio with .8 of each is short in %d of %d benches only", got, benches)
	}
}
