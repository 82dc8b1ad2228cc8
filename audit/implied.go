package audit

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

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
	if !(eps >= 0 && alpha > 1) || math.IsInf(eps, 1) || math.IsInf(alpha, 1) {
		panic("audit: RandomisedResponseRenyi needs a finite epsilon of at least 0 and a finite alpha above 1")
	}
	up := (alpha - 1) * eps
	rest := -math.Expm1(-alpha*eps) / (1 + math.Exp(-eps))
	if up > 500 {
		return eps + math.Log(rest)/(alpha-1)
	}
	return math.Log1p(math.Expm1(up)*rest) / (alpha - 1)
}

// GaussianMuOfPure returns the smallest mu such that every eps-DP mechanism is
// mu-GDP, 2 Phi^-1(1/(1 + e^-eps)). The trade-off curve of randomised response
// has its corner where both errors are 1/(1 + e^eps), and a Gaussian curve
// through that corner is convex, so it lies below the straight lines from there.
// It panics unless eps >= 0 and finite.
func GaussianMuOfPure(eps float64) float64 {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		panic("audit: GaussianMuOfPure needs a finite epsilon of at least 0")
	}
	// By the small probability, which keeps its digits at large eps.
	return -2 * mathext.NormalQuantile(1/(1+math.Exp(eps)))
}
