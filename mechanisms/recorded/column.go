package recorded

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/jsonscan"
	"github.com/dpscope/dpscope/stream/spill"
)

// Column is one column of a table: numbers, or codes of symbols, or both beside
// each other.
type Column struct {
	Name string
	Kind audit.ColumnKind
	// Symbols are the words of the codes 0, 1, ... in the order in which they
	// came; in a mixed column 0 stands for "a number".
	Symbols []string

	reals spill.List[float64] // real and mixed
	low   spill.List[float64] // what [Whole] leaves beside reals; 0 behind its end
	codes spill.List[uint32]  // symbol and mixed
	index map[string]uint32
}

// numberSymbol is the symbol of a number in a mixed column.
const numberSymbol = "a number"

// newColumn is one of so many columns of a table: the more there are, the shorter are the
// blocks in which each is held, as one of each is always in memory.
func newColumn(name string, kind audit.ColumnKind, of int, s *spill.Scratch) *Column {
	reals := spill.NewList[float64](of, s)
	c := &Column{Name: name, Kind: kind, reals: reals, low: reals, codes: spill.NewList[uint32](of, s)}
	if kind != audit.Real {
		c.index = map[string]uint32{}
	}
	if kind == audit.Mixed {
		c.code(numberSymbol)
	}
	return c
}

// Len is the number of values.
func (c *Column) Len() int { return max(c.reals.Len(), c.codes.Len()) }

// Real is value i of a real or mixed column; 0 where a mixed one has a symbol.
func (c *Column) Real(i int) float64 { return c.reals.At(i) }

// Code is the symbol of value i of a symbol or mixed column.
func (c *Column) Code(i int) int { return int(c.codes.At(i)) }

// spilled reports whether some of the column is on the scratch.
func (c *Column) spilled() bool { return c.reals.Spilled() || c.low.Spilled() || c.codes.Spilled() }

// wide reports whether the column holds whole numbers that one float64 does not.
func (c *Column) wide() bool { return c.low.Len() > 0 }

func (c *Column) lowAt(i int) float64 {
	if i < c.low.Len() {
		return c.low.At(i)
	}
	return 0
}

// parts are the column as two, where one float64 a value does not do: its numbers'
// first 53 bits, and the rest of them under another name than those that are taken.
func (c *Column) parts(taken func(name string) bool) (high, low *Column) {
	for c.low.Len() < c.Len() {
		c.low.Add(0)
	}
	first := *c
	first.low = spill.List[float64]{}
	name := c.Name + " (low bits)"
	for taken(name) {
		name += "'"
	}
	return &first, &Column{Name: name, Kind: audit.Real, reals: c.low}
}

// Text is value i in words.
func (c *Column) Text(i int) string {
	if c.Kind == audit.Real || c.Kind == audit.Mixed && c.codes.At(i) == 0 {
		if v := c.reals.At(i); c.wide() && math.Abs(v) >= 1<<53 {
			return wholeText(v, c.lowAt(i))
		}
		return strconv.FormatFloat(c.reals.At(i), 'g', -1, 64)
	}
	return c.Symbols[c.codes.At(i)]
}

// Output is how the engine sees the column.
func (c *Column) Output() audit.Column {
	out := audit.Column{Name: c.Name, Kind: c.Kind}
	for i, s := range c.Symbols {
		out.Labels = append(out.Labels, audit.Label{Value: float64(i), Text: s})
	}
	return out
}

// put writes value i as the engine sees it, in one or two numbers, and returns how many.
func (c *Column) put(i int, out []float64) int {
	switch c.Kind {
	case audit.Symbol:
		out[0] = float64(c.codes.At(i))
	case audit.Mixed:
		out[0], out[1] = float64(c.codes.At(i)), c.reals.At(i)
		return 2
	default:
		out[0] = c.reals.At(i)
	}
	return 1
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
	for range c.reals.Len() {
		c.codes.Add(0)
	}
}

// fault is what is wrong with one value.
type fault struct{ found, want, remedy string }

