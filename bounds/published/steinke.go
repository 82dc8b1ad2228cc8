package published

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// SteinkePValue returns the published p-value of the claim (eps, delta) from a single run: each
// of m canaries was put into the data or left out by a fair coin of its own, the
// auditor saw the output and guessed r of the coins, v of the guesses are right
// (Steinke, Nasr and Jagielski 2023, theorem 5.2 and its algorithm), of which
// [bounds.OneRunPValue] is a tighter form:
//
//	p = b_0 + 2 m delta max over 1 <= i <= v of (b_i - b_0)/i,
//	b_i = P(Bin(r, q) >= v - i), q = 1/(1 + e^-eps).
//
// Under the claim at most b with probability at most b, for every b, whatever the
// canaries do to each other; which coins are guessed may depend on the
// output, but not on the coins; so may r at delta = 0, while at delta > 0 it is to
// be fixed before. At delta = 0 it is the exact binomial tail. Right
// to a relative 1e-9 down to 1e-290. Cost O(sqrt r). It panics unless eps >= 0 and
// finite and the rest is in range, see [bounds.CheckOneRun].
func SteinkePValue(m, r, v int, eps, delta float64) float64 {
	must(bounds.CheckOneRun(m, r, v), bounds.CheckDelta(delta), bounds.CheckEpsilon(eps), notBelow(eps, 0))
	wrong := r - v
	w, lo, total := bounds.WrongGuesses(r, eps)
	hi := lo + len(w) - 1
	tail := 0.0
	for k := lo; k <= min(hi, wrong); k++ {
		tail += w[k-lo]
	}
	steepest, sum := 0.0, 0.0
	if delta > 0 {
		for k := max(lo, wrong+1); k <= hi; k++ {
			sum += w[k-lo]
			steepest = math.Max(steepest, sum/float64(k-wrong))
		}
	}
	p := (tail + 2*float64(m)*delta*steepest) / total
	return math.Min(1, p*(1+1e-9))
}

// SteinkeEpsilon returns the published lower confidence bound on epsilon at delta from a single
// run: the largest eps whose [SteinkePValue] is at most beta, rounded down to six
// decimals; 0 if there is none. It exceeds the true epsilon with probability at
// most beta. beta above .2 is taken as .2.
//
// Proof. It suffices that the p-value stays above beta beyond the first eps where
// it is, so that a bound above the true eps* means p(eps*) <= beta. It is the
// maximum over i of p_i = b_0 + c S_i/i, S_i = P(v-i <= Bin < v), and with g the
// masses of Bin(r-1, q), dS_i/dq = r (g(v-i-1) - g(v-1)). Let i attain the maximum.
// If i = 1 and v >= rq+1 this is not negative, v-1 being at or beyond the mode; if
// v < rq+1 then b_0 >= P(Bin > rq) >= 1/4 (Greenberg and Mohri 2014). If i >= 2
// and L = g(v-i-1) < R = g(v-1): for q >= 1/2 the masses rise more slowly than they
// fall, so g >= min(g(v-i), R) between, and if g(v-i) > R even g >= g(v-i) up to
// v-2; either way the last term of S_i, q L + (1-q) g(v-i), lies below the mean
// S_i/i of its terms, and i - 1 would do better. So where p <= beta < 1/4 it does
// not fall, and where b_0 >= 1/4 it is at least that.
//
// Cost: 40 p-values. It panics on arguments out of range.
func SteinkeEpsilon(m, r, v int, delta, beta float64) float64 {
	must(bounds.CheckOneRun(m, r, v), bounds.CheckDelta(delta), bounds.CheckBeta(beta))
	beta = math.Min(beta, 0.2)
	refutes := func(eps float64) bool { return SteinkePValue(m, r, v, eps, delta) <= beta }
	if !refutes(0) {
		return 0
	}
	lo, hi := 0.0, 60.0
	for hi-lo > 1e-9 {
		if mid := lo + (hi-lo)/2; refutes(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Max(0, bounds.RoundDown(lo))
}
