package published

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/bounds"
)

// The corrected theorem by its formula, on a sample large enough to say
// something, and silent where its condition on eta fails.
func TestCorrectedRenyi(t *testing.T) {
	sample := bounds.NewTable(2)
	sample.N = []int{180_000, 420_000, 120_000, 280_000} // first: .6, .4; second: .3, .7
	h := []float64{math.Ln2, math.Log(4.0 / 7)}
	const alpha, beta = 2.0, 0.05
	n, osc := 1e6, h[0]-h[1]
	estimate := 2*math.Log(0.6*math.Exp(h[0])+0.4*math.Exp(h[1])) - math.Log(0.3*math.Exp(2*h[0])+0.7*math.Exp(2*h[1]))
	eta1, eta2 := math.Sqrt(3*math.Exp(osc)*math.Log(40)/n), math.Sqrt(2*math.Exp(2*osc)*math.Log(40)/n)
	want := estimate - 2*math.Log(1+eta1) - math.Log(1/(1-eta2))
	got := CorrectedRenyi(sample, h, alpha, beta)
	if got > want || got < want-2e-6 {
		t.Errorf("corrected bound %v, want %v rounded down", got, want)
	}
	if got > estimate*0.98 || got < estimate*0.8 {
		t.Errorf("corrected bound %v of an estimate %v", got, estimate)
	}
	if v := CorrectedRenyi(sample, []float64{5, -5}, alpha, beta); v != 0 {
		t.Errorf("wide witness: %v, want 0", v)
	}
	if v := Renyi(sample, []float64{8, -8}, alpha, beta); !math.IsInf(v, -1) {
		t.Errorf("published, wide witness: %v, want -Inf", v)
	}
}
