package published

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/bounds"
	"gonum.org/v1/gonum/mathext"
)

const (
	// MethodRenyiPublished is [Renyi]; it certifies nothing.
	MethodRenyiPublished bounds.Method = "published-renyi"
	// MethodRenyiTester is [Renyi] of the witness of its learner; it certifies nothing.
	MethodRenyiTester bounds.Method = "published-renyitester"
	// MethodRenyiCorrected is [CorrectedRenyi].
	MethodRenyiCorrected bounds.Method = "renyi-corrected-theorem"
)

// CorrectedRenyi mends theorem 4.3 of DP-Auditorium: with probability at least 1 - beta
//
//	D_alpha(P||Q) >= R^{h,n} - k log(1 + eta1) - log(1/(1 - eta2))
//
// if osc = max h - min h, 0 < eta1 <= 1, 0 < eta2 < 1,
//
//	n >= 3 e^((alpha-1) osc) log(2/beta)/eta1^2  and
//	n >= 2 e^(alpha osc) log(2/beta)/eta2^2,
//
// by the multiplicative Chernoff bounds of Z1/max Z1 and Z2/max Z2, whose means are at least
// e^(-(alpha-1) osc) and e^(-alpha osc). The etas are the least for n; 0 if they are too large.
// Valid if bins and h were fixed beforehand.
func CorrectedRenyi(t bounds.Table, h []float64, alpha, beta float64) float64 {
	mustBeWitness(t, h, alpha, beta)
	osc := slices.Max(h) - slices.Min(h)
	scale := math.Log(2/beta) / float64(t.Pairs())
	eta1 := math.Sqrt(3 * math.Exp((alpha-1)*osc) * scale)
	eta2 := math.Sqrt(2 * math.Exp(alpha*osc) * scale)
	if !(eta1 <= 1 && eta2 < 1) {
		return 0
	}
	v := bounds.RenyiEstimate(t, h, alpha) - alpha/(alpha-1)*math.Log1p(eta1) + math.Log1p(-eta2)
	return max(0, bounds.RoundDown(v))
}

// Renyi is the bound of DP-Auditorium's theorem 4.3 and corollary 4.4 as printed, eta from (9) with
// C = max |h|; -Inf if eta is not below 1. Half of an exponent and a factor are missing
// (docs/findings/renyi-theorem.md).
func Renyi(t bounds.Table, h []float64, alpha, beta float64) float64 {
	mustBeWitness(t, h, alpha, beta)
	c := (slices.Max(h) - slices.Min(h)) / 2
	eta := RenyiEta(alpha, c, t.Pairs(), beta)
	if eta >= 1 {
		return math.Inf(-1)
	}
	return bounds.RenyiEstimate(t, h, alpha) - math.Log((1+eta)/(1-eta))
}

// RenyiEta is (9) of DP-Auditorium, see [Renyi].
func RenyiEta(alpha, c float64, n int, beta float64) float64 {
	return math.Sqrt(max(3*math.Exp(2*(alpha-1)*c), 2*math.Exp(alpha*c)) * math.Log(2/beta) / float64(n))
}

// RenyiSamples are the figures of table 1 of RenyiTester with C = 16 epsilon, its own, and beta =
// 1/3 and eta = .00348 (epsilon = .01) or .0086 (epsilon = .1), fitted here
// (docs/findings/renyitester-samples.md).
func RenyiSamples(alpha, c, eta, beta float64) float64 {
	return 3 * math.Exp(2*(alpha-1)*c) * math.Log(2/beta) / (eta * eta)
}

// CorrectedRenyiSamples is how many pairs [CorrectedRenyi] needs for |h| <= c and both etas eta.
func CorrectedRenyiSamples(alpha, c, eta, beta float64) float64 {
	return max(3*math.Exp(2*(alpha-1)*c), 2*math.Exp(2*alpha*c)) * math.Log(2/beta) / (eta * eta)
}

// PureThreshold is the threshold of lemma 4.6 of DP-Auditorium and lemma 2.5 of RenyiTester. See
// docs/findings/pure-threshold.md.
func PureThreshold(eps, alpha float64) float64 {
	bounds.Must(bounds.CheckClaim(eps), bounds.CheckAlpha(alpha))
	return min(eps, 2*alpha*eps*eps)
}

func mustBeWitness(t bounds.Table, h []float64, alpha, beta float64) {
	bounds.Refuse(len(h) != t.Bins, "a witness needs one value for each bin")
	bounds.Must(t.Validate(), bounds.CheckRenyiWitness(h, alpha), bounds.CheckBeta(beta))
}

