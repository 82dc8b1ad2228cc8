package published

import (
	"math"
	"math/rand/v2"
	"testing"
)

func uniformCounts(r *rand.Rand, m, n int) []int {
	counts := make([]int, m)
	for range n {
		counts[r.IntN(m)]++
	}
	return counts
}

// P = Q uniform on m bins is 0-private. At the published sample size the
// published tester reports a violation in every run for m = 1000 and in most for
// m = 100; at the corrected size in none.
func TestHistogramCounterexample(t *testing.T) {
	const eps, beta, eta = 0.01, 1.0 / 3, 0.05
	r := rand.New(rand.NewPCG(67, 68))
	flagged := func(m, n, runs int) float64 {
		count := 0
		for range runs {
			if HistogramDivergence(uniformCounts(r, m, n), uniformCounts(r, m, n), eps)-eta > 0 {
				count++
			}
		}
		return float64(count) / float64(runs)
	}
	// With probability 1.00 and .72 each: at 40 and 200 runs a false alarm of
	// the second is rarer than 1e-4 (3.8 standard deviations of .032).
	if got := flagged(1000, int(HistogramSamples(1000, eps, eta, beta)), 40); got != 1 {
		t.Errorf("published, m = 1000: flagged %v of the runs, want all", got)
	}
	got := flagged(100, int(HistogramSamples(100, eps, eta, beta)), 200)
	t.Logf("published, m = 100: %.3f", got)
	if got < 0.6 || got > 0.84 {
		t.Errorf("published, m = 100: flagged %v of the runs, want .72", got)
	}
	if got := flagged(1000, int(CorrectedHistogramSamples(1000, eps, eta, beta)), 2); got != 0 {
		t.Errorf("corrected, m = 1000: flagged %v of the runs, want none", got)
	}
	if got := flagged(100, int(CorrectedHistogramSamples(100, eps, eta, beta)), 20); got != 0 {
		t.Errorf("corrected, m = 100: flagged %v of the runs, want none", got)
	}
	// HistogramDelta needs no sample size of its own.
	for range 40 {
		n := int(HistogramSamples(1000, eps, eta, beta)) / 4
		if v := HistogramDelta(uniformCounts(r, 1000, n), uniformCounts(r, 1000, n), eps, 0.05); v != 0 {
			t.Errorf("bound %v on equal laws", v)
		}
	}
}

func TestHistogramSamples(t *testing.T) {
	for _, k := range []struct{ got, want float64 }{
		{HistogramSamples(10, 0, 0.1, 0.1), 2 * 4000},
		{HistogramSamples(10, 0, 0.01, 0.1), 2 * 120_000},
		{CorrectedHistogramSamples(10, 0, 0.1, 1.0/3), 2 * 4000},
		{CorrectedHistogramSamples(2, 0, 0.1, 1.0/3), 2 * 1200},
		{CorrectedHistogramSamples(2, 0, 0.1, 0.05), 2 * 8000},
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
			truth := 0.0
			for i := range k.p {
				truth += math.Max(0, k.p[i]-math.Exp(eps)*k.q[i])
			}
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
			notTooMany(t, k.name, wrong, runs, 0.05)
			if truth > 0.3 && sum < truth-0.2 {
				t.Errorf("%s: %v of %v certified", k.name, sum, truth)
			}
		}
	}
}

// CorrectedHistogramSamples is the number of outputs a side after which the
// estimate less eta exceeds the true divergence with probability at most beta:
// the larger of 4m(1+e^(2 eps))/eta^2, which keeps the bias below eta/2, and
// 4(1+e^(2 eps))/(beta eta^2), for Chebyshev's inequality.
func CorrectedHistogramSamples(m int, eps, eta, beta float64) float64 {
	return math.Max(4*float64(m), 4/beta) * (1 + math.Exp(2*eps)) / (eta * eta)
}
