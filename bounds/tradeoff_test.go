package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

// Simultaneous over the curve: an error is any rectangle that misses its point.
func TestTradeoffBandCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	const runs = 150
	for _, k := range []pair{gaussianPair(1, 20), rarePair(), {"equal", []float64{0.5, 0.3, 0.2}, []float64{0.5, 0.3, 0.2}}} {
		bins := len(k.p)
		order := downBy(bins, func(i int) float64 { return float64(i) })
		wrong := 0
		for range runs {
			missed := false
			fpr, fnr := 0.0, 1.0
			for i, p := range TradeoffBand(k.draw(r, 500), order, 0.05) {
				if i > 0 {
					fpr += k.q[order[i-1]]
					fnr -= k.p[order[i-1]]
				}
				const rounding = 1e-9
				missed = missed || fpr < p.FPRLower-rounding || fpr > p.FPRUpper+rounding || fnr < p.FNRLower-rounding || fnr > p.FNRUpper+rounding
			}
			if missed {
				wrong++
			}
		}
		testsize.Chance(t, k.name, wrong, runs, 0.05, 1e-6)
	}
}

func TestTradeoffBandShape(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 58))
	k := gaussianPair(1, 40)
	sample := k.draw(r, 20_000)
	order := r.Perm(40)
	band := TradeoffBand(sample, order, 0.05)
	in := make([]bool, 40)
	for i, p := range band {
		if i > 0 {
			in[order[i-1]] = true
		}
		c := sample.Event(in)
		if math.Abs(p.FPR-float64(c.Y)/float64(c.N0)) > 1e-12 || math.Abs(p.FNR-1+float64(c.X)/float64(c.N1)) > 1e-12 {
			t.Errorf("point %d is (%v, %v), counts %+v", i, p.FPR, p.FNR, c)
		}
		if !(p.FPRLower <= p.FPR && p.FPR <= p.FPRUpper && p.FNRLower <= p.FNR+1e-12 && p.FNR <= p.FNRUpper+1e-12) {
			t.Errorf("point %d lies outside its rectangle: %+v", i, p)
		}
		if i > 0 && (p.FPRLower < band[i-1].FPRLower || p.FPRUpper < band[i-1].FPRUpper || p.FNRLower > band[i-1].FNRLower || p.FNRUpper > band[i-1].FNRUpper) {
			t.Errorf("limits %d are not monotone", i)
		}
		// Each of the 39 limits has its share of a quarter of the error.
		if most := UpperProportion(c.Y, c.N0, 0.05/8/39); i > 0 && i < 40 && p.FPRUpper < min(most, p.FPR+math.Sqrt(math.Log(8/0.05)/40_000)) && p.FPRUpper != band[i+1].FPRUpper {
			t.Errorf("point %d: upper limit %v, want %v", i, p.FPRUpper, most)
		}
		// Never worse than the uniform band at half the error.
		if width := math.Sqrt(math.Log(8/0.05) / 40_000); p.FPRUpper-p.FPRLower > 2*width+1e-9 {
			t.Errorf("point %d: width %v, the uniform band has %v", i, p.FPRUpper-p.FPRLower, 2*width)
		}
	}
	if first, last := band[0], band[40]; first != (TradeoffPoint{0, 0, 0, 1, 1, 1}) || last != (TradeoffPoint{1, 1, 1, 0, 0, 0}) {
		t.Errorf("ends %+v and %+v", first, last)
	}
	// In the tails much better: the true top bin has FPR near 0.
	sorted := downBy(40, func(i int) float64 { return float64(i) })
	if p := TradeoffBand(sample, sorted, 0.05)[1]; p.FPRUpper > p.FPR+0.005 {
		t.Errorf("upper limit %v of a rate %v, want less than half of the uniform band's", p.FPRUpper, p.FPR)
	}
}
