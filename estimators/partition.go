package estimators

import (
	"fmt"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
)

// partition divides the values of one output column into cells. A real column
// has a cell for each bin; a symbol column one for each symbol; a mixed column
// one for each symbol that carries no value and one for each pair of a symbol
// that does and a bin of its value. Symbols that are not listed have no cell.
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

// bins is the number of bins of a value.
func (p partition) bins() int { return len(p.Edges) + 1 }

// cells is the number of cells of a column of this kind.
func (p partition) cells(kind audit.ColumnKind) int {
	switch kind {
	case audit.Real:
		return p.bins()
	case audit.Symbol:
		return len(p.Symbols)
	}
	n := 0
	for i := range p.Symbols {
		if n++; p.Carries[i] {
			n += len(p.Edges)
		}
	}
	return n
}

// validate checks that the partition fits a column of this kind.
func (p partition) validate(field string, kind audit.ColumnKind) error {
	bad := func(what, found, want string) error {
		return &audit.InputError{Field: field + "." + what, Found: found, Want: want}
	}
	if kind == audit.Real && len(p.Symbols) > 0 {
		return bad("symbols", fmt.Sprintf("%d symbols", len(p.Symbols)), "absent in a real column")
	}
	if kind != audit.Real && (len(p.Symbols) == 0 || len(p.Symbols) > mostSymbols) {
		return bad("symbols", fmt.Sprintf("%d symbols", len(p.Symbols)), fmt.Sprintf("1 to %d symbols", mostSymbols))
	}
	if kind == audit.Symbol && len(p.Edges) > 0 {
		return bad("edges", fmt.Sprintf("%d edges", len(p.Edges)), "absent in a symbol column")
	}
	if kind == audit.Mixed && len(p.Carries) != len(p.Symbols) {
		return bad("carries", fmt.Sprintf("%d flags", len(p.Carries)), fmt.Sprintf("one a symbol: %d", len(p.Symbols)))
	}
	if kind != audit.Mixed && len(p.Carries) > 0 {
		return bad("carries", fmt.Sprintf("%d flags", len(p.Carries)), "absent but in a mixed column")
	}
	if len(p.Edges) > mostEdges {
		return bad("edges", fmt.Sprintf("%d edges", len(p.Edges)), fmt.Sprintf("at most %d", mostEdges))
	}
	if !ascending(p.Symbols) {
		return bad("symbols", "out of order", "finite, ascending and distinct")
	}
	if !ascending(p.Edges) {
		return bad("edges", "out of order", "finite, ascending and distinct")
	}
	return nil
}

func ascending(xs []float64) bool {
	for i, x := range xs {
		if x-x != 0 || (i > 0 && x <= xs[i-1]) {
			return false
		}
	}
	return true
}

// coder gives the cells of one column of outputs, block by block.
type coder struct {
	offset  int // of the column in a row
	symbols *symbolIndex
	edges   *edgeSearch
	base    []uint32 // mixed: first cell of each symbol; last, unknownCell
	carries []uint32 // mixed: all ones where the symbol carries a value, else 0
}

// newCoder prepares a valid partition of the column at this offset of a row.
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

// code writes the cells of the first n rows into out.
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

// offsets is where each column begins in a row.
func offsets(columns []audit.Column) []int {
	at := make([]int, len(columns))
	next := 0
	for i, c := range columns {
		at[i] = next
		next += c.Width()
	}
	return at
}

// symbolTally counts the symbols of a column.
type symbolTally struct {
	few  []tallied // the first to come, found by looking along the list
	rest map[float64]*tallied
}

type tallied struct {
	symbol, value float64 // the first value that it carried
	count         int
	varies        bool // whether it carried another
}

// add counts a symbol and the value beside it.
func (t *symbolTally) add(symbol, value float64) {
	for i := range t.few {
		if e := &t.few[i]; e.symbol == symbol {
			e.count++
			if e.value != value {
				e.varies = true
			}
			return
		}
	}
	symbol += 0 // -0 is 0
	if len(t.few) < 8 {
		t.few = append(t.few, tallied{symbol, value, 1, false})
		return
	}
	if t.rest == nil {
		t.rest = map[float64]*tallied{}
	}
	e := t.rest[symbol]
	if e == nil {
		e = &tallied{symbol: symbol, value: value}
		t.rest[symbol] = e
	}
	e.count++
	if e.value != value {
		e.varies = true
	}
}

// most returns the most frequent symbols, at most limit, in ascending order.
func (t *symbolTally) most(limit int) []tallied {
	all := slices.Clone(t.few)
	for _, e := range t.rest {
		all = append(all, *e)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].count != all[j].count {
			return all[i].count > all[j].count
		}
		return all[i].symbol < all[j].symbol
	})
	all = all[:min(limit, len(all))]
	sort.Slice(all, func(i, j int) bool { return all[i].symbol < all[j].symbol })
	return all
}
