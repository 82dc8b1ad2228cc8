package published

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
)

const (
	// MethodMMD is [TightMMDDelta].
	MethodMMD bounds.Method = "mmd-tight"
	// MethodMMDPublished is [MMDDelta]; it certifies nothing.
	MethodMMDPublished bounds.Method = "published-mmd"
)

// MMDSummary is of n independent values of h = k(x, x') - 2 k(x, y) + k(y, y'), each from two fresh
// outputs of either dataset; E h is the squared maximum mean discrepancy (Gretton et al. 2012).
type MMDSummary struct {
	N        int     `json:"n"`
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"` // unbiased, of h
	Signed   bool    `json:"signed"`   // the kernel has values in [-1, 1]; false: in [0, 1]
}

// Validate reports the first field that is out of range.
func (s MMDSummary) Validate() error {
	top := s.width() / 2
	return audit.First(audit.Require(s.N >= 2, "mmd: n", s.N, "at least 2"),
		audit.Require(math.Abs(s.Mean) <= top, "mmd: mean", s.Mean, "within %v for this kernel", top),
		audit.Require(s.Variance >= 0 && !math.IsInf(s.Variance, 1), "mmd: variance", s.Variance, "at least 0 and finite"))
}

func (s MMDSummary) width() float64 { return audit.Pick(s.Signed, 8.0, 4) }

// lower is the empirical Bernstein bound of E h (Maurer and Pontil 2009, theorem 4).
func (s MMDSummary) lower(beta float64) float64 {
	n, l := float64(s.N), math.Log(2/beta)
	return s.Mean - math.Sqrt(2*s.Variance*l/n) - 7*s.width()*l/(3*(n-1))
}

// RankMMD is the statistic of MMDTester, which leaves the kernel open, with 1 - |u - v| of the
// ranks u and v of two scores: positive definite, without a bandwidth. Ranks are those among
// explored scores, by bin; pairs are taken in a random order.
func RankMMD(t, explored bounds.Table, seed uint64) MMDSummary {
	rank := make([]float64, t.Bins)
	below, all := 0.0, 2*float64(explored.Pairs())
	for k, x := range explored.First() {
		n := float64(x + explored.Second()[k])
		rank[k] = (below + float64(n/2)) / all
		below += n
	}
	cells := make([]uint32, 0, t.Pairs())
	for cell, n := range t.N {
		for range n {
			cells = append(cells, uint32(cell))
		}
	}
	draw := stream.New(stream.Key{Seed: seed, Purpose: "mmd"})
	next := func(i int) (first, second float64) {
		j := i + draw.Intn(len(cells)-i)
		cells[i], cells[j] = cells[j], cells[i]
		return rank[int(cells[i])/t.Bins], rank[int(cells[i])%t.Bins]
	}
	s := MMDSummary{N: len(cells) / 2}
	squares := 0.0
	for i := range s.N {
		x, y := next(2 * i)
		other, otherY := next(2*i + 1)
		h := 2*math.Abs(x-y) - math.Abs(x-other) - math.Abs(y-otherY)
		s.Mean += h
		squares += float64(h * h)
	}
	n := float64(s.N)
	s.Mean /= n
	s.Variance = max(0, squares-float64(n*float64(s.Mean*s.Mean))) / (n - 1)
	return s
}

// TightMMDThreshold is the largest maximum mean discrepancy, not squared, of an (eps, delta)
// private mechanism for a kernel with k(x, x) <= 1: at most twice the largest total variation,
// (e^eps - 1 + 2 delta)/(e^eps + 1), or sqrt 2 times for kernels in [0, 1] (there the cross term of
// the two parts of P - Q only lowers it).
func TightMMDThreshold(eps, delta float64, signed bool) float64 {
	bounds.Must(bounds.CheckClaim(eps), bounds.CheckDelta(delta))
	return mmdFactor(signed) * (math.Expm1(eps) + 2*delta) / (math.Exp(eps) + 1)
}

func mmdFactor(signed bool) float64 { return audit.Pick(signed, 2, math.Sqrt2) }

// MMDThreshold is theorem 4.13 of DP-Auditorium. Valid, but it can exceed the largest discrepancy
// that kernels in [0, 1] have (docs/findings/mmd-never-rejects.md).
func MMDThreshold(eps, delta float64) float64 {
	bounds.Must(bounds.CheckClaim(eps), bounds.CheckDelta(delta))
	return math.Expm1(eps) + (1+math.Exp(-eps))*delta
}

// TightMMDDelta is a lower confidence bound on the delta for which (eps, delta) can hold: that at
// which [TightMMDThreshold] is the root of the bound of E h. Valid if the values of h are
// independent, the kernel fixed beforehand and k(x, x) <= 1.
func TightMMDDelta(s MMDSummary, eps, beta float64) float64 {
	root := mustBeMMD(s, eps, beta) / mmdFactor(s.Signed)
	return max(0, bounds.RoundDown((math.Exp(eps)*(root-1)+root+1)/2)) // root < 1
}

// CorrectedMMDDelta is the same by [MMDThreshold], and looser.
func CorrectedMMDDelta(s MMDSummary, eps, beta float64) float64 {
	root := mustBeMMD(s, eps, beta)
	return max(0, bounds.RoundDown((root-math.Expm1(eps))/(1+math.Exp(-eps))))
}

// MMDDelta is algorithm 7 of DP-Auditorium, with the root over the variance term only, as its proof
// has it. It lost a square, and for kernels in [-1, 1] h spans 8, not 4; for those in [0, 1]
// neither does harm (docs/findings/mmd-square.md).
func MMDDelta(s MMDSummary, eps, beta float64) float64 {
	mustBeMMD(s, eps, beta)
	n, l := float64(s.N), math.Log(2/beta)
	biased := s.Variance * (n - 1) / n
	m := s.Mean - math.Sqrt(2*biased*l/n) - 28*l/(3*(n-1)) - math.Pow(math.Expm1(eps), 2)
	a, b := 1+math.Exp(-eps), math.Exp(eps)-math.Exp(-eps)
	return (math.Sqrt(max(0, b*b+a*m)) - b) / a
}

// mustBeMMD is the root of the lower bound of E h, 0 where that is negative.
func mustBeMMD(s MMDSummary, eps, beta float64) float64 {
	bounds.Must(s.Validate(), bounds.CheckClaim(eps), bounds.CheckBeta(beta))
	return math.Sqrt(max(0, s.lower(beta)))
}
