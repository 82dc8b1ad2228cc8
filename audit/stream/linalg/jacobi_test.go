package linalg

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
)

// TestRows: rows come out orthogonal and sorted, and the companion of the identity
// tells how: U' A, with U orthogonal.
func TestRows(t *testing.T) {
	st := stream.New(stream.Key{Seed: 3, Purpose: "test/jacobi"})
	for _, size := range [][2]int{{1, 1}, {2, 2}, {5, 9}, {9, 5}, {40, 40}} {
		m, n := size[0], size[1]
		rows, was := make([][]float64, m), make([][]float64, m)
		for i := range rows {
			rows[i] = make([]float64, n+m)
			st.Gaussian(rows[i][:n], 0.2)
			was[i] = append([]float64(nil), rows[i][:n]...)
			rows[i][n+i] = 1
		}
		if !Rows(rows, n) {
			t.Fatal(size)
		}
		for i, v := range rows {
			for k, w := range rows[:i] {
				if math.Abs(Dot4(v[:n], w)) > 1e-13 || math.Abs(Dot4(v[n:], w[n:])) > 1e-14 {
					t.Errorf("%v: rows %d and %d have the inner products %v and %v", size, k, i, Dot4(v[:n], w), Dot4(v[n:], w[n:]))
				}
				if Dot4(v[:n], v) > Dot4(w[:n], w) {
					t.Errorf("%v: row %d is longer than row %d", size, i, k)
				}
			}
			for j := range n {
				want := 0.0
				for k, u := range v[n:] {
					want += u * was[k][j]
				}
				if math.Abs(v[j]-want) > 1e-13 {
					t.Errorf("%v: entry %d of row %d is %v, want %v", size, j, i, v[j], want)
				}
			}
		}
	}
}
