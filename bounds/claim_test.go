package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestClaimPValueAgreesWithExact(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 60))
	rejected := 0
	for range 400 {
		n := 10 + r.IntN(400)
		c := Counts{r.IntN(n + 1), n, r.IntN(n/2 + 1), n}
		delta := []float64{0, 1e-5, 0.05}[r.IntN(3)]
		beta := []float64{0.05, 1.0 / 3, 1e-3}[r.IntN(3)]
		bound := Exact(c, delta, beta)
		for _, eps := range []float64{0, 0.3, 1, bound - 1e-5, bound, bound + 1e-5} {
			if math.IsInf(eps, -1) {
				continue
			}
			p := ClaimPValue(c, eps, delta, beta)
			if (p <= beta) != (bound > eps) {
				t.Errorf("%+v eps %v delta %v: p-value %v at beta %v, bound %v", c, eps, delta, p, beta, bound)
			}
			if p <= beta {
				rejected++
			}
			if !(p >= beta*nuisanceShare && p <= 1) {
				t.Errorf("%+v: p-value %v", c, p)
			}
			if p < 0.9 && math.Abs(eps-bound) > 1e-4 {
				// Near its definition, by the slow twin's for th.
				if n < 40 {
					want := math.Min(1, slowTail(c, delta, beta)(math.Exp(eps)))
					if p < want*(1-1e-6) || p > want*1.03+1e-5 {
						t.Errorf("%+v eps %v delta %v beta %v: p-value %v, by definition %v", c, eps, delta, beta, p, want)
					}
				}
			}
		}
	}
	if rejected < 100 {
		t.Errorf("only %d rejections compared", rejected)
	}
}
