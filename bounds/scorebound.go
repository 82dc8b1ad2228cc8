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
	if n < 1 {
		panic("bounds: n must be positive")
	}
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
		if !(v >= 0 && v <= 1) {
			panic("bounds: score outside [0, 1]")
		}
	}
	if CheckDelta(delta) != nil || CheckBeta(beta) != nil {
		panic("bounds: delta or beta out of range")
	}
}

func mustBeStake(lambda float64) {
	if !(lambda > 0 && !math.IsInf(lambda, 1)) {
		panic("bounds: the stake must be positive and finite")
	}
}

func mustBeFinite(eps float64) {
	if CheckEpsilon(eps) != nil {
		panic("bounds: epsilon is not finite")
	}
}
