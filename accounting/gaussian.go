package accounting

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// GaussianDelta returns the exact delta at eps of noise N(0, sigma^2) on a value
// of L2 sensitivity sensitivity (Balle and Wang 2018, theorem 8), see
// [bounds.GaussianDelta]. k mechanisms together are one of sensitivity sqrt(k)
// times as large. It panics unless sigma and sensitivity are above 0 and eps is
// at least 0, all finite.
func GaussianDelta(sigma, sensitivity, eps float64) float64 {
	mustBeNoise(sigma, sensitivity)
	mustBeEpsilon(eps)
	return math.Min(1, bounds.GaussianDelta(sensitivity/sigma, eps))
}

// GaussianEpsilon returns the least eps >= 0 at which [GaussianDelta] is at most
// delta: from above, to 1e-12 relative. It panics on arguments out of range,
// delta in (0, 1).
func GaussianEpsilon(sigma, sensitivity, delta float64) float64 {
	mustBeNoise(sigma, sensitivity)
	mustBeDelta(delta)
	holds := func(eps float64) bool { return GaussianDelta(sigma, sensitivity, eps) <= delta }
	return least(0, BestEpsilon(Gaussian{sigma, sensitivity}, delta, Tight).Epsilon*(1+1e-9), holds)
}

// GaussianSigma returns the least sigma that is (eps, delta) differentially
// private at this sensitivity: the analytic Gaussian mechanism (Balle and Wang
// 2018, algorithm 1), from above, to 1e-12 relative. It panics unless eps is at
// least 0, delta in (0, 1) and sensitivity above 0, all finite.
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

// ClassicalGaussianSigma returns sensitivity sqrt(2 log(1.25/delta))/eps, proven
// for eps < 1 only (Dwork and Roth 2014, theorem A.1). A [audit.InputError] for
// other eps.
func ClassicalGaussianSigma(eps, delta, sensitivity float64) (float64, error) {
	mustBeDelta(delta)
	mustBeNoise(1, sensitivity)
	if !(eps > 0 && eps < 1) {
		return 0, fault("epsilon", number(eps), "above 0 and below 1", "the classical formula is proven there only; use the analytic one")
	}
	return sensitivity * math.Sqrt(2*math.Log(1.25/delta)) / eps, nil
}

func mustBeNoise(sigma, sensitivity float64) {
	if ratio := sensitivity / sigma; !(sigma > 0 && sensitivity > 0 && ratio > 0) || math.IsInf(ratio, 1) {
		panic("accounting: sigma and sensitivity must be above 0 and finite")
	}
}
