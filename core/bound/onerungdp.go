package bound

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// OneRunGDPMu returns a lower confidence bound on the mu of Gaussian differential
// privacy from a single run of m canaries with r guesses, v of them right (see
// [OneRunPValue]): the largest mu that the recursion of Mahloujifar, Melis and
// Chaudhuri ("Auditing f-differential privacy in one run", 2024) refutes at level
// beta, rounded down to six decimals, 0 if there is none. It refutes a whole
// trade-off curve, that of mu-GDP; a mechanism whose curve is another may violate
// it and still keep the epsilon of it.
//
// Cost O(v) for each of 30 steps, a normal quantile each. It panics on arguments
// out of range.
func OneRunGDPMu(m, r, v int, beta float64) float64 {
	mustBeOneRun(m, r, v, 0)
	if CheckBeta(beta) != nil {
		panic("bound: beta outside (0, 1); call CheckBeta first")
	}
	mu, ok := bisect(0, 40, 1e-7, func(mu float64) bool { return oneRunRefutes(m, r, v, mu, beta) })
	if !ok {
		return 0
	}
	return math.Max(0, roundDown(mu))
}

// oneRunRefutes follows two sums from v right guesses down to none: right and
// wrong bound from below, in units of 1/m, what the guesses that are right and
// wrong would have to weigh if mu-GDP gave v right ones with probability beta. No
// more than r/m can be had. Both fall with mu, so the refuted mu form an interval
// from 0.
func oneRunRefutes(m, r, v int, mu, beta float64) bool {
	n := float64(m)
	right, wrong := beta*float64(v)/n, beta*float64(r-v)/n
	most := float64(r) / n * (1 + 1e-9)
	for i := v - 1; i >= 0; i-- {
		if right+wrong > most {
			return true
		}
		next := math.Max(wrong, normalCDF(mathext.NormalQuantile(math.Min(right, 1))-mu))
		if next == wrong {
			break
		}
		right = math.Min(1, right+float64(i)/float64(r-i)*(next-wrong))
		wrong = next
	}
	return right+wrong > most
}

// OneRunGDPEpsilon is [GaussianEpsilon] of [OneRunGDPMu]: a lower confidence bound
// on epsilon at delta if the trade-off of the mechanism is known to be Gaussian,
// and only then. Far tighter than [OneRunEpsilon]. It panics on arguments out of
// range.
func OneRunGDPEpsilon(m, r, v int, delta, beta float64) float64 {
	mustBeOneRun(m, r, v, delta)
	return GaussianEpsilon(OneRunGDPMu(m, r, v, beta), delta)
}
