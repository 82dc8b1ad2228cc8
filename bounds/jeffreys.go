package bounds

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MethodJeffreys names the bound of [Jeffreys].
const MethodJeffreys Method = "jeffreys"

// MostJeffreys is the largest number of outputs a side for [Jeffreys]: beyond it
// quantiles of beta laws lose digits, and the limits are those of [ClopperPearson].
const MostJeffreys = 100_000

// Jeffreys returns log((L1 - delta)/U0), where L1 and U0 are quantiles at beta/2 and
// 1 - beta/2 of the posterior laws of p1 and p0, Beta(x + 1/2, n - x + 1/2), under Jeffreys'
// prior; L1 is 0 for no hits and U0 is 1 for nothing but hits (Brown, Cai and DasGupta
// 2001). A Bayesian credible bound: on average over that prior it exceeds the true value
// with probability at most beta. For given p1 and p0 nothing is proved, so that it refutes
// no claim. -Inf if L1 <= delta. It panics on arguments out of range and for
// more than [MostJeffreys] outputs a side.
func Jeffreys(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	if max(c.N1, c.N0) > MostJeffreys {
		panic("bounds: too many outputs for Jeffreys' interval")
	}
	low, high := 0.0, 1.0
	// By halving: mathext.InvRegIncBeta loses all digits where beta is near 1e-8.
	if c.X > 0 {
		low, _ = bisect(0, 1, 0, func(p float64) bool {
			return mathext.RegIncBeta(float64(c.X)+0.5, float64(c.N1-c.X)+0.5, p) <= beta/2
		})
	}
	if c.Y < c.N0 {
		high, _ = bisect(0, 1, 0, func(p float64) bool {
			return mathext.RegIncBeta(float64(c.N0-c.Y)+0.5, float64(c.Y)+0.5, 1-p) > beta/2
		})
	}
	if low <= delta {
		return math.Inf(-1)
	}
	return math.Floor(math.Log((low-delta)/high)*1e6) / 1e6
}
