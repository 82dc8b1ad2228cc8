package bounds

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/mathext"
)

// LowerProportion is the one-sided exact lower confidence limit of a binomial proportion (Clopper
// and Pearson 1934): with k of n seen, the p with P(Bin(n, p) >= k) = beta, rounded down by a
// relative 1e-11.
func LowerProportion(k, n int, beta float64) float64 {
	mustBeProportion(k, n, beta)
	switch k {
	case 0:
		return 0
	case n:
		return math.Exp(math.Log(beta)/float64(n)) * (1 - proportionMargin)
	}
	p := polish(mathext.InvRegIncBeta(float64(k), float64(n-k+1), beta), k, n, beta, false)
	return p * (1 - proportionMargin)
}

// UpperProportion is the p with P(Bin(n, p) <= k) = beta, rounded up likewise.
func UpperProportion(k, n int, beta float64) float64 {
	mustBeProportion(k, n, beta)
	switch k {
	case n:
		return 1
	case 0:
		// 1 - beta^(1/n) without cancellation.
		return min(1, -math.Expm1(math.Log(beta)/float64(n))*(1+proportionMargin))
	}
	p := polish(mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-beta), k, n, beta, true)
	return min(1, p*(1+proportionMargin))
}

func mustBeProportion(k, n int, beta float64) {
	Refuse(n < 1 || k < 0 || k > n || !(beta > 0 && beta < 1), "proportion needs 0 <= k <= n, n >= 1, 0 < beta < 1")
}

// proportionMargin is the relative rounding of the limits, away from the estimate.
const proportionMargin = 1e-11

// polish solves for the p at which the tail of k of n has probability beta: secant steps on its
// logarithm from p, gonum's, whose continued fraction stops too early for n of a million.
func polish(p float64, k, n int, beta float64, upper bool) float64 {
	a, goal := math.Log(1/beta)+32, math.Log(beta)
	lo, hi := 0.0, 1.0
	if !(p > 0 && p < 1) {
		p = float64(k) / float64(n)
	}
	var lastP, lastF float64
	for i := range 200 {
		var tail float64
		if upper {
			tail, _ = tails(k+1, n, p, a)
		} else {
			_, tail = tails(k, n, p, a)
		}
		f := math.Log(tail) - goal
		if math.Abs(f) < 1e-13 {
			return p
		}
		if (f > 0) == upper {
			lo = p
		} else {
			hi = p
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
	return audit.Pick(upper, hi, lo) // the safe end
}

// ClopperPearson is log((L1 - delta)/U0), L1 the lower limit of p1 at level split*beta and U0 the
// upper one of p0 at (1-split)*beta: valid by the union bound, and loose. split is fixed before the
// counts are seen. Not rounded; -Inf if L1 <= delta.
func ClopperPearson(c Counts, delta, beta, split float64) float64 {
	mustBeSound(c, delta, beta)
	Refuse(!(split > 0 && split < 1), "split outside (0, 1)")
	low := LowerProportion(c.X, c.N1, split*beta) - delta
	if low <= 0 {
		return -inf
	}
	return math.Log(low / UpperProportion(c.Y, c.N0, (1-split)*beta))
}

// TuneSplit is the split for [ClopperPearson] that would be best if n1 and n0 outputs repeated the
// rates of explore.
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

func scaled(k, n, m int) int { return int(math.Round(float64(k) / float64(n) * float64(m))) }

// MethodJeffreys names the bound of [Jeffreys].
const MethodJeffreys Method = "jeffreys"

// MostJeffreys is the most outputs a side for [Jeffreys]: beyond it quantiles of beta laws lose
// digits.
const MostJeffreys = 100_000

// Jeffreys is log((L1 - delta)/U0), where L1 and U0 are quantiles at beta/2 and 1 - beta/2 of the
// posterior laws of p1 and p0 under Jeffreys' prior, Beta(x + 1/2, n - x + 1/2); 0 for no hits and
// 1 for nothing but hits (Brown, Cai and DasGupta 2001). A Bayesian credible bound: it holds on
// average over that prior, for given p1 and p0 nothing is proved, so that it refutes no claim.
func Jeffreys(c Counts, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	Refuse(max(c.N1, c.N0) > MostJeffreys, "too many outputs for Jeffreys' interval")
	low, high := 0.0, 1.0
	// By halving: mathext.InvRegIncBeta loses all digits where beta is near 1e-8.
	if c.X > 0 {
		low, _ = Bisect(0, 1, 0, func(p float64) bool {
			return mathext.RegIncBeta(float64(c.X)+0.5, float64(c.N1-c.X)+0.5, p) <= beta/2
		})
	}
	if c.Y < c.N0 {
		high, _ = Bisect(0, 1, 0, func(p float64) bool {
			return mathext.RegIncBeta(float64(c.N0-c.Y)+0.5, float64(c.Y)+0.5, 1-p) > beta/2
		})
	}
	if low <= delta {
		return -inf
	}
	return math.Floor(math.Log((low-delta)/high)*1e6) / 1e6
}

// window is an interval of counts outside of which a Bin(n, p) variable falls with probability at
// most 2 e^-a: Bernstein's inequality, P(|K - np| >= t) <= 2 exp(-t^2 / (2(npq + t/3))).
func window(n int, p, a float64) (lo, hi int) {
	mean := float64(n) * p
	t := a/3 + math.Sqrt(a*a/9+2*a*mean*(1-p)) + 1
	lo = int(max(0, math.Floor(mean-t)))
	hi = int(min(float64(n), math.Ceil(mean+t)))
	return lo, hi
}

func mode(n int, p float64) int { return min(n, int(float64(n+1)*p)) }

// mass is, in room's memory where that suffices, numbers proportional to the Bin(n, p)
// probabilities of lo to hi, the mode, of weight 1, among them. From the ratio of neighbours,
// without logarithms of factorials: the relative error after k steps is below 4k ulp.
func mass(room []float64, n, lo, hi int, p float64) []float64 {
	w := slices.Grow(room[:0], hi-lo+1)[:hi-lo+1]
	q, m := 1-p, mode(n, p)
	at := m - lo
	w[at] = 1
	v, i := 1.0, float64(m)
	size := float64(n)
	odds := p / q
	for j := at + 1; j < len(w); j++ {
		v *= odds * ((size - i) / (i + 1))
		i++
		w[j] = v
	}
	v, i = 1.0, float64(m)
	odds = q / p
	for j := at - 1; j >= 0; j-- {
		v *= odds * (i / (size - i + 1))
		i--
		w[j] = v
	}
	return w
}

// tails are P(Bin(n, p) < k) and P(Bin(n, p) >= k), 0 <= k <= n+1, each to a relative error of 1e-9
// as long as it exceeds e^(21-a).
func tails(k, n int, p, a float64) (below, above float64) {
	lo, hi := window(n, p, a)
	if k <= lo {
		return 0, 1
	}
	if k > hi {
		return 1, 0
	}
	w := mass(nil, n, lo, hi, p)
	// Small terms first, on both sides.
	for _, v := range w[:k-lo] {
		below += v
	}
	for j := len(w) - 1; j >= k-lo; j-- {
		above += w[j]
	}
	return below / (below + above), above / (below + above)
}
