package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// oneRunRow is what is certified of independent Gaussian canaries, and what can be, in
// medians.
type oneRunRow struct {
	Epsilon float64 `json:"epsilon"` // claimed, and true
	M       int     `json:"m"`
	Audits  int     `json:"audits"`
	ByM     int     `json:"guessesByM"` // by the number of canaries alone
	ByClaim int     `json:"guessesByClaim"`
	// Steinke and Mahloujifar are the published p-value and the recursion with the curve of
	// (epsilon, delta), both with the guesses by m; Before and Now are ours.
	Steinke     float64 `json:"steinke"`
	Mahloujifar float64 `json:"mahloujifar"`
	Before      float64 `json:"before"`
	Now         float64 `json:"now"`
	Gaussian    float64 `json:"gaussian"` // the f-DP bound, where the trade-off is known
	// Ceiling is [bounds.OneRunCeiling] of one run, Three that of three.
	Ceiling float64 `json:"ceiling"`
	Three   float64 `json:"threeRuns"`
}

type oneRunResult struct {
	Seed   uint64      `json:"seed"`
	Rows   []oneRunRow `json:"rows"`
	Checks []check     `json:"checks"`
}

// oneRunGoals are the medians that are asked for, by epsilon and m.
var oneRunGoals = map[[2]int]float64{{8, 100_000}: 4.5, {4, 10_000}: 2.1, {8, 1000}: 2.8}

// benchOneRun is bench one-run.
func benchOneRun(c *call) (int, error) {
	audits, most := 101, 100_000
	c.Count(&audits, "audits", audits, "simulated audits of a row")
	c.Count(&most, "m", most, "most canaries; rows have 10^3, 10^4, ... up to it")
	seed := c.Uint64("seed", 1, "first seed")
	c.outputFlags()
	if exit, ok := c.parse(); !ok {
		return exit, nil
	}
	if audits < 1 || most < 1000 || most > 1<<20 {
		return 0, &audit.InputError{Field: "-audits and -m", Found: fmt.Sprintf("%d and %d", audits, most), Want: "at least 1, and from 1000 to 1048576"}
	}
	result := oneRunResult{Seed: *seed}
	for _, eps := range []int{1, 2, 4, 8} {
		for m := 1000; m <= most; m *= 10 {
			if c.ctx.Err() != nil {
				return 0, cli.ErrStopped
			}
			row := oneRunMedians(*seed, audits, eps, m)
			result.Rows = append(result.Rows, row)
			name := fmt.Sprintf("epsilon = %d, m = %d: ", eps, m)
			if goal, ok := oneRunGoals[[2]int{eps, m}]; ok {
				result.Checks = append(result.Checks, atLeast(name+"now", row.Now, goal))
			}
		}
	}
	return code(len(missed(result.Checks)) == 0), c.emit(result, func(w io.Writer) { printOneRun(w, result) })
}

// oneRunMedians simulates audits of one row.
func oneRunMedians(seed uint64, audits, eps, m int) oneRunRow {
	sigma := source.Sigma(source.ByAnalytic, float64(eps), canaryDelta)
	row := oneRunRow{Epsilon: float64(eps), M: m, Audits: audits, ByM: bounds.OneRunGuesses(m),
		ByClaim: bounds.OneRunGuessesFor(m, 2, float64(eps), canaryDelta, canaryBeta)}
	made := [3]int{row.ByM, row.ByClaim, bounds.OneRunGDPGuesses(m)}
	var right [3][]int
	for s := range audits {
		scores, in := oneRunScores(seed, s, eps, m, sigma)
		for i, r := range made {
			right[i] = append(right[i], bounds.OneRunRight(scores, in)(r-r/2, r/2))
		}
	}
	// All bounds rise with the right guesses, so that the median bound is that of the median.
	middle := func(i int, bound func(r, v int) float64) float64 {
		sorted := slices.Sorted(slices.Values(right[i]))
		return bound(made[i], sorted[(len(sorted)-1)/2])
	}
	row.Steinke = middle(0, func(r, v int) float64 { return published.SteinkeEpsilon(m, r, v, canaryDelta, canaryBeta) })
	row.Mahloujifar = middle(0, func(r, v int) float64 { return published.MahloujifarEpsilon(m, r, v, canaryDelta, canaryBeta) })
	ours := func(r, v int) float64 { return bounds.OneRunEpsilon(m, r, v, canaryDelta, canaryBeta) }
	row.Before, row.Now = middle(0, ours), middle(1, ours)
	row.Gaussian = middle(2, func(r, v int) float64 { return bounds.OneRunGDPEpsilon(m, r, v, canaryDelta, canaryBeta) })
	row.Ceiling = bounds.OneRunCeiling(m, 1, 1/sigma, canaryDelta, canaryBeta)
	row.Three = bounds.OneRunCeiling(m, 3, 1/sigma, canaryDelta, canaryBeta)
	return row
}

func printOneRun(w io.Writer, r oneRunResult) {
	fmt.Fprintf(w, "Bounds on epsilon from one run of m independent Gaussian canaries, medians; beta = %g, delta = %g, first seed %d\n\n", canaryBeta, canaryDelta, r.Seed)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "epsilon\tm\taudits\tguesses by m\tSteinke et al.\trecursion\tbefore\tguesses by claim\tnow\tceiling\tnow/ceiling\tceiling of 3 runs\tif Gaussian\t")
	for _, x := range r.Rows {
		fmt.Fprintf(tw, "%g\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\t%d\t%.3f\t%.3f\t%.2f\t%.3f\t%.3f\t\n", x.Epsilon, x.M, x.Audits, x.ByM, x.Steinke, x.Mahloujifar, x.Before, x.ByClaim, x.Now, x.Ceiling, x.Now/math.Max(x.Ceiling, 1e-9), x.Three, x.Gaussian)
	}
	tw.Flush()
	fmt.Fprint(w, `
Steinke et al. and recursion (Mahloujifar, Melis and Chaudhuri, with the curve of epsilon and delta) have the guesses by m; before is ours with the guesses by m too, now with those by the claim.
Ceiling: no valid lower bound, whatever it is computed from, is above it in half of all audits of such canaries (docs/findings/one-run-ceiling.md).
If Gaussian: the f-DP bound, which takes the trade-off to be known. It is above the ceiling because it is no bound on epsilon otherwise.

`)
	printChecks(w, r.Checks)
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
