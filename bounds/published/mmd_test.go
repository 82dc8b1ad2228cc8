package published

import (
	"math"
	"math/rand/v2"
	"testing"
)

// summarise draws n values of h for a kernel on the bins of a pair.
func summarise(r *rand.Rand, k pair, n int, signed bool, kernel func(a, b int) float64) MMDSummary {
	first, second := drawing(r, k.p), drawing(r, k.q)
	sum, squares := 0.0, 0.0
	for range n {
		x, x2, y, y2 := first(), first(), second(), second()
		h := kernel(x, x2) - 2*kernel(x, y) + kernel(y, y2)
		sum += h
		squares += h * h
	}
	mean := sum / float64(n)
	return MMDSummary{N: n, Mean: mean, Variance: (squares - sum*mean) / float64(n-1), Signed: signed}
}

func TestMMDThresholds(t *testing.T) {
	for _, k := range []struct{ got, want, digit float64 }{
		{TightMMDThreshold(1, 0, false), 0.653, 6e-4}, {TightMMDThreshold(0, 1-1e-16, true), 2, 1e-12},
	} {
		if math.Abs(k.got-k.want) > k.digit {
			t.Errorf("threshold %v, want %v", k.got, k.want)
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
		var p, q [3]float64
		var features [3][3]float64
		sp, sq := 0.0, 0.0
		for i := range p {
			p[i], q[i] = r.ExpFloat64(), r.ExpFloat64()
			sp, sq = sp+p[i], sq+q[i]
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
		eps := r.Float64()
		forward, backward, squared := 0.0, 0.0, 0.0
		for j := range 3 {
			d := 0.0
			for i := range p {
				d += (p[i]/sp - q[i]/sq) * features[i][j]
			}
			squared += d * d
		}
		for i := range p {
			forward += math.Max(0, p[i]/sp-math.Exp(eps)*q[i]/sq)
			backward += math.Max(0, q[i]/sq-math.Exp(eps)*p[i]/sp)
		}
		limit := TightMMDThreshold(eps, math.Max(forward, backward), signed)
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
	same := func(a, b int) float64 {
		if a == b {
			return 1
		}
		return 0
	}
	for _, k := range []pair{{"smooth", []float64{0.2, 0.3, 0.5}, []float64{0.5, 0.3, 0.2}}, rarePair()} {
		for _, eps := range []float64{0, 0.2} {
			truth := 0.0
			for i := range k.p {
				truth += math.Max(0, k.p[i]-math.Exp(eps)*k.q[i])
			}
			back := 0.0
			for i := range k.p {
				back += math.Max(0, k.q[i]-math.Exp(eps)*k.p[i])
			}
			truth = math.Max(truth, back)
			wrong := 0
			const runs = 200
			for range runs {
				s := summarise(r, k, 2000, false, same)
				if TightMMDDelta(s, eps, 0.05) > truth || CorrectedMMDDelta(s, eps, 0.05) > truth {
					wrong++
				}
			}
			notTooMany(t, k.name, wrong, runs, 0.05)
		}
	}
	for _, s := range []MMDSummary{{N: 1}, {N: 5, Mean: 2.5}, {N: 5, Mean: math.NaN()}, {N: 5, Variance: -1}, {N: 5, Variance: math.NaN()}} {
		if s.Validate() == nil {
			t.Errorf("%+v passes", s)
		}
	}
}
