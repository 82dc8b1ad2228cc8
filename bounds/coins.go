package bounds

import "math"

// CoinDelta is the delta to give to all that bounds epsilon from a [CanaryTable]
// whose runs are by coins: a fair coin of its own decided of each of K canaries, in
// every run, whether it was in the data, and a cell counts the runs in which X of the
// K canaries were in and in the event and Y of them were out and in the event, so
// that the table has M = K. No run is left out, whatever its coins.
//
// Under (eps, delta)-DP of adding or removing one record
//
//	E X/K <= e^eps E Y/K + delta/2,
//
// which is what the bounds take of p1, p0 and CoinDelta(delta). Proof: let A_k be
// the event that canary k's score is above the threshold, and in_k its coin. Given
// all other coins, the datasets with in_k = 1 and in_k = 0 differ by one record, so
// P(A_k | in_k = 1, others) <= e^eps P(A_k | in_k = 0, others) + delta. The coin is
// independent of the others, which have one law in both cases; the mean over them
// keeps the inequality, and P(in_k = 1) = P(in_k = 0) = 1/2 gives
// P(A_k, in_k = 1) <= e^eps P(A_k, in_k = 0) + delta/2. The mean over k is the claim.
// X/K and Y/K are numbers in [0, 1], and runs are independent.
//
// The number of canaries that were in must stay as random as the coins left it. To
// take only runs with a given number in, or K canaries of those in and M of those
// out, conditions on the sum of the coins: another canary is then out where this one
// is in, and what is compared are datasets in which one record is replaced by
// another, whose epsilon may be twice that of adding or removing. A mechanism that is
// (1, 0)-DP is so refuted at epsilon 1 (the sum of the signed canaries with Laplace
// noise; see the tests).
func CoinDelta(delta float64) float64 { return delta / 2 }

// CoinCeiling is the largest bound that n runs by coins could give, if in of their n K
// memberships were in: all canaries that were in are in the event in every run, and
// none that was out is. It is the bound for memberships spread over the runs as
// evenly as they can be, and no spread gives more: for paired betting with the best
// stakes, since the logarithm of the wealth is concave in X/K. Of betting on each side it is
// the ceiling of all in, which is higher. delta is that of the claim. It panics on arguments
// out of range.
func CoinCeiling(kind CanaryInterval, k, n, in int, delta, beta float64) float64 {
	if n < 1 || n > maxTrials || in < 0 || in > n*k {
		panic("bounds: number of runs or of canaries inside out of range")
	}
	delta = CoinDelta(delta)
	t := NewCanaryTable(k, k)
	each, more := in/n, in%n
	t.Add(each, 0, n-more)
	if more > 0 {
		t.Add(each+1, 0, more)
	}
	mustBeCanaries(t, delta, beta)
	kind.mustApply(t)
	switch kind {
	case CanaryPairedBetting:
		return t.pairedCeiling(delta, beta)
	case CanaryBetting:
		return CanaryCeiling(kind, k, k, n, delta, beta)
	}
	return CanaryEpsilon(kind, t, delta, beta, CanaryStakes{})
}

// pairedCeiling is the bound of paired betting with the best stake where no fresh
// canary is in the event: with wealth(lambda) = sum log(1 + lambda (X/K - delta)),
// which is concave, the smallest stake whose wealth is the goal bounds e^eps by
// top/lambda - delta; -Inf where none is.
func (t CanaryTable) pairedCeiling(delta, beta float64) float64 {
	aim := goal(beta, t.Runs())
	wealth := func(lambda float64) float64 {
		sum := 0.0
		for _, c := range t.Cells {
			sum += float64(c.Runs) * math.Log1p(lambda*(float64(c.X)/float64(t.K)-delta))
		}
		return sum
	}
	// By powers of two up to the first stake that reaches the goal, then by halving.
	hi := math.Ldexp(1, -40)
	for !(wealth(hi) >= aim) {
		if hi *= 2; !(topShare/hi-delta > 0) {
			return math.Inf(-1)
		}
	}
	lambda, _ := bisect(-hi, -hi/2, hi*1e-12, func(x float64) bool { return wealth(-x) >= aim })
	if th := topShare/-lambda - delta; th > 0 {
		return RoundDown(math.Log(th))
	}
	return math.Inf(-1)
}
