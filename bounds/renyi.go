package bounds

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// MethodRenyiBetting is [Renyi].
const MethodRenyiBetting Method = "renyi-paired-betting"

// RenyiPlan is all that [Renyi] needs before the certification pairs are drawn.
type RenyiPlan struct {
	Alpha  float64   `json:"alpha"`
	Method Method    `json:"method"`
	H      []float64 `json:"h"`                // the witness by bin, shifted so that E exp(alpha h) on the second dataset is about 1
	Lambda float64   `json:"lambda,omitempty"` // the stake, in (0, 1/(max exp(alpha h) (alpha-1)/alpha + 1/alpha))
}

// Validate reports what keeps the plan from being used.
func (p RenyiPlan) Validate() error {
	if err := CheckRenyiWitness(p.H, p.Alpha); err != nil {
		return err
	}
	for _, v := range p.H {
		if p.Alpha*math.Abs(v) > maxExponent {
			return fmt.Errorf("plan: the witness reaches %v, too far from 0 at alpha = %v: shift it so that the mean of exp(alpha h) on the second dataset is near 1", v, p.Alpha)
		}
	}
	top := 1 / newRenyiWager(p.H, p.Alpha).floor()
	return audit.First(require(p.Method == MethodRenyiBetting, "plan: method is %q, must be %q", p.Method, MethodRenyiBetting),
		require(p.Lambda > 0 && p.Lambda < top, "plan: lambda is %v, must be above 0 and below %v", p.Lambda, top))
}

// maxExponent keeps exp(alpha h), its square root and sums of it finite.
const maxExponent = 600.0

// CheckAlpha reports an order that is not above 1 and finite.
func CheckAlpha(alpha float64) error {
	return require(alpha > 1 && alpha != inf, "alpha is %v, must be above 1 and finite: 2 is usual", alpha)
}

// CheckRenyiWitness reports a witness that is empty, not finite, or so wide that exp(alpha h)
// overflows.
func CheckRenyiWitness(h []float64, alpha float64) error {
	if err := CheckAlpha(alpha); err != nil {
		return err
	}
	if len(h) == 0 {
		return errors.New("witness: it has no values, must have one for each bin")
	}
	width := slices.Max(h) - slices.Min(h)
	if math.IsNaN(width) || math.IsInf(width, 0) {
		return errors.New("witness: it has a value that is not a finite number; clip it")
	}
	if alpha*width > maxExponent {
		return fmt.Errorf("witness: exp(alpha h) overflows: h spans %.4g (a bound C of %.4g) at alpha = %v; at this alpha it may span %.4g (C = %.4g), with this span alpha may be %.4g: clip the witness or lower alpha",
			width, width/2, alpha, maxExponent/alpha, maxExponent/alpha/2, maxExponent/width)
	}
	return nil
}

// renyiWager is, with k = alpha/(alpha-1), Z1 = e^((alpha-1)h) and Z2 = e^(alpha h),
//
//	W(e0) = e^(-e0/k) Z1(X) - Z2(Y)/k - 1/alpha.
//
// By the variational formula (Birrell et al. 2021; theorem 4.1 of DP-Auditorium) D_alpha(P||Q) <=
// e0 gives E Z1 <= e^(e0/k) (E Z2)^(1/k), and B^(1/k) <= B/k + 1/alpha is the tangent at B = 1; so
// E W <= 0. A tangent at another b0 is the same statistic for h shifted by log(b0)/alpha.
//
// For a stake lambda > 0 fixed before the pairs are seen let
//
//	E(e0) = prod (1 + lambda W_i(e0)) if lambda (max Z2/k + 1/alpha) < 1, else 0.
//
// Every factor is non-negative with mean at most 1, so E at the true value reaches 1/beta with
// probability at most beta (Markov), at any time in a sequence of pairs (Ville). Every factor falls
// with e0: the e0 with E >= 1/beta form an interval from the left, and its end exceeds the true
// value only if E does so there.
type renyiWager struct {
	k, alpha float64
	z1, z2   []float64 // by bin, of the first and of the second output
}

func newRenyiWager(h []float64, alpha float64) renyiWager {
	w := renyiWager{alpha / (alpha - 1), alpha, make([]float64, len(h)), make([]float64, len(h))}
	for i, v := range h {
		w.z1[i], w.z2[i] = math.Exp((alpha-1)*v), math.Exp(alpha*v)
	}
	return w
}

func (w renyiWager) logEValue(cells []tableCell, e0, lambda float64) float64 {
	if !(lambda*w.floor() < 1-1e-9) {
		return -inf
	}
	up, down, shift := lambda*math.Exp(-e0/w.k), lambda*(1/w.k), lambda*(1/w.alpha)
	sum := 0.0
	for _, k := range cells {
		sum += k.n * math.Log1p(up*w.z1[k.a]-down*w.z2[k.b]-shift)
	}
	return sum
}

// floor is how far below 0 the statistic can be.
func (w renyiWager) floor() float64 { return slices.Max(w.z2)/w.k + 1/w.alpha }

// reach is the e0 from which on W is never positive.
func (w renyiWager) reach() float64 {
	return max(0, w.k*(math.Log(slices.Max(w.z1))-math.Log(slices.Min(w.z2)/w.k+1/w.alpha)))
}

// Renyi is a lower confidence bound on the Renyi divergence D_alpha(P||Q), in nats, of the first
// dataset's outputs P from the second's Q, if the outputs are independent and bins and plan were
// fixed before the pairs were drawn (proof at renyiWager).
func Renyi(t Table, p RenyiPlan, beta float64) float64 {
	mustBeTable(t, p.H)
	Must(p.Validate(), CheckBeta(beta))
	w := newRenyiWager(p.H, p.Alpha)
	cells, aim := t.cells(), goal(beta, t.Pairs())
	return Largest(0, w.reach(), 1e-8, func(e0 float64) bool { return w.logEValue(cells, e0, p.Lambda) >= aim })
}

// RenyiPValue is the inverse wealth against D_alpha(P||Q) <= e0, at least 1e-100: a p-value, at
// most beta where Renyi > e0, up to rounding.
func RenyiPValue(t Table, p RenyiPlan, e0 float64) float64 {
	mustBeTable(t, p.H)
	Must(p.Validate(), CheckClaim(e0))
	w := newRenyiWager(p.H, p.Alpha)
	return max(minBeta, pValue(w.logEValue(t.cells(), e0, p.Lambda), t.Pairs()))
}

// EpsilonFromRenyi is the inverse of [audit.RandomisedResponseRenyi]: a lower bound on the epsilon
// of pure differential privacy from one on D_alpha.
func EpsilonFromRenyi(d, alpha float64) float64 {
	if d <= 0 {
		return 0
	}
	Must(CheckClaim(d), CheckAlpha(alpha))
	// d <= eps, and the divergence is at least eps - log(2)/(alpha-1).
	return Largest(d, d+math.Ln2/(alpha-1)+1e-9, 1e-10, func(eps float64) bool {
		return audit.RandomisedResponseRenyi(eps, alpha) <= d
	})
}
