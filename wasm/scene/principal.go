package scene

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// principal projects points, a row each, to their first two principal components,
// and returns the share of the variance that each holds; false where all points
// are the same. The mean of the first points, the given number, has no negative
// coordinate. It solves for the inner products of the points, of which there are
// few.
func principal(points [][]float64, first int) (at [][2]float64, share [2]float64, ok bool) {
	n := len(points)
	if n < 2 || len(points[0]) == 0 {
		return nil, share, false
	}
	most := 0.0
	centred := make([][]float64, n)
	for i := range centred {
		centred[i] = make([]float64, len(points[i]))
	}
	for j := range points[0] {
		mean := 0.0
		for _, p := range points {
			mean += p[j] / float64(n)
		}
		for i, p := range points {
			centred[i][j] = p[j] - mean
			most = max(most, math.Abs(centred[i][j]))
		}
	}
	if !(most > 0) {
		return nil, share, false
	}
	products := make([]float64, n*n) // of what is at most 1
	trace := 0.0
	for i, p := range centred {
		for k, q := range centred[:i+1] {
			for j := range p {
				products[i*n+k] += p[j] / most * (q[j] / most)
			}
		}
		trace += products[i*n+i]
	}
	values, work := make([]float64, n), make([]float64, 3*n)
	if !(gonum.Implementation{}).Dsyev(lapack.EVCompute, blas.Lower, n, products, n, values, work, len(work)) || !(trace > 0) {
		return nil, share, false
	}
	at = make([][2]float64, n)
	for c := range 2 {
		column := n - 1 - c // the largest is the last
		value := max(0, values[column])
		if share[c] = value / trace; share[c] < 1e-12 { // rounding
			share[c], value = 0, 0
		}
		length, sum := math.Sqrt(value)*most, 0.0
		for i := range first {
			sum += products[i*n+column]
		}
		if sum < 0 {
			length = -length
		}
		for i := range at {
			at[i][c] = products[i*n+column] * length
		}
	}
	return at, share, true
}
