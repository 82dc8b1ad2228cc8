package bounds

import (
	"math"
	"testing"
)

func TestGaussianEpsilon(t *testing.T) {
	// Noise of the analytic Gaussian mechanism at delta = 1e-5 (Balle and Wang
	// 2018), sensitivity 1, double precision.
	for _, k := range []struct{ eps, sigma float64 }{
		{0.5, 7.03182667558248}, {1, 3.730631634816162}, {2, 1.9938124456435669},
		{4, 1.0811618495197548}, {8, 0.6002290721989517},
	} {
		mu := 1 / k.sigma
		if got := GaussianEpsilon(mu, 1e-5); got > k.eps+1e-7 || got < k.eps-3e-6 {
			t.Errorf("mu %v: epsilon %v, want %v", mu, got, k.eps)
		}
		if got := GaussianDelta(mu, k.eps); math.Abs(got-1e-5) > 1e-10 {
			t.Errorf("mu %v: delta %v at epsilon %v, want 1e-5", mu, got, k.eps)
		}
	}
	for _, k := range []struct{ mu, delta, want float64 }{{0, 0, 0}, {0, 0.1, 0}, {1, 0, math.Inf(1)}, {0.1, 0.5, 0}} {
		if got := GaussianEpsilon(k.mu, k.delta); got != k.want {
			t.Errorf("mu %v delta %v: %v, want %v", k.mu, k.delta, got, k.want)
		}
	}
	// The hockey-stick divergence by quadrature is the slow twin.
	for _, mu := range []float64{0.3, 1, 4} {
		for _, eps := range []float64{0, 0.5, 3} {
			sum := 0.0
			const step = 1e-3
			for x := -12.0; x < 16; x += step {
				density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
				sum += step * math.Max(0, density(x-mu)-math.Exp(eps)*density(x))
			}
			if got := GaussianDelta(mu, eps); math.Abs(got-sum) > 1e-5 {
				t.Errorf("mu %v eps %v: %v, by quadrature %v", mu, eps, got, sum)
			}
		}
	}
}

// By enumeration, no false alarms: the bound on common and rare events.
func TestGaussianMuCoverage(t *testing.T) {
	const beta = 0.05
	if worst, where := worstOf(60, 60, 25, 0, func(c Counts) float64 { return GaussianMu(c, beta) }, gaussian{}.rise); worst > beta || worst == 0 {
		t.Errorf("failure %v, nominal %v, at %s", worst, beta, where)
	}
	// A Gaussian mechanism with mean shift 1, delta 1e-5, epsilon 4.377, n = 10^4: about 4.12.
	c := Counts{X: scaledPhi(0.5), N1: 10_000, Y: scaledPhi(-0.5), N0: 10_000}
	if got := GaussianEpsilon(GaussianMu(c, beta), 1e-5); got < 4 || got > 4.3 {
		t.Errorf("epsilon %v if the trade-off is Gaussian, want about 4.12", got)
	}
}

func scaledPhi(x float64) int { return int(10_000 * normalCDF(x)) }
