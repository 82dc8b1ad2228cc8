package mechanisms

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// The exact distributions of the sparse-vector variants, by quadrature over the
// threshold noise ρ, given which all answers are independent. Kinks of the
// integrand (ρ = 0, q + ν = T + ρ at ν = 0) end the pieces, so that 48 Gauss
// nodes a piece are good to better than 1e-9.

// laplaceCDF is P(Lap(scale) <= x), a step for scale 0.
func laplaceCDF(x, scale float64) float64 {
	switch {
	case scale == 0 && x >= 0:
		return 1
	case scale == 0:
		return 0
	case x < 0:
		return math.Exp(x/scale) / 2
	}
	return 1 - math.Exp(-x/scale)/2
}

// overRho calls f with nodes and weights such that sums of weight * g(node) are
// expectations of g(Lap(scale)), with so many nodes a piece.
func overRho(nodes int, scale float64, q []float64, threshold float64, f func(z, weight float64)) {
	ends := []float64{-40 * scale, -12 * scale, -4 * scale, 0, 4 * scale, 12 * scale, 40 * scale}
	for _, v := range q {
		ends = append(ends, v-threshold)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	x, w := make([]float64, nodes), make([]float64, nodes)
	for i := 1; i < len(ends); i++ {
		quad.Legendre{}.FixedLocations(x, w, ends[i-1], ends[i])
		for k := range x {
			f(x[k], w[k]*math.Exp(-math.Abs(x[k])/scale)/(2*scale))
		}
	}
}

// svtOutcomes are the probabilities of all sequences of symbols of a variant
// that keeps its ρ, by their words such as "TFFT-" (⊤, ⊥, aborted).
func svtOutcomes(q []float64, threshold, rho, nu float64, cutoff int) map[string]float64 {
	p := map[string]float64{}
	word := make([]byte, len(q))
	low := make([]float64, len(q)) // P(⊥) of each query at this ρ
	var walk func(i, tops int, prob float64)
	walk = func(i, tops int, prob float64) {
		if i == len(q) || tops == cutoff {
			for ; i < len(q); i++ {
				word[i] = '-'
			}
			p[string(word)] += prob
			return
		}
		word[i] = 'T'
		walk(i+1, tops+1, prob*(1-low[i]))
		word[i] = 'F'
		walk(i+1, tops, prob*low[i])
	}
	overRho(48, rho, q, threshold, func(z, weight float64) {
		for i, v := range q {
			low[i] = laplaceCDF(threshold+z-v, nu)
		}
		walk(0, 0, weight)
	})
	return p
}

// hockeyStick is Σ max(0, p - e^epsilon q).
func hockeyStick(p, q map[string]float64, epsilon float64) float64 {
	var h float64
	for word, prob := range p {
		h += math.Max(0, prob-math.Exp(epsilon)*q[word])
	}
	return h
}

// svt3HockeyStick is the hockey-stick divergence of svt3 at c = 1 between two
// vectors of answers. The output "k negative answers, then v" has the density
// f(v - q_k) ∫_{z <= v-T} f(z) Π_{i<k} F(T+z-q_i) dz. Midpoint rule with steps of
// 1/200 of the smaller scale.
func svt3HockeyStick(a, b []float64, threshold, rho, nu, epsilon float64) float64 {
	step := math.Min(rho, nu) / 200
	n := int(40 * rho / step)
	m := len(a)
	inner := [2][]float64{make([]float64, m+1), make([]float64, m+1)} // ∫ up to z, by k
	density := func(x, scale float64) float64 { return math.Exp(-math.Abs(x)/scale) / (2 * scale) }
	var h float64
	for i := -n; i < n; i++ {
		z := (float64(i) + 0.5) * step
		v := threshold + z
		var at [2][]float64
		for side, q := range [2][]float64{a, b} {
			at[side] = make([]float64, m)
			term := density(z, rho) * step
			for k := range m {
				// Half of this step's share: v is in the middle of it.
				at[side][k] = density(v-q[k], nu) * (inner[side][k] + term/2)
				inner[side][k] += term
				term *= laplaceCDF(v-q[k], nu)
			}
			inner[side][m] += term
		}
		for k := range m {
			h += step * math.Max(0, at[0][k]-math.Exp(epsilon)*at[1][k])
		}
	}
	return h + math.Max(0, inner[0][m]-math.Exp(epsilon)*inner[1][m])
}
