package source

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// TestRightSingular compares with gonum's decomposition: the same singular values and,
// where they stand apart, the same vectors, which are orthonormal whatever the rank.
func TestRightSingular(t *testing.T) {
	st := stream.New(stream.Key{Seed: 5, Purpose: "test/singular"})
	for _, size := range [][2]int{{1, 1}, {1, 6}, {6, 1}, {4, 4}, {7, 40}, {40, 7}, {30, 31}, {64, 64}, {60, 20}} {
		for _, kind := range []string{"random", "repeated rows", "low rank", "zero rows", "zero columns", "zero", "badly scaled", "huge", "tiny"} {
			m := matrix{rows: size[0], columns: size[1], v: make([]float64, size[0]*size[1])}
			st.Gaussian(m.v, 1)
			graded := kind == "badly scaled"
			for i := range m.rows {
				row := m.row(i)
				for j := range row {
					switch {
					case kind == "repeated rows" && i > 0 && i%2 == 0:
						row[j] = m.row(i - 1)[j]
					case kind == "low rank" && i > 2:
						row[j] = m.row(0)[j] - m.row(1)[j] + float64(i)*m.row(2)[j]
					case kind == "zero rows" && i%3 == 1, kind == "zero columns" && j%3 == 1, kind == "zero":
						row[j] = 0
					case graded:
						row[j] *= math.Exp2(-float64(40*i) / float64(m.rows))
					case kind == "huge":
						row[j] *= 1e305
					case kind == "tiny":
						row[j] *= 1e-305
					}
				}
			}
			what := fmt.Sprintf("%s %v", kind, size)
			got, ok := rightSingular(m)
			rank := min(m.rows, m.columns)
			if !ok || len(got) != rank {
				t.Fatalf("%s: %v, %d vectors", what, ok, len(got))
			}
			for i, v := range got {
				for k, w := range got[:i+1] {
					want := 0.0
					if k == i {
						want = 1
					}
					if len(v) != m.columns || math.Abs(linalg.Dot(v, w)-want) > 1e-13 {
						t.Fatalf("%s: vectors %d and %d of %d entries have the inner product %v", what, k, i, len(v), linalg.Dot(v, w))
					}
				}
			}
			var svd mat.SVD
			if !svd.Factorize(mat.NewDense(m.rows, m.columns, slices.Clone(m.v)), mat.SVDThinV) {
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
				for k := range m.rows {
					x := linalg.Dot(v, m.row(k)) / values[0]
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
				if m.rows >= m.columns && i == rank-1 && i > 0 {
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
			m := matrix{rows: n, columns: n, v: make([]float64, n*n)}
			stream.New(stream.Key{Purpose: "test/singular"}).Gaussian(m.v, 1)
			for b.Loop() {
				if _, err := tailSingular(m, n/2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
