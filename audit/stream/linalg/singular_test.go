package linalg

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit/stream"
)

// TestRightSingular compares with gonum's decomposition: the same singular values and,
// where they stand apart, the same vectors, which are orthonormal whatever the rank.
func TestRightSingular(t *testing.T) {
	st := stream.New(stream.Key{Seed: 5, Purpose: "test/singular"})
	for _, size := range [][2]int{{1, 1}, {1, 6}, {6, 1}, {4, 4}, {7, 40}, {40, 7}, {30, 31}, {64, 64}, {60, 20}} {
		for _, kind := range []string{"random", "repeated rows", "low rank", "zero rows", "zero columns", "zero", "badly scaled", "huge", "tiny"} {
			rows, columns := size[0], size[1]
			all := make([]float64, rows*columns)
			line := func(i int) []float64 { return all[i*columns:][:columns] }
			st.Gaussian(all, 1)
			graded := kind == "badly scaled"
			for i := range rows {
				row := line(i)
				for j := range row {
					switch {
					case kind == "repeated rows" && i > 0 && i%2 == 0:
						row[j] = line(i - 1)[j]
					case kind == "low rank" && i > 2:
						row[j] = line(0)[j] - line(1)[j] + float64(i)*line(2)[j]
					case kind == "zero rows" && i%3 == 1, kind == "zero columns" && j%3 == 1, kind == "zero":
						row[j] = 0
					case graded:
						row[j] *= math.Exp2(-float64(40*i) / float64(rows))
					case kind == "huge":
						row[j] *= 1e305
					case kind == "tiny":
						row[j] *= 1e-305
					}
				}
			}
			what := fmt.Sprintf("%s %v", kind, size)
			got, ok := rightSingular(all, rows, columns)
			rank := min(rows, columns)
			if !ok || len(got) != rank {
				t.Fatalf("%s: %v, %d vectors", what, ok, len(got))
			}
			for i, v := range got {
				for k, w := range got[:i+1] {
					want := 0.0
					if k == i {
						want = 1
					}
					if len(v) != columns || math.Abs(Dot(v, w)-want) > 1e-13 {
						t.Fatalf("%s: vectors %d and %d of %d entries have the inner product %v", what, k, i, len(v), Dot(v, w))
					}
				}
			}
			var svd mat.SVD
			if !svd.Factorize(mat.NewDense(rows, columns, slices.Clone(all)), mat.SVDThinV) {
				t.Fatal(what)
			}
			var vectors mat.Dense
			svd.VTo(&vectors)
			values := append(svd.Values(nil), 0)
			if !(values[0] > 0) {
				continue
			}
			for i, v := range got {
				length := 0.0
				for k := range rows {
					x := Dot(v, line(k)) / values[0]
					length += x * x
				}
				if length = math.Sqrt(length); math.Abs(length-values[i]/values[0]) > 1e-13 {
					t.Errorf("%s: singular value %d is %v of the first, want %v", what, i, length, values[i]/values[0])
				}
				gap := (values[i] - values[i+1]) / values[0]
				if i > 0 {
					gap = min(gap, (values[i-1]-values[i])/values[0])
				} else if rank == 1 {
					gap = 1
				}
				if rows >= columns && i == rank-1 && i > 0 {
					gap = (values[i-1] - values[i]) / values[0] // no other vector is left
				}
				along := 0.0
				for j, x := range v {
					along += x * vectors.At(j, i)
				}
				if gap > 1e-6 && math.Abs(math.Abs(along)-1) > 1e-13/gap {
					t.Errorf("%s: vector %d of %d: %v along the true one", what, i, rank, along)
				}
			}
		}
	}
}

func BenchmarkTailSingular(b *testing.B) {
	for _, n := range []int{256, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			all := make([]float64, n*n)
			stream.New(stream.Key{Purpose: "test/singular"}).Gaussian(all, 1)
			for b.Loop() {
				if _, ok := TailSingular(all, n, n, n/2); !ok {
					b.Fatal("no convergence")
				}
			}
		})
	}
}
