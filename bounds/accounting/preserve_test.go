package accounting

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The table of the slides "Renyi Differential Privacy" (Cohen and Pot): bounds for
// epsilon = .1, as printed. They cut digits off or round, so a unit of the last
// one is allowed.
func TestPreserveTable(t *testing.T) {
	for _, k := range []struct{ q, alpha, lo, hi, unitLo, unitHi float64 }{
		{0.5, 1.1, 0.00044, 0.94751, 1e-5, 1e-5},
		{0.5, 10, 0.419, 0.586, 1e-3, 1e-3},
		{0.5, 100, 0.449, 0.556, 1e-3, 1e-3},
		{1e-3, 1.1, 9.05e-34, 0.5385, 1e-36, 1e-4},
		{1e-3, 10, 0.00042, 0.00218, 1e-5, 1e-5},
		{1e-3, 100, 0.00084, 0.00118, 1e-5, 1e-5},
		{1e-6, 1.1, 9.04e-67, 0.2874, 1e-69, 1e-4},
		{1e-6, 10, 0.195e-6, 4.36e-6, 1e-9, 1e-8},
		{1e-6, 100, 7.87e-7, 1.27e-6, 1e-9, 1e-8},
	} {
		lo, hi := Preserve(k.q, 0.1, k.alpha)
		if math.Abs(lo-k.lo) > k.unitLo || math.Abs(hi-k.hi) > k.unitHi {
			t.Errorf("q %v alpha %v: [%v, %v], printed [%v, %v]", k.q, k.alpha, lo, hi, k.lo, k.hi)
		}
	}
}

// Holds for every threshold event of Gaussian and Laplace noise, the exact
// probabilities of which are known; and the statement with the reciprocal
// exponent does not, not even for equal distributions.
func TestPreserveHolds(t *testing.T) {
	for _, c := range []struct {
		curve Curve
		cdf   func(float64) float64
	}{{Gaussian{1, 1}, distuv.UnitNormal.CDF}, {Laplace{1, 1}, distuv.Laplace{Scale: 1}.CDF}} {
		for _, alpha := range []float64{1.01, 1.5, 2, 8, 100} {
			d := c.curve.At(alpha)
			for x := -6.0; x < 6; x += 0.25 {
				for _, event := range [][2]float64{{c.cdf(x), c.cdf(x - 1)}, {c.cdf(x - 1), c.cdf(x)}} {
					if lo, hi := Preserve(event[1], d, alpha); event[0] > hi*(1+1e-12) || event[0] < lo*(1-1e-12) {
						t.Errorf("%v alpha %v: %v on one side, %v outside [%v, %v]", c.curve, alpha, event[1], event[0], lo, hi)
					}
				}
			}
		}
	}
	const q, alpha = 0.5, 2
	if reciprocal := math.Pow(q, alpha/(alpha-1.0)); q <= reciprocal {
		t.Error("the reciprocal exponent should fail for equal distributions")
	}
	if lo, hi := Preserve(q, 0, alpha); lo > q || hi < q {
		t.Errorf("equal distributions: %v outside [%v, %v]", q, lo, hi)
	}
}

func TestPreserveEdges(t *testing.T) {
	for _, k := range []struct{ q, d, alpha, lo, hi float64 }{
		{0, 1, 2, 0, 0}, {1, 0, 2, 1, 1}, {1, 5, 2, math.Exp(-5), 1}, {0.1, 0.5, math.Inf(1), 0.1 * math.Exp(-0.5), 0.1 * math.Exp(0.5)},
		{0.1, math.Inf(1), 2, 0, 1},
	} {
		lo, hi := Preserve(k.q, k.d, k.alpha)
		if math.Abs(lo-k.lo) > 1e-15 || math.Abs(hi-k.hi) > 1e-15 {
			t.Errorf("%+v: [%v, %v]", k, lo, hi)
		}
	}
}
