package accounting

import (
	"math"
	"testing"
)

// Solved with 40 digits; testdata/gaussian.py made the values.
func TestAnalyticGaussian(t *testing.T) {
	for _, k := range []struct{ eps, sigma float64 }{
		{0.1, 30.74956613197745}, {0.5, 7.031826675582491}, {1, 3.730631634815942}, {2, 1.993812445643537}, {4, 1.081161849520239}, {8, 0.6002290721989516},
	} {
		near(t, "sigma", GaussianSigma(k.eps, 1e-5, 1), k.sigma, 1e-10)
		near(t, "sigma of sensitivity 3", GaussianSigma(k.eps, 1e-5, 3), 3*k.sigma, 1e-10)
		near(t, "epsilon", GaussianEpsilon(k.sigma, 1, 1e-5), k.eps, 1e-10)
		near(t, "delta", GaussianDelta(k.sigma, 1, k.eps), 1e-5, 1e-9)
	}
}

// The grid of dp_accounting's gaussian_mechanism_test.py: sigma and epsilon are
// inverse, from the safe side.
func TestGaussianInverse(t *testing.T) {
	for _, eps := range []float64{0, 1e-5, 1e-3, 0.1, 1, 10, 1e3} {
		for _, delta := range []float64{1e-10, 1e-5, 0.1, 0.5, 0.9} {
			sigma := GaussianSigma(eps, delta, 1)
			if d := GaussianDelta(sigma, 1, eps); d > delta {
				t.Errorf("eps %v delta %v: sigma %v has delta %v", eps, delta, sigma, d)
			}
			if d := GaussianDelta(sigma*(1-1e-6), 1, eps); d <= delta {
				t.Errorf("eps %v delta %v: sigma %v is not the least", eps, delta, sigma)
			}
			back := GaussianEpsilon(sigma, 1, delta)
			if math.Abs(back-eps) > 1e-6*(1e-5+eps) {
				t.Errorf("eps %v delta %v: sigma %v, back %v", eps, delta, sigma, back)
			}
			if d := GaussianDelta(sigma, 1, back); d > delta {
				t.Errorf("sigma %v: epsilon %v has delta %v, want at most %v", sigma, back, d, delta)
			}
		}
	}
}
