package bounds

import "math"

func mustBeClaim(eps, delta float64) {
	refuse(!(eps >= 0) || math.IsInf(eps, 1) || CheckDelta(delta) != nil, "a claim needs a finite epsilon >= 0 and a delta in [0, 1)")
}

func mustBeFinite(eps float64) { refuse(CheckEpsilon(eps) != nil, "epsilon is not finite") }

// wager is a family of paired statistics on the bins of a table,
//
//	W(theta) = u a[X] - v b[Y] - c  with (u, v, c) = at(theta),
//
// a, b, u, v, c >= 0, u falling and v, c growing with theta (weakly), such that
// E W(theta) <= 0 whenever theta is at or above the true value. For a stake
// lambda > 0 fixed before the pairs are seen let
//
//	E(theta) = prod (1 + lambda W_i(theta)) if lambda (v max b + c) < 1, else 0.
//
// Every factor is non-negative with mean at most 1, so E at the true value
// reaches 1/beta with probability at most beta (Markov), at any time in a
// sequence of pairs (Ville). Every factor, and so E, falls with theta, lambda
// being the same for all: the theta with E >= 1/beta form an interval from the
// left, and its end exceeds the true value only if E does so there.
type wager struct {
	a, b []float64 // values by bin, of the first and of the second output
	top  float64   // largest of b
	at   func(theta float64) (u, v, c float64)
}

func newWager(a, b []float64, at func(theta float64) (u, v, c float64)) *wager {
	return &wager{a: a, b: b, top: largest(b), at: at}
}

// logEValue returns log E(theta), -Inf where E is 0.
func (w *wager) logEValue(cells []tableCell, theta, lambda float64) float64 {
	u, v, c := w.at(theta)
	if !(lambda*(v*w.top+c) < 1-1e-9) {
		return math.Inf(-1)
	}
	up, down, shift := lambda*u, lambda*v, lambda*c
	sum := 0.0
	for _, k := range cells {
		sum += k.n * math.Log1p(up*w.a[k.a]-down*w.b[k.b]-shift)
	}
	return sum
}

// goal is the log wealth that rejects, with a margin for the rounding of a sum
// over n pairs, whose logarithms are at most 40 each.
func goal(beta float64, n int) float64 { return math.Log(1/beta) + 1e-9 + 1e-14*float64(n) }

// lower bisects for the end of the interval of theta whose wealth is at least
// goal, to within tol, from its inside; ok = false if lo is not in it.
func (w *wager) lower(cells []tableCell, lambda, goal, lo, hi, tol float64) (theta float64, ok bool) {
	return bisect(lo, hi, tol, func(theta float64) bool {
		return w.logEValue(cells, theta, lambda) >= goal
	})
}

// bisect returns a point in [lo, hi] where in holds, within tol of the end of
// the interval on which it does; ok = false if it fails at lo.
func bisect(lo, hi, tol float64, in func(float64) bool) (at float64, ok bool) {
	if !in(lo) {
		return lo, false
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
	return lo, true
}

// pValue is min(1, 1/E): under the null hypothesis at most b with probability at
// most b.
func pValue(logWealth float64, n int) float64 {
	return math.Min(1, math.Exp(-(logWealth - 1e-9 - 1e-14*float64(n))))
}

func largest(v []float64) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = math.Max(top, x)
	}
	return top
}

func smallest(v []float64) float64 {
	low := math.Inf(1)
	for _, x := range v {
		low = math.Min(low, x)
	}
	return low
}

// logMean returns log of the mean of exp(v).
func logMean(v []float64) float64 {
	top := largest(v)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		if x > top-50 {
			sum += math.Exp(x - top)
		}
	}
	return top + math.Log(sum/float64(len(v)))
}
