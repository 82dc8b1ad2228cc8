package accounting

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// stepwise are sums over the steps of a composition: of eps and of delta, its own by basic
// composition (Dwork and Roth 2014, theorem 3.16), of the square of eps, and of eps (e^eps - 1),
// which a step loses in the mean at most.
type stepwise struct{ eps, squares, mean, delta float64 }

func (s *stepwise) add(eps, delta float64, k int) {
	mustCompose(eps, delta, k)
	n := float64(k)
	s.eps, s.squares, s.mean, s.delta = s.eps+n*eps, s.squares+n*eps*eps, s.mean+n*eps*math.Expm1(eps), s.delta+n*delta
}

// advanced is the epsilon at total in (0, 1) by the classical theorem: sqrt(2 squares log(1/s)) +
// mean at slack s = total - delta (Dwork, Rothblum and Vadhan 2010, theorem III.3, for steps that
// differ by Azuma's inequality).
func (s stepwise) advanced(total float64) float64 {
	if total <= s.delta {
		return inf
	}
	return math.Sqrt(-2*s.squares*math.Log(total-s.delta)) + s.mean
}

// OptimalDelta is the least delta of k mechanisms, each (eps, delta), at total epsilon at: no
// better one holds for all (Kairouz, Oh and Viswanath 2015, theorem 3.3). The worst is k times the
// response that fails with probability delta and is randomised response at eps otherwise, so with B
// ~ Bin(k, 1/(1+e^eps))
//
//	1 - (1-delta)^k (1 - E max(0, 1 - e^(at - (k-2B) eps))).
//
// Cost O(sqrt k).
func OptimalDelta(eps, delta float64, k int, at float64) float64 {
	mustBeEpsilon(at)
	_, of := optimal(eps, delta, k)
	return of(at)
}

// OptimalEpsilon is the inverse of [OptimalDelta] at total in (0, 1), to 1e-12 relative and never
// below it.
func OptimalEpsilon(eps, delta float64, k int, total float64) float64 {
	mustBeDelta(total)
	fail, of := optimal(eps, delta, k)
	if fail > total {
		return inf
	}
	return least(0, float64(k)*eps, func(at float64) bool { return of(at) <= total })
}

// optimal is the probability that one of k responses fails, and [OptimalDelta].
func optimal(eps, delta float64, k int) (fail float64, of func(at float64) float64) {
	mustCompose(eps, delta, k)
	fail = -math.Expm1(float64(k) * math.Log1p(-delta))
	flips, first, total := bounds.WrongGuesses(k, eps)
	return fail, func(at float64) float64 {
		sum := 0.0
		for j, w := range flips {
			gap := float64(k-2*(first+j))*eps - at // of the loss
			if gap <= 0 {
				break
			}
			sum += w * -math.Expm1(-gap)
		}
		return min(1, fail+(1-fail)*min(1, sum/total))
	}
}

// least is the least x of [lo, hi] from which on it holds, to the last bits; hi if nowhere below.
func least(lo, hi float64, holds func(float64) bool) float64 {
	_, x := bounds.Bisect(lo, hi, 0, func(x float64) bool { return !holds(x) })
	return x
}

// PublishedAdvancedEpsilon is by Mironov 2017, corollary 1: loose, and proven where log(1/delta) >=
// k eps^2 only.
func PublishedAdvancedEpsilon(eps float64, k int, delta float64) float64 {
	mustCompose(eps, 0, k)
	mustBeDelta(delta)
	n, l := float64(k), -math.Log(delta)
	if l < n*eps*eps {
		return inf
	}
	return 4 * eps * math.Sqrt(2*n*l)
}

func mustCompose(eps, delta float64, k int) {
	mustBeEpsilon(eps)
	bounds.Must(bounds.CheckDelta(delta))
	bounds.Refuse(k < 1 || k > MaxSteps, "steps out of range")
}

// GaussianDelta is the exact delta at eps of noise N(0, sigma^2) on a value of this L2 sensitivity
// (Balle and Wang 2018, theorem 8). k of them are one of sqrt(k) times the sensitivity.
func GaussianDelta(sigma, sensitivity, eps float64) float64 {
	mustBeNoise(sigma, sensitivity)
	mustBeEpsilon(eps)
	return min(1, bounds.GaussianDelta(sensitivity/sigma, eps))
}

// GaussianEpsilon is the least eps >= 0 at which [GaussianDelta] is at most delta, from above, to
// 1e-12 relative.
func GaussianEpsilon(sigma, sensitivity, delta float64) float64 {
	mustBeNoise(sigma, sensitivity)
	mustBeDelta(delta)
	holds := func(eps float64) bool { return GaussianDelta(sigma, sensitivity, eps) <= delta }
	return least(0, BestEpsilon(Gaussian{sigma, sensitivity}, delta, Tight).Epsilon*(1+1e-9), holds)
}

// GaussianSigma is the least sigma that is (eps, delta) private at this sensitivity (Balle and Wang
// 2018, algorithm 1), from above, to 1e-12 relative.
func GaussianSigma(eps, delta, sensitivity float64) float64 {
	mustBeEpsilon(eps)
	mustBeDelta(delta)
	mustBeNoise(1, sensitivity)
	holds := func(ratio float64) bool { return bounds.GaussianDelta(1/ratio, eps) <= delta }
	hi := 1.0
	for !holds(hi) {
		hi *= 2
	}
	for hi > 1e-150 && holds(hi/2) {
		hi /= 2
	}
	return sensitivity * least(hi/2, hi, holds)
}

func mustBeNoise(sigma, sensitivity float64) {
	ratio := sensitivity / sigma
	in := sigma > 0 && sensitivity > 0 && ratio > 0 && ratio != inf
	bounds.Refuse(!in, "sigma and sensitivity must be above 0 and finite")
}