// addText adds a cell of a text file.
func (c *Column) addText(cell []byte, o *Options) *fault {
	if c.Kind == audit.Symbol {
		if k, ok := c.index[string(cell)]; ok {
			c.codes.Add(k)
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
		for c.low.Len() < c.reals.Len() {
			c.low.Add(0)
		}
		c.low.Add(low)
	}
	c.reals.Add(v + 0) // no negative zero: it equals zero and sorts elsewhere
	if c.Kind == audit.Mixed {
		c.codes.Add(0)
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
	c.codes.Add(k)
	if c.Kind == audit.Mixed {
		c.reals.Add(0)
	}
	return nil
}

// constant reports whether rows have one value only.
func (c *Column) constant(rows iter.Seq[int]) bool {
	some := false
	var real, low float64
	var code uint32
	for i := range rows {
		var x, y float64
		var k uint32
		if c.Kind != audit.Symbol {
			x, y = c.reals.At(i), c.lowAt(i)
		}
		if c.Kind != audit.Real {
			k = c.codes.At(i)
		}
		if some && (x != real || y != low || k != code) {
			return false
		}
		some, real, low, code = true, x, y, k
	}
	return some
}

// counter reports whether the values count the rows: each is one more than the
// one before.
func (c *Column) counter(rows iter.Seq[int]) bool {
	if c.Kind != audit.Real {
		return false
	}
	n := 0
	var x, low float64 // of the row before
	for i := range rows {
		y, lowY := c.reals.At(i), c.lowAt(i)
		switch {
		case n == 0:
		case math.Abs(x) >= 1<<53: // x + 1 may be x
			if y-x+(lowY-low) != 1 {
				return false
			}
		case y != x+1:
			return false
		}
		n, x, low = n+1, y, lowY
	}
	return n > 1
}

// Bin is one bar of a histogram.
type Bin struct {
	Label  string  `json:"label"` // of a symbol; empty for a range
	Lower  float64 `json:"lower"` // of a range
	Upper  float64 `json:"upper"`
	Counts [2]int  `json:"counts"` // rows of the first and of the second dataset
}

// Histogram counts the values of a column on both datasets: numbers in so many
// ranges of equal width, symbols by themselves, the first bins-1 of them and
// the rest together.
func (s *Samples) Histogram(column, bins int) []Bin {
	bins = max(bins, 2)
	a := s.columns[0][column]
	var out []Bin
	symbols := 0
	if a.Kind != audit.Real {
		for i, w := range a.Symbols {
			if symbols == bins-1 && len(a.Symbols) > bins {
				out = append(out, Bin{Label: fmt.Sprintf("%d others", len(a.Symbols)-i)})
				symbols++
				break
			}
			out = append(out, Bin{Label: w})
			symbols++
		}
	}
	lower, upper := math.Inf(1), math.Inf(-1)
	each := func(see func(side int, c *Column, i int)) {
		for side := range s.columns {
			for i := range s.each(side) {
				see(side, s.columns[side][column], i)
			}
		}
	}
	isNumber := func(c *Column, i int) bool {
		return c.Kind == audit.Real || c.Kind == audit.Mixed && c.codes.At(i) == 0
	}
	each(func(side int, c *Column, i int) {
		if isNumber(c, i) {
			lower, upper = min(lower, c.reals.At(i)), max(upper, c.reals.At(i))
			return
		}
		out[min(int(c.codes.At(i)), symbols-1)].Counts[side]++
	})
	if lower > upper {
		return out
	}
	if a.Kind == audit.Mixed { // the numbers have ranges of their own
		out = out[1:]
		symbols--
	}
	width := (float64(upper/2) - float64(lower/2)) / float64(bins) * 2
	for k := range bins {
		out = append(out, Bin{Lower: lower + float64(width*float64(k)), Upper: lower + float64(width*float64(k+1))})
	}
	out[len(out)-1].Upper = upper
	each(func(side int, c *Column, i int) {
		if isNumber(c, i) {
			k := 0
			if width > 0 {
				k = min(bins-1, int((float64(c.reals.At(i)/2)-float64(lower/2))/width*2))
			}
			out[symbols+k].Counts[side]++
		}
	})
	return out
}

// cellClass says what a cell's text is.
type cellClass uint8

const (
	textCell cellClass = iota
	numberCell
	nonFiniteCell // NaN, an infinity, or a number with an exponent beyond float64
	longCell      // a whole number that takes more than two float64
)

// parse reads a number; spaces around it are allowed. One with a fraction or an
// exponent is rounded to the nearest float64; a whole one is v + low exactly
// ([Whole]).
func (o *Options) parse(b []byte) (v, low float64, class cellClass) {
	if len(b) > 0 && (b[0] <= ' ' || b[len(b)-1] <= ' ') {
		b = bytes.TrimSpace(b)
	}
	if o.Decimal == DecimalComma {
		if bytes.IndexByte(b, '.') >= 0 {
			return 0, 0, textCell
		}
		b = bytes.Replace(b, []byte{','}, []byte{'.'}, 1)
	}
	v, class = parseNumber(b)
	if class == textCell || math.Abs(v) < 1<<53 {
		return v, 0, class
	}
	high, low, ok := Whole(b, v)
	if !ok {
		return v, 0, longCell
	}
	return high, low, class
}

// parseNumber reads a decimal number, rounded to the nearest float64.
func parseNumber(b []byte) (float64, cellClass) {
	if len(b) == 0 {
		return 0, textCell
	}
	if v, n := number(b, '.'); n == len(b) {
		return v, numberCell
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9', c == '.':
	case c == '-' || c == '+':
		if len(b) == 4 && (string(b[1:]) == "nan" || string(b[1:]) == "NaN") { // as C prints
			return math.NaN(), nonFiniteCell
		}
	case c == 'n' || c == 'N' || c == 'i' || c == 'I':
	default:
		return 0, textCell
	}
	if len(b) > 1 && (b[1] == 'x' || b[1] == 'X') || bytes.IndexByte(b, '_') >= 0 {
		return 0, textCell // Go's own forms, which no other tool means
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil && v-v == 0:
		return v, numberCell
	case err == nil || errors.Is(err, strconv.ErrRange):
		return v, nonFiniteCell
	}
	return 0, textCell
}

// nonFiniteWord names a value that is not finite.
func nonFiniteWord(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case v > 0:
		return "+Inf"
	}
	return "-Inf"
}

// Whole parts a decimal number, v as float64, into two float64 whose sum it is
// exactly: the first 53 bits of a whole number, which are all of most, and the rest,
// of the same sign. ok is false where that does not do: for a whole number from 2^106
// on, or one with a fraction from 2^53 on. A number with an exponent is a rounded one,
// as programs print a float64: it is v, and so is one that is infinite or no number.
func Whole(text []byte, v float64) (high, low float64, ok bool) {
	if math.Abs(v) < 1<<53 || math.IsNaN(v) || bytes.ContainsAny(text, "eEiI") {
		return v, 0, true
	}
	whole, fraction, _ := bytes.Cut(bytes.TrimLeft(text, "+-0"), []byte{'.'})
	if len(bytes.TrimLeft(fraction, "0")) > 0 {
		return v, 0, false
	}
	const surely = 38 // digits below 2^128
	if len(whole) > surely {
		return v, 0, string(whole) == strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	}
	var n uint128
	for _, c := range whole {
		n = n.append(uint64(c - '0'))
	}
	if high, low, ok = n.split(); v < 0 {
		high, low = -high, -low
	}
	return high, low, ok
}

// uint128 is a whole number below 2^128.
type uint128 struct{ hi, lo uint64 }

// append is the number with one more decimal digit.
func (n uint128) append(digit uint64) uint128 {
	hi, lo := bits.Mul64(n.lo, 10)
	lo, carry := bits.Add64(lo, digit, 0)
	return uint128{n.hi*10 + hi + carry, lo}
}

// split is the number's first 53 bits and the rest. ok is false where the rest
// takes more bits than that.
func (n uint128) split() (high, low float64, ok bool) {
	length := bits.Len64(n.lo)
	if n.hi > 0 {
		length = 64 + bits.Len64(n.hi)
	}
	shift := length - 53
	if shift <= 0 {
		return float64(n.lo), 0, true
	}
	var first uint64
	var rest uint128
	if shift < 64 {
		first, rest.lo = n.hi<<(64-shift)|n.lo>>shift, n.lo&(1<<shift-1)
	} else {
		first, rest = n.hi>>(shift-64), uint128{n.hi & (1<<(shift-64) - 1), n.lo}
	}
	return math.Ldexp(float64(first), shift), float64(rest.lo), shift <= 53 || rest == uint128{}
}

// wholeText prints high + low as of [Whole] in all digits, where they are of a
// number from 2^53 on.
func wholeText(high, low float64) string {
	if low == 0 {
		return strconv.FormatFloat(high, 'f', 0, 64)
	}
	first, exponent := math.Frexp(math.Abs(high))
	n := uint64(first * (1 << 53))
	shift := exponent - 53
	sum, carry := bits.Add64(n<<shift, uint64(math.Abs(low)), 0)
	q, r := bits.Div64(n>>(64-shift)+carry, sum, 1e19)
	text := strconv.FormatUint(r, 10)
	if q > 0 {
		text = fmt.Sprintf("%d%019d", q, r)
	}
	if high < 0 {
		text = "-" + text
	}
	return text
}

// decimalComma reports whether a cell is a number with a decimal comma.
func decimalComma(b []byte) bool {
	before, after, ok := bytes.Cut(bytes.TrimSpace(b), []byte{','})
	if !ok || jsonscan.Digits(after, 0) == 0 || bytes.IndexByte(before, '.') >= 0 {
		return false
	}
	_, class := parseNumber(append(append(bytes.Clone(before), '.'), after...))
	return class == numberCell
}
