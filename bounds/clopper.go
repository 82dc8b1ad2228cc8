package bounds

import "math"

// ClopperPearson returns log((L1 - delta)/U0), where L1 is the lower limit of
// p1 at level split*beta and U0 the upper limit of p0 at level (1-split)*beta:
// valid for every p1, p0, n by the union bound, and loose (its true error at
// beta = .05 is .007 to .02). split must be fixed before the counts are seen;
// [TuneSplit] chooses it from exploration. -Inf if L1 <= delta.
//
// It panics on arguments out of range; split must lie in (0, 1).
func ClopperPearson(c Counts, delta, beta, split float64) float64 {
	mustBeSound(c, delta, beta)
	if !(split > 0 && split < 1) {
		panic("bounds: split outside (0, 1)")
	}
	low := LowerProportion(c.X, c.N1, split*beta) - delta
	if low <= 0 {
		return math.Inf(-1)
	}
	return math.Log(low / UpperProportion(c.Y, c.N0, (1-split)*beta))
}

// TuneSplit returns the split for [ClopperPearson] that would give the best
// bound if certification with n1 and n0 outputs repeated the rates of the
// exploration counts. It never sees the certification counts, which is what
// keeps the bound valid. Returns 1/2 if explore is empty or out of range, or
// nothing can be certified at those rates. Steps of a factor 1.6 in the odds,
// from 1/300 to 300; about 50 limits are computed.
func TuneSplit(explore Counts, n1, n0 int, delta, beta float64) float64 {
	mustBeSound(Counts{N1: n1, N0: n0}, delta, beta)
	if explore.Validate() != nil {
		return 0.5
	}
	expected := Counts{
		X: scaled(explore.X, explore.N1, n1), N1: n1,
		Y: scaled(explore.Y, explore.N0, n0), N0: n0,
	}
	best, value := 0.5, ClopperPearson(expected, delta, beta, 0.5)
	for odds := 1.0 / 300; odds < 301; odds *= 1.6 {
		split := odds / (1 + odds)
		if v := ClopperPearson(expected, delta, beta, split); v > value {
			best, value = split, v
		}
	}
	return best
}

// scaled returns the count among m that has the rate k/n.
func scaled(k, n, m int) int {
	return int(math.Round(float64(k) / float64(n) * float64(m)))
}

// LowerDelta returns a lower confidence bound of p1 - e^eps p0, hence of the
// smallest delta for which (eps, delta) can hold: L1 - e^eps U0 with both
// Clopper-Pearson limits at beta/2, at least 0. It exceeds the true value with
// probability at most beta, by the union bound.
func LowerDelta(c Counts, eps, beta float64) float64 {
	mustBeSound(c, 0, beta)
	if CheckEpsilon(eps) != nil {
		panic("bounds: epsilon is not finite")
	}
	p1, p0 := LowerProportion(c.X, c.N1, beta/2), UpperProportion(c.Y, c.N0, beta/2)
	return math.Max(0, p1-math.Exp(eps)*p0-1e-12)
}
