package canary

import (
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/report"
)

// GrowthStep is equation 10 for K of the canaries inside and M of the fresh ones,
// drawn at random in every run, in the mean over the draws: same runs, same
// threshold. Since the other canaries stay inside, the bias is that of all of them.
// Differences of bounds, not bounds.
type GrowthStep struct {
	K int `json:"k"`
	M int `json:"m"`
	Equation10
}

// Growth are the steps for 1, 2, 4, ... and all canaries inside, with the same
// share of the fresh ones, rounded up. single is epsilon(1, 1), where it is known.
func Growth(t bounds.CanaryTable, single *float64, delta, beta float64) []GrowthStep {
	var steps []GrowthStep
	for k := 1; ; k = min(2*k, t.K) {
		m := (k*t.M + t.K - 1) / t.K
		at := func(kind bounds.CanaryInterval) *float64 {
			if min(k, m) < kind.Order() {
				return nil
			}
			return report.Finite(bounds.CanaryThinned(kind, t, k, m, delta, beta))
		}
		steps = append(steps, GrowthStep{k, m, separate(single, at(bounds.CanaryWilson1), at(bounds.CanaryWilson2), at(bounds.CanaryWilson4))})
		if k == t.K {
			return steps
		}
	}
}

// separate makes equation 10 of Wilson bounds of one canary and of orders 1, 2 and
// 4 of several.
func separate(single, first, second, fourth *float64) Equation10 {
	return Equation10{Single: single, First: first, Bias: minus(first, single), Variance2: minus(second, first), Variance4: minus(fourth, first)}
}
