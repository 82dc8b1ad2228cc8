package bounds

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// LowerProportion returns the one-sided exact lower confidence limit of a
// binomial proportion (Clopper and Pearson 1934): with k of n seen, the p with
// P(Bin(n, p) >= k) = beta, rounded down by a relative 1e-11. It exceeds the
// true proportion with probability at most beta; 0 if k = 0.
//
// It panics unless 0 <= k <= n, n >= 1 and 0 < beta < 1.
func LowerProportion(k, n int, beta float64) float64 {
	mustBeProportion(k, n, beta)
	switch k {
	case 0:
		return 0
	case n:
		return math.Exp(math.Log(beta)/float64(n)) * (1 - proportionMargin)
	}
	// gonum's continued fraction stops after 300 terms, too early for n of a
	// million; it is the first guess, and the tail sum decides.
	p := mathext.InvRegIncBeta(float64(k), float64(n-k+1), beta)
	p = polish(p, float64(k)/float64(n), beta, true, func(p, a float64) float64 {
		_, above := tails(k, n, p, a)
		return above
	})
	return p * (1 - proportionMargin)
}

// UpperProportion is the mirror image of [LowerProportion]: with k of n seen,
// the p with P(Bin(n, p) <= k) = beta, rounded up, 1 if k = n.
func UpperProportion(k, n int, beta float64) float64 {
	mustBeProportion(k, n, beta)
	switch k {
	case n:
		return 1
	case 0:
		// 1 - beta^(1/n) without cancellation.
		return math.Min(1, -math.Expm1(math.Log(beta)/float64(n))*(1+proportionMargin))
	}
	p := mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-beta)
	p = polish(p, float64(k)/float64(n), beta, false, func(p, a float64) float64 {
		below, _ := tails(k+1, n, p, a)
		return below
	})
	return math.Min(1, p*(1+proportionMargin))
}

func mustBeProportion(k, n int, beta float64) {
	if n < 1 || k < 0 || k > n || !(beta > 0 && beta < 1) {
		panic("bounds: proportion needs 0 <= k <= n, n >= 1, 0 < beta < 1")
	}
}

// proportionMargin is the relative rounding of the limits, away from the
// estimate.
const proportionMargin = 1e-11

// polish solves tail(p) = beta for a tail that grows, or falls, with p: secant
// steps on its logarithm from the guess, kept inside a bracket. estimate stands
// in for a guess that is no probability.
func polish(guess, estimate, beta float64, grows bool, tail func(p, a float64) float64) float64 {
	a := math.Log(1/beta) + 32
	goal := math.Log(beta)
	lo, hi := 0.0, 1.0
	p := guess
	if !(p > 0 && p < 1) {
		p = estimate
	}
	var lastP, lastF float64
	for i := range 200 {
		f := math.Log(tail(p, a)) - goal
		if math.Abs(f) < 1e-13 {
			return p
		}
		if (f > 0) == grows {
			hi = p
		} else {
			lo = p
		}
		next := p * (1 + 1e-6)
		if next >= hi {
			next = p * (1 - 1e-6)
		}
		if i > 0 {
			next = p - f*(p-lastP)/(f-lastF)
		}
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-p) <= 1e-14*p {
			return next
		}
		lastP, lastF, p = p, f, next
	}
	// The bracket's conservative end.
	if grows {
		return lo
	}
	return hi
}
