package matmul

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// slowProduct is a times b by definition, entry (i, k) of a at a[i*depth+k] and
// (k, j) of b at b[k*columns+j].
func slowProduct[T Real](a, b, bias []T, rows, depth, columns int) []T {
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

func numbers[T Real](s *stream.Stream, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(s.Float64() - 0.5)
	}
	return v
}

// The kernel has the bits of the plain sum: same order, same rounding.
func TestProductAgreesWithItsTwin(t *testing.T) {
	t.Run("float32", agrees[float32])
	t.Run("float64", agrees[float64])
}

func agrees[T Real](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, depth, columns := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 11).Draw(t, "depth"), rapid.IntRange(1, 9).Draw(t, "columns")
		s := stream.New(stream.Key{Seed: rapid.Uint64().Draw(t, "seed"), Purpose: "product"})
		a, b := numbers[T](s, rows*depth), numbers[T](s, depth*columns)
		var bias []T
		if rapid.Bool().Draw(t, "bias") {
			bias = numbers[T](s, columns)
		}
		var left, right Packed[T]
		left.Left(numbers[T](s, 200), 7, 9, 9, 1) // stale contents
		left.Left(a, rows, depth, depth, 1)
		right.Right(b, columns, depth, 1, columns)
		c := make([]T, rows*columns)
		Product(&left, &right, bias, c)
		for i, want := range slowProduct(a, b, bias, rows, depth, columns) {
			if c[i] != want {
				t.Fatalf("entry %d is %v, want %v", i, c[i], want)
			}
		}
	})
}

func TestProductRefusesWhatDoesNotFit(t *testing.T) {
	list := make([]float64, 6)
	var left, right, short Packed[float64]
	left.Left(list, 2, 3, 3, 1)
	right.Right(list, 2, 3, 1, 2)
	short.Right(list, 2, 2, 1, 2)
	for name, f := range map[string]func(){
		"factors the other way round": func() { Product(&right, &left, nil, make([]float64, 4)) },
		"another inner dimension":     func() { Product(&left, &short, nil, make([]float64, 4)) },
		"too short a result":          func() { Product(&left, &right, nil, make([]float64, 3)) },
	} {
		must.Panic(t, name, f)
	}
}

// Dot and AddScaled of lists of every length up to some, against plain loops: Dot
// up to the order of its sum, AddScaled to the bit.
func TestDotAndAddScaled(t *testing.T) {
	s := stream.New(stream.Key{Seed: 1, Purpose: "dot"})
	for n := range 14 {
		a, b := numbers[float64](s, n), numbers[float64](s, n)
		want, size := 0.0, 0.0
		for i := range a {
			want += a[i] * b[i]
			size += math.Abs(a[i] * b[i])
		}
		if got := Dot(a, b); math.Abs(got-want) > 1e-15*float64(n)*size {
			t.Errorf("length %d: Dot is %v, want %v", n, got, want)
		}
		sum := append([]float64{}, a...)
		AddScaled(sum, b, -0.7)
		for i := range sum {
			if want := a[i] + float64(-0.7*b[i]); sum[i] != want {
				t.Errorf("length %d: entry %d is %v, want %v", n, i, sum[i], want)
			}
		}
	}
}
