package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
)

const (
	// leftOut reads the bits of doubles and refutes every mechanism that adds its noise in
	// floating point. The portfolio does without it on purpose.
	leftOut = "float-bits"
	// portfolioShare of the best single learner's bound is what the portfolio has to reach.
	portfolioShare = 0.97
	// portfolioError is how often a bench of portfolios that all reach the share, some only
	// just, calls one of them short.
	portfolioError = 0.05
	// toldFromZero is how many standard errors the best learner's mean must be above 0 for
	// ratios to it to mean something. It decides what is printed, not what is short.
	toldFromZero = 2
)

// portfolioRow is one mechanism: bounds by learner, one a seed. The portfolio's name is
// [audit.Auto].
type portfolioRow struct {
	mechanism, claim string
	pair             audit.Pair
	learners         []string // those that apply, after the portfolio
	bounds           map[string][]float64
	picked           map[string]int  // runs by the learner that the portfolio took
	silent           map[string]bool // could not learn in some run, which counts as 0
}

// benchPortfolio compares the portfolio's bounds with each learner's alone, on the first pair
// of each mechanism.
func benchPortfolio(c *call) (int, error) {
	plan, runs := pair.Plan{Mode: pair.Fixed, Trials: 1}, 8
	c.Count(&plan.Samples, "samples", 20_000, "outputs a side that certify, and that explore")
	c.Count(&runs, "runs", runs, "runs of each learner on each mechanism, with seeds 1, 2, ...; at least 2")
	only := c.String("only", "", "only mechanisms whose name contains one of these, comma between")
	names := c.String("learners", "", "compare only with these learners, comma between; default: all")
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if runs < 2 {
		return 0, nothing("-runs", fmt.Sprint(runs), "at least 2: one run has no standard error")
	}
	plan.Explore = plan.Samples
	learners := catalogue.Learners
	if *names != "" {
		learners = nil
		for _, name := range namesOf(*names) {
			l, err := catalogue.Learner(name)
			if err != nil {
				return 0, err
			}
			learners = append(learners, l)
		}
	}
	var mechanisms []string
	for _, m := range seeded.Mechanisms {
		if chosen(*only, m.Name) {
			mechanisms = append(mechanisms, m.Name)
		}
	}
	if len(mechanisms) == 0 {
		return 0, nothing("-only", *only, "part of a mechanism's name: dpscope list shows all")
	}
	rows, err := c.portfolio(plan, catalogue, mechanisms, learners, runs)
	if err != nil {
		return 0, err
	}
	t, short := portfolioTable(rows, learners, runs)
	c.print(fmt.Sprintf("Mean certified epsilon at %d certification and exploration outputs a side, beta = .05, seeds 1 to %d, first pair of each mechanism", plan.Samples, runs), t)
	return code(short == 0), nil
}

// portfolio does the audits. A single learner that cannot learn certifies nothing; a
// portfolio that cannot is an error.
func (l lab) portfolio(plan pair.Plan, cat audit.Catalogue, mechanisms []string, learners []audit.LearnerSpec, runs int) ([]*portfolioRow, error) {
	type job struct {
		row     *portfolioRow
		learner string
		run     int
	}
	var rows []*portfolioRow
	var jobs []job
	for _, name := range mechanisms {
		p := plan
		p.Version, p.Mechanism = pair.PlanVersion, name
		a, err := p.Resolve(cat)
		if err != nil {
			return nil, err
		}
		row := &portfolioRow{mechanism: name, claim: a.Claim.String(), pair: a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[0],
			learners: []string{audit.Auto}, bounds: map[string][]float64{}, picked: map[string]int{}, silent: map[string]bool{}}
		for _, x := range learners {
			if x.Applies(a.Columns) == nil {
				row.learners = append(row.learners, x.Name)
			}
		}
		rows = append(rows, row)
		for _, x := range row.learners {
			for run := range runs {
				jobs = append(jobs, job{row, x, run})
			}
		}
	}
	type found struct {
		bound  float64
		by     string
		silent bool
	}
	all, err := results(l, len(jobs), func(ctx context.Context, i int) (found, error) {
		j, p := jobs[i], plan
		p.Mechanism, p.Pair, p.Learner, p.Seed = j.row.mechanism, &j.row.pair, j.learner, uint64(j.run+1)
		r, err := audited(ctx, p, cat)
		if err != nil && !errors.Is(err, cli.ErrStopped) && j.learner != audit.Auto && len(r.Tables) == 0 {
			return found{silent: true}, nil
		}
		if err != nil {
			return found{}, fmt.Errorf("%s, learner %s, seed %d: %w", p.Mechanism, p.Learner, p.Seed, err)
		}
		l.say("%s, %s: %.4f", p.Mechanism, p.Learner, *r.LowerBound)
		return found{bound: *r.LowerBound, by: r.Evidence.Witness.Learner}, nil
	})
	for i, x := range all {
		row, learner := jobs[i].row, jobs[i].learner
		row.bounds[learner] = append(row.bounds[learner], x.bound)
		if row.silent[learner] = row.silent[learner] || x.silent; learner == audit.Auto {
			row.picked[x.by]++
		}
	}
	return rows, err
}

