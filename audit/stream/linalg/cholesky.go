// Package linalg is the linear algebra of what decides counts. Sums run in one order and every
// product is rounded before it is added, so results have the same bits everywhere, which gonum's
// have not.
package linalg

import "math"

// Dot is the inner product over the length of x, in one sum.
func Dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}

// Cholesky makes the lower triangle of an n x n matrix its Cholesky factor L, in place. Squares of
// the diagonal that are not above least become least, and it reports whether there was none.
func Cholesky(a []float64, n int, least float64) bool {
	ok := true
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range row {
			other, s := a[j*n:j*n+j+1], row[j]
			for k, v := range other[:j] {
				s -= float64(row[k] * v)
			}
			if j < i {
				row[j] = s / other[j]
				continue
			}
			ok = ok && s > least
			row[i] = math.Sqrt(max(s, least))
		}
	}
	return ok
}

// Forward replaces b by the solution x of L x = b.
func Forward(l, b []float64, n int) {
	for i := range n {
		s := b[i]
		for k, v := range l[i*n : i*n+i] {
			s -= float64(v * b[k])
		}
		b[i] = s / l[i*n+i]
	}
}

// Back replaces b by the solution x of L' x = b.
func Back(l, b []float64, n int) {
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= float64(l[k*n+i] * b[k])
		}
		b[i] /= l[i*n+i]
	}
}
