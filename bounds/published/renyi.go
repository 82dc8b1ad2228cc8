package published

import (
	"errors"
	"math"
	"slices"

	"github.com/dpscope/dpscope/bounds"
)

const (
	// MethodRenyiPublished is [Renyi]; it certifies nothing.
	MethodRenyiPublished bounds.Method = "published-renyi"
	// MethodRenyiCorrected is [CorrectedRenyi].
	MethodRenyiCorrected bounds.Method = "renyi-corrected-theorem"
)

// CorrectedRenyi is the theorem that theorem 4.3 of DP-Auditorium should have
// been: if osc = max h - min h, 0 < eta1 <= 1, 0 < eta2 < 1,
//
//	n >= 3 e^((alpha-1) osc) log(2/beta)/eta1^2  and
//	n >= 2 e^(alpha osc) log(2/beta)/eta2^2,
//
// then with probability at least 1 - beta
//
//	D_alpha(P||Q) >= R^{h,n} - k log(1 + eta1) - log(1/(1 - eta2)),
//
// by the multiplicative Chernoff bounds of Z1/max Z1 and Z2/max Z2, whose means
// are at least e^(-(alpha-1) osc) and e^(-alpha osc). It returns this bound with
// the smallest eta for the n of the table, 0 if they are too large; rounded
// down. Valid at every sample size if bins and h were fixed beforehand, and far
// looser than [bounds.Renyi]. It panics on arguments out of range.
func CorrectedRenyi(t bounds.Table, h []float64, alpha, beta float64) float64 {
	must(checkWitness(t, h), bounds.CheckRenyiWitness(h, alpha), bounds.CheckBeta(beta))
	osc := slices.Max(h) - slices.Min(h)
	scale := math.Log(2/beta) / float64(t.Pairs())
	eta1 := math.Sqrt(3 * math.Exp((alpha-1)*osc) * scale)
	eta2 := math.Sqrt(2 * math.Exp(alpha*osc) * scale)
	if !(eta1 <= 1 && eta2 < 1) {
		return 0
	}
	v := bounds.RenyiEstimate(t, h, alpha) - alpha/(alpha-1)*math.Log1p(eta1) + math.Log1p(-eta2)
	return math.Max(0, bounds.RoundDown(v))
}

// Renyi is the bound of DP-Auditorium's theorem 4.3 and corollary 4.4 as
// printed: R^{h,n} - log((1+eta)/(1-eta)), eta from (9) with C = max |h|; -Inf
// if eta is not below 1. For comparison, never to certify. What is wrong: the
// ratio of range and mean of exp(alpha h) can be e^(2 alpha C), not e^(alpha C);
// the factor alpha/(alpha-1) before log(1+eta) is missing; eta = 1 is allowed
// where the term is infinite. On a pair of two-point distributions it exceeds
// D_alpha with probability .92 at beta = .05 ([CorrectedRenyi] mends it).
func Renyi(t bounds.Table, h []float64, alpha, beta float64) float64 {
	must(checkWitness(t, h), bounds.CheckRenyiWitness(h, alpha), bounds.CheckBeta(beta))
	c := math.Max(slices.Max(h), -slices.Min(h))
	eta := RenyiEta(alpha, c, t.Pairs(), beta)
	if eta >= 1 {
		return math.Inf(-1)
	}
	return bounds.RenyiEstimate(t, h, alpha) - math.Log((1+eta)/(1-eta))
}

// RenyiEta is (9) of DP-Auditorium, see [Renyi].
func RenyiEta(alpha, c float64, n int, beta float64) float64 {
	return math.Sqrt(math.Max(3*math.Exp(2*(alpha-1)*c), 2*math.Exp(alpha*c)) * math.Log(2/beta) / float64(n))
}

// RenyiSamples gives the figures of table 1 of RenyiTester, which does
// not say how it has them: 3 e^(2(alpha-1)C) log(2/beta)/eta^2 with C = 16 epsilon,
// its own, and beta = 1/3 and eta = .00348 (epsilon = .01) or .0086 (epsilon =
// .1), fitted here. It is the first of two terms of its theorem; the second, for
// the outputs of the second dataset, is the larger one
// ([CorrectedRenyiSamples]).
func RenyiSamples(alpha, c, eta, beta float64) float64 {
	return 3 * math.Exp(2*(alpha-1)*c) * math.Log(2/beta) / (eta * eta)
}

// CorrectedRenyiSamples is the number of pairs that [CorrectedRenyi] needs for
// |h| <= c and eta1 = eta2 = eta.
func CorrectedRenyiSamples(alpha, c, eta, beta float64) float64 {
	return math.Max(3*math.Exp(2*(alpha-1)*c), 2*math.Exp(2*alpha*c)) * math.Log(2/beta) / (eta * eta)
}

// PureThreshold is min(eps, 2 alpha eps^2), the threshold of lemma 4.6
// of DP-Auditorium and lemma 2.5 of RenyiTester. Valid, but up to four times the
// exact one, so that violations in between go unseen: at alpha = 1.5, eps = .1 it
// is .03 against .0075.
func PureThreshold(eps, alpha float64) float64 {
	must(bounds.CheckEpsilon(eps), notBelow(eps, 0), bounds.CheckAlpha(alpha))
	return math.Min(eps, 2*alpha*eps*eps)
}

func checkWitness(t bounds.Table, h []float64) error {
	if len(h) != t.Bins {
		return errors.New("a witness needs one value for each bin")
	}
	return t.Validate()
}