// portfolioTable judges the rows, and counts those in which the portfolio is short.
//
// It is short on a mechanism when for some learner the mean over seeds of
// P - portfolioShare L is below 0 by more than t standard errors, P and L the two bounds of
// one seed, on the same outputs: a one-sided t test of paired differences, at portfolioError
// over all comparisons of the bench (Bonferroni). The level is approximate as far as bounds
// are not normal.
func portfolioTable(rows []*portfolioRow, learners []audit.LearnerSpec, runs int) (t *table, short int) {
	t = &table{title: "The portfolio, and each learner alone", columns: []string{"claim", "picked", "verdict", "ratio", "best", "portfolio"}, notes: []string{
		"ratio: portfolio's mean over the best learner's. The best of many means is partly luck: this errs downwards",
		fmt.Sprintf("reached: ratio at least %g. short: below that share of some learner (*) beyond noise, by t tests at an error of %g over all comparisons. within noise: below it and not short; more -runs or -samples decide", portfolioShare, portfolioError),
		fmt.Sprintf("nothing to find: no learner's mean is %d standard errors above 0, and the portfolio is not short", toldFromZero),
		leftOut + " is not among the learners alone: it refutes every mechanism that adds its noise in floating point, and the portfolio does without it on purpose",
		". does not apply, ! could not learn in some run (counted as 0)"}}
	comparisons := 0
	for _, x := range learners {
		t.columns = append(t.columns, x.Name)
	}
	for _, r := range rows {
		for _, name := range r.learners[1:] {
			comparisons += choose(name == leftOut, 0, 1)
		}
	}
	quantile := distuv.StudentsT{Sigma: 1, Nu: float64(runs - 1)}.Quantile(1 - portfolioError/float64(max(1, comparisons)))
	for _, r := range rows {
		j := r.judge(quantile)
		if j.verdict == portfolioShort {
			short++
		}
		cells := []any{r.claim, r.pickedText(), j.verdict, j.ratio, j.best, figureOf(r.bounds[audit.Auto]...)}
		for _, x := range learners {
			cell := "."
			if bounds, ok := r.bounds[x.Name]; ok {
				cell = figureOf(bounds...).String() + choose(slices.Contains(j.short, x.Name), "*", "") + choose(r.silent[x.Name], "!", "")
			}
			cells = append(cells, cell)
		}
		t.add(r.mechanism, cells...)
	}
	return t, short
}

// pickedText lists the learners that the portfolio took, the most frequent first.
func (r *portfolioRow) pickedText() string {
	names := slices.SortedFunc(maps.Keys(r.picked), func(a, b string) int { return cmp.Or(r.picked[b]-r.picked[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, r.picked[name])
	}
	return strings.Join(names, ", ")
}

// Verdicts on a mechanism.
const (
	portfolioReached = "reached"
	portfolioOpen    = "within noise"    // below the share, but not short
	portfolioShort   = "short"           // below the share beyond noise
	portfolioNothing = "nothing to find" // no learner's mean is told from 0, nor is the portfolio short
)

type portfolioVerdict struct {
	verdict string
	best    string   // learner with the largest mean but leftOut
	ratio   figure   // of the portfolio's mean to that; none where nothing is to be found
	short   []string // learners of which the portfolio has less than the share, beyond noise
}

// judge compares, at a quantile of Student's distribution.
func (r *portfolioRow) judge(quantile float64) portfolioVerdict {
	j := portfolioVerdict{verdict: portfolioNothing, ratio: noFigure}
	p := r.bounds[audit.Auto]
	var most figure
	for _, name := range r.learners[1:] {
		if name == leftOut {
			continue
		}
		l := r.bounds[name]
		d := make([]float64, len(p))
		for i := range d {
			d[i] = p[i] - portfolioShare*l[i]
		}
		if f := figureOf(d...); f.mean+quantile*f.err < 0 {
			j.short = append(j.short, name)
		}
		if f := figureOf(l...); j.best == "" || f.mean > most.mean {
			j.best, most = name, f
		}
	}
	told := most.mean > toldFromZero*most.err
	if told {
		j.ratio = figureOf(stat.Mean(p, nil) / most.mean)
	}
	switch {
	case len(j.short) > 0:
		j.verdict = portfolioShort
	case told && j.ratio.mean >= portfolioShare:
		j.verdict = portfolioReached
	case told:
		j.verdict = portfolioOpen
	}
	return j
}
