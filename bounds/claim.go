package bounds

import "math"

// ClaimPValue returns a p-value of the claim (eps, delta) whose verdict at level
// beta is that of [Exact]: it is at most beta if and only if
// Exact(c, delta, beta) > eps.
//
// It is the p(th) of Exact at th = e^eps, with the regions ordered by the score
// limit at this beta and gamma = beta/250: gamma plus the supremum of the
// probability of the observed region over the null hypothesis, at most one per
// cent above it. The regions of different counts are nested and do not depend on
// eps, so under the claim it is at most b with probability at most b for every
// b, not just for beta (proof at Exact). Where this upper bound and the rounded
// Exact disagree, within a per cent of beta, Exact decides: below beta that is
// its own proof, above it only raises the value.
//
// It cannot fall below gamma; for a smaller figure use [ExactPValue] with a
// smaller gamma. 1 if even the score test at beta rejects nothing.
//
// It panics on arguments out of range.
func ClaimPValue(c Counts, eps, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	mustBeFinite(eps)
	z := scoreCut(beta)
	th0 := newNullFit(c, delta).limit(z)
	if th0 == 0 {
		return 1
	}
	gamma := beta * nuisanceShare
	around := nuisance(c, gamma)
	r := newRegion(c, delta, th0, z, around.low0, around.high0, tailWidth(beta))
	s := sweep{region: r, box: around, delta: delta, th: math.Exp(eps)}
	p := math.Min(1, gamma+s.peak(gamma/100))
	if Exact(c, delta, beta) > eps {
		return math.Min(p, beta)
	}
	return math.Max(p, math.Nextafter(beta, 1))
}
