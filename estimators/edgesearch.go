package estimators

import "math"

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
