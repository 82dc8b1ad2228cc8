package bounds

import (
	"math"
)

// ClaimPValue returns a p-value of the claim (eps, delta) whose verdict at level
// beta is that of [Exact]: it is at most beta if and only if
// Exact(c, delta, beta) > eps.
//
// It is the p(th) of Exact at th = e^eps, with the regions ordered by the score
// limit at this beta and gamma = beta/250: gamma plus the supremum of the
// probability of the observed region over the null hypothesis, at most one per
// cent above it. The regions of different counts are nested and do not depend on
// eps, so under the claim it is at most b with probability at most b for every
// b, not just for beta (proof at Exact). Where this upper bound and the rounded
// Exact disagree, within a per cent of beta, Exact decides: below beta that is
// its own proof, above it only raises the value.
//
// It cannot fall below gamma. 1 if even the score test at beta rejects nothing.
//
// It panics on arguments out of range.
func ClaimPValue(c Counts, eps, delta, beta float64) float64 {
	mustBeSound(c, delta, beta)
	mustBeFinite(eps)
	z := scoreCut(beta)
	th0 := newNullFit(c, delta).limit(z)
	if th0 == 0 {
		return 1
	}
	gamma := beta * nuisanceShare
	around := nuisance(c, gamma)
	r := newRegion(c, delta, th0, z, around.low0, around.high0, tailWidth(beta))
	s := sweep{region: r, box: around, delta: delta, th: math.Exp(eps)}
	p := math.Min(1, gamma+s.peak(gamma/100))
	if Exact(c, delta, beta) > eps {
		return math.Min(p, beta)
	}
	return math.Max(p, math.Nextafter(beta, 1))
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
