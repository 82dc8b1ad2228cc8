package bounds

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"gonum.org/v1/gonum/mathext"
)

// TradeoffPoint is one rejection region of the test of the second dataset (null) against the first:
// the estimates of both errors and a rectangle that holds the true pair.
type TradeoffPoint struct {
	FPR      float64 `json:"fpr"` // share of the second dataset's outputs in the region
	FPRLower float64 `json:"fprLower"`
	FPRUpper float64 `json:"fprUpper"`
	FNR      float64 `json:"fnr"` // share of the first dataset's outputs outside it
	FNRLower float64 `json:"fnrLower"`
	FNRUpper float64 `json:"fnrUpper"`
}

// TradeoffBand is the empirical trade-off curve of a score whose bins are taken into the rejection
// region in the given order: Bins+1 points. All rectangles together hold their true points with
// probability at least 1 - beta, if the outputs are independent and bins and order were fixed
// beforehand. So every (FPRUpper, FNRUpper) lies on or above the mechanism's trade-off function: a
// claimed f with f(FPRUpper) > FNRUpper is refuted.
//
// Half of beta goes to the Dvoretzky-Kiefer-Wolfowitz bands of both marginals with Massart's
// constant (1990), better in the middle, half to Clopper-Pearson limits of every point by the union
// bound, better in the tails; each limit is the better one, then made monotone.
func TradeoffBand(t Table, order []int, beta float64) []TradeoffPoint {
	Must(t.Validate(), CheckBeta(beta))
	bins := audit.Listed(t.Bins, func(i int) int { return i })
	Refuse(!slices.Equal(slices.Sorted(slices.Values(order)), bins), "an order names every bin once")
	n := t.Pairs()
	fpr := cumulativeBand(t.Second(), order, n, beta/2)
	tpr := cumulativeBand(t.First(), order, n, beta/2)
	points := make([]TradeoffPoint, t.Bins+1)
	for i := range points {
		points[i] = TradeoffPoint{
			FPR: fpr[i].value, FPRLower: fpr[i].low, FPRUpper: fpr[i].high,
			FNR: 1 - tpr[i].value, FNRLower: 1 - tpr[i].high, FNRUpper: 1 - tpr[i].low,
		}
	}
	return points
}

type limited struct{ value, low, high float64 }

func cumulativeBand(counts, order []int, n int, beta float64) []limited {
	band := make([]limited, len(order)+1)
	band[len(order)] = limited{1, 1, 1}
	// P(sup |F_n - F| > d) <= 2 exp(-2 n d^2) = beta/2.
	width := math.Sqrt(math.Log(4/beta)/(2*float64(n))) + 1e-12
	each := beta / 4 / max(1, float64(len(order)-1))
	k := 0
	for i := 1; i < len(order); i++ {
		k += counts[order[i-1]]
		v := float64(k) / float64(n)
		band[i] = limited{
			value: v,
			low:   max(band[i-1].low, max(v-width, LowerProportion(k, n, each))),
			high:  min(v+width, UpperProportion(k, n, each)),
		}
	}
	for i := len(order) - 1; i > 0; i-- {
		band[i].high = min(band[i].high, band[i+1].high)
	}
	return band
}

// GaussianMu is a lower confidence bound on the mu of GDP, from the lower Clopper-Pearson limit of
// p1 and the upper one of p0, each at beta/2. As at [ExactMu], this refutes every smaller mu of any
// mechanism. [GaussianEpsilon] of it bounds epsilon only if the mechanism's trade-off is known to
// be Gaussian (Nasr et al. 2023).
func GaussianMu(c Counts, beta float64) float64 {
	mustBeSound(c, 0, beta)
	p1, p0 := LowerProportion(c.X, c.N1, beta/2), UpperProportion(c.Y, c.N0, beta/2)
	if p1 <= p0 {
		return 0
	}
	return max(0, RoundDown(mathext.NormalQuantile(p1)-mathext.NormalQuantile(p0)))
}

// GaussianDelta is the delta of a mu-GDP mechanism at eps, both at least 0 and finite: Phi(-eps/mu
// + mu/2) - e^eps Phi(-eps/mu - mu/2) (Balle and Wang 2018; Dong, Roth and Su, corollary 2.13).
func GaussianDelta(mu, eps float64) float64 {
	Refuse(!(mu >= 0 && eps >= 0) || mu+eps == inf, "mu and epsilon must be at least 0 and finite")
	if mu == 0 {
		return 0
	}
	// e^eps phi(x2) = phi(x1), so the second term is phi(x1) M(x2) with the Mills ratio M: nothing
	// overflows, and what is small keeps its digits.
	x1, x2 := eps/mu-mu/2, eps/mu+mu/2
	density := math.Exp(-x1*x1/2) / math.Sqrt(2*math.Pi)
	if x1 > 5 {
		return max(0, density*(mills(x1)-mills(x2)))
	}
	return max(0, normalCDF(-x1)-density*mills(x2))
}

// mills is the Mills ratio (1 - Phi(x))/phi(x) of x > 0: by erfc where that has its digits, beyond
// by its continued fraction (Abramowitz and Stegun 26.2.14).
func mills(x float64) float64 {
	if x < 10 {
		return normalCDF(-x) * math.Sqrt(2*math.Pi) * math.Exp(x*x/2)
	}
	f := x
	for k := 40; k >= 1; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

// GaussianEpsilon is the smallest eps >= 0 with GaussianDelta(mu, eps) <= delta. +Inf at delta = 0
// and mu > 0.
func GaussianEpsilon(mu, delta float64) float64 {
	Must(CheckDelta(delta))
	if GaussianDelta(mu, 0) <= delta {
		return 0
	}
	if delta == 0 {
		return inf
	}
	// Phi(mu/2 - eps/mu) <= delta suffices.
	hi := max(0, mu*(mu/2+upperNormal(delta))) + 1
	return Largest(0, hi, 1e-9, func(eps float64) bool { return GaussianDelta(mu, eps) > delta })
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// GaussianMuFromDelta is the mu with GaussianDelta(mu, eps) = delta < 1: a lower bound on the mu of
// GDP from one on the hockey-stick divergence at an eps fixed beforehand.
func GaussianMuFromDelta(delta, eps float64) float64 {
	Refuse(!(eps >= 0 && delta < 1) || eps == inf, "epsilon or delta out of range")
	if delta <= 0 {
		return 0
	}
	return Largest(0, 2*(math.Sqrt(2*eps)+40), 1e-9, func(mu float64) bool { return GaussianDelta(mu, eps) < delta })
}

// upperNormal is what a standard normal variable exceeds with probability beta.
func upperNormal(beta float64) float64 { return -mathext.NormalQuantile(beta) }
