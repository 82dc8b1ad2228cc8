package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
)

// leftOut reads the bits of doubles and refutes every mechanism that adds its
// noise in floating point. The portfolio does without it on purpose.
const leftOut = "float-bits"

// wideNetworks have layers of a hundred units: most of a bench's time.
var wideNetworks = []string{"renyi-tester", "hockeystick-tester"}

// portfolioArm is how one learner did on one mechanism.
type portfolioArm struct {
	Learner string    `json:"learner"`
	Bounds  []float64 `json:"bounds"` // certified epsilon, one a seed; 0 where it could not learn
	Mean    float64   `json:"mean"`
	Error   float64   `json:"standardError"`   // of the mean
	Short   bool      `json:"short,omitempty"` // the portfolio has less than portfolioShare of this, beyond noise
	Note    string    `json:"note,omitempty"`  // in some run it could not learn
}

// portfolioRow is one mechanism.
type portfolioRow struct {
	Mechanism string         `json:"mechanism"`
	Claim     string         `json:"claim"`
	Pair      audit.Pair     `json:"pair"`
	Portfolio portfolioArm   `json:"portfolio"`
	Picked    map[string]int `json:"picked"` // runs by the learner that the portfolio took
	Learners  []portfolioArm `json:"learners"`
	Best      string         `json:"best"` // learner with the largest mean but leftOut
	// Ratio is the portfolio's mean over the best learner's. The best of many means is
	// partly luck: it errs downwards. Absent where there is nothing to find.
	Ratio   *float64 `json:"ratio,omitempty"`
	Verdict string   `json:"verdict"` // reached, within noise, short or nothing to find
}

// benchPortfolio compares the portfolio's bounds with each learner's alone, on
// the first pair of each mechanism.
func benchPortfolio(c *call) (int, error) {
	plan := pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Trials: 1}
	c.Count(&plan.Samples, "samples", 20_000, "certification outputs a side")
	c.Count(&plan.Explore, "explore", 0, "exploration outputs a side; 0: as many as -samples")
	c.Float64Var(&plan.Beta, "beta", 0.05, "allowed error of the bound")
	runs := c.Int("runs", 8, "runs of each learner on each mechanism, with seeds 1, 2, ...; at least 2")
	workers := c.workersFlag()
	c.outputFlags()
	only := c.String("only", "", "only mechanisms whose name contains this")
	names := c.String("learners", "", "compare only with these learners, comma between; default: all")
	quick := c.Bool("quick", false, "20 seconds: 10000 samples, 3 runs, without "+strings.Join(wideNetworks, ", ")+"; other flags count all the same")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	learners, err := portfolioLearners(*names, *quick)
	if err != nil {
		return 0, err
	}
	if *quick {
		c.unlessGiven("samples", &plan.Samples, 10_000)
		c.unlessGiven("runs", runs, 3)
	}
	if *runs < 2 {
		return 0, &audit.InputError{Field: "-runs", Found: fmt.Sprint(*runs), Want: "at least 2", Remedy: "one run has no standard error"}
	}
	b := &portfolioBench{Plan: plan, Runs: *runs, catalogue: catalogue, workers: *workers}
	for _, m := range seeded.Mechanisms {
		if !strings.Contains(m.Name, *only) {
			continue
		}
		if err := b.add(m, learners); err != nil {
			return 0, err
		}
	}
	if len(b.Rows) == 0 {
		return 0, &audit.InputError{Field: "-only", Found: fmt.Sprintf("%q", *only), Want: "part of a mechanism's name", Remedy: "dpscope list shows all"}
	}
	b.done = func(mechanism string, k int) { c.say("%s: %d of %d mechanisms", mechanism, k, len(b.Rows)) }
	if err := b.run(c.ctx); err != nil {
		return 0, err
	}
	b.judge()
	return code(b.Short == 0), c.emit(b, b.print)
}

// portfolioLearners are the learners of a list of names, or all.
func portfolioLearners(names string, quick bool) ([]audit.LearnerSpec, error) {
	if names == "" {
		return slices.DeleteFunc(slices.Clone(catalogue.Learners), func(l audit.LearnerSpec) bool {
			return quick && slices.Contains(wideNetworks, l.Name)
		}), nil
	}
	var learners []audit.LearnerSpec
	for _, name := range namesOf(names) {
		l, err := catalogue.Learner(name)
		if err != nil {
			return nil, err
		}
		learners = append(learners, l)
	}
	return learners, nil
}

// portfolioBench is the whole comparison.
type portfolioBench struct {
	Plan        pair.Plan      `json:"plan"` // but mechanism, pair, learner and seed
	Runs        int            `json:"runs"`
	Comparisons int            `json:"comparisons"` // of the portfolio with a learner
	Short       int            `json:"short"`       // mechanisms
	Rows        []portfolioRow `json:"rows"`

	catalogue audit.Catalogue
	workers   int
	done      func(mechanism string, k int) // may be nil; one call at a time
}

