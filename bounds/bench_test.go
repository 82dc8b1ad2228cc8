package bounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// The counts that are dear: common events (wide windows), rare against common
// (many cells), each with and without delta.
func benchmarkCounts(n int) []namedCounts {
	return []namedCounts{
		{"common", Counts{n / 2, n, n * 3 / 10, n}},
		{"rare", Counts{n / 2, n, n / 1000, n}},
		{"ten", Counts{n / 2, n, 10, n}},
		{"certain", Counts{n, n, 0, n}},
		{"ratio10", Counts{n / 2, n, n / 33, n / 10}},
	}
}

type namedCounts struct {
	name   string
	counts Counts
}

func BenchmarkExact(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000, 100_000_000} {
		for _, k := range benchmarkCounts(n) {
			for _, delta := range []float64{0, 1e-5, 0.01} {
				b.Run(fmt.Sprintf("n=%d/%s/delta=%v", n, k.name, delta), func(b *testing.B) {
					for b.Loop() {
						Exact(k.counts, delta, 0.05)
					}
				})
			}
		}
	}
}

func BenchmarkExactPValue(b *testing.B) {
	c := Counts{500_000, 1_000_000, 300_000, 1_000_000}
	for b.Loop() {
		ExactPValue(c, 0.5, 1e-5, 1e-4)
	}
}

func BenchmarkTuneSplit(b *testing.B) {
	c := Counts{500_000, 1_000_000, 300_000, 1_000_000}
	for b.Loop() {
		TuneSplit(c, 1_000_000, 1_000_000, 1e-5, 0.05)
	}
}

func BenchmarkSmallestDetectable(b *testing.B) {
	for b.Loop() {
		SmallestDetectable(1, 1e-5, 0.05, 1_000_000, 1_000_000, 0.1)
	}
}

func BenchmarkPairedBetting(b *testing.B) {
	x, y := draw(rand.New(rand.NewPCG(1, 1)), 100_000, 0.5, 0.1, 0.2)
	for b.Loop() {
		PairedBetting(x, y, 1e-5, 0.05, 0.2)
	}
}

// The work stays bounded at every kind of counts: no input makes the sweep
// split without end.
func TestExactWorkIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	most, at := 0, Counts{}
	for range 1500 {
		n := int(10 * math.Pow(10, 4.3*r.Float64()))
		m := int(float64(n) * math.Pow(10, r.Float64()-0.5))
		c := Counts{N1: n, N0: max(1, m)}
		c.X = min(n, int(float64(n)*math.Pow(float64(n), -r.Float64())*1.2))
		c.Y = min(c.N0, int(float64(c.N0)*math.Pow(float64(c.N0), -1.1*r.Float64())*1.2))
		delta := []float64{0, 1e-5, 0.01, 0.3}[r.IntN(4)]
		beta := []float64{0.05, 0.5, 1e-6, 1e-30}[r.IntN(4)]
		if _, evals := exactSweep(c, delta, beta); evals > most {
			most, at = evals, c
		}
	}
	t.Logf("at most %d sums, at %+v", most, at)
	if most > 400 {
		t.Errorf("%d sums at %+v, want at most 400", most, at)
	}
}

func BenchmarkTuneRenyi(b *testing.B) {
	explore := gaussianPair(0.5, 48).draw(rand.New(rand.NewPCG(1, 1)), 50_000)
	h := CalibrateRenyi(explore, 2)
	for b.Loop() {
		must.Get(TuneRenyi(explore, h, 2, 50_000, 0.05))(b)
	}
}

func BenchmarkRenyi(b *testing.B) {
	k := gaussianPair(0.5, 48)
	r := rand.New(rand.NewPCG(1, 1))
	explore := k.draw(r, 50_000)
	plan := must.Get(TuneRenyi(explore, CalibrateRenyi(explore, 2), 2, 50_000, 0.05))(b)
	sample := k.draw(r, 50_000)
	for _, m := range []Method{MethodRenyiBetting, MethodRenyiBerryEsseen} {
		plan.Method = m
		if plan.Lambda == 0 {
			plan.Lambda = 0.1 / newRenyiWager(plan.H, 2).floor()
		}
		b.Run(string(m), func(b *testing.B) {
			for b.Loop() {
				Renyi(sample, plan, 0.05)
			}
		})
	}
}

func BenchmarkTradeoffBand(b *testing.B) {
	sample := gaussianPair(0.5, 48).draw(rand.New(rand.NewPCG(1, 1)), 1_000_000)
	order := make([]int, 48)
	for i := range order {
		order[i] = 47 - i
	}
	for b.Loop() {
		TradeoffBand(sample, order, 0.05)
	}
}
