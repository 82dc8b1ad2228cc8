package published

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/bounds"
)

// pair is a pair of distributions on the same bins.
type pair struct {
	name string
	p, q []float64
}

// draw returns a table of n pairs.
func (k pair) draw(r *rand.Rand, n int) bounds.Table {
	t := bounds.NewTable(len(k.p))
	first, second := drawing(r, k.p), drawing(r, k.q)
	for range n {
		t.N[first()*t.Bins+second()]++
	}
	return t
}

// delta is that of the first over the second.
func (k pair) delta(eps float64) (sum float64) {
	for i, p := range k.p {
		sum += max(0, p-math.Exp(eps)*k.q[i])
	}
	return sum
}

// drawing draws bins.
func drawing(r *rand.Rand, p []float64) func() int {
	sums := floats.CumSum(make([]float64, len(p)), p)
	return func() int { return min(sort.SearchFloat64s(sums, r.Float64()), len(p)-1) }
}

// rarePair hides its divergence in one rare bin; the rest is alike.
func rarePair() pair {
	return pair{"rare", []float64{0.004, 0.496, 0.5}, []float64{0.0004, 0.4996, 0.5}}
}
