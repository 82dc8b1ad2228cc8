package accounting

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/bounds"
)

// google/differential-privacy, dp_accounting/rdp/rdp_privacy_accountant_test.py:
// test_compute_epsilon_delta_pure_dp and test_compute_epsilon_delta_gaussian.
func TestConversionsAgainstDPAccounting(t *testing.T) {
	constant := RenyiDP{32, 1.1}
	free := BestEpsilon(constant, 1e-5, Tight)
	near(t, "constant curve, any order", free.Epsilon, 1.32783806176, 1e-11)
	if free.Alpha != 32 {
		t.Errorf("order %v, want 32", free.Alpha)
	}
	near(t, "delta of it", BestDelta(constant, 1.32783806176, Tight).Delta, 1e-5, 1e-9)

	g := Gaussian{4.530877117, 1}
	near(t, "gaussian epsilon", BestEpsilon(g, 1e-6, Tight).Epsilon, 1, 1e-7)
	near(t, "gaussian delta", BestDelta(g, 1, Tight).Delta, 1e-6, 1e-6)
}

// The best order is the best: a fine scan finds nothing below, tight is never
// above classical, and delta and epsilon are inverse.
func TestBestAgainstScan(t *testing.T) {
	for name, c := range testCurves() {
		var orders, values []float64
		for x := math.Log(2e-6); x < math.Log(1e7); x += 0.1 {
			orders = append(orders, 1+math.Exp(x))
			values = append(values, c.At(1+math.Exp(x)))
		}
		for _, delta := range []float64{0.3, 1e-5, 1e-40} {
			for _, conv := range []Conversion{Tight, Classical} {
				best := BestEpsilon(c, delta, conv)
				scan := c.At(math.Inf(1))
				for i, alpha := range orders {
					scan = math.Min(scan, conv.epsilon(values[i], alpha, delta, math.Inf(1)))
				}
				if best.Epsilon > scan*(1+1e-9) {
					t.Errorf("%s delta %v: %v at %v, the scan finds %v", name, delta, best.Epsilon, best.Alpha, scan)
				}
				if !math.IsInf(best.Alpha, 1) && best.Epsilon != conv.epsilon(c.At(best.Alpha), best.Alpha, delta, math.Inf(1)) {
					t.Errorf("%s delta %v: %v is not what order %v gives", name, delta, best.Epsilon, best.Alpha)
				}
				if math.IsInf(best.Epsilon, 1) || best.Epsilon == 0 || math.IsInf(best.Alpha, 1) {
					continue
				}
				if back := BestDelta(c, best.Epsilon, conv); math.Abs(math.Log(back.Delta/delta)) > 1e-6*(1+math.Abs(math.Log(delta))) {
					t.Errorf("%s: epsilon %v at delta %v, back %v", name, best.Epsilon, delta, back.Delta)
				}
			}
			if tight, classical := BestEpsilon(c, delta, Tight).Epsilon, BestEpsilon(c, delta, Classical).Epsilon; tight > classical {
				t.Errorf("%s delta %v: tight %v above classical %v", name, delta, tight, classical)
			}
		}
	}
}

// Sound: never below the exact delta of Gaussian noise, of randomised response,
// and of the sampled Gaussian, by integration.
func TestConversionsAreSound(t *testing.T) {
	for _, eps := range []float64{0, 0.1, 1, 3} {
		for _, mu := range []float64{0.2, 1, 3} {
			exact := bounds.GaussianDelta(mu, eps)
			if got := BestDelta(Gaussian{1, mu}, eps, Tight).Delta; got < exact || got > math.Min(1, 20*exact) {
				t.Errorf("mu %v eps %v: delta %v, exactly %v", mu, eps, got, exact)
			}
		}
		for _, k := range []int{1, 3, 20} {
			exact := OptimalDelta(0.4, 0, k, eps)
			if got := BestDelta(Repeat{PureDP{0.4}, k}, eps, Tight).Delta; got < exact {
				t.Errorf("%d responses, eps %v: delta %v, exactly %v", k, eps, got, exact)
			}
		}
		const q, sigma = 0.2, 0.8
		exact := integral(-12, 16, 40_000, func(x float64) float64 {
			ratio := 1 + q*math.Expm1((2*x-1)/(2*sigma*sigma))
			return math.Exp(-x*x/(2*sigma*sigma)) / (sigma * math.Sqrt(2*math.Pi)) * math.Max(0, ratio-math.Exp(eps))
		})
		if got := BestDelta(SubsampledGaussian{sigma, 1, q}, eps, Tight).Delta; got < exact {
			t.Errorf("sampled, eps %v: delta %v, exactly %v", eps, got, exact)
		}
	}
}

func TestConversionEdges(t *testing.T) {
	if b := BestEpsilon(PureDP{2}, 1e-300, Tight); b.Epsilon != 2 || !math.IsInf(b.Alpha, 1) {
		t.Errorf("pure at tiny delta: %+v", b)
	}
	if b := BestDelta(PureDP{2}, 2, Tight); b.Delta != 0 {
		t.Errorf("pure at its epsilon: %+v", b)
	}
	if b := BestEpsilon(RenyiDP{2, 1}, 1e-5, Classical); b.Alpha != 2 || b.Epsilon != 1+math.Log(1e5) {
		t.Errorf("one order: %+v", b)
	}
	if b := BestEpsilon(Concentrated{0}, 1e-5, Tight); b.Epsilon != 0 {
		t.Errorf("perfect privacy: %+v", b)
	}
	if b := BestDelta(Gaussian{1e-3, 1}, 0, Tight); b.Delta != 1 {
		t.Errorf("no privacy: %+v", b)
	}
	if v := Tight.epsilon(math.Inf(1), 2, 0.1, math.Inf(1)); !math.IsInf(v, 1) {
		t.Errorf("infinite divergence: %v", v)
	}
	// Bun and Steinke 2016, proposition 1.3.
	near(t, "zCDP", BestEpsilon(Concentrated{0.5}, 1e-5, Classical).Epsilon, 0.5+2*math.Sqrt(0.5*math.Log(1e5)), 1e-12)
}
