package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
)

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
		learners = append(learners, must.Get(cat.Learner(name))(t))
	}
	plan := pair.Plan{Mode: pair.Fixed, Trials: 1, Samples: 3000, Explore: 3000}
	rows := lab{t.Context(), 2, t.Logf}.portfolio(plan, cat, []string{"svt6", "noisy-max-laplace"}, learners, 3)
	if !rows[0].shortOf("logistic") || rows[1].shortOf("histogram") || rows[1].picked["histogram"] != 3 {
		t.Errorf("svt6 is not short of logistic: %v; or noisy-max-laplace of its own learner: %v", rows[0].bounds, rows[1].picked)
	}
	for _, r := range rows {
		if !slices.Equal(r.bounds[audit.Auto], r.bounds["histogram"]) {
			t.Errorf("%s: the portfolio has %v, its only learner %v", r.mechanism, r.bounds[audit.Auto], r.bounds["histogram"])
		}
	}
	x, short := portfolioTable(rows, learners)
	if silent := x.rows[0].cells[6]; short != 1 || silent != "0.000 ± 0.000!" {
		t.Errorf("%d short, of the silent learner %v", short, silent)
	}
}

func TestPortfolioShort(t *testing.T) {
	for _, test := range []struct {
		name    string
		p, l    []float64
		short   bool
		learner string
	}{
		{"equal", []float64{1, 1.1, 0.9}, []float64{1, 1.1, 0.9}, false, "a"},
		{"just the share", []float64{0.971, 0.971, 0.971}, []float64{1, 1, 1}, false, "a"},
		{"just under it, no noise", []float64{0.969, 0.969, 0.969}, []float64{1, 1, 1}, true, "a"},
		{"far under it", []float64{0.5, 0.52, 0.49}, []float64{1, 1.01, 1.02}, true, "a"},
		{"under it by noise", []float64{1, 0.7, 1}, []float64{1, 1, 1}, false, "a"},
		{"float-bits does not count", []float64{1, 1.1, 0.9}, []float64{9, 9, 9}, false, leftOut},
	} {
		r := &portfolioRow{bounds: map[string][]float64{audit.Auto: test.p, test.learner: test.l}}
		if _, short := portfolioTable([]*portfolioRow{r}, []audit.LearnerSpec{{Name: test.learner}}); (short == 1) != test.short {
			t.Errorf("%s: short: %v", test.name, short == 1)
		}
	}
}
