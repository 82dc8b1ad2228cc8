package bounds

import "math"

// RandomisedResponseRenyi returns the largest D_alpha(P||Q), in nats, over all
// pairs with log ratio at most eps, that of randomised response:
//
//	log(p^alpha (1-p)^(1-alpha) + (1-p)^alpha p^(1-alpha))/(alpha-1)
//
// with p = e^eps/(1+e^eps); every such pair is a post-processing of that one
// (Kairouz, Oh and Viswanath 2017). It is the exact threshold for testing pure
// differential privacy by a Renyi divergence, at most alpha eps^2/2 and eps.
// Evaluated without cancellation as
// log(1 + (e^((alpha-1)eps)-1)(1-e^(-alpha eps))/(1+e^(-eps)))/(alpha-1).
//
// It panics unless eps >= 0 and finite and alpha > 1 and finite.
func RandomisedResponseRenyi(eps, alpha float64) float64 {
	mustBePure(eps, alpha)
	up := (alpha - 1) * eps
	rest := -math.Expm1(-alpha*eps) / (1 + math.Exp(-eps))
	if up > 500 {
		return eps + math.Log(rest)/(alpha-1)
	}
	return math.Log1p(math.Expm1(up)*rest) / (alpha - 1)
}

// EpsilonFromRenyi is the inverse of [RandomisedResponseRenyi]: a lower bound on
// the epsilon of pure differential privacy from a lower bound d on D_alpha, with
// the same confidence. Rounded down to six decimals; 0 if d <= 0. It panics if d
// is not finite or alpha not above 1 and finite.
func EpsilonFromRenyi(d, alpha float64) float64 {
	if d <= 0 {
		return 0
	}
	mustBePure(d, alpha)
	// d <= eps, and the divergence is at least eps - log(2)/(alpha-1).
	eps, _ := bisect(d, d+math.Ln2/(alpha-1)+1e-9, 1e-10, func(eps float64) bool { return RandomisedResponseRenyi(eps, alpha) <= d })
	return math.Max(0, RoundDown(eps))
}

func mustBePure(eps, alpha float64) {
	if !(eps >= 0) || math.IsInf(eps, 1) || CheckAlpha(alpha) != nil {
		panic("bounds: needs a finite value >= 0 and a finite alpha > 1")
	}
}
