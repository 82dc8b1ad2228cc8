package accounting

import (
	"math"
	"testing"
)

// Every tolerance below is of numerical error: no test draws outputs, so none
// has a false-alarm rate.

// near fails unless got is want to a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// integral is the slow twin of every expectation here: Simpson's rule.
func integral(lo, hi float64, n int, f func(float64) float64) float64 {
	h := (hi - lo) / float64(2*n)
	sum := f(lo) + f(hi)
	for i := 1; i < 2*n; i++ {
		sum += f(lo+float64(i)*h) * float64(2+2*(i%2))
	}
	return sum * h / 3
}

// divergence is D_alpha(P||Q) by definition, from log densities, which are smooth between
// the cuts and nothing outside them.
func divergence(alpha float64, p, q func(float64) float64, cuts ...float64) float64 {
	sum := 0.0
	for i, hi := range cuts[1:] {
		sum += integral(cuts[i], hi, 20_000, func(x float64) float64 {
			if alpha == 1 {
				return math.Exp(p(x)) * (p(x) - q(x))
			}
			return math.Exp(alpha*p(x) + (1-alpha)*q(x))
		})
	}
	if alpha == 1 {
		return sum
	}
	return math.Log(sum) / (alpha - 1)
}

func TestCurvesAgainstIntegrals(t *testing.T) {
	for _, alpha := range []float64{1, 1.1, 2, 3.7, 12} {
		for _, scale := range []float64{0.5, 1, 4} {
			laplace := func(at float64) func(float64) float64 {
				return func(x float64) float64 { return -math.Abs(x-at)/scale - math.Log(2*scale) }
			}
			want := divergence(alpha, laplace(0), laplace(1), -60*scale, 0, 1, 1+60*scale)
			near(t, "laplace", Laplace{scale, 1}.At(alpha), want, 1e-9)
			near(t, "laplace of other sensitivity", Laplace{3 * scale, 3}.At(alpha), want, 1e-9)

			normal := func(at float64) func(float64) float64 {
				return func(x float64) float64 {
					return -(x-at)*(x-at)/(2*scale*scale) - math.Log(scale) - math.Log(2*math.Pi)/2
				}
			}
			want = divergence(alpha, normal(0), normal(1), -alpha-14*scale, alpha+14*scale)
			near(t, "gaussian", Gaussian{scale, 1}.At(alpha), want, 1e-9)
		}
		for _, p := range []float64{0.3, 0.5, 0.75, 0.99} {
			want := (2*p - 1) * math.Log(p/(1-p))
			if alpha > 1 {
				want = math.Log(math.Pow(p, alpha)*math.Pow(1-p, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(p, 1-alpha)) / (alpha - 1)
			}
			if got := (RandomisedResponse{p}).At(alpha); math.Abs(got-want) > 1e-12*(1+want) {
				t.Errorf("randomised response %v at %v: %v, want %v", p, alpha, got, want)
			}
		}
	}
}

// testCurves are valid curves of every type.
func testCurves() map[string]Curve {
	return map[string]Curve{
		"gaussian": Gaussian{1.5, 1}, "laplace": Laplace{0.7, 1}, "weak laplace": Laplace{1e4, 1}, "strong laplace": Laplace{1e-3, 1},
		"response": RandomisedResponse{0.8}, "even response": RandomisedResponse{0.5}, "pure": PureDP{1}, "pure 0": PureDP{0}, "strong pure": PureDP{900},
		"zcdp": Concentrated{0.1}, "zcdp 0": Concentrated{0}, "renyi": RenyiDP{8, 0.5},
		"sampled": SubsampledGaussian{1, 1, 0.01}, "sampled weakly": SubsampledGaussian{30, 2, 1e-6}, "sampled often": SubsampledGaussian{0.8, 1, 0.99},
		"little noise": SubsampledGaussian{0.05, 1, 0.1}, "all sampled": SubsampledGaussian{2, 1, 1},
		"repeated": Repeat{Laplace{2, 1}, 30}, "sum": Sum{Gaussian{1, 1}, PureDP{0.3}, RenyiDP{16, 0.1}}, "empty": Sum{},
		"group": Group(SubsampledGaussian{5, 1, 0.01}, 3), "group of renyi": Group(RenyiDP{64, 0.01}, 4),
		"group of all": Group(Sum{Gaussian{1, 1}, Repeat{PureDP{0.1}, 3}, RandomisedResponse{0.7}, Laplace{9, 1}, Concentrated{0.2}}, 5),
	}
}

func TestCurvesRise(t *testing.T) {
	orders := []float64{1, 1 + 1e-12, 1 + 1e-6, 1.001, 1.1, 1.5, 1.999999, 2, 2.000001, 3, 3.5, 10, 63.999, 64, 100.5, 500, 4096, 4096.5, 5000, 1e5, 1e6, math.Inf(1)}
	for name, c := range testCurves() {
		last := 0.0
		for _, alpha := range orders {
			v := c.At(alpha)
			if math.IsNaN(v) || v < last*(1-1e-9) {
				t.Errorf("%s: %v at %v, %v at a lower order", name, v, alpha, last)
			}
			last = v
		}
		// Continuous at 1.
		if c.At(1) > 0 {
			near(t, name+" next to 1", c.At(1+1e-9), c.At(1), 1e-6)
		}
	}
}

// Small and large parameters, where the plain formulas cancel or overflow.
func TestCurvesAtExtremes(t *testing.T) {
	for _, s := range []float64{1e-12, 1e-8, 1e-4} {
		for _, alpha := range []float64{1, 1.5, 2, 50} {
			// Leading order: alpha s^2/2 for small alpha s, the next of relative size s.
			near(t, "laplace", Laplace{1, s}.At(alpha), alpha*s*s/2, alpha*s)
			// Of randomised response alpha s^2/2 too (Bun and Steinke 2016).
			near(t, "pure", PureDP{s}.At(alpha), alpha*s*s/2, 1e-4)
			// alpha q^2 (e^(1/sigma^2)-1)/2 for small q.
			near(t, "sampled", SubsampledGaussian{2, 1, s}.At(alpha), alpha*s*s*math.Expm1(0.25)/2, 1e-6+1e4*s*alpha)
		}
	}
	near(t, "laplace far out", Laplace{1e-4, 1}.At(3), 1e4+math.Log(3.0/5)/2, 1e-14)
	near(t, "laplace, large order", Laplace{1, 1}.At(1e9), 1, 1e-8)
	near(t, "pure, large order", PureDP{2}.At(1e9), 2, 1e-8)
	for name, c := range map[string]Curve{"gaussian": Gaussian{1, 1}, "zcdp": Concentrated{1}, "sampled": SubsampledGaussian{1, 1, 0.5}} {
		if v := c.At(math.Inf(1)); !math.IsInf(v, 1) {
			t.Errorf("%s at infinity: %v", name, v)
		}
	}
	if v := (RenyiDP{4, 1}).At(4.0001); !math.IsInf(v, 1) {
		t.Errorf("above the known order: %v", v)
	}
}
