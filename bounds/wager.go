package bounds

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

func mustBeFinite(eps float64) { refuse(CheckEpsilon(eps) != nil, "epsilon is not finite") }

// goal is the log wealth that rejects, with a margin for the rounding of a sum
// over n pairs, whose logarithms are at most 40 each.
func goal(beta float64, n int) float64 { return math.Log(1/beta) + 1e-9 + 1e-14*float64(n) }

// pValue is min(1, 1/E): under the null hypothesis at most b with probability at
// most b.
func pValue(logWealth float64, n int) float64 {
	return math.Min(1, math.Exp(-(logWealth - 1e-9 - 1e-14*float64(n))))
}

// logMean returns log of the mean of exp(v).
func logMean(v []float64) float64 { return floats.LogSumExp(v) - math.Log(float64(len(v))) }
