package estimators

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// partition divides the values of one output column into cells. A real column has a cell for each bin; a
// symbol column one for each symbol; a mixed column one for each symbol that carries no value and for
// each pair of one that does and a bin. Symbols that are not listed have no cell.
type partition struct {
	Symbols []float64 `json:"symbols,omitempty"` // ascending
	Carries []bool    `json:"carries,omitempty"` // mixed: which symbols carry a value
	Edges   []float64 `json:"edges,omitempty"`   // ascending; bin i is (Edges[i-1], Edges[i]]
}

const (
	mostSymbols = 256
	mostCells   = 1 << 16
	unknownCell = 1 << 16 // code of a symbol that is not listed
)

func (p partition) bins() int { return len(p.Edges) + 1 }

func (p partition) cells(kind audit.ColumnKind) int {
	n := 0
	for _, numbers := range p.numbered(kind) {
		n += audit.Pick(numbers, p.bins(), 1)
	}
	return n
}

// numbered says of each symbol whether it has a cell for each bin; a real column is one that has.
func (p partition) numbered(kind audit.ColumnKind) []bool {
	switch kind {
	case audit.Real:
		return []bool{true}
	case audit.Symbol:
		return make([]bool, len(p.Symbols))
	}
	return p.Carries
}

func (p partition) validate(field string, kind audit.ColumnKind) {
	symbols, carries, edges := len(p.Symbols), len(p.Carries), len(p.Edges)
	stopOn(audit.First(
		audit.Require(kind != audit.Real || symbols == 0, field+".symbols", fmt.Sprintf("%d symbols", symbols), "absent in a real column"),
		audit.Require(kind == audit.Real || symbols > 0 && symbols <= mostSymbols, field+".symbols", fmt.Sprintf("%d symbols", symbols), "1 to %d symbols", mostSymbols),
		audit.Require(kind != audit.Symbol || edges == 0, field+".edges", fmt.Sprintf("%d edges", edges), "absent in a symbol column"),
		audit.Require(kind != audit.Mixed || carries == symbols, field+".carries", fmt.Sprintf("%d flags", carries), "one for each symbol: %d", symbols),
		audit.Require(kind == audit.Mixed || carries == 0, field+".carries", fmt.Sprintf("%d flags", carries), "absent except in a mixed column"),
		audit.Require(edges <= mostEdges, field+".edges", fmt.Sprintf("%d edges", edges), "at most %d", mostEdges),
		audit.Require(audit.Unordered(p.Symbols) < 0, field+".symbols", "out of order", "finite, ascending and distinct"),
		audit.Require(audit.Unordered(p.Edges) < 0, field+".edges", "out of order", "finite, ascending and distinct"),
	))
}

type coder struct {
	offset  int // of the column in a row
	symbols *symbolIndex
	edges   *edgeSearch
	base    []uint32 // mixed: first cell of each symbol; last, unknownCell
	carries []uint32 // mixed: all ones where the symbol carries a value, else 0
}

func newCoder(p partition, kind audit.ColumnKind, offset int) *coder {
	c := &coder{offset: offset}
	if kind != audit.Symbol {
		c.edges = newEdgeSearch(p.Edges)
	}
	switch kind {
	case audit.Symbol:
		c.symbols = newSymbolIndex(p.Symbols, unknownCell)
	case audit.Mixed:
		c.symbols = newSymbolIndex(p.Symbols, uint32(len(p.Symbols)))
		next := uint32(0)
		for i := range p.Symbols {
			c.base = append(c.base, next)
			next++
			var mask uint32
			if p.Carries[i] {
				next += uint32(len(p.Edges))
				mask = ^uint32(0)
			}
			c.carries = append(c.carries, mask)
		}
		c.base, c.carries = append(c.base, unknownCell), append(c.carries, 0)
	}
	return c
}

