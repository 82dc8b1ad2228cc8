package main

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/canary/source"
)

// oneRunReference are bounds by Steinke et al. 2023 and by the f-DP form,
// simulated apart from this program, by epsilon and m.
var oneRunReference = map[[2]int][2]float64{
	{1, 1000}: {.18, .20}, {1, 10_000}: {.50, .59}, {1, 100_000}: {.58, .66},
	{4, 1000}: {1.23, 2.14}, {4, 10_000}: {2.27, 2.83}, {4, 100_000}: {2.43, 3.02},
	{8, 1000}: {2.98, 4.71}, {8, 10_000}: {3.86, 5.52}, {8, 100_000}: {4.30, 6.0},
}

// oneRun is the audit from one run: m orthogonal unit canaries, each in by a fair
// coin, noise calibrated exactly to (epsilon, delta). Numbers of guesses are fixed
// in advance.
func (b *canaryBench) oneRun() (*canaryTable, error) {
	t := &canaryTable{Title: "One run: bounds on epsilon from m independent canaries, noise by the analytic calibration",
		Published: "none; our own reference simulations of the bounds of Steinke, Nasr and Jagielski 2023 and of Mahloujifar, Melis and Chaudhuri 2024; the second takes the trade-off to be Gaussian",
		Columns:   []string{"Steinke et al.", "f-DP, Gaussian"}}
	counts := []int{1000, 10_000, 100_000}
	if b.Quick {
		counts = counts[:2]
	}
	for _, eps := range []int{1, 4, 8} {
		sigma := source.Sigma(source.ByAnalytic, float64(eps), canaryDelta)
		for _, m := range counts {
			seeds := canarySeeds
			switch {
			case b.Seeds > 0:
				seeds = b.Seeds
			case m == 100_000 || b.Quick && !(eps == 4 && m == 10_000):
				seeds = 5
			}
			values := [2][]float64{make([]float64, seeds), make([]float64, seeds)}
			_, err := b.count(seeds, func(s int) bool {
				scores, in := oneRunScores(b.Seed, s, eps, m, sigma)
				r := bounds.OneRunGuesses(m)
				values[0][s] = published.SteinkeEpsilon(m, r, bounds.OneRunRight(scores, in)(r-r/2, r/2), canaryDelta, canaryBeta)
				r = bounds.OneRunGDPGuesses(m)
				values[1][s] = bounds.OneRunGDPEpsilon(m, r, bounds.OneRunRight(scores, in)(r-r/2, r/2), canaryDelta, canaryBeta)
				return true
			})
			if err != nil {
				return nil, err
			}
			ref, ok := oneRunReference[[2]int{eps, m}]
			if !ok {
				ref = [2]float64{math.NaN(), math.NaN()}
			}
			t.Rows = append(t.Rows, canaryTableRow{fmt.Sprintf("epsilon = %d, m = %d, %d runs", eps, m, seeds),
				[]canaryFigure{meanFigure(values[0]).beside(math.NaN(), ref[0]), meanFigure(values[1]).beside(math.NaN(), ref[1])}})
			if eps == 4 && m == 10_000 {
				for i, name := range []string{"Steinke et al.", "f-DP"} {
					mean, _ := meanError(values[i])
					t.Checks = append(t.Checks, checked(fmt.Sprintf("%s at epsilon = 4, m = 10000", name), mean, ref[i]-.1, ref[i]+.1))
				}
			}
		}
	}
	return t, nil
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
