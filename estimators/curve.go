package estimators

import "slices"

// curve is a weighted sum of ramps and squared ramps of one number: a piecewise
// quadratic, constant outside its knots.
type curve struct {
	search      *edgeSearch
	first, last float64
	pieces      []piece // piece i lies between knots i-1 and i
}

// piece is a + b t + c t^2 with t the distance from the knot at its left.
type piece struct{ knot, a, b, c float64 }

// newCurve adds up ramps; nil if there are none.
func newCurve(ramps []feature) *curve {
	if len(ramps) == 0 {
		return nil
	}
	var knots []float64
	for _, f := range ramps {
		knots = append(knots, f.Low, f.High)
	}
	slices.Sort(knots)
	knots = slices.Compact(knots)
	c := &curve{search: newEdgeSearch(knots), first: knots[0], last: knots[len(knots)-1]}
	for i := range len(knots) + 1 {
		var p piece
		p.knot = knots[max(0, i-1)]
		for _, f := range ramps {
			p.a += float64(f.Weight * f.ramp(p.knot))
			if i == 0 || i == len(knots) || p.knot < f.Low || knots[i] > f.High {
				continue
			}
			s := f.steepness()
			if f.Kind != squareFeature {
				p.b += float64(f.Weight * s)
				continue
			}
			d := float64(2*float64((p.knot-f.Low)*s)) - 1
			p.b += float64(float64(4*f.Weight*s) * d)
			p.c += float64(float64(4*f.Weight*s) * s)
		}
		c.pieces = append(c.pieces, p)
	}
	return c
}

// mostRamps keeps the knots of a curve within what an edge search takes.
const mostRamps = mostEdges / 2

// add adds the curve at v[:n], times share, to acc. It overwrites v.
func (c *curve) add(v, share, acc *floats, n int) {
	var at codes
	first, last := c.first, c.last
	for i, x := range v[:n] {
		if x < first {
			v[i] = first
		}
		if x > last {
			v[i] = last
		}
	}
	c.search.find(v, n, &at)
	for i, x := range v[:n] {
		p := &c.pieces[at[i]]
		t := x - p.knot
		y := p.a + float64(t*(p.b+float64(t*p.c)))
		acc[i] += float64(share[i] * y)
	}
}
