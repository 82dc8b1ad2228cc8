package estimators

import (
	"math"
	"slices"
	"sort"
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
// edges below it, so that bin i is (edges[i-1], edges[i]].
type edgeSearch struct {
	keys  [mostEdges + 1]float64 // padded with +Inf
	wide  bool                   // more than 15 edges: eight halvings, else four
	edges int
}

func newEdgeSearch(edges []float64) *edgeSearch {
	if len(edges) > mostEdges {
		panic("estimators: too many edges")
	}
	s := &edgeSearch{wide: len(edges) > 15, edges: len(edges)}
	n := copy(s.keys[:], edges)
	for i := n; i < len(s.keys); i++ {
		s.keys[i] = math.Inf(1)
	}
	return s
}

// find writes the bins of v[:n] into out. It halves the padded array by
// conditional moves: no branch depends on the data.
func (s *edgeSearch) find(v *floats, n int, out *codes) {
	switch {
	case s.edges == 0:
		clear(out[:n])
		return
	case s.wide:
		s.first(v, n, out)
		s.second(v, n, out)
	default:
		clear(out[:n])
		s.second(v, n, out)
	}
}

func (s *edgeSearch) first(v *floats, n int, out *codes) {
	keys := &s.keys
	for i, x := range v[:n] {
		var p uint32
		if q := p + 128; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 64; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 32; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 16; keys[(q-1)&255] < x {
			p = q
		}
		out[i] = p
	}
}

func (s *edgeSearch) second(v *floats, n int, out *codes) {
	keys := &s.keys
	for i, x := range v[:n] {
		p := out[i]
		if q := p + 8; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 4; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 2; keys[(q-1)&255] < x {
			p = q
		}
		if q := p + 1; keys[(q-1)&255] < x {
			p = q
		}
		out[i] = p
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

const (
	slotBits    = 10
	mostHashed  = 64 // symbols that the perfect hash takes
	hashTrials  = 256
	firstFactor = 0x9e3779b97f4a7c15 // odd, bits spread evenly (2^64 over the golden ratio)
)

type slot struct {
	key  uint64
	code uint32
}

// symbolIndex finds the position of a symbol in a list. Up to 64 symbols go
// through a perfect hash without branches, more through a search.
type symbolIndex struct {
	symbols []float64 // ascending, distinct
	unknown uint32    // code of what is not in the list
	factor  uint64
	slots   *[1 << slotBits]slot // nil: search
}

// newSymbolIndex indexes symbols, ascending and distinct.
func newSymbolIndex(symbols []float64, unknown uint32) *symbolIndex {
	x := &symbolIndex{symbols: symbols, unknown: unknown}
	if len(symbols) > mostHashed {
		return x
	}
	factor := uint64(firstFactor)
	for range hashTrials {
		if slots := perfectSlots(symbols, factor, unknown); slots != nil {
			x.factor, x.slots = factor, slots
			return x
		}
		factor = factor*6364136223846793005 + 1442695040888963407 | 1 // Knuth's MMIX generator
	}
	return x
}

// perfectSlots is the hash table with this factor, or nil if two symbols fall
// on one slot.
func perfectSlots(symbols []float64, factor uint64, unknown uint32) *[1 << slotBits]slot {
	slots := new([1 << slotBits]slot)
	empty := math.Float64bits(math.NaN())
	for i := range slots {
		slots[i] = slot{empty, unknown}
	}
	for i, v := range symbols {
		b := math.Float64bits(v + 0)
		s := &slots[b*factor>>(64-slotBits)]
		if s.key != empty {
			return nil
		}
		*s = slot{b, uint32(i)}
	}
	return slots
}

// find writes the code of rows[offset + i*width] into out[i] for i < n.
func (x *symbolIndex) find(rows []float64, width, offset, n int, out *codes) {
	if x.slots == nil {
		x.search(rows, width, offset, n, out)
		return
	}
	slots, factor, unknown := x.slots, x.factor, x.unknown
	out = (*codes)(out[:])
	j := offset
	for i := range out[:n] {
		b := math.Float64bits(rows[j] + 0) // -0 is 0
		j += width
		s := &slots[b*factor>>(64-slotBits)]
		c := s.code
		if s.key != b {
			c = unknown
		}
		out[i] = c
	}
}

func (x *symbolIndex) search(rows []float64, width, offset, n int, out *codes) {
	for i := range out[:n] {
		v := rows[offset+i*width]
		k := sort.SearchFloat64s(x.symbols, v)
		if k < len(x.symbols) && x.symbols[k] == v {
			out[i] = uint32(k)
		} else {
			out[i] = x.unknown
		}
	}
}
