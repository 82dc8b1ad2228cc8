package bounds

import "math"

// RatioLimits returns limits of log(p1/p0), each side of which a picture draws: together
// they miss with probability at most beta, by the union bound over the two shares and
// both of their sides. The shares' limits are those of Clopper and Pearson (Biometrika 26,
// 1934), for a number of outputs that was fixed beforehand, or, with anytime, those of
// [ProportionSequence], which hold at all numbers of outputs at once. -Inf and +Inf where
// a share may be 0.
//
// It panics on counts out of range, and unless 0 < beta < 1.
func RatioLimits(c Counts, beta float64, anytime bool) (low, high float64) {
	var low1, up1, low0, up0 float64
	if anytime {
		low1, up1 = ProportionSequence(c.X, c.N1, beta/2)
		low0, up0 = ProportionSequence(c.Y, c.N0, beta/2)
	} else {
		low1, up1 = LowerProportion(c.X, c.N1, beta/4), UpperProportion(c.X, c.N1, beta/4)
		low0, up0 = LowerProportion(c.Y, c.N0, beta/4), UpperProportion(c.Y, c.N0, beta/4)
	}
	return math.Log(low1 / up0), math.Log(up1 / low0)
}

// ProportionSequence returns limits of a binomial proportion that hold at all n at once
// with probability 1 - beta, so that one may look after each output: the p against which
// a mixture of bets, with the arcsine distribution of Krichevsky and Trofimov, has never
// made more than 1/beta by k of n outputs (Robbins, Annals of Mathematical Statistics 41,
// 1970; Ville 1939). They are rounded outwards by a relative 1e-9.
//
// It panics unless 0 <= k <= n, n >= 1 and 0 < beta < 1.
func ProportionSequence(k, n int, beta float64) (low, up float64) {
	mustBeProportion(k, n, beta)
	x, y := float64(k), float64(n-k)
	lg := func(v float64) float64 { l, _ := math.Lgamma(v); return l }
	// Of the mixture; B(1/2, 1/2) is pi.
	mixed := lg(x+0.5) + lg(y+0.5) - lg(x+y+1) - math.Log(math.Pi)
	most := -math.Log(beta)
	// The log of what the bets made against p; it falls until k/n and rises beyond.
	made := func(p float64) float64 {
		v := mixed
		if k > 0 {
			v -= float64(x * math.Log(p))
		}
		if k < n {
			v -= float64(y * math.Log1p(-p))
		}
		return v
	}
	estimate := x / float64(n)
	up = 1
	if k > 0 {
		last, _ := Bisect(0, estimate, 0, func(p float64) bool { return made(p) > most })
		low = last * (1 - 1e-9)
	}
	if k < n {
		last, _ := Bisect(-1, -estimate, 0, func(p float64) bool { return made(-p) > most })
		up = math.Min(1, -last*(1+1e-9))
	}
	return low, up
}
