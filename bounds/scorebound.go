package bounds

import "math"

// ScoreEpsilon returns a lower confidence bound on
// log((E f(X) - delta)/E f(Y)), hence on epsilon at this delta, for a score f in
// [0, 1] by bin. It exceeds that with probability at most beta at every sample
// size, if the outputs are independent and f and lambda were fixed before they
// were drawn ([TuneScoreEpsilon]). Errs downwards; rounded down to six decimals,
// -Inf if nothing can be said. Theorem: see wager and Waudby-Smith and Ramdas,
// JRSS B 86 (2024), on betting.
//
// Cost: 30 passes over the cells that are not empty. It panics on arguments out
// of range; lambda must lie in (0, inf).
func ScoreEpsilon(t Table, f []float64, delta, beta, lambda float64) float64 {
	mustBeScore(t, f, delta, beta)
	mustBeStake(lambda)
	hi := math.Log(math.Max(1/lambda-delta, math.SmallestNonzeroFloat64))
	if top := largest(f); top > 0 {
		hi -= math.Log(top)
	}
	w := scoreWager(f, delta)
	eps, ok := w.lower(t.cells(), lambda, goal(beta, t.Pairs()), lowestEpsilon, math.Max(lowestEpsilon, hi), 1e-7)
	if !ok {
		return math.Inf(-1)
	}
	return RoundDown(eps)
}

// ScoreDelta returns a lower confidence bound on E f(X) - e^eps E f(Y), which is
// at most the hockey-stick divergence at e^eps, hence on the delta for which
// (eps, delta) can hold. Exceeds it with probability at most beta; conditions,
// theorem and cost as for [ScoreEpsilon], lambda from [TuneScoreDelta]. Rounded
// down, at least 0.
func ScoreDelta(t Table, f []float64, eps, beta, lambda float64) float64 {
	mustBeScore(t, f, 0, beta)
	mustBeStake(lambda)
	mustBeFinite(eps)
	delta, ok := deltaWager(f, eps).lower(t.cells(), lambda, goal(beta, t.Pairs()), 0, 1, 1e-9)
	if !ok {
		return 0
	}
	return math.Max(0, RoundDown(delta))
}

// TuneScoreEpsilon returns the stake for [ScoreEpsilon] on n pairs that would
// give the best bound if certification repeated the exploration marginals. It
// never sees the certification pairs. Tries some 80 stakes; a few tens of
// milliseconds.
func TuneScoreEpsilon(explore Table, f []float64, n int, delta, beta float64) float64 {
	mustBeScore(explore, f, delta, beta)
	return tuneScore(explore, f, n, beta, scoreWager(f, delta), math.Log(1e-6), 20)
}

// TuneScoreDelta is [TuneScoreEpsilon] for [ScoreDelta].
func TuneScoreDelta(explore Table, f []float64, n int, eps, beta float64) float64 {
	mustBeScore(explore, f, 0, beta)
	mustBeFinite(eps)
	return tuneScore(explore, f, n, beta, deltaWager(f, eps), 0, 1)
}

func tuneScore(explore Table, f []float64, n int, beta float64, w *wager, lo, hi float64) float64 {
	refuse(n < 1, "n must be positive")
	cells := poolMarginals(explore, w)
	rate := math.Log(1/beta) / float64(n)
	best, value := math.NaN(), math.Inf(-1)
	try := func(lambda float64) {
		if v, ok := w.lower(cells, lambda, rate, lo, hi, 1e-5*(hi-lo)); ok && v > value {
			best, value = lambda, v
		}
	}
	for i := range 60 {
		try(math.Pow(10, -7+9*float64(i)/59))
	}
	if math.IsNaN(best) {
		// Nothing would be certified: near the normal approximation, and such
		// that the first hypothesis can be rejected at all.
		_, v, c := w.at(math.Max(lo, 0))
		return math.Min(math.Sqrt(2*rate), 0.5/(v*math.Max(w.top, 1e-9)+c))
	}
	middle := best
	for i := range 21 {
		try(middle * math.Pow(10, (float64(i)-10)/10*9/59))
	}
	return best
}

func mustBeScore(t Table, f []float64, delta, beta float64) {
	mustBeTable(t, f)
	for _, v := range f {
		refuse(!(v >= 0 && v <= 1), "score outside [0, 1]")
	}
	refuse(CheckDelta(delta) != nil || CheckBeta(beta) != nil, "delta or beta out of range")
}

func mustBeStake(lambda float64) {
	refuse(!(lambda > 0 && !math.IsInf(lambda, 1)), "the stake must be positive and finite")
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

// scoreWager is f(X) - th f(Y) - delta as a family in log th.
func scoreWager(f []float64, delta float64) *wager {
	return newWager(f, f, func(eps float64) (u, v, c float64) { return 1, math.Exp(eps), delta })
}

// deltaWager is the same as a family in delta.
func deltaWager(f []float64, eps float64) *wager {
	th := math.Exp(eps)
	return newWager(f, f, func(delta float64) (u, v, c float64) { return 1, th, delta })
}

// logWealth returns log E(theta), -Inf where E is 0.
func (w *wager) logWealth(cells []tableCell, theta, lambda float64) float64 {
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
		return w.logWealth(cells, theta, lambda) >= goal
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
