package stream

import "testing"

// perSample reports the time of one element of a fill of n.
func perSample(b *testing.B, n int, fill func(dst []float64)) {
	dst := make([]float64, n)
	fill(dst)
	for b.Loop() {
		fill(dst)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
}

func BenchmarkFill(b *testing.B) {
	s := New(Key{Seed: 1, Purpose: "bench"})
	for _, c := range samplers() {
		b.Run(c.name, func(b *testing.B) {
			perSample(b, 4096, func(dst []float64) { c.fill(s, dst) })
		})
	}
	b.Run("words", func(b *testing.B) {
		perSample(b, 4096, func(dst []float64) {
			for n := len(dst); n > 0; {
				n -= len(s.take(n))
			}
		})
	})
	b.Run("uint64", func(b *testing.B) {
		var sum uint64
		perSample(b, 4096, func(dst []float64) {
			for range dst {
				sum += s.Uint64()
			}
		})
		benchSum += sum
	})
	b.Run("laplace-one-by-one", func(b *testing.B) {
		perSample(b, 4096, func(dst []float64) {
			for i := range dst {
				s.Laplace(dst[i:i+1], 1)
			}
		})
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		benchSum += New(Key{Seed: 1, Purpose: "bench"}).Uint64()
	}
}

func BenchmarkElementary(b *testing.B) {
	for _, c := range []struct {
		name   string
		f      func(float64) float64
		lo, hi float64
	}{
		{"Log", Log, 0, 100}, {"Log1p", Log1p, -0.9, 9}, {"Exp", Exp, -20, 20},
		{"Expm1", Expm1, -2, 2}, {"Logistic", Logistic, -20, 20},
		{"SinCos2Pi", func(x float64) float64 { s, c := SinCos2Pi(x); return s + c }, -9, 9},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := make([]float64, 4096)
			New(Key{Purpose: c.name}).Uniform(x, c.lo, c.hi)
			perSample(b, len(x), func(dst []float64) {
				for i := range dst {
					dst[i] = c.f(x[i])
				}
			})
		})
	}
}

var benchSum uint64