// add makes room for a mechanism at its default parameters, claim and relation
// and its first pair.
func (b *portfolioBench) add(m audit.MechanismSpec, learners []audit.LearnerSpec) error {
	plan := b.Plan
	plan.Mechanism = m.Name
	a, err := plan.Resolve(b.catalogue)
	if err != nil {
		return err
	}
	pairs := m.Pairs(a.Plan.Parameters, a.Plan.Relation)
	if len(pairs) == 0 {
		return fmt.Errorf("mechanism %s names no pair to compare learners on", m.Name)
	}
	row := portfolioRow{Mechanism: m.Name, Claim: a.Claim.String(), Pair: pairs[0], Picked: map[string]int{},
		Portfolio: portfolioArm{Learner: audit.Auto, Bounds: make([]float64, b.Runs)}}
	for _, l := range learners {
		if l.Applies(a.Columns) == nil {
			row.Learners = append(row.Learners, portfolioArm{Learner: l.Name, Bounds: make([]float64, b.Runs)})
		}
	}
	b.Rows = append(b.Rows, row)
	return nil
}

// run does the audits, each on one worker. A single learner that cannot learn certifies
// nothing; a portfolio that cannot is an error.
func (b *portfolioBench) run(ctx context.Context) error {
	type job struct{ row, learner, run int } // learner -1: the portfolio
	var jobs []job
	left := make([]int, len(b.Rows))
	for r := range b.Rows {
		for l := -1; l < len(b.Rows[r].Learners); l++ {
			for run := range b.Runs {
				jobs = append(jobs, job{r, l, run})
			}
		}
		left[r] = (1 + len(b.Rows[r].Learners)) * b.Runs
	}
	var mu sync.Mutex
	finished := 0
	return each(ctx, b.workers, len(jobs), func(ctx context.Context, i int) error {
		j := jobs[i]
		row := &b.Rows[j.row]
		arm := &row.Portfolio
		if j.learner >= 0 {
			arm = &row.Learners[j.learner]
		}
		plan := b.Plan
		plan.Mechanism, plan.Pair, plan.Learner, plan.Seed = row.Mechanism, &row.Pair, arm.Learner, uint64(j.run+1)
		report, err := audited(ctx, plan, b.catalogue, engine.LocalPool(1))
		silent := err != nil && !errors.Is(err, cli.ErrStopped) && j.learner >= 0 && len(report.Tables) == 0
		if err != nil && !silent {
			return fmt.Errorf("%s, learner %s, seed %d: %w", row.Mechanism, plan.Learner, plan.Seed, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if silent {
			arm.Note = "could not learn"
		} else if arm.Bounds[j.run] = *report.LowerBound; j.learner < 0 {
			row.Picked[report.Evidence.Witness.Learner]++
		}
		if left[j.row]--; left[j.row] == 0 {
			if finished++; b.done != nil {
				b.done(row.Mechanism, finished)
			}
		}
		return nil
	})
}

func (b *portfolioBench) print(w io.Writer) {
	explore := cmp.Or(b.Plan.Explore, b.Plan.Samples)
	fmt.Fprintf(w, "Mean certified epsilon at %d certification and %d exploration outputs a side, beta = %g, seeds 1 to %d, first pair of each mechanism\n\n",
		b.Plan.Samples, explore, b.Plan.Beta, b.Runs)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "mechanism\tclaim\tportfolio\tbest learner alone\tits mean\tratio\tverdict\tpicked")
	for _, r := range b.Rows {
		best := portfolioArm{Learner: "none"}
		if i := slices.IndexFunc(r.Learners, func(arm portfolioArm) bool { return arm.Learner == r.Best }); i >= 0 {
			best = r.Learners[i]
		}
		fmt.Fprintf(t, "%s\t%s\t%.4f ± %.4f\t%s\t%.4f ± %.4f\t%s\t%s\t%s\n", r.Mechanism, r.Claim, r.Portfolio.Mean, r.Portfolio.Error,
			best.Learner, best.Mean, best.Error, shareText(r.Ratio), r.Verdict, pickedText(r.Picked))
	}
	t.Flush()
	counts := map[string]int{}
	for _, r := range b.Rows {
		counts[r.Verdict]++
	}
	fmt.Fprintf(w, "\nAt least %g of the best learner alone: %d of %d mechanisms (short: %d, within noise: %d, nothing to find: %d)\n",
		portfolioShare, counts[portfolioReached], len(b.Rows), counts[portfolioShort], counts[portfolioOpen], counts[portfolioNothing])
	fmt.Fprintf(w, `
±: standard error over the seeds.
ratio: portfolio's mean over the best learner's. The best of many means is partly luck: this errs downwards.
reached: ratio at least %g. short: below that share of some learner (*) beyond noise, by a one-sided t test of differences paired by
  seed, at an error of %g over all %d comparisons with a learner. within noise: below it and not short; more -runs or -samples decide.
nothing to find: no learner's mean is %d standard errors above 0, no ratio is read, and the portfolio is not short.
%s is not among the learners alone: it refutes every mechanism that adds its noise in floating point, and the portfolio does
  without it on purpose.

Mean certified epsilon of each learner alone; . does not apply, * the portfolio is short of it, ! could not learn in some run (counted as 0)

`, portfolioShare, portfolioError, b.Comparisons, toldFromZero, leftOut)
	b.printMeans(w)
}

func (b *portfolioBench) printMeans(w io.Writer) {
	var names []string
	means := make([]map[string]string, len(b.Rows))
	for i, r := range b.Rows {
		means[i] = map[string]string{}
		for _, arm := range r.Learners {
			if !slices.Contains(names, arm.Learner) {
				names = append(names, arm.Learner)
			}
			text := fmt.Sprintf("%.4f", arm.Mean)
			if arm.Short {
				text += "*"
			}
			if arm.Note != "" {
				text += "!"
			}
			means[i][arm.Learner] = text
		}
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "mechanism\tportfolio\t%s\n", strings.Join(names, "\t"))
	for i, r := range b.Rows {
		fmt.Fprintf(t, "%s\t%.4f", r.Mechanism, r.Portfolio.Mean)
		for _, name := range names {
			text, ok := means[i][name]
			if !ok {
				text = "."
			}
			fmt.Fprintf(t, "\t%s", text)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func shareText(ratio *float64) string {
	if ratio == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *ratio)
}

// pickedText lists the learners that the portfolio took, the most frequent
// first.
func pickedText(picked map[string]int) string {
	names := slices.Collect(maps.Keys(picked))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(picked[b]-picked[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, picked[name])
	}
	return strings.Join(names, ", ")
}

const (
	// portfolioShare of the best single learner's bound is what the portfolio
	// has to reach.
	portfolioShare = 0.97
	// portfolioError is how often a bench of portfolios that all reach the
	// share, some only just, calls one of them short.
	portfolioError = 0.05
	// toldFromZero is how many standard errors the best learner's mean must be
	// above 0 for ratios to it to mean something. It decides what is printed,
	// not what is short.
	toldFromZero = 2
)

// Verdicts on a mechanism.
const (
	portfolioReached = "reached"
	portfolioOpen    = "within noise"    // below the share, but not short
	portfolioShort   = "short"           // below the share beyond noise
	portfolioNothing = "nothing to find" // no learner's mean is told from 0, nor is the portfolio short
)

// judge compares, once all bounds are there.
//
// The portfolio is short on a mechanism when for some learner the mean over
// seeds of P - portfolioShare L is below 0 by more than t standard errors, P and
// L the two bounds of one seed, on the same outputs: a one-sided t test of paired
// differences, at portfolioError over all comparisons of the bench (Bonferroni).
// The level is approximate as far as bounds are not normal.
func (b *portfolioBench) judge() {
	b.Comparisons, b.Short = 0, 0
	for _, r := range b.Rows {
		for _, arm := range r.Learners {
			if arm.Learner != leftOut {
				b.Comparisons++
			}
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(b.Runs - 1)}.Quantile(1 - portfolioError/float64(max(1, b.Comparisons)))
	for i := range b.Rows {
		r := &b.Rows[i]
		r.judge(t)
		if r.Verdict == portfolioShort {
			b.Short++
		}
	}
}

func (r *portfolioRow) judge(t float64) {
	r.Portfolio.average()
	p := r.Portfolio.Bounds
	var singles []*portfolioArm
	for i := range r.Learners {
		arm := &r.Learners[i]
		if arm.average(); arm.Learner != leftOut {
			arm.Short = fallsShort(p, arm.Bounds, t)
			singles = append(singles, arm)
		}
	}
	r.Verdict = portfolioNothing
	if len(singles) == 0 {
		return
	}
	best := singles[0]
	for _, arm := range singles {
		if arm.Mean > best.Mean {
			best = arm
		}
	}
	r.Best = best.Learner
	told := best.Mean > toldFromZero*best.Error
	if told {
		r.Ratio = new(r.Portfolio.Mean / best.Mean)
	}
	switch {
	case slices.ContainsFunc(singles, func(a *portfolioArm) bool { return a.Short }):
		r.Verdict = portfolioShort
	case told && *r.Ratio >= portfolioShare:
		r.Verdict = portfolioReached
	case told:
		r.Verdict = portfolioOpen
	}
}

func (a *portfolioArm) average() {
	mean, deviation := stat.MeanStdDev(a.Bounds, nil)
	a.Mean, a.Error = mean, stat.StdErr(deviation, float64(len(a.Bounds)))
}

// fallsShort reports whether the mean of p - portfolioShare l is below 0 by
// more than t standard errors.
func fallsShort(p, l []float64, t float64) bool {
	d := make([]float64, len(p))
	for i := range d {
		d[i] = p[i] - portfolioShare*l[i]
	}
	mean, deviation := stat.MeanStdDev(d, nil)
	return mean+t*stat.StdErr(deviation, float64(len(d))) < 0
}
