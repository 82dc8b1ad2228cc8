package bounds

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// pair is a pair of distributions on the same bins.
type pair struct {
	name string
	p, q []float64
}

// draw returns a table of n pairs.
func (k pair) draw(r *rand.Rand, n int) Table {
	t := NewTable(len(k.p))
	law := func(p []float64) func() int {
		sums := floats.CumSum(make([]float64, len(p)), p)
		return func() int { return min(sort.SearchFloat64s(sums, r.Float64()), len(p)-1) }
	}
	first, second := law(k.p), law(k.q)
	for range n {
		t.N[first()*t.Bins+second()]++
	}
	return t
}

// renyi is D_alpha on the bins.
func (k pair) renyi(alpha float64) float64 {
	sum := 0.0
	for i := range k.p {
		if k.p[i] > 0 {
			sum += k.p[i] * math.Pow(k.p[i]/k.q[i], alpha-1)
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// binned puts a pair of laws on bins of equal mass under their mixture; cdf are
// those of the score on the two sides, over [-30, 30].
func binned(name string, bins int, cdfP, cdfQ func(float64) float64) pair {
	k := pair{name: name}
	mixed := func(x float64) float64 { return (cdfP(x) + cdfQ(x)) / 2 }
	lastP, lastQ := 0.0, 0.0
	for i := 1; i <= bins; i++ {
		x := 30.0
		if i < bins {
			x, _ = Bisect(-30, 30, 1e-12, func(x float64) bool { return mixed(x) < float64(i)/float64(bins) })
		}
		p, q := cdfP(x), cdfQ(x)
		if i == bins {
			p, q = 1, 1
		}
		k.p, k.q = append(k.p, p-lastP), append(k.q, q-lastQ)
		lastP, lastQ = p, q
	}
	return k
}

func gaussianPair(mu float64, bins int) pair {
	return binned("gaussian", bins, func(x float64) float64 { return normalCDF(x - mu) }, normalCDF)
}

func laplacePair(shift float64, bins int) pair {
	return binned("laplace", bins, distuv.Laplace{Mu: shift, Scale: 1}.CDF, distuv.Laplace{Scale: 1}.CDF)
}

// rarePair hides its divergence in one rare bin; the rest is alike.
func rarePair() pair {
	return pair{"rare", []float64{0.004, 0.496, 0.5}, []float64{0.0004, 0.4996, 0.5}}
}

// renyiCounterexample is the pair on which theorem 4.3 of DP-Auditorium fails
// with probability .92 at n = 27057, alpha = 1.762, beta = .05.
func renyiCounterexample() (k pair, h []float64) {
	const p, q = 0.008884, 3.193e-6
	k = pair{"counterexample", []float64{p, 1 - p}, []float64{q, 1 - q}}
	a, b := math.Log(p/q), math.Log((1-p)/(1-q))
	c := (a - b) / 2
	return k, []float64{c, -c}
}

const (
	counterexampleAlpha = 1.762
	counterexampleN     = 27057
)

// expand lists the pairs of a table as values of the witnesses f and g.
func expand(t Table, f, g []float64) (x, y []float64) {
	for i, n := range t.N {
		for range n {
			x, y = append(x, f[i/t.Bins]), append(y, g[i%t.Bins])
		}
	}
	return x, y
}
