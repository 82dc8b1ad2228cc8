package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
)

// portfolioRow is one mechanism: bounds by learner, the portfolio as [audit.Auto], one a seed.
type portfolioRow struct {
	mechanism, claim string
	pair             audit.Pair
	bounds           map[string][]float64
	picked           map[string]int  // runs by the learner that the portfolio took
	silent           map[string]bool // could not learn in some run, which counts as 0
}

// benchPortfolio compares the portfolio with each learner alone, on each mechanism's first pair.
func benchPortfolio(c *call) {
	plan, runs := pair.Plan{Mode: pair.Fixed, Trials: 1}, 8
	c.Count(&plan.Samples, "samples", 20_000, "outputs a side that certify, and that explore")
	c.Count(&runs, "runs", runs, "runs of each learner on each mechanism, with seeds 1, 2, ...; at least 2")
	only := c.String("only", "", "only mechanisms whose name contains one of these, comma between")
	names := c.String("learners", "", "compare only with these learners, comma between; default: all")
	c.parse()
	refuse(runs < 2, "-runs", fmt.Sprint(runs), "at least 2: one run has no standard error")
	plan.Explore = plan.Samples
	learners := catalogue.Learners
	if *names != "" {
		learners = audit.Each(namesOf(*names), func(name string) audit.LearnerSpec { return get(catalogue.Learner(name)) })
	}
	mechanisms := audit.Each(seeded.Mechanisms, func(m audit.MechanismSpec) string { return m.Name })
	mechanisms = slices.DeleteFunc(mechanisms, func(name string) bool { return !chosen(*only, name) })
	refuse(len(mechanisms) == 0, "-only", *only, "part of a mechanism's name: dpscope list shows all")
	t, short := portfolioTable(c.portfolio(plan, catalogue, mechanisms, learners, runs), learners)
	c.print(fmt.Sprintf("Mean certified epsilon at %d certification and exploration outputs a side, beta = .05, seeds 1 to %d, first pair of each mechanism", plan.Samples, runs), t)
	c.exit = audit.Pick(short == 0, cli.ExitOK, cli.ExitViolation)
}

// portfolio does the audits. A learner that cannot learn certifies nothing; a portfolio fails.
func (l lab) portfolio(plan pair.Plan, cat audit.Catalogue, mechanisms []string, learners []audit.LearnerSpec, runs int) []*portfolioRow {
	type cell struct {
		row     *portfolioRow
		learner string
	}
	var rows []*portfolioRow
	var cells []cell
	for _, name := range mechanisms {
		p := plan
		p.Version, p.Mechanism = pair.PlanVersion, name
		a := get(p.Resolve(cat))
		row := &portfolioRow{mechanism: name, claim: a.Claim.String(), pair: a.Spec.Pairs(a.Plan.Parameters, a.Plan.Relation)[0],
			bounds: map[string][]float64{}, picked: map[string]int{}, silent: map[string]bool{}}
		rows = append(rows, row)
		for _, x := range append([]audit.LearnerSpec{{Name: audit.Auto}}, learners...) {
			if x.Name == audit.Auto || x.Applies(a.Columns) == nil {
				cells = append(cells, cell{row, x.Name})
			}
		}
	}
	type found struct {
		bound  float64
		by     string
		silent bool
	}
	all := repeated(l, slices.Repeat([]int{runs}, len(cells)), func(ctx context.Context, i, run int) found {
		c, p := cells[i], plan
		p.Mechanism, p.Pair, p.Learner, p.Seed = c.row.mechanism, &c.row.pair, c.learner, uint64(run+1)
		r, err := audited(ctx, p, cat)
		if err != nil && !errors.Is(err, cli.ErrStopped) && c.learner != audit.Auto && len(r.Tables) == 0 {
			return found{silent: true}
		}
		if err != nil {
			check(fmt.Errorf("%s, learner %s, seed %d: %w", p.Mechanism, p.Learner, p.Seed, err))
		}
		l.say("%s, %s: %.4f", p.Mechanism, p.Learner, *r.LowerBound)
		return found{bound: *r.LowerBound, by: r.Evidence.Witness.Learner}
	})
	for i, c := range cells {
		c.row.bounds[c.learner] = audit.Each(all[i], func(x found) float64 { return x.bound })
		c.row.silent[c.learner] = slices.ContainsFunc(all[i], func(x found) bool { return x.silent })
		for _, x := range all[i] {
			if c.learner == audit.Auto {
				c.row.picked[x.by]++
			}
		}
	}
	return rows
}

// portfolioTable has the bounds of each row, and counts the rows in which the portfolio is
// short: its mean is below portfolioShare of that of some learner by more than three standard
// errors of the difference, paired by seed.
func portfolioTable(rows []*portfolioRow, learners []audit.LearnerSpec) (t *table, short int) {
	t = &table{title: "The portfolio, and each learner alone", columns: []string{"claim", "picked", "portfolio", "over the best"}, notes: []string{
		"over the best: the portfolio's mean over the best learner's. The best of many means is partly luck: this errs downwards",
		fmt.Sprintf("*: the portfolio has less than %g of this learner's bound, by more than three standard errors of the difference paired by seed", portfolioShare),
		leftOut + " does not count: it refutes every mechanism that adds its noise in floating point, and the portfolio does without it on purpose",
		".: does not apply. !: could not learn in some run, which counts as 0"}}
	t.columns = append(t.columns, audit.Each(learners, func(x audit.LearnerSpec) string { return x.Name })...)
	for _, r := range rows {
		best, behind := 0.0, false
		var alone []any
		for _, x := range learners {
			bounds, ok := r.bounds[x.Name]
			if !ok {
				alone = append(alone, ".")
				continue
			}
			far := x.Name != leftOut && r.shortOf(x.Name)
			f := figureOf(bounds...)
			alone = append(alone, f.String()+audit.Pick(far, "*", "")+audit.Pick(r.silent[x.Name], "!", ""))
			if behind = behind || far; x.Name != leftOut {
				best = max(best, f.mean)
			}
		}
		own := figureOf(r.bounds[audit.Auto]...)
		t.add(r.mechanism, append([]any{r.claim, r.pickedText(), own, figureOf(own.mean / best)}, alone...)...)
		short += audit.Pick(behind, 1, 0)
	}
	return t, short
}

// shortOf reports whether the portfolio is short of a learner.
func (r *portfolioRow) shortOf(learner string) bool {
	own, alone := r.bounds[audit.Auto], r.bounds[learner]
	f := figureOf(audit.Listed(len(own), func(i int) float64 { return own[i] - portfolioShare*alone[i] })...)
	return f.mean+3*f.err < 0
}

// pickedText lists the learners that the portfolio took, the most frequent first.
func (r *portfolioRow) pickedText() string {
	names := slices.SortedFunc(maps.Keys(r.picked), func(a, b string) int { return cmp.Or(r.picked[b]-r.picked[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, r.picked[name])
	}
	return strings.Join(names, ", ")
}
