package bound

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// At every false positive rate the Gaussian curve lies below that of randomised
// response, and touches it at the corner.
func TestGaussianMuOfPure(t *testing.T) {
	for _, eps := range []float64{0, 1e-6, 0.1, 1, 3, 8, 40, 700} {
		mu := GaussianMuOfPure(eps)
		corner := 1 / (1 + math.Exp(eps))
		if got := normalCDF(-mu / 2); math.Abs(got-corner) > 1e-9*corner {
			t.Errorf("eps %v: the corner lies at %v, want %v", eps, got, corner)
		}
		for x := 0.0005; x < 1; x += 0.0005 {
			pure := math.Max(1-math.Exp(eps)*x, math.Exp(-eps)*(1-x))
			if g := normalCDF(-mathext.NormalQuantile(x) - mu); g > pure+1e-9 {
				t.Fatalf("eps %v: at rate %v the Gaussian curve is at %v, above %v", eps, x, g, pure)
			}
		}
	}
}

func TestGaussianMuFromDelta(t *testing.T) {
	for _, mu := range []float64{0.01, 0.3, 1, 4} {
		for _, eps := range []float64{0, 0.1, 1, 3} {
			delta := GaussianDelta(mu, eps)
			if delta < 1e-12 {
				continue
			}
			if got := GaussianMuFromDelta(delta, eps); got > mu || got < mu-2e-6-1e-4*mu {
				t.Errorf("mu %v, eps %v: got %v back", mu, eps, got)
			}
		}
	}
	if got := GaussianMuFromDelta(0, 1); got != 0 {
		t.Errorf("no delta gives mu %v", got)
	}
}
