package bounds

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/audit"
)

// At every false positive rate the Gaussian curve lies below that of randomised
// response, and touches it at the corner.
func TestGaussianMuOfPure(t *testing.T) {
	for _, eps := range []float64{0, 1e-6, 0.1, 1, 3, 8, 40, 700} {
		mu := audit.GaussianMuOfPure(eps)
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

// Values by mpmath at 60 digits, of Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu):
// where a plain evaluation loses the second term, epsilon came out too small.
func TestGaussianEpsilonOfSmallNoise(t *testing.T) {
	for _, c := range []struct{ mu, delta, eps float64 }{
		{1 / 0.0285, 1e-5, 764.2758}, {1 / 0.03, 1e-7, 727.94}, {1 / 0.027, 0.1, 732.35}, {1 / 0.02, 1e-5, 1462.285},
		{1, 1e-300, 37.4488}, {10, 1e-200, 351.6},
	} {
		if got := GaussianEpsilon(c.mu, c.delta); math.Abs(got-c.eps) > 1e-4*c.eps {
			t.Errorf("mu %v, delta %v: epsilon %v, want %v", c.mu, c.delta, got, c.eps)
		}
	}
	for x := 0.5; x < 60; x *= 1.07 {
		if x < 25 {
			if plain := normalCDF(-x) * math.Sqrt(2*math.Pi) * math.Exp(x*x/2); math.Abs(mills(x)/plain-1) > 1e-11 {
				t.Errorf("mills(%v) = %v, want %v", x, mills(x), plain)
			}
		}
		if m := mills(x); !(m < 1/x && m > x/(x*x+1)) {
			t.Errorf("mills(%v) = %v is out of its bounds", x, m)
		}
	}
}
