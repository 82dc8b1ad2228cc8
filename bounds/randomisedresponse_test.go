package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

func TestRandomisedResponseRenyi(t *testing.T) {
	// Figures of the design documents, to their digits.
	for _, k := range []struct{ eps, alpha, want, digit float64 }{
		{0.01, 1.5, 7.5e-5, 5e-8}, {0.1, 1.5, 0.00748, 5e-6}, {1, 1.5, 0.627, 5e-4}, {1, 8, 0.955, 5e-4},
	} {
		if got := audit.RandomisedResponseRenyi(k.eps, k.alpha); math.Abs(got-k.want) > k.digit {
			t.Errorf("eps %v alpha %v: %v, want %v", k.eps, k.alpha, got, k.want)
		}
	}
	// By definition, where that does not cancel or overflow.
	for _, eps := range []float64{0.5, 1, 3, 8} {
		for _, alpha := range []float64{1.1, 2, 7.5, 20} {
			p := math.Exp(eps) / (1 + math.Exp(eps))
			want := math.Log(math.Pow(p, alpha)*math.Pow(1-p, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(p, 1-alpha)) / (alpha - 1)
			if got := audit.RandomisedResponseRenyi(eps, alpha); math.Abs(got-want) > 1e-9*want {
				t.Errorf("eps %v alpha %v: %v, by definition %v", eps, alpha, got, want)
			}
		}
	}
	// Limits: alpha eps^2/2 for small eps, eps for large alpha, 0 at 0; the two
	// branches meet.
	if got := audit.RandomisedResponseRenyi(1e-6, 3); math.Abs(got-1.5e-12) > 1e-17 {
		t.Errorf("small eps: %v, want 1.5e-12", got)
	}
	if got := audit.RandomisedResponseRenyi(2, 1e6); math.Abs(got-2) > 1e-5 || got > 2 {
		t.Errorf("large alpha: %v, want just below 2", got)
	}
	if got := audit.RandomisedResponseRenyi(0, 2); got != 0 {
		t.Errorf("eps 0: %v", got)
	}
	a, b := audit.RandomisedResponseRenyi(500/9.0, 10), audit.RandomisedResponseRenyi(500/9.0+1e-9, 10)
	if math.Abs(a-b) > 1e-8 {
		t.Errorf("branches differ: %v and %v", a, b)
	}
}

// No pair with log ratio at most eps exceeds it, and it never exceeds the bounds
// of the literature.
func TestRandomisedResponseIsTheLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 2000 {
		eps, alpha := 3*r.Float64(), 1.05+8*r.Float64()
		k := pair{p: make([]float64, 4), q: make([]float64, 4)}
		sumP, sumQ := 0.0, 0.0
		for i := range k.p {
			k.q[i] = r.ExpFloat64()
			k.p[i] = k.q[i] * math.Exp(eps*(2*r.Float64()-1)/2) // within eps after normalising
			sumP, sumQ = sumP+k.p[i], sumQ+k.q[i]
		}
		for i := range k.p {
			k.p[i], k.q[i] = k.p[i]/sumP, k.q[i]/sumQ
		}
		limit := audit.RandomisedResponseRenyi(eps, alpha)
		if d := k.renyi(alpha); d > limit*(1+1e-12) {
			t.Fatalf("eps %v alpha %v: a pair with divergence %v above %v", eps, alpha, d, limit)
		}
		if limit > math.Min(eps, alpha*eps*eps/2)*(1+1e-12) {
			t.Fatalf("eps %v alpha %v: threshold %v above the known bounds", eps, alpha, limit)
		}
	}
}

func TestEpsilonFromRenyi(t *testing.T) {
	for _, eps := range []float64{0.001, 0.01, 0.3, 1, 4, 30, 200} {
		for _, alpha := range []float64{1.01, 1.5, 2, 10, 100} {
			got := EpsilonFromRenyi(audit.RandomisedResponseRenyi(eps, alpha), alpha)
			if got > eps || got < eps-2e-6-1e-9*eps {
				t.Errorf("eps %v alpha %v: inverse %v", eps, alpha, got)
			}
		}
	}
	for _, d := range []float64{0, -1, math.Inf(-1)} {
		if got := EpsilonFromRenyi(d, 2); got != 0 {
			t.Errorf("inverse of %v: %v, want 0", d, got)
		}
	}
}