func (c *coder) code(rows []float64, width, n int, out *codes) {
	var v floats
	switch {
	case c.edges == nil:
		c.symbols.find(rows, width, c.offset, n, out)
	case c.symbols == nil:
		gather(rows, width, c.offset, n, &v)
		c.edges.find(&v, n, out)
	default:
		var bin codes
		gather(rows, width, c.offset+1, n, &v)
		c.edges.find(&v, n, &bin)
		c.symbols.find(rows, width, c.offset, n, out)
		for i, s := range out[:n] {
			out[i] = c.base[s] + bin[i]&c.carries[s]
		}
	}
}

type tallied struct {
	symbol, value float64 // the first value that it carried
	count         int
	varies        bool // whether it carried another
}

const (
	sortedMost  = 1 << 17 // values sorted for quantiles: about 10 ms
	checkEvery  = 1 << 15 // rows between calls of Check
	fewDistinct = 96      // so few distinct values get a bin each
	atomsMost   = 48      // values that repeat often, with own bins
	atomLeast   = 3       // times that is often, where hardly any repeat: noise was left out
	tailLeast   = 8       // sorted values in the outermost bins
)

func checked(ex *audit.Exploration, i int) {
	if i%checkEvery == 0 {
		stopOn(ex.Check())
	}
}

// fitPartition divides a column: symbols as they occur, numbers at edges of both sides' pool, if any.
func fitPartition(ex audit.Exploration, column int, symbols [][]*tallied, edges func(sorted []float64) []float64) (p partition) {
	var carriers []float64
	kind := ex.First.Columns[column].Kind
	for _, s := range symbols[column] {
		p.Symbols = append(p.Symbols, s.symbol)
		if kind == audit.Mixed {
			p.Carries = append(p.Carries, s.varies)
			if s.varies {
				carriers = append(carriers, s.symbol)
			}
		}
	}
	if kind != audit.Symbol && edges != nil {
		p.Edges = edges(pooled(ex, column, carriers))
	}
	return p
}

func sides(ex audit.Exploration) [2]audit.Samples { return [2]audit.Samples{ex.First, ex.Second} }

// eachBlock gives do either side's outputs, of so many numbers each, in blocks; start is the first's index.
func eachBlock(ex audit.Exploration, width int, do func(side, start int, rows []float64)) {
	for s, side := range sides(ex) {
		for start := 0; start*width < len(side.Rows); start += block {
			checked(&ex, start)
			do(s, start, side.Rows[start*width:min((start+block)*width, len(side.Rows))])
		}
	}
}

// countedAtOnce is how many columns are counted in one pass: each may have as many symbols as outputs.
const countedAtOnce = 8

// symbolsOf counts the most frequent symbols of each column, ascending; nil for columns of numbers.
func symbolsOf(ex audit.Exploration) (all [][]*tallied) {
	columns := ex.First.Columns
	offsets, width := audit.Offsets(columns), audit.Width(columns)
	for some := range slices.Chunk(columns, countedAtOnce) {
		first, counts := len(all), make([]symbolCount, len(some))
		eachBlock(ex, width, func(_, _ int, rows []float64) {
			for c, column := range some {
				if at := offsets[first+c]; column.Kind != audit.Real { // a symbol's value is itself
					counts[c].add(rows, width, at, at+column.Width()-1)
				}
			}
		})
		all = append(all, audit.Each(counts, symbolCount.frequent)...)
	}
	return all
}

type symbolCount struct {
	seen   map[float64]*tallied
	recent [64]*tallied // by their bits: most outputs repeat a few symbols
}

func (s *symbolCount) add(rows []float64, width, symbolAt, valueAt int) {
	for at := 0; at < len(rows); at += width {
		symbol, value := rows[at+symbolAt]+0, rows[at+valueAt] // -0 is 0
		slot := math.Float64bits(symbol) * hashFactor >> 58
		e := s.recent[slot]
		if e == nil || e.symbol != symbol {
			if e = s.seen[symbol]; e == nil {
				e = &tallied{symbol: symbol, value: value}
				if s.seen == nil {
					s.seen = map[float64]*tallied{}
				}
				s.seen[symbol] = e
			}
			s.recent[slot] = e
		}
		e.count++
		e.varies = e.varies || e.value != value
	}
}

