package bounds

import "math"

// ExactPValue returns an upper bound of the exact p-value of
// H0: p1 <= e^eps p0 + delta for one eps that was fixed in advance, such as a
// claim: gamma plus the supremum, over the box of level gamma around the counts
// (see [Exact]), of the probability that the score statistic at eps is at least
// as large as observed. Under H0 it is at most b with probability at most b,
// for every b (Berger and Boos 1994). Above the supremum by at most one per
// cent; 1 if the estimate satisfies H0.
//
// It orders the counts by the score statistic at this eps, [Exact] by the score
// limit; so "p-value <= beta" and "Exact > eps" agree up to the granularity of
// the counts, not always. For a verdict use Exact.
//
// It panics on arguments out of range; gamma must lie in (0, 1).
func ExactPValue(c Counts, eps, delta, gamma float64) float64 {
	mustBeSound(c, delta, gamma)
	if CheckEpsilon(eps) != nil {
		panic("bounds: epsilon is not finite")
	}
	th := math.Exp(eps)
	z := newNullFit(c, delta).score(th)
	if z < 1e-6 {
		return 1
	}
	// Equal statistics are in, whatever the rounding.
	z *= 1 - 1e-9
	around := nuisance(c, gamma)
	r := newRegion(c, delta, th, z, around.low0, around.high0, 44)
	s := sweep{region: r, box: around, delta: delta, th: th}
	return math.Min(1, gamma+s.peak(gamma/100))
}

// peak returns an upper bound of the supremum of P(region) over the null set of
// s.th, at most a relative peakTolerance or an absolute floor above it, by
// splitting the cell with the largest upper bound.
func (s *sweep) peak(floor float64) float64 {
	left := s.start()
	right := math.Min(s.box.high0, math.Max(s.box.low0, (s.box.high1-s.delta)/s.th))
	if left > right {
		return 0
	}
	at := func(p0 float64) float64 { return s.region.prob(p0, s.p1(p0)) }
	type cell struct{ l, r, vl, vr, top float64 }
	bounded := func(l, r, vl, vr float64) cell {
		m := math.Max(vl, vr)
		top := 1.0
		b := s.bend(l, r, m)
		if b < 1 {
			top = math.Min(1, m/(1-b))
		}
		if b > wideBend {
			top = math.Min(top, s.region.prob(l, s.p1(r)))
		}
		return cell{l, r, vl, vr, top}
	}
	vl, vr := at(left), at(right)
	best := math.Max(vl, vr)
	cells := []cell{bounded(left, right, vl, vr)}
	for {
		worst := 0
		for i := range cells {
			if cells[i].top > cells[worst].top {
				worst = i
			}
		}
		k := cells[worst]
		mid := k.l + (k.r-k.l)/2
		if k.top <= best*(1+peakTolerance)+floor || s.region.evals > peakEvals || mid <= k.l || mid >= k.r {
			return math.Max(best, k.top)
		}
		v := at(mid)
		best = math.Max(best, v)
		cells[worst] = bounded(k.l, mid, k.vl, v)
		cells = append(cells, bounded(mid, k.r, v, k.vr))
	}
}

const (
	peakTolerance = 0.01
	peakEvals     = 5000
)
