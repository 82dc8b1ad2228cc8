package estimators

import (
	"math"
	"math/bits"
	"slices"
)

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

// mostEdges is how many edges one column may have.
const mostEdges = 255

// edgeSearch finds the bin of a number among ascending edges: the number of
// edges below it, so that bin i is (edges[i-1], edges[i]]; of 256 numbers the last
// bin is that of the last one, too.
type edgeSearch struct {
	keys [mostEdges + 1]float64 // padded with NaN, of which none is below a number
	half uint32                 // of the least power of two above the number of edges
}

func newEdgeSearch(edges []float64) *edgeSearch {
	if len(edges) > mostEdges+1 {
		panic("estimators: too many edges")
	}
	s := new(edgeSearch)
	if len(edges) > 0 {
		s.half = 1 << (bits.Len(uint(min(len(edges), mostEdges))) - 1)
	}
	for i := copy(s.keys[:], edges); i < len(s.keys); i++ {
		s.keys[i] = math.NaN()
	}
	return s
}

// find writes the bins of v[:n] into out. It halves the padded array by
// conditional moves, one halving of all numbers after the other: no branch depends
// on the data.
func (s *edgeSearch) find(v *floats, n int, out *codes) {
	keys := &s.keys
	clear(out[:n])
	for step := s.half; step > 0; step >>= 1 {
		for i, x := range v[:n] {
			p := out[i]
			if q := p + step; keys[(q-1)&mostEdges] < x {
				p = q
			}
			out[i] = p
		}
	}
}

// gather copies one number of each of n rows to v.
func gather(rows []float64, width, offset, n int, v *floats) {
	if width == 1 {
		copy(v[:n], rows[offset:offset+n])
		return
	}
	j := offset
	for i := range v[:n] {
		v[i] = rows[j]
		j += width
	}
}

// block is how many rows are worked on at a time: the scratch of a block stays
// in the first-level cache.
const block = 512

type (
	floats = [block]float64
	codes  = [block]uint32
)

// symbolIndex finds the position of a symbol in a list.
type symbolIndex struct {
	search  *edgeSearch
	unknown uint32 // code of what is not in the list
}

// newSymbolIndex indexes symbols, ascending and distinct, at most 256.
func newSymbolIndex(symbols []float64, unknown uint32) *symbolIndex {
	return &symbolIndex{newEdgeSearch(symbols), unknown}
}

// find writes the code of rows[offset + i*width] into out[i] for i < n.
func (x *symbolIndex) find(rows []float64, width, offset, n int, out *codes) {
	var v floats
	gather(rows, width, offset, n, &v)
	x.search.find(&v, n, out)
	for i, symbol := range v[:n] {
		if x.search.keys[out[i]&mostEdges] != symbol {
			out[i] = x.unknown
		}
	}
}
