package published

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

func TestHistogramSamples(t *testing.T) {
	for _, k := range []struct{ got, want float64 }{
		{HistogramSamples(10, 0, 0.1, 0.1), 2 * 4000},
		{HistogramSamples(10, 0, 0.01, 0.1), 2 * 120_000},
		{ADPTesterEta(2, 0, 2400), 0.1},
		{ADPTesterEta(100, 0, 8e6), 0.01},
	} {
		if math.Abs(k.got-k.want) > 1e-6*k.want {
			t.Errorf("%v samples, want %v", k.got, k.want)
		}
	}
}

func TestHistogramCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(69, 70))
	for _, k := range []pair{{"smooth", []float64{0.1, 0.2, 0.7}, []float64{0.3, 0.4, 0.3}}, rarePair()} {
		for _, eps := range []float64{0, 0.5} {
			truth := k.delta(eps)
			wrong := 0
			const runs = 500
			sum := 0.0
			for range runs {
				sample := k.draw(r, 1000)
				v := HistogramDelta(sample.First(), sample.Second(), eps, 0.05)
				sum += v / runs
				if v > truth {
					wrong++
				}
				// By its definition.
				z := 0.0
				for j, x := range sample.First() {
					z += math.Max(0, float64(x)-math.Exp(eps)*float64(sample.Second()[j])) / 1000
				}
				s := (1 + math.Exp(2*eps)) / 1000
				want := math.Max(0, z-math.Sqrt(3*s)/2-math.Sqrt(s*math.Log(20)/2))
				if v > want || v < want-2e-6 {
					t.Fatalf("bound %v, by definition %v", v, want)
				}
			}
			testsize.Chance(t, k.name, wrong, runs, 0.05, 1e-6)
			if truth > 0.3 && sum < truth-0.2 {
				t.Errorf("%s: %v of %v certified", k.name, sum, truth)
			}
		}
	}
}
