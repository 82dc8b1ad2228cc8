package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/testsize"
)

// The workers decide nothing, and the text says what was left out.
func TestBenchPortfolioOutput(t *testing.T) {
	testsize.Long(t)
	args := []string{"portfolio", "-only", "raw-denominator", "-learners", "histogram,logistic,float-bits", "-samples", "3000", "-runs", "2"}
	var outputs []string
	for _, workers := range []string{"1", "3"} {
		var out, errs strings.Builder
		if code := run(append(args, "-workers", workers, "-format", "json"), &out, &errs); code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		outputs = append(outputs, out.String())
	}
	if outputs[0] != outputs[1] {
		t.Errorf("1 worker:\n%s\n3 workers:\n%s", outputs[0], outputs[1])
	}
	var b portfolioBench
	if err := json.Unmarshal([]byte(outputs[0]), &b); err != nil {
		t.Fatal(err)
	}
	if len(b.Rows) != 3 || b.Runs != 2 || b.Plan.Samples != 3000 {
		t.Fatalf("%d rows, %d runs, %d samples", len(b.Rows), b.Runs, b.Plan.Samples)
	}
	for _, r := range b.Rows {
		bits := r.Learners[slices.IndexFunc(r.Learners, func(a portfolioArm) bool { return a.Learner == leftOut })]
		if r.Best == leftOut || bits.Mean <= r.Portfolio.Mean {
			t.Errorf("%s: best learner alone %s; %s has mean %g, the portfolio %g", r.Mechanism, r.Best, leftOut, bits.Mean, r.Portfolio.Mean)
		}
		// Learners without randomness of their own: whatever the portfolio
		// took is what that learner alone gives on the same seed.
		for i, p := range r.Portfolio.Bounds {
			same := slices.ContainsFunc(r.Learners, func(a portfolioArm) bool { return a.Bounds[i] == p })
			if _, table := r.Picked["outcome-table"]; !same && !table {
				t.Errorf("%s, seed %d: the portfolio's bound %g is of none of %v", r.Mechanism, i+1, p, r.Picked)
			}
		}
	}
	var out, errs strings.Builder
	if code := run(args, &out, &errs); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{"laplace-mean-raw-denominator", "of 3 mechanisms (short: 0", "float-bits is not among the learners alone"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
}

// crippled has a portfolio of these learners alone; the others are there by
// name.
func crippled(t *testing.T, names ...string) audit.Catalogue {
	t.Helper()
	cat := catalogue
	cat.Learners = slices.Clone(cat.Learners)
	for i := range cat.Learners {
		cat.Learners[i].ByName = !slices.Contains(names, cat.Learners[i].Name)
	}
	return cat
}

// A portfolio of histograms alone sees one answer of svt6 at a time: exact
// bounds there differ by a factor of ten. Fixed seeds.
func TestBenchPortfolioFindsWhatIsMissing(t *testing.T) {
	b := &portfolioBench{Plan: pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Trials: 1, Samples: 3000, Explore: 3000, Beta: 0.05}, Runs: 3, catalogue: crippled(t, "histogram"), workers: 2}
	silent := audit.LearnerSpec{Name: "silent", ByName: true, Applies: func([]audit.Column) error { return nil },
		Learn: func(audit.Exploration) (audit.Model, error) { return nil, errors.New("has nothing to say") }}
	b.catalogue.Learners = append(b.catalogue.Learners, silent)
	var learners []audit.LearnerSpec
	for _, name := range []string{"histogram", "logistic", "silent"} {
		l, err := b.catalogue.Learner(name)
		if err != nil {
			t.Fatal(err)
		}
		learners = append(learners, l)
	}
	for _, name := range []string{"svt6", "noisy-max-laplace"} {
		m, err := b.catalogue.Mechanism(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.add(m, learners); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.judge()
	svt, noisy := b.Rows[0], b.Rows[1]
	if b.Short != 1 || svt.Verdict != portfolioShort || svt.Best != "logistic" || !(*svt.Ratio < 0.5) {
		t.Errorf("svt6 is %q, best %s, ratio %v; want it short of logistic", svt.Verdict, svt.Best, svt.Ratio)
	}
	if noisy.Verdict != portfolioReached || *noisy.Ratio != 1 || noisy.Picked["histogram"] != 3 {
		t.Errorf("noisy-max-laplace is %q, picked %v; want %q with histogram 3 times", noisy.Verdict, noisy.Picked, portfolioReached)
	}
	if last := svt.Learners[2]; last.Mean != 0 || last.Note == "" {
		t.Errorf("a learner that learns nothing has mean %g, note %q", last.Mean, last.Note)
	}
	var out strings.Builder
	b.print(&out)
	if !strings.Contains(out.String(), "0.0000!") {
		t.Errorf("the table does not mark who could not learn:\n%s", out.String())
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.run(ctx); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("stopped at once: %v", err)
	}
}

func TestPortfolioVerdicts(t *testing.T) {
	arm := func(name string, bounds ...float64) portfolioArm { return portfolioArm{Learner: name, Bounds: bounds} }
	for _, test := range []struct {
		name     string
		p        portfolioArm
		learners []portfolioArm
		verdict  string
		best     string
	}{
		{"equal", arm("auto", 1, 1.1, 0.9), []portfolioArm{arm("a", 1, 1.1, 0.9)}, portfolioReached, "a"},
		{"float-bits does not count", arm("auto", 1, 1.1, 0.9), []portfolioArm{arm("a", 1, 1.1, 0.9), arm(leftOut, 9, 9, 9)}, portfolioReached, "a"},
		{"just the share", arm("auto", 0.971, 0.971, 0.971), []portfolioArm{arm("a", 1, 1, 1)}, portfolioReached, "a"},
		{"just under it, no noise", arm("auto", 0.969, 0.969, 0.969), []portfolioArm{arm("a", 1, 1, 1)}, portfolioShort, "a"},
		{"far under it", arm("auto", 0.5, 0.52, 0.49), []portfolioArm{arm("a", 1, 1.01, 1.02), arm("b", 0.1, 0.1, 0.1)}, portfolioShort, "a"},
		{"under it by noise", arm("auto", 1, 0.7, 1), []portfolioArm{arm("a", 1, 1, 1)}, portfolioOpen, "a"},
		{"the best by luck", arm("auto", 1, 1, 1), []portfolioArm{arm("a", 3, 0.5, 0.5), arm("b", 1, 1, 1)}, portfolioNothing, "a"},
		{"nothing there", arm("auto", 0, 0, 0), []portfolioArm{arm("a", 0, 0, 0), arm("b", 0, 0.001, 0)}, portfolioNothing, "b"},
		{"no learner applies", arm("auto", 1, 1, 1), nil, portfolioNothing, ""},
	} {
		b := portfolioBench{Runs: 3, Rows: []portfolioRow{{Portfolio: test.p, Learners: test.learners}}}
		b.judge()
		if r := b.Rows[0]; r.Verdict != test.verdict || r.Best != test.best || (b.Short == 1) != (test.verdict == portfolioShort) {
			t.Errorf("%s: %q, best %q, %d short; want %q, %q", test.name, r.Verdict, r.Best, b.Short, test.verdict, test.best)
		}
	}
}

// A portfolio that reaches the share exactly, against eight learners that are
// alike, is called short in portfolioError of all benches at most. 4000
// benches of one mechanism: the count is at most the error's 99.999 % quantile,
// so the test fails by chance once in 100000 seeds. A portfolio with .8 of each
// is called short nearly always.
func TestShortIsSeldomByChance(t *testing.T) {
	const benches, learners, runs = 4000, 8, 6
	r := rand.New(rand.NewPCG(3, 4))
	count := func(share float64) (short int) {
		for range benches {
			row := portfolioRow{Portfolio: portfolioArm{Bounds: make([]float64, runs)}, Learners: make([]portfolioArm, learners)}
			for k := range row.Learners {
				row.Learners[k] = portfolioArm{Learner: "a", Bounds: make([]float64, runs)}
			}
			for i := range runs {
				shared := 0.04 * r.NormFloat64()
				row.Portfolio.Bounds[i] = share * (1 + shared + 0.02*r.NormFloat64())
				for k := range row.Learners {
					row.Learners[k].Bounds[i] = 1 + shared + 0.02*r.NormFloat64()
				}
			}
			b := portfolioBench{Runs: runs, Rows: []portfolioRow{row}}
			b.judge()
			short += b.Short
		}
		return short
	}
	most := portfolioError*benches + distuv.UnitNormal.Quantile(1-1e-5)*math.Sqrt(benches*portfolioError*(1-portfolioError))
	if got := count(portfolioShare); float64(got) > most {
		t.Errorf("short by chance in %d of %d benches, want at most %.0f", got, benches, most)
	}
	if got := count(0.8); got < benches*9/10 {
		t.Errorf("a portfolio with .8 of each is short in %d of %d benches only", got, benches)
	}
}
