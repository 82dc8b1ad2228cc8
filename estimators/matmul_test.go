package estimators

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/core/stream"
)

// slowProduct is a times b by definition, entry (i, k) of a at a[i*depth+k] and
// (k, j) of b at b[k*columns+j].
func slowProduct[T real](a, b, bias []T, rows, depth, columns int) []T {
	c := make([]T, rows*columns)
	for i := range rows {
		for j := range columns {
			var sum T
			for k := range depth {
				sum += T(a[i*depth+k] * b[k*columns+j])
			}
			if bias != nil {
				sum += bias[j]
			}
			c[i*columns+j] = sum
		}
	}
	return c
}

func numbers[T real](s *stream.Stream, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(s.Float64() - 0.5)
	}
	return v
}

// The kernel has the bits of the plain sum: same order, same rounding.
func TestProductAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, depth, columns := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 11).Draw(t, "depth"), rapid.IntRange(1, 9).Draw(t, "columns")
		s := stream.New(stream.Key{Seed: rapid.Uint64().Draw(t, "seed"), Purpose: "product"})
		a, b := numbers[float32](s, rows*depth), numbers[float32](s, depth*columns)
		var bias []float32
		if rapid.Bool().Draw(t, "bias") {
			bias = numbers[float32](s, columns)
		}
		var left, right packed[float32]
		left.pack(numbers[float32](s, 200), 7, 9, 9, 1, tall) // stale contents
		left.pack(a, rows, depth, depth, 1, tall)
		right.pack(b, columns, depth, 1, columns, broad)
		c := make([]float32, rows*columns)
		product(&left, &right, bias, c)
		for i, want := range slowProduct(a, b, bias, rows, depth, columns) {
			if math.Float32bits(c[i]) != math.Float32bits(want) {
				t.Fatalf("entry %d is %v, want %v", i, c[i], want)
			}
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	const rows, depth, columns = 256, 100, 100
	s := stream.New(stream.Key{Seed: 1, Purpose: "product"})
	var left, right packed[float32]
	a, w := numbers[float32](s, rows*depth), numbers[float32](s, depth*columns)
	c := make([]float32, rows*columns)
	for b.Loop() {
		left.pack(a, rows, depth, depth, 1, tall)
		right.pack(w, columns, depth, 1, columns, broad)
		product(&left, &right, nil, c)
	}
	b.ReportMetric(float64(rows*depth*columns)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "products/ns")
}
