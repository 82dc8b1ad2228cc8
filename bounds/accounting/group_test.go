package accounting

import (
	"math"
	"testing"
)

func TestGroupExact(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7} {
		k := float64(size)
		for _, alpha := range []float64{1, 1.5, 2, 9} {
			for _, c := range []struct{ got, want Curve }{
				{Gaussian{2, 1}, Gaussian{2, k}}, {Laplace{2, 1}, Laplace{2, k}}, {PureDP{0.3}, PureDP{0.3 * k}},
				{Concentrated{0.1}, Concentrated{0.1 * k * k}}, {RandomisedResponse{0.8}, RandomisedResponse{0.8}},
				{Repeat{Gaussian{2, 1}, 3}, Repeat{Gaussian{2, k}, 3}}, {Sum{Laplace{2, 1}, PureDP{1}}, Sum{Laplace{2, k}, PureDP{k}}},
			} {
				near(t, "group", Group(c.got, size).At(alpha), c.want.At(alpha), 1e-15)
			}
		}
	}
}

// The general rule holds where the truth is known: never below the exact curve of
// the group.
func TestGroupRuleIsSound(t *testing.T) {
	for _, size := range []int{2, 3, 4, 8, 20} {
		for _, alpha := range []float64{1, 1.5, 2, 3, 10} {
			for _, c := range []Curve{Gaussian{1, 1}, Laplace{1, 1}, PureDP{0.5}} {
				if rule, exact := (grouped{c, size}).At(alpha), Group(c, size).At(alpha); rule < exact*(1-1e-12) {
					t.Errorf("%v, group of %d at %v: %v below the truth %v", c, size, alpha, rule, exact)
				}
			}
		}
	}
	// (alpha/2^c, 3^c eps) as printed.
	c := SubsampledGaussian{2, 1, 0.01}
	near(t, "rule", Group(c, 4).At(5), 9*c.At(20), 1e-15)
	near(t, "rule, odd size", Group(c, 3).At(5), 9*c.At(20), 1e-15)
	near(t, "rule, low order", Group(c, 4).At(1.1), 9*c.At(8), 1e-15)
	if b := BestEpsilon(Group(RenyiDP{64, 0.01}, 4), 1e-5, Classical); b.Alpha != 16 {
		t.Errorf("order %v, want 64/4", b.Alpha)
	}
}

func TestGroupApproximate(t *testing.T) {
	for _, eps := range []float64{0, 1e-9, 0.5, 3} {
		for _, size := range []int{1, 2, 9} {
			want := 0.0
			for i := range size {
				want += 1e-12 * math.Exp(float64(i)*eps)
			}
			total, delta := groupApproximate(eps, 1e-12, size)
			near(t, "delta", delta, want, 1e-8)
			near(t, "epsilon", total, float64(size)*eps, 1e-15)
		}
	}
	if _, delta := groupApproximate(800, 1e-300, 3); delta != 1 {
		t.Errorf("overflow: delta %v, want 1", delta)
	}
	if _, delta := groupApproximate(500, 1e-300, 2); math.Abs(math.Log(delta)-(500+math.Log(1e-300))) > 1e-9 {
		t.Errorf("large: delta %v", delta)
	}
	if _, delta := groupApproximate(1e6, 0, 5); delta != 0 {
		t.Errorf("pure: delta %v", delta)
	}
}
