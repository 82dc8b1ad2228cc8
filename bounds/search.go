package bounds

import "github.com/dpscope/dpscope/audit/stream"

// Bisect narrows [lo, hi], where in holds up to some point and not beyond, until its ends
// are within tol or next to each other: last is where in holds, first where it does not,
// or hi. Both are lo if it fails there. What is certified takes the end that is safe.
func Bisect(lo, hi, tol float64, in func(float64) bool) (last, first float64) {
	if !in(lo) {
		return lo, lo
	}
	for hi-lo > tol {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if in(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// Golden looks for the least value between two places by golden sections, until they are
// this near to each other, and returns their middle.
func Golden(lo, hi, near float64, value func(x float64) float64) float64 {
	const ratio = 0.6180339887498949
	x1, x2 := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	v1, v2 := value(x1), value(x2)
	for range 100 {
		if hi-lo <= near {
			break
		}
		if v1 <= v2 {
			hi, x2, v2 = x2, x1, v1
			x1 = hi - ratio*(hi-lo)
			v1 = value(x1)
		} else {
			lo, x1, v1 = x1, x2, v2
			x2 = lo + ratio*(hi-lo)
			v2 = value(x2)
		}
	}
	return (lo + hi) / 2
}

// leastShare is the least q with kl(p, q) <= level, from below, 0 <= p <= 1, for the
// Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q): the far end of
// Hoeffding's and Chernoff's bounds (Hoeffding 1963, theorem 1).
func leastShare(p, level float64) float64 {
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return float64(a * stream.Log(a/b))
	}
	q, _ := Bisect(0, p, 0, func(q float64) bool { return part(p, q)+part(1-p, 1-q) > level })
	return q
}
