package bounds

import "math"

// window returns an interval [lo, hi] of counts, inside [0, n], outside of
// which a Bin(n, p) variable falls with probability at most 2 e^-a: Bernstein's
// inequality, P(|K - np| >= t) <= 2 exp(-t^2 / (2(npq + t/3))).
func window(n int, p, a float64) (lo, hi int) {
	mean := float64(n) * p
	t := a/3 + math.Sqrt(a*a/9+2*a*mean*(1-p)) + 1
	lo = int(math.Max(0, math.Floor(mean-t)))
	hi = int(math.Min(float64(n), math.Ceil(mean+t)))
	return lo, hi
}

// mode returns the most likely count of Bin(n, p).
func mode(n int, p float64) int {
	return min(n, int(float64(n+1)*p))
}

// mass fills w with numbers proportional to the Bin(n, p) probabilities of
// lo..lo+len(w)-1, which must contain the mode m; the mode has weight 1. They
// come from the ratio of neighbours, so that no logarithm of a factorial of n
// is ever cancelled against another: the relative error after k steps is below
// 4k ulp.
func mass(w []float64, n, lo, m int, p float64) {
	q := 1 - p
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
}

// tails returns P(Bin(n, p) < k) and P(Bin(n, p) >= k), each to a relative
// error of 1e-9 as long as it exceeds e^(21-a). 0 <= k <= n+1.
func tails(k, n int, p, a float64) (below, above float64) {
	lo, hi := window(n, p, a)
	if k <= lo {
		return 0, 1
	}
	if k > hi {
		return 1, 0
	}
	w := make([]float64, hi-lo+1)
	mass(w, n, lo, mode(n, p), p)
	// Small terms first, on both sides.
	for _, v := range w[:k-lo] {
		below += v
	}
	for j := len(w) - 1; j >= k-lo; j-- {
		above += w[j]
	}
	return below / (below + above), above / (below + above)
}
