package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// The work stays bounded at every kind of counts: no input makes a sweep split without end.
func TestWorkIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	most, at := 0, Counts{}
	for range testsize.Of(400, 1500) {
		n := int(10 * math.Pow(10, 4.3*r.Float64()))
		c := Counts{N1: n, N0: max(1, int(float64(n)*math.Pow(10, r.Float64()-0.5)))}
		c.X = min(n, int(float64(n)*math.Pow(float64(n), -r.Float64())*1.2))
		c.Y = min(c.N0, int(float64(c.N0)*math.Pow(float64(c.N0), -1.1*r.Float64())*1.2))
		beta := []float64{0.05, 0.5, 1e-6, 1e-30}[r.IntN(4)]
		for _, f := range []family{ratioFamily([]float64{0, 1e-5, 0.01, 0.3}[r.IntN(4)]), gaussian{}, deltaFamily(8*r.Float64() - 1)} {
			if s, ok := newSweep(c, f, scoreCut(beta), beta); ok {
				if s.run(); s.evals > most {
					most, at = s.evals, c
				}
			}
		}
	}
	if most > 400 {
		t.Errorf("%d sums at %+v, want at most 400", most, at)
	}
}
