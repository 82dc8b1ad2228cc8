package published

import (
	"math"
	"slices"
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
	few := bounds.NewTable(2)
	few.N[1] = 4918 // eta1 is 1.05, eta2 .95
	if v := CorrectedRenyi(few, []float64{0.2, 0}, 32, beta); v != 0 {
		t.Errorf("too few outputs for eta1: %v, want 0", v)
	}
	if v := Renyi(sample, []float64{8, -8}, alpha, beta); !math.IsInf(v, -1) {
		t.Errorf("published, wide witness: %v, want -Inf", v)
	}
}

// The published form is that of the centred witness: moving the witness changes nothing,
// and from a range of .41 on, where both of its terms are the smaller ones, it is nowhere
// below the corrected form.
func TestPublishedRenyiIsAboveCorrected(t *testing.T) {
	sample := bounds.NewTable(3)
	sample.N = []int{400, 900, 50, 800, 30_000, 700, 60, 500, 500}
	for _, alpha := range []float64{1.25, 2, 8, 32} {
		for _, h := range [][]float64{{0, 0.1, 0.3}, {-0.2, 0, 0.25}, {-0.02, 0.4, 0.1}} {
			moved := []float64{h[0] + 2, h[1] + 2, h[2] + 2}
			v, w := Renyi(sample, h, alpha, 0.05), Renyi(sample, moved, alpha, 0.05)
			if v != w && !(math.Abs(v-w) < 1e-9) {
				t.Errorf("alpha %v: %v, with the witness moved %v", alpha, v, w)
			}
			if c := CorrectedRenyi(sample, h, alpha, 0.05); !math.IsInf(v, -1) && math.Max(0, v) < c && slices.Max(h)-slices.Min(h) > 0.41 {
				t.Errorf("alpha %v: published %v below corrected %v", alpha, v, c)
			}
		}
	}
}
