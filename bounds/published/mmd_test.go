package published

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/internal/testsize"
)

// summarise draws n values of h of a pair, for the kernel that is 1 on equal bins.
func summarise(r *rand.Rand, k pair, n int) MMDSummary {
	kernel := func(a, b int) float64 {
		if a == b {
			return 1
		}
		return 0
	}
	first, second := drawing(r, k.p), drawing(r, k.q)
	sum, squares := 0.0, 0.0
	for range n {
		x, x2, y, y2 := first(), first(), second(), second()
		h := kernel(x, x2) - 2*kernel(x, y) + kernel(y, y2)
		sum += h
		squares += h * h
	}
	mean := sum / float64(n)
	return MMDSummary{N: n, Mean: mean, Variance: (squares - sum*mean) / float64(n-1)}
}

func TestMMDThresholds(t *testing.T) {
	for _, k := range []struct{ got, want, digit float64 }{
		{TightMMDThreshold(1, 0, false), 0.653, 6e-4}, {TightMMDThreshold(0, 1-1e-16, true), 2, 1e-12},
	} {
		if math.Abs(k.got-k.want) > k.digit {
			t.Errorf("threshold %v, want %v", k.got, k.want)
		}
	}
	for _, mean := range []float64{0, 1.5} {
		if got := TightMMDDelta(MMDSummary{N: 1000, Mean: mean}, 800, 0.05); got != 0 {
			t.Errorf("mean %v: delta %v at an epsilon of 800, want 0", mean, got)
		}
	}
	// h spans 8 where the kernel has values in [-1, 1], else 4.
	for signed, span := range map[bool]float64{false: 4, true: 8} {
		s := MMDSummary{N: 1001, Mean: 1.5, Signed: signed}
		if got, want := s.lower(0.05), 1.5-7*span*math.Log(40)/3000; math.Abs(got-want) > 1e-12 {
			t.Errorf("signed %v: E h is at least %v, want %v", signed, got, want)
		}
	}
	// The bounds invert their thresholds.
	for _, signed := range []bool{false, true} {
		for _, eps := range []float64{0, 0.3, 1} {
			m := TightMMDThreshold(eps, 0.1, signed)
			s := MMDSummary{N: 1 << 50, Mean: m * m, Signed: signed}
			if got := TightMMDDelta(s, eps, 0.05); math.Abs(got-0.1) > 2e-6 {
				t.Errorf("eps %v signed %v: delta %v, want .1", eps, signed, got)
			}
			m = MMDThreshold(eps, 0.1)
			s.Mean = m * m
			if s.Validate() == nil {
				if got := CorrectedMMDDelta(s, eps, 0.05); math.Abs(got-0.1) > 2e-6 {
					t.Errorf("corrected eps %v: delta %v, want .1", eps, got)
				}
			}
		}
	}
}

// The thresholds hold on random private pairs and random kernels in the stated
// ranges: k = sum of products of features.
func TestMMDThresholdIsValid(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	closest := 0.0
	for range 3000 {
		signed := r.IntN(2) == 0
		k := pair{p: make([]float64, 3), q: make([]float64, 3)}
		var features [3][3]float64
		for i := range features {
			k.p[i], k.q[i] = r.ExpFloat64(), r.ExpFloat64()
			norm := 0.0
			for j := range features[i] {
				features[i][j] = r.NormFloat64()
				if !signed {
					features[i][j] = math.Abs(features[i][j])
				}
				norm += features[i][j] * features[i][j]
			}
			for j := range features[i] {
				features[i][j] /= math.Sqrt(norm)
			}
		}
		floats.Scale(1/floats.Sum(k.p), k.p)
		floats.Scale(1/floats.Sum(k.q), k.q)
		eps, squared := r.Float64(), 0.0
		for j := range 3 {
			d := 0.0
			for i := range features {
				d += (k.p[i] - k.q[i]) * features[i][j]
			}
			squared += d * d
		}
		limit := TightMMDThreshold(eps, math.Max(k.delta(eps), pair{p: k.q, q: k.p}.delta(eps)), signed)
		closest = math.Max(closest, math.Sqrt(squared)/limit)
		if math.Sqrt(squared) > limit*(1+1e-12) {
			t.Fatalf("eps %v: discrepancy %v above %v", eps, math.Sqrt(squared), limit)
		}
	}
	if closest < 0.8 {
		t.Errorf("the closest pair reaches %v of the threshold: the test is blunt", closest)
	}
}

func TestMMDCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	for _, k := range []pair{{"smooth", []float64{0.2, 0.3, 0.5}, []float64{0.5, 0.3, 0.2}}, rarePair()} {
		for _, eps := range []float64{0, 0.2} {
			truth := math.Max(k.delta(eps), pair{p: k.q, q: k.p}.delta(eps))
			wrong := 0
			const runs = 200
			for range runs {
				s := summarise(r, k, 2000)
				if TightMMDDelta(s, eps, 0.05) > truth || CorrectedMMDDelta(s, eps, 0.05) > truth {
					wrong++
				}
			}
			testsize.Chance(t, k.name, wrong, runs, 0.05, 1e-6)
		}
	}
	for _, s := range []MMDSummary{{N: 1}, {N: 5, Mean: 2.5}, {N: 5, Mean: math.NaN()}, {N: 5, Variance: -1}, {N: 5, Variance: math.NaN()}} {
		if s.Validate() == nil {
			t.Errorf("%+v passes", s)
		}
	}
}
