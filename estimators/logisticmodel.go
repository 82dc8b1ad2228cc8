package estimators

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

type logisticModel struct {
	Carriers []float64 `json:"carriers,omitempty"` // symbols of mixed columns that carry values, ascending
	Features []feature `json:"features"`

	outputReader
	tables  []symbolWeights
	firsts  []feature
	numbers []numberTerm
}

// symbolWeights adds up all that is linear in the symbols of one column.
type symbolWeights struct {
	offset  int
	index   *symbolIndex
	weights []float64 // of the symbols; last, 0 for others
}

type numberTerm struct {
	curve *curve
	read  func(row []float64) (v float64, ok bool) // 0 is added where there is none
}

var summaryKinds = [3]featureKind{sumFeature, minFeature, maxFeature}

const featuresMost = 1 << 12

// prepare adds weights up in the order of the list, so that the sums have the same bits everywhere.
func (m *logisticModel) prepare(columns []audit.Column) {
	m.outputReader = newOutputReader(columns, m.Carriers)
	curveOf := func(column int, kinds ...featureKind) *curve {
		return newCurve(slices.DeleteFunc(slices.Clone(m.Features), func(f feature) bool {
			return !slices.Contains(kinds, f.Kind) || column >= 0 && f.Column != column
		}))
	}
	add := func(c *curve, read func(row []float64) (float64, bool)) {
		if c != nil {
			m.numbers = append(m.numbers, numberTerm{c, read})
		}
	}
	m.firsts = slices.DeleteFunc(slices.Clone(m.Features), func(f feature) bool { return f.Kind != firstFeature })
	for c, column := range columns {
		if column.Kind != audit.Real {
			m.addTable(c)
		}
	}
	for _, kind := range []audit.ColumnKind{audit.Real, audit.Mixed} {
		for c, column := range columns {
			if column.Kind == kind {
				add(curveOf(c, valueFeature, squareFeature), func(row []float64) (float64, bool) { return m.carried(row, c) })
			}
		}
	}
	for _, kind := range summaryKinds {
		add(curveOf(-1, kind), func(row []float64) (float64, bool) { return m.summary(kind, row) })
	}
	steps, totals := curveOf(-1, stepFeature), curveOf(-1, totalFeature)
	before := -1
	for c, column := range columns {
		if column.Kind != audit.Real {
			continue
		}
		at, last := m.at[c], before
		add(steps, func(row []float64) (float64, bool) {
			if last < 0 {
				return row[at], true
			}
			return row[at] - row[last], true
		})
		add(totals, func(row []float64) (float64, bool) { return row[at], true })
		before = at
	}
}

func (m *logisticModel) addTable(c int) {
	weights := map[float64]float64{}
	for _, f := range m.Features {
		if (f.Kind == isFeature && f.Column == c) || (f.Kind == countFeature && f.From <= c && c < f.To) {
			weights[f.Symbol] += f.Weight
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(weights)), mostSymbols) {
		of := audit.Each(some, func(s float64) float64 { return weights[s] })
		m.tables = append(m.tables, symbolWeights{m.at[c], newSymbolIndex(some, uint32(len(some))), append(of, 0)})
	}
}

func (m *logisticModel) Score(rows, out []float64) {
	var acc, v, share floats
	var code codes
	width := m.width
	for len(out) > 0 {
		n := min(block, len(out))
		clear(acc[:n])
		for _, t := range m.tables {
			t.index.find(rows, width, t.offset, n, &code)
			for i, c := range code[:n] {
				acc[i] += t.weights[c]
			}
		}
		for _, f := range m.firsts {
			m.readSymbols(f, 0, len(m.columns), rows, n, &v)
			for i, p := range v[:n] {
				acc[i] += float64(f.Weight * p)
			}
		}
		for _, t := range m.numbers {
			for i := range n {
				x, ok := t.read(rows[i*width : (i+1)*width])
				v[i], share[i] = x, 0
				if ok {
					share[i] = 1
				}
			}
			t.curve.add(&v, &share, &acc, n)
		}
		copy(out[:n], acc[:n])
		rows, out = rows[n*width:], out[n:]
	}
}

func (m *logisticModel) open(columns []audit.Column) {
	checkCarriers(m.Carriers)
	require(len(m.Features) <= featuresMost, "model.features", fmt.Sprintf("a list of %d", len(m.Features)), "at most %d", featuresMost)
	ramps := map[string]int{}
	for i, f := range m.Features {
		field := fmt.Sprintf("model.features[%d]", i)
		f.validate(field, columns)
		if f.ramped() {
			source := audit.Pick(f.Kind == valueFeature || f.Kind == squareFeature, fmt.Sprint(f.Column), string(f.Kind))
			ramps[source]++
			require(ramps[source] <= mostRamps, field, "one ramp too many", "at most %d", mostRamps)
		}
	}
	m.prepare(columns)
}

// curve is a weighted sum of ramps: piecewise quadratic, constant outside its knots.
type curve struct {
	search      *edgeSearch
	first, last float64
	pieces      []piece // piece i lies between knots i-1 and i
}

// piece is a + b t + c t^2 with t the distance from the knot at its left.
type piece struct{ knot, a, b, c float64 }

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

const mostEdges = 255

// edgeSearch finds bins among ascending edges: bin i is (edges[i-1], edges[i]]; of 256 edges the last
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

// find writes the bins of v[:n] by halving with conditional moves: no branch depends on the data.
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

// block is how many rows are worked on at a time: its scratch stays in the first-level cache.
const block = 512

type (
	floats = [block]float64
	codes  = [block]uint32
)

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