// SteinkePValue is the published p-value of the claim (eps, delta) from a single run, in the game
// of [bounds.OneRunPValue], a tighter form (Steinke, Nasr and Jagielski 2023, theorem 5.2):
//
//	p = b_0 + 2 m delta max over 1 <= i <= v of (b_i - b_0)/i,
//	b_i = P(Bin(r, q) >= v - i), q = 1/(1 + e^-eps).
//
// Of all that was tried it was nowhere below [bounds.OneRunPValue] where it was below 1/2, so that
// it is a p-value there; near 1 it can be too small (TestSteinkePValueNearOne). Which coins are
// guessed may depend on the output, but not on the coins; so may r at delta = 0. Right to a
// relative 1e-9 down to 1e-290.
func SteinkePValue(m, r, v int, eps, delta float64) float64 {
	bounds.Must(bounds.CheckOneRun(m, r, v), bounds.CheckDelta(delta), bounds.CheckClaim(eps))
	wrong := r - v
	w, lo, total := bounds.WrongGuesses(r, eps)
	tail, steepest, sum := 0.0, 0.0, 0.0
	for i, p := range w {
		if k := lo + i; k <= wrong {
			tail += p
		} else if delta > 0 {
			sum += p
			steepest = max(steepest, sum/float64(k-wrong))
		}
	}
	p := (tail + 2*float64(m)*delta*steepest) / total
	return min(1, p*(1+1e-9))
}

// SteinkeEpsilon is the published lower confidence bound on epsilon at delta from a single run: the
// largest eps whose [SteinkePValue] is at most beta. beta above .2 is taken as .2.
//
// Proof. It suffices that the p-value stays above beta beyond the first eps where it is. It is the
// maximum over i of p_i = b_0 + c S_i/i, S_i = P(v-i <= Bin < v), and with g the masses of Bin(r-1,
// q), dS_i/dq = r (g(v-i-1) - g(v-1)). Let i attain the maximum. If i = 1 and v >= rq+1 this is not
// negative, v-1 being at or beyond the mode; if v < rq+1 then b_0 >= P(Bin > rq) >= 1/4 (Greenberg
// and Mohri 2014). If i >= 2 and L = g(v-i-1) < R = g(v-1): for q >= 1/2 the masses rise more
// slowly than they fall, so g >= min(g(v-i), R) between, and if g(v-i) > R even g >= g(v-i) up to
// v-2; either way the last term of S_i, q L + (1-q) g(v-i), lies below the mean S_i/i of its terms,
// and i - 1 would do better. So where p <= beta < 1/4 it does not fall, and where b_0 >= 1/4 it is
// at least that.
func SteinkeEpsilon(m, r, v int, delta, beta float64) float64 {
	bounds.Must(bounds.CheckOneRun(m, r, v), bounds.CheckDelta(delta), bounds.CheckBeta(beta))
	beta = min(beta, 0.2)
	return bounds.Largest(0, 60, 1e-9, func(eps float64) bool { return SteinkePValue(m, r, v, eps, delta) <= beta })
}

// MahloujifarEpsilon is a lower confidence bound on epsilon at delta from a single run by the
// recursion of Mahloujifar, Melis and Chaudhuri (2024), [bounds.OneRunRecursion], with the
// trade-off curve of (epsilon, delta), 1 - f(y) = min(delta + e^eps y, 1 - e^-eps (1 - delta - y)).
// [bounds.OneRunEpsilon] is never below it.
func MahloujifarEpsilon(m, r, v int, delta, beta float64) float64 {
	bounds.Must(bounds.CheckOneRun(m, r, v), bounds.CheckDelta(delta), bounds.CheckBeta(beta))
	return bounds.Largest(0, 60, 1e-9, func(eps float64) bool {
		odds := math.Exp(eps)
		return bounds.OneRunRecursion(float64(m), r, v, beta, func(right float64) float64 {
			return max(0, max((right-delta)/odds, 1-delta-odds*(1-right)))
		})
	})
}

const (
	// MethodKatz is [Katz] at delta = 0; it certifies nothing.
	MethodKatz bounds.Method = "published-katz-log"
	// MethodKatzDelta is [Katz] at delta > 0, which nobody published; it certifies nothing.
	MethodKatzDelta bounds.Method = "katz-log-delta-method"
)

// Katz is the log-ratio bound of Katz, Baptista, Azen and Pike (1978), as Lu et al. (2022, section
// 4.2 and lemma A.3) use it at delta = 0; delta > 0 is our own extension by the delta method:
//
//	log((x/n1 - delta)/(y/n0)) - z sqrt(p1(1-p1)/(n1 (p1-delta)^2) + (1-p0)/(n0 p0))
//
// with the observed rates for p1 and p0 and z the upper beta quantile of the normal distribution.
// Its error is far above beta with delta > 0 and p1 near delta, and where the event was chosen on
// the same counts (docs/findings/katz.md). -Inf if Y = 0 or X/N1 <= delta.
func Katz(c bounds.Counts, delta, beta float64) float64 {
	bounds.Must(c.Validate(), bounds.CheckDelta(delta), bounds.CheckBeta(beta))
	n1, n0 := float64(c.N1), float64(c.N0)
	p1, p0 := float64(c.X)/n1, float64(c.Y)/n0
	if c.Y == 0 || p1 <= delta {
		return math.Inf(-1)
	}
	excess := p1 - delta
	spread := p1*(1-p1)/(n1*excess*excess) + (1-p0)/(n0*p0)
	return math.Log(excess/p0) - -mathext.NormalQuantile(beta)*math.Sqrt(spread)
}