func (s symbolCount) frequent() []*tallied {
	all := slices.SortedFunc(maps.Values(s.seen), func(a, b *tallied) int {
		return cmp.Or(b.count-a.count, cmp.Compare(a.symbol, b.symbol))
	})
	all = all[:min(mostSymbols, len(all))]
	slices.SortFunc(all, func(a, b *tallied) int { return cmp.Compare(a.symbol, b.symbol) })
	return all
}

// pooled are the sorted values of a column on both sides, every k-th where there are too many.
func pooled(ex audit.Exploration, column int, carriers []float64) []float64 {
	total := ex.First.Len() + ex.Second.Len()
	stride := (total + sortedMost - 1) / sortedMost
	pool := make([]float64, 0, total/stride+2)
	offset, mixed := audit.Offsets(ex.First.Columns)[column], ex.First.Columns[column].Kind == audit.Mixed
	for _, side := range sides(ex) {
		w, n := audit.Width(side.Columns), side.Len()
		for i := 0; i < n; i += stride {
			at := i*w + offset
			if !mixed {
				pool = append(pool, side.Rows[at])
			} else if slices.Contains(carriers, side.Rows[at]) {
				pool = append(pool, side.Rows[at+1])
			}
		}
		stopOn(ex.Check())
	}
	slices.Sort(pool)
	return pool
}

// quantileEdges cuts sorted values into about this many bins of equal counts, with own bins for values
// that repeat often. With tails, bins narrow towards both ends, where pure privacy is violated.
func quantileEdges(sorted []float64, bins int, tails bool) []float64 {
	if len(sorted) == 0 || bins < 2 {
		return nil
	}
	last := sorted[len(sorted)-1]
	var edges []float64
	if distinct := slices.Compact(slices.Clone(sorted)); len(distinct) <= min(bins, fewDistinct) {
		edges = distinct
	} else {
		least := max(5, len(sorted)/(4*bins))
		if 2*repeated(sorted) <= len(sorted) { // else hardly a value is alone, and most of what repeats is chance
			least = atomLeast
		}
		atoms, loose := splitAtoms(sorted, least, min(atomsMost, bins))
		for _, a := range atoms {
			edges = append(edges, math.Nextafter(a, math.Inf(-1)), a)
		}
		edges = append(edges, cuts(loose, bins, tails)...)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	return slices.DeleteFunc(edges, func(e float64) bool { return e < sorted[0] || e >= last })
}

func repeated(sorted []float64) int {
	n := 0
	for i, v := range sorted {
		if i > 0 && v == sorted[i-1] || i+1 < len(sorted) && v == sorted[i+1] {
			n++
		}
	}
	return n
}

// splitAtoms takes values that occur at least least times out of sorted, the most frequent up to limit.
func splitAtoms(sorted []float64, least, limit int) (atoms, loose []float64) {
	type run struct{ from, to int }
	var runs []run
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i >= least {
			runs = append(runs, run{i, j})
		}
		i = j
	}
	slices.SortStableFunc(runs, func(a, b run) int { return (b.to - b.from) - (a.to - a.from) })
	runs = runs[:min(limit, len(runs))]
	slices.SortFunc(runs, func(a, b run) int { return a.from - b.from })
	from := 0
	for _, r := range runs {
		atoms = append(atoms, sorted[r.from])
		loose = append(loose, sorted[from:r.from]...)
		from = r.to
	}
	return atoms, append(loose, sorted[from:]...)
}

// cuts are edges of bins of equal counts and, with tails, of halving counts at both ends.
func cuts(sorted []float64, bins int, tails bool) []float64 {
	n := len(sorted)
	var edges []float64
	for k := 1; k < bins; k++ {
		if r := k * n / bins; r > 0 {
			edges = append(edges, sorted[r-1])
		}
	}
	if tails {
		for r := n / bins / 2; r >= tailLeast; r /= 2 {
			edges = append(edges, sorted[r-1], sorted[n-1-r])
		}
	}
	return edges
}
