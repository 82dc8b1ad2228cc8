package accounting

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// lossLaw is a privacy loss distribution on a grid: under P the loss is offset + at[i] step with
// probability mass[i], infinite with probability infinite, and -Inf otherwise.
type lossLaw struct {
	offset, step float64
	at           []int // increasing
	mass         []float64
	infinite     float64
	logs         []float64 // of mass, from the first cumulant on
}

// put adds a mass at a place that is not before those that have one.
//
//go:noinline
func (l *lossLaw) put(at int, mass float64) {
	switch last := len(l.at) - 1; {
	case !(mass > 0):
	case last >= 0 && l.at[last] == at:
		l.mass[last] += mass
	default:
		l.at, l.mass = append(l.at, at), append(l.mass, mass)
	}
}

// The cells of a grid are a step wide near 0 and a share of the loss further out: that spreads the
// loss by less than 1e-6 of its second moment.
const cellShare = 1.0 / 512

// largestLoss is where a loss counts as infinite: e^loss is still a float64.
const largestLoss = 700.0

func clipped(lo, hi float64) (float64, float64) {
	hi = max(-largestLoss, min(hi, largestLoss))
	return max(min(lo, hi), -largestLoss), hi
}

// leastMass is below what a float64 is no longer relatively exact.
const leastMass = 1e-290

// cells is what a pair has between edges, places of the grid offset + i step, and below the first
// and above the last. One of its ends is an edge where the loss is bounded there. If adjust, the
// step is changed so that both ends are.
type cells struct {
	offset, step float64
	edges        []int
	p, q         []float64 // of len(edges)+1 intervals
	infinite     float64
}

func newCells(pair lossPair, step, tail float64, adjust bool) *cells {
	lo, hi := clipped(pair.span(tail))
	first, last := 0, int(math.Ceil((hi-lo)/step))
	if adjust && hi > lo {
		step = (hi - lo) / float64(last)
	}
	c := &cells{offset: lo, step: step, infinite: pair.infinite}
	if _, top := pair.span(leastMass); top <= hi { // bounded above
		c.offset, first, last = hi, -last, 0
	}
	for i := first; i < last; {
		c.edges = append(c.edges, i)
		i += max(1, int(math.Abs(c.offset+float64(i)*step)*cellShare/step))
	}
	c.edges = append(c.edges, last)
	at := make([]float64, len(c.edges)+2)
	at[0], at[len(at)-1] = -inf, inf
	for i, e := range c.edges {
		at[i+1] = c.offset + float64(e)*step
	}
	c.p, c.q = pair.masses(at)
	return c
}

// above is the law that dominates: the content of every cell is moved to its two ends so that P and
// Q stay, which connects the dots of the curve of delta over e^epsilon by lines (Doroshenko, Ghazi,
// Kamath, Kumar and Manurangsi 2022, section 3). The likelihood ratio under Q then is larger in the
// convex order, and so it is after products. Rounding in the split is a relative change of P and Q
// of the order of lossError.
func (c *cells) above() *lossLaw {
	l := &lossLaw{offset: c.offset, step: c.step, infinite: c.infinite}
	for i, p := range c.p {
		q := c.q[i]
		if i == 0 { // ratios from 0 up to the first edge
			l.put(c.edges[0], p)
			continue
		}
		from := c.edges[i-1]
		low := math.Exp(c.offset + float64(from)*c.step)
		if i == len(c.edges) { // up to infinity
			stays := min(p, low*q)
			l.put(from, stays)
			l.infinite += p - stays
			continue
		}
		if q < leastMass {
			l.infinite += p
			continue
		}
		width := float64(c.edges[i]-from) * c.step
		up := max(0, min(q, (p/low-q)/math.Expm1(width))) // of Q
		l.put(from, low*(q-up))
		l.put(c.edges[i], low*math.Exp(width)*up)
	}
	return l
}

// below is a law that is dominated, with all of its losses on a grid: neighbouring cells, and parts
// of them, are put together until P/Q is e to a place of the grid. That is processing, so its curve
// lies below the pair's (Doroshenko et al. 2022, section 5). What remains at the upper end is
// lowered to the grid.
//
// The grid is moved so that the heaviest loss is on it; if adjust, its step is changed so that
// first and last are.
func (c *cells) below(adjust bool) *lossLaw {
	var all []atom
	for i, p := range c.p {
		if q := c.q[i]; p >= leastMass && q >= leastMass {
			all = append(all, atom{p, q})
		}
	}
	l := &lossLaw{offset: c.offset, step: c.step, infinite: c.infinite}
	if len(all) == 0 {
		return l
	}
	// The last one cannot be raised: what lies within a step of it joins it.
	for len(all) > 1 && loss(all[len(all)-2]) > loss(all[len(all)-1])-c.step {
		last := all[len(all)-1]
		all = all[:len(all)-1]
		all[len(all)-1].p += last.p
		all[len(all)-1].q += last.q
	}
	first, last := all[0], all[len(all)-1]
	l.offset = loss(slices.MaxFunc(all, func(a, b atom) int { return cmp.Compare(a.p, b.p) }))
	if between := loss(last) - loss(first); adjust && between > 0 {
		l.step = between / max(1, math.Round(between/c.step))
	}
	for i := 0; i < len(all); {
		group := all[i]
		at, ratio := l.place(loss(group), math.Ceil)
		for i++; i < len(all); i++ {
			lack := ratio*group.q - group.p
			if lack <= lossError*group.p {
				break
			}
			next := &all[i]
			if gain := next.p - ratio*next.q; gain > lack {
				part := lack / gain
				group.p, group.q = group.p+part*next.p, group.q+part*next.q
				next.p, next.q = next.p*(1-part), next.q*(1-part)
				break
			}
			group.p, group.q = group.p+next.p, group.q+next.q
		}
		if ratio*group.q > group.p*(1+2*lossError) {
			at, ratio = l.place(loss(group), math.Floor)
		}
		l.put(at, min(group.p, ratio*group.q))
	}
	return l
}

// place is the place of the grid that a loss is rounded to, and the ratio there.
//
//go:noinline
func (l *lossLaw) place(loss float64, round func(float64) float64) (int, float64) {
	at := (loss - l.offset) / l.step
	if near := math.Round(at); math.Abs(at-near)*l.step < lossError {
		at = near
	}
	at = round(at)
	return int(at), math.Exp(l.offset + at*l.step)
}

// atom is an output, or several put together.
type atom struct{ p, q float64 }

//go:noinline
func loss(a atom) float64 { return math.Log(a.p) - math.Log(a.q) }

// cumulant is log E e^(lambda loss) over finite losses, and two derivatives in lambda.
func (l *lossLaw) cumulant(lambda float64) (k, mean, variance float64) {
	if len(l.at) == 0 {
		return -inf, 0, 0
	}
	if len(l.logs) == 0 {
		l.logs = audit.Each(l.mass, math.Log)
	}
	top, slope := -inf, lambda*l.step
	for i, at := range l.at {
		if v := l.logs[i] + slope*float64(at); v > top {
			top = v
		}
	}
	var s0, s1, s2 float64
	for i, at := range l.at {
		v := l.logs[i] + slope*float64(at) - top
		if v < -50 { // some 10^4 such terms are below the last bit
			continue
		}
		w, x := math.Exp(v), l.step*float64(at)
		s0 += w
		s1 += w * x
		s2 += w * x * x
	}
	mean = s1 / s0
	return top + math.Log(s0) + lambda*l.offset, l.offset + mean, max(0, s2/s0-mean*mean)
}
