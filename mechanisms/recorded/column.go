package recorded

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

// blockRows is how many values of a column one block of memory holds.
const blockRows = 1 << 16

// blocks is a list of values that grows without being copied.
type blocks[T any] struct {
	full [][]T
	n    int
}

func (b *blocks[T]) add(v T) {
	i := b.n % blockRows
	if i == 0 {
		b.full = append(b.full, make([]T, 0, min(blockRows, max(64, b.n))))
	}
	last := len(b.full) - 1
	b.full[last] = append(b.full[last], v)
	b.n++
}

func (b *blocks[T]) at(i int) T { return b.full[i/blockRows][i%blockRows] }

// Column is one column of a table: numbers, or codes of symbols, or both beside
// each other.
type Column struct {
	Name string
	Kind audit.ColumnKind
	// Symbols are the words of the codes 0, 1, ... in the order in which they
	// came; in a mixed column 0 stands for "a number".
	Symbols []string

	reals blocks[float64] // real and mixed
	low   blocks[float64] // what [Whole] leaves beside reals; 0 behind its end
	codes blocks[uint32]  // symbol and mixed
	index map[string]uint32
}

// numberSymbol is the symbol of a number in a mixed column.
const numberSymbol = "a number"

func newColumn(name string, kind audit.ColumnKind) *Column {
	c := &Column{Name: name, Kind: kind}
	if kind != audit.Real {
		c.index = map[string]uint32{}
	}
	if kind == audit.Mixed {
		c.code(numberSymbol)
	}
	return c
}

// Len is the number of values.
func (c *Column) Len() int { return max(c.reals.n, c.codes.n) }

// Real is value i of a real or mixed column; 0 where a mixed one has a symbol.
func (c *Column) Real(i int) float64 { return c.reals.at(i) }

// Code is the symbol of value i of a symbol or mixed column.
func (c *Column) Code(i int) int { return int(c.codes.at(i)) }

// wide reports whether the column holds whole numbers that one float64 does not.
func (c *Column) wide() bool { return c.low.n > 0 }

func (c *Column) lowAt(i int) float64 {
	if i < c.low.n {
		return c.low.at(i)
	}
	return 0
}

// parts are the column as two, where one float64 a value does not do: its numbers'
// first 53 bits, and the rest of them under another name than those that are taken.
func (c *Column) parts(taken func(name string) bool) (high, low *Column) {
	for c.low.n < c.Len() {
		c.low.add(0)
	}
	first := *c
	first.low = blocks[float64]{}
	name := c.Name + " (low bits)"
	for taken(name) {
		name += "'"
	}
	return &first, &Column{Name: name, Kind: audit.Real, reals: c.low}
}

// Text is value i in words.
func (c *Column) Text(i int) string {
	if c.Kind == audit.Real || c.Kind == audit.Mixed && c.codes.at(i) == 0 {
		if v := c.reals.at(i); c.wide() && math.Abs(v) >= 1<<53 {
			return wholeText(v, c.lowAt(i))
		}
		return strconv.FormatFloat(c.reals.at(i), 'g', -1, 64)
	}
	return c.Symbols[c.codes.at(i)]
}

// Output is how the engine sees the column.
func (c *Column) Output() audit.Column {
	out := audit.Column{Name: c.Name, Kind: c.Kind}
	for i, s := range c.Symbols {
		out.Labels = append(out.Labels, audit.Label{Value: float64(i), Text: s})
	}
	return out
}

// put writes value i as the engine sees it: one or two numbers.
func (c *Column) put(i int, out []float64) {
	switch c.Kind {
	case audit.Real:
		out[0] = c.reals.at(i)
	case audit.Symbol:
		out[0] = float64(c.codes.at(i))
	case audit.Mixed:
		out[0], out[1] = float64(c.codes.at(i)), c.reals.at(i)
	}
}

// code returns the code of a symbol, a new one for a new symbol.
func (c *Column) code(s string) uint32 {
	k, ok := c.index[s]
	if !ok {
		k = uint32(len(c.Symbols))
		c.Symbols = append(c.Symbols, s)
		c.index[s] = k
	}
	return k
}

// mix turns a real column into a mixed one.
func (c *Column) mix() {
	c.Kind = audit.Mixed
	c.index = map[string]uint32{}
	c.code(numberSymbol)
	for range c.reals.n {
		c.codes.add(0)
	}
}

// fault is what is wrong with one value.
type fault struct{ found, want, remedy string }

