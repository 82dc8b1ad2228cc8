package published

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

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
	first, second := newLaw(k.p), newLaw(k.q)
	for range n {
		t.N[first.draw(r)*t.Bins+second.draw(r)]++
	}
	return t
}

// law is a distribution on bins, as the sums of its probabilities.
type law []float64

func newLaw(p []float64) law {
	sums, sum := make(law, len(p)), 0.0
	for i, v := range p {
		sum += v
		sums[i] = sum
	}
	return sums
}

func (l law) draw(r *rand.Rand) int {
	u := r.Float64()
	for i, sum := range l[:len(l)-1] {
		if u < sum {
			return i
		}
	}
	return len(l) - 1
}

// rarePair hides its divergence in one rare bin; the rest is alike.
func rarePair() pair {
	return pair{"rare", []float64{0.004, 0.496, 0.5}, []float64{0.0004, 0.4996, 0.5}}
}

// notTooMany fails if so many errors in runs have probability below 1e-6 at error
// rate beta.
func notTooMany(t *testing.T, name string, errors, runs int, beta float64) {
	t.Helper()
	if errors > 0 && (distuv.Binomial{N: float64(runs), P: beta}).Survival(float64(errors-1)) < 1e-6 {
		t.Errorf("%s: %d errors in %d runs, nominal %v", name, errors, runs, beta)
	}
}

// pmf is the binomial mass function.
func pmf(n int, p float64) []float64 {
	w, lg := make([]float64, n+1), func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	for k := range w {
		w[k] = math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return w
}
