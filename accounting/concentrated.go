package accounting

import "math"

// ConcentratedEpsilon returns rho + 2 sqrt(rho log(1/delta)), the epsilon that
// rho-zCDP gives at delta by its own theorem (Bun and Steinke 2016, proposition
// 1.3). [BestEpsilon] of [Concentrated] is never above it. It panics unless rho
// is at least 0 and finite and delta in (0, 1).
func ConcentratedEpsilon(rho, delta float64) float64 {
	mustBeEpsilon(rho)
	mustBeDelta(delta)
	return rho + 2*math.Sqrt(rho*-math.Log(delta))
}

// PureRho returns eps^2/2, the rho of the zero-concentrated privacy that every
// eps differentially private mechanism has (Bun and Steinke 2016, proposition
// 1.4). Mechanisms compose to the sum of their rho (lemma 1.7). It panics unless
// eps is at least 0 and finite.
func PureRho(eps float64) float64 {
	mustBeEpsilon(eps)
	return eps * eps / 2
}