// addText adds a cell of a text file.
func (c *Column) addText(cell []byte, o *Options) *fault {
	if c.Kind == audit.Symbol {
		if k, ok := c.index[string(cell)]; ok {
			c.codes.add(k)
			return nil
		}
		return c.addSymbol(string(cell), o)
	}
	v, low, class := o.parse(cell)
	switch class {
	case numberCell:
		c.addNumber(v, low)
		return nil
	case longCell:
		return &fault{quoted(cell) + ", of more digits than are kept", "a whole number below 2^106, or one with an exponent",
			"set the column's kind to symbol if it holds names; else split it into columns, or write rounded numbers with an exponent (1.5e+40)"}
	case nonFiniteCell:
		if math.IsInf(v, 0) && !namesInfinity(cell) {
			return c.addNonFinite(v, quoted(cell)+", beyond the largest float64", o)
		}
		return c.addNonFinite(v, quoted(cell), o)
	}
	if c.Kind == audit.Mixed {
		return c.addSymbol(string(cell), o)
	}
	if len(cell) == 0 {
		return &fault{"empty", "a number", "fill or leave out the row; a missing value that is an output can be a word, with the column's kind mixed"}
	}
	if o.Decimal == "" && decimalComma(cell) {
		return withDecimalComma(cell)
	}
	return &fault{quoted(cell), "a number, as the other rows of this column", "set the column's kind to symbol if it holds names, to mixed if it holds numbers and names"}
}

// withDecimalComma is what is wrong with a cell such as 1,5.
func withDecimalComma(cell []byte) *fault {
	return &fault{quoted(cell) + ", with a decimal comma", "a number with a decimal point", `set decimal to "," if commas stand before the decimals; if these are names, set the column's kind to symbol`}
}

func namesInfinity(cell []byte) bool {
	for _, b := range cell {
		if b == 'i' || b == 'I' {
			return true
		}
	}
	return false
}

// addValue adds a number of a binary file.
func (c *Column) addValue(v float64, o *Options) *fault {
	if v-v != 0 {
		if c.Kind == audit.Symbol {
			return c.addSymbol(nonFiniteWord(v), o)
		}
		return c.addNonFinite(v, nonFiniteWord(v), o)
	}
	if c.Kind == audit.Symbol {
		return c.addSymbol(strconv.FormatFloat(v, 'g', -1, 64), o)
	}
	c.addNumber(v, 0)
	return nil
}

// addWhole adds a whole number of a binary file, n or -n.
func (c *Column) addWhole(n uint64, negative bool, o *Options) *fault {
	v, low, _ := uint128{0, n}.split()
	if negative {
		v, low = -v, -low
	}
	if c.Kind == audit.Symbol && n > 1<<53 {
		return c.addSymbol(wholeText(v, low), o)
	}
	if low == 0 {
		return c.addValue(v, o)
	}
	c.addNumber(v, low)
	return nil
}

func (c *Column) addNumber(v, low float64) {
	if low != 0 {
		for c.low.n < c.reals.n {
			c.low.add(0)
		}
		c.low.add(low)
	}
	c.reals.add(v + 0) // no negative zero: it equals zero and sorts elsewhere
	if c.Kind == audit.Mixed {
		c.codes.add(0)
	}
}

func (c *Column) addNonFinite(v float64, found string, o *Options) *fault {
	if o.NonFinite != AsSymbol {
		return &fault{found, "a finite number", `set nonfinite to "symbol" if NaN and infinities are outputs to be audited: they may leak`}
	}
	if c.Kind == audit.Real {
		c.mix()
	}
	return c.addSymbol(nonFiniteWord(v), o)
}

func (c *Column) addSymbol(s string, o *Options) *fault {
	k, ok := c.index[s]
	if !ok {
		if len(c.Symbols) >= o.MaxSymbols {
			return &fault{fmt.Sprintf("symbol number %d of this column, %s", o.MaxSymbols+1, quoted(s)), fmt.Sprintf("one of at most %d symbols", o.MaxSymbols),
				"set the column's kind to real if it holds numbers, to mixed if it holds numbers and names; else merge rare names, or leave out the column"}
		}
		if i := binaryByte([]byte(s)); i >= 0 || !utf8.ValidString(s) {
			return &fault{quoted(s) + ", which is not text", "text in UTF-8", "save the file as UTF-8"}
		}
		k = c.code(s)
	}
	c.codes.add(k)
	if c.Kind == audit.Mixed {
		c.reals.add(0)
	}
	return nil
}

// constant reports whether rows have one value only; at names row i.
func (c *Column) constant(n int, at func(int) int) bool {
	for i := 1; i < n; i++ {
		a, b := at(0), at(i)
		if c.Kind != audit.Symbol && (c.reals.at(a) != c.reals.at(b) || c.lowAt(a) != c.lowAt(b)) || c.Kind != audit.Real && c.codes.at(a) != c.codes.at(b) {
			return false
		}
	}
	return n > 0
}

// counter reports whether the values count the rows: each is one more than the
// one before.
func (c *Column) counter(n int, at func(int) int) bool {
	if c.Kind != audit.Real || n < 2 {
		return false
	}
	for i := 1; i < n; i++ {
		a, b := at(i-1), at(i)
		x, y := c.reals.at(a), c.reals.at(b)
		if math.Abs(x) >= 1<<53 { // x + 1 may be x
			if y-x+(c.lowAt(b)-c.lowAt(a)) != 1 {
				return false
			}
		} else if y != x+1 {
			return false
		}
	}
	return true
}
