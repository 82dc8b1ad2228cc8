package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/mechanisms/source"
)

func benchOneRun(c *call) {
	var audits, most int
	c.count(&audits, "audits", 101, 1, 1_000_000, "simulated audits of a row")
	c.count(&most, "m", 100_000, 1000, 1<<20, "most canaries; rows have 10^3, 10^4, ... up to it")
	c.parse()
	t := &table{title: "Bounds on epsilon", columns: []string{"guesses by m", "Steinke et al.", "recursion", "before", "guesses by claim", "now", "ceiling", "now/ceiling", "ceiling of 3 runs", "if Gaussian"}, notes: []string{
		"Steinke et al. and recursion (Mahloujifar, Melis and Chaudhuri, with the curve of epsilon and delta) have the guesses by m; before is ours with the guesses by m too, now with those by the claim",
		"ceiling: no valid lower bound, whatever it is computed from, is above it in half of all audits of such canaries (docs/findings/one-run-ceiling.md)",
		"if Gaussian: the f-DP bound, which takes the trade-off to be known. It is above the ceiling because it is no bound on epsilon otherwise"}}
	sizes := slices.DeleteFunc([]int{1000, 10_000, 100_000, 1_000_000}, func(m int) bool { return m > most })
	cells := crossed([]int{1, 2, 4, 8}, sizes, func(eps, m int) [2]int { return [2]int{eps, m} })
	rows := results(c.lab, len(cells), func(_ context.Context, i int) oneRunRow {
		return oneRunMedians(1, audits, cells[i][0], cells[i][1])
	})
	for i, x := range rows {
		t.add(fmt.Sprintf("epsilon = %d, m = %d", cells[i][0], cells[i][1]), x.byM, x.steinke, x.recursion, x.before, x.byClaim, x.now, x.ceiling, x.now/max(x.ceiling, 1e-9), x.three, x.gaussian)
	}
	c.print(fmt.Sprintf("One run of m independent Gaussian canaries, medians of %d audits; beta = %g, delta = %g", audits, canaryBeta, canaryDelta), t)
}

// oneRunRow is what is certified of independent Gaussian canaries, and what can be.
type oneRunRow struct {
	byM, byClaim                                              int // guesses
	steinke, recursion, before, now, gaussian, ceiling, three float64
}

// oneRunBound is of so many right guesses among those made of m canaries.
type oneRunBound func(m, made, right int, delta, beta float64) float64

func oneRunMedians(seed uint64, audits, eps, m int) oneRunRow {
	sigma := source.Sigma(source.ByAnalytic, float64(eps), canaryDelta)
	row := oneRunRow{byM: bounds.OneRunGuesses(m), byClaim: bounds.OneRunGuessesFor(m, 2, float64(eps), canaryDelta, canaryBeta)}
	made := [3]int{row.byM, row.byClaim, bounds.OneRunGDPGuesses(m)}
	var right [3][]int
	for s := range audits {
		scores, in := oneRunScores(seed, s, eps, m, sigma)
		for i, r := range made {
			right[i] = append(right[i], bounds.OneRunRight(scores, in)(r-r/2, r/2))
		}
	}
	// All bounds rise with the right guesses, so that the median bound is that of the median.
	middle := func(i int, bound oneRunBound) float64 {
		slices.Sort(right[i])
		return bound(m, made[i], right[i][(audits-1)/2], canaryDelta, canaryBeta)
	}
	row.steinke, row.recursion = middle(0, published.SteinkeEpsilon), middle(0, published.MahloujifarEpsilon)
	row.before, row.now = middle(0, bounds.OneRunEpsilon), middle(1, bounds.OneRunEpsilon)
	row.gaussian = middle(2, bounds.OneRunGDPEpsilon)
	row.ceiling = bounds.OneRunCeiling(m, 1, 1/sigma, canaryDelta, canaryBeta)
	row.three = bounds.OneRunCeiling(m, 3, 1/sigma, canaryDelta, canaryBeta)
	return row
}

// oneRunScores draws the scores of m orthogonal unit canaries in one noisy sum.
func oneRunScores(seed uint64, run, eps, m int, sigma float64) (scores []float64, in []bool) {
	st := stream.New(stream.Key{Seed: seed, Purpose: "bench/canaries/one-run", Trial: run, Side: eps, Shard: m})
	scores, in = make([]float64, m), make([]bool, m)
	st.Gaussian(scores, sigma)
	for i := range scores {
		if in[i] = st.Uint64()>>63 == 1; in[i] {
			scores[i]++
		}
	}
	return scores, in
}
