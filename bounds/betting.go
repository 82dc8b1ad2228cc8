package bounds

import "math"

// PairedBetting returns a lower confidence bound on epsilon from scores in
// [0, 1]: x[i] is the witness on an output of the first dataset, y[i] on one of
// the second, all independent; the pairing is arbitrary but must not be chosen
// on the values. It bounds log((E x - delta)/E y), which (epsilon, delta)
// differential privacy keeps at or below epsilon, and exceeds it with
// probability at most beta. Rounded down to six decimals, -Inf if nothing can be
// said.
//
// lambda > 0 is the stake, fixed before the scores are seen; [TuneBet] takes it
// from exploration. For th = e^eps let W_i = x[i] - th y[i] - delta and
//
//	E(th) = prod (1 + lambda W_i) if lambda (th + delta) < 1, else 0.
//
// Validity: under H0(th), E x <= th E y + delta, every factor is non-negative
// with mean at most 1, so E(th) has mean at most 1 and reaches 1/beta with
// probability at most beta (Markov; Waudby-Smith and Ramdas 2024 for betting in
// general). lambda is the same for all th, so each factor, and with it E, is
// non-increasing in th: the th with E >= 1/beta form an interval that begins at
// 0, its upper end is the bound, and that exceeds the true th* only if
// E(th*) >= 1/beta. Errs downwards; the bound is at most log(1/lambda - delta).
//
// Cost O(n) for each of about 60 steps of the bisection. It panics on arguments
// out of range: different or zero lengths, a score outside [0, 1] or NaN, lambda
// not in (0, inf).
func PairedBetting(x, y []float64, delta, beta, lambda float64) float64 {
	mustBePairs(x, y)
	if CheckDelta(delta) != nil || CheckBeta(beta) != nil {
		panic("bounds: delta or beta out of range")
	}
	if !(lambda > 0 && !math.IsInf(lambda, 1)) {
		panic("bounds: the stake must be positive and finite")
	}
	// A product of wealthBlock factors loses less than 2 wealthBlock ulp, the
	// sum of the logarithms less than n ulp of its largest partial sum, at most
	// 40 n.
	goal := math.Log(1/beta) + 1e-9 + 1e-14*float64(len(x))
	rejects := func(eps float64) bool {
		th := math.Exp(eps)
		return lambda*(th+delta) < 1-1e-9 && logWealth(x, y, th, delta, lambda) >= goal
	}
	lo, hi := lowestEpsilon, math.Log(math.Max(1/lambda-delta, math.SmallestNonzeroFloat64))
	if !rejects(lo) {
		return math.Inf(-1)
	}
	for hi-lo > 1e-7 {
		if mid := (lo + hi) / 2; rejects(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return RoundDown(lo)
}

// lowestEpsilon is where the search begins: below it a bound is of no interest.
const lowestEpsilon = -20.0

const wealthBlock = 16

// logWealth returns the logarithm of E(th); lambda (th + delta) < 1.
func logWealth(x, y []float64, th, delta, lambda float64) float64 {
	sum := 0.0
	base, down := 1-lambda*delta, lambda*th
	for len(x) >= wealthBlock && len(y) >= wealthBlock {
		a, b := (*[wealthBlock]float64)(x), (*[wealthBlock]float64)(y)
		product := 1.0
		for i := range a {
			product *= base + lambda*a[i] - down*b[i]
		}
		sum += math.Log(product)
		x, y = x[wealthBlock:], y[wealthBlock:]
	}
	for i := range x {
		sum += math.Log(base + lambda*x[i] - down*y[i])
	}
	return sum
}

func mustBePairs(x, y []float64) {
	if len(x) != len(y) || len(x) == 0 {
		panic("bounds: scores must come in pairs, at least one")
	}
	for i := range x {
		if !(x[i] >= 0 && x[i] <= 1 && y[i] >= 0 && y[i] <= 1) {
			panic("bounds: score outside [0, 1]")
		}
	}
}
