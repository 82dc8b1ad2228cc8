package bounds

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
		panic("bounds: beta outside (0, 1); call CheckBeta first")
	}
	return oneRunMu(float64(m), r, v, beta)
}

// OneRunGDPMuOneSide is [OneRunGDPMu] where all guesses go one way, in or out, that is
// fixed before. The recursion rests on
//
//	E W 1{W >= k} / m <= F(E (r-W) 1{W >= k-1} / m),  F = 1 - f concave,
//
// the sum over canaries of what privacy says of each and each value of its coin. Of one
// value both sides are 0 now, and the mean over the other half gives the same with m/2
// in the place of m, which is less.
func OneRunGDPMuOneSide(m, r, v int, beta float64) float64 {
	mustBeOneRun(m, r, v, 0)
	if CheckBeta(beta) != nil {
		panic("bounds: beta outside (0, 1); call CheckBeta first")
	}
	return oneRunMu(float64(m)/2, r, v, beta)
}

// OneRunGDPRefutes tells whether the recursion refutes one mu; [OneRunGDPMu] is the end of
// those that it does. It panics on arguments out of range.
func OneRunGDPRefutes(m, r, v int, mu, beta float64) bool {
	mustBeOneRun(m, r, v, 0)
	return oneRunRefutes(float64(m), r, v, mu, beta)
}

func oneRunMu(n float64, r, v int, beta float64) float64 {
	mu, ok := bisect(0, 40, 1e-7, func(mu float64) bool { return oneRunRefutes(n, r, v, mu, beta) })
	if !ok {
		return 0
	}
	return math.Max(0, RoundDown(mu))
}

// oneRunRefutes follows two sums from v right guesses down to none: right and
// wrong bound from below, in units of 1/n, what the guesses that are right and
// wrong would have to weigh if mu-GDP gave v right ones with probability beta. No
// more than r/n can be had. Both fall with mu, so the refuted mu form an interval
// from 0.
func oneRunRefutes(n float64, r, v int, mu, beta float64) bool {
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
