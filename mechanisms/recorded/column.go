package recorded

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

// Column is one column of a table: numbers, codes of symbols, or both.
type Column struct {
	Name string
	Kind audit.ColumnKind
	// Symbols are the words of the codes 0, 1, ... as they came; in a mixed column 0 is "a number".
	Symbols []string

	reals []float64 // real and mixed
	codes []uint32  // symbol and mixed
	index map[string]uint32
}

// NumberSymbol is the symbol 0 of a mixed column.
const NumberSymbol = "a number"

func newColumn(name string, kind audit.ColumnKind) *Column {
	c := &Column{Name: name, Kind: kind}
	if kind != audit.Real {
		c.index = map[string]uint32{}
	}
	if kind == audit.Mixed {
		c.code(NumberSymbol)
	}
	return c
}

// of is what the column is called in the file of a name.
func (c *Column) of(name string) string { return fmt.Sprintf("%s, column %q", name, c.Name) }

// Len is the number of values.
func (c *Column) Len() int { return max(len(c.reals), len(c.codes)) }

// Real is value i of a real or mixed column; 0 where a mixed one has a symbol.
func (c *Column) Real(i int) float64 { return c.reals[i] }

// Text is value i in words.
func (c *Column) Text(i int) string {
	if c.Kind == audit.Real || c.Kind == audit.Mixed && c.codes[i] == 0 {
		return audit.Exactly(c.reals[i])
	}
	return c.Symbols[c.codes[i]]
}

// put writes value i as the engine sees it, and returns how many numbers that takes.
func (c *Column) put(i uint32, out []float64) int {
	switch c.Kind {
	case audit.Symbol:
		out[0] = float64(c.codes[i])
	case audit.Mixed:
		out[0], out[1] = float64(c.codes[i]), c.reals[i]
		return 2
	default:
		out[0] = c.reals[i]
	}
	return 1
}

func (c *Column) code(s string) uint32 {
	k, ok := c.index[s]
	if !ok {
		k = uint32(len(c.Symbols))
		s = strings.Clone(s) // it may be a part of a row
		c.Symbols = append(c.Symbols, s)
		c.index[s] = k
	}
	return k
}

func (c *Column) mix() {
	c.Kind = audit.Mixed
	c.index = map[string]uint32{}
	c.code(NumberSymbol)
	c.codes = make([]uint32, len(c.reals))
}

// fault is an error in a value, whose place its reader knows.
type fault = audit.InputError

func (c *Column) addText(cell string, o *Options) *fault {
	if c.Kind == audit.Symbol {
		if k, ok := c.index[cell]; ok {
			c.codes = append(c.codes, k)
			return nil
		}
		return c.addSymbol(cell, o)
	}
	v, class := parse(cell)
	switch class {
	case numberCell:
		c.addNumber(v)
		return nil
	case roundedCell:
		return rounded(quoted(cell))
	case nonFiniteCell:
		if math.IsInf(v, 0) && !strings.ContainsAny(cell, "iI") {
			return c.addNonFinite(v, quoted(cell)+", beyond the largest float64", o)
		}
		return c.addNonFinite(v, quoted(cell), o)
	}
	if c.Kind == audit.Mixed {
		return c.addSymbol(cell, o)
	}
	if cell == "" {
		return audit.Fault("", "empty", "a number", "fill in the value or leave out the row; if a missing value is an output, write it as a word and set the column's kind to mixed")
	}
	if decimalComma(cell) {
		return withDecimalComma(cell)
	}
	return audit.Fault("", quoted(cell), "a number, as the other rows of this column", "set the column's kind to symbol if it holds names, to mixed if it holds numbers and names")
}

func withDecimalComma(cell string) *fault {
	return audit.Fault("", quoted(cell)+", with a decimal comma", "a number with a decimal point", "write numbers with a decimal point, such as 1.5; if these are names, set the column's kind to symbol")
}

func (c *Column) addValue(v float64, o *Options) *fault {
	switch {
	case c.Kind == audit.Symbol:
		return c.addSymbol(audit.Exactly(v), o)
	case v-v != 0:
		return c.addNonFinite(v, audit.Exactly(v), o)
	}
	c.addNumber(v)
	return nil
}

// addWhole adds a whole number of a binary file, n or -n.
func (c *Column) addWhole(n uint64, negative bool, o *Options) *fault {
	v := float64(n)
	if n <= 1<<53 || c.Kind != audit.Symbol && v < 1<<64 && uint64(v) == n {
		if negative {
			v = -v
		}
		return c.addValue(v, o)
	}
	text := audit.Pick(negative, "-", "") + strconv.FormatUint(n, 10)
	if c.Kind == audit.Symbol {
		return c.addSymbol(text, o)
	}
	return rounded(text)
}

func rounded(found string) *fault {
	return audit.Fault("", found+", whose last digits a float64 would round", "a whole number up to 2^53, or one that a float64 holds",
		"subtract the same number from all, or write the column as two, of x // 2**32 and of x % 2**32; set its kind to symbol if it holds names; write rounded numbers with an exponent (1.5e+40)")
}

func (c *Column) addNumber(v float64) {
	c.reals = append(c.reals, v+0) // no negative zero: it equals zero and sorts elsewhere
	if c.Kind == audit.Mixed {
		c.codes = append(c.codes, 0)
	}
}

func (c *Column) addNonFinite(v float64, found string, o *Options) *fault {
	if o.NonFinite != AsSymbol {
		return audit.Fault("", found, "a finite number", `set nonfinite to "symbol" if NaN and infinities are outputs to be audited: they may leak`)
	}
	if c.Kind == audit.Real {
		c.mix()
	}
	return c.addSymbol(audit.Exactly(v), o)
}

func (c *Column) addSymbol(s string, o *Options) *fault {
	k, ok := c.index[s]
	if !ok {
		if len(c.Symbols) >= o.MaxSymbols {
			return audit.Fault("", fmt.Sprintf("symbol number %d of this column, %s", o.MaxSymbols+1, quoted(s)), fmt.Sprintf("one of at most %d symbols", o.MaxSymbols),
				"set the column's kind to real if it holds numbers, to mixed if it holds numbers and names; otherwise merge rare names, or leave out the column")
		}
		if i := binaryByte(s); i >= 0 || !utf8.ValidString(s) {
			return audit.Fault("", quoted(s)+", which is not text", "text in UTF-8", "save the file as UTF-8")
		}
		k = c.code(s)
	}
	c.codes = append(c.codes, k)
	if c.Kind == audit.Mixed {
		c.reals = append(c.reals, 0)
	}
	return nil
}

func (c *Column) constant(rows []uint32) bool {
	for _, i := range rows {
		if first := rows[0]; c.Kind != audit.Symbol && c.reals[i] != c.reals[first] || c.Kind != audit.Real && c.codes[i] != c.codes[first] {
			return false
		}
	}
	return len(rows) > 0
}

// counter reports whether each value is one more than the one before.
func (c *Column) counter(rows []uint32) bool {
	if c.Kind != audit.Real {
		return false
	}
	for k, i := range rows {
		if k > 0 && c.reals[i] != c.reals[rows[k-1]]+1 || math.Abs(c.reals[i]) > 1<<53 {
			return false
		}
	}
	return len(rows) > 1
}

type cellClass uint8

const (
	textCell cellClass = iota
	numberCell
	nonFiniteCell // NaN, an infinity, or a number with an exponent beyond float64
	roundedCell   // a whole number that float64 does not hold
)

// parse reads a number, with spaces around it. One with a fraction or an exponent is rounded
// to the nearest float64.
func parse(b string) (float64, cellClass) {
	if len(b) > 0 && (b[0] <= ' ' || b[len(b)-1] <= ' ') {
		b = strings.TrimSpace(b)
	}
	v, class := parseNumber(b)
	if class != textCell && Rounds(b, v) {
		class = roundedCell
	}
	return v, class
}

func parseNumber(b string) (float64, cellClass) {
	if len(b) == 0 {
		return 0, textCell
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9', c == '.':
	case c == '-' || c == '+':
		if len(b) == 4 && (b[1:] == "nan" || b[1:] == "NaN") { // as C prints
			return math.NaN(), nonFiniteCell
		}
	case c == 'n' || c == 'N' || c == 'i' || c == 'I':
	default:
		return 0, textCell
	}
	if len(b) > 1 && (b[1] == 'x' || b[1] == 'X') || strings.IndexByte(b, '_') >= 0 {
		return 0, textCell // Go's own forms, which no other tool means
	}
	v, err := strconv.ParseFloat(b, 64)
	switch {
	case err == nil && v-v == 0:
		return v, numberCell
	case err == nil || errors.Is(err, strconv.ErrRange):
		return v, nonFiniteCell
	}
	return 0, textCell
}

// Rounds reports whether v, the float64 nearest to a decimal number, is another number where
// that should not be: from 2^53 on, without an exponent. One with it is rounded already, as
// programs print a float64.
func Rounds(text string, v float64) bool {
	if !(math.Abs(v) >= 1<<53) || strings.ContainsAny(text, "eEiI") {
		return false
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-0"), ".")
	return strings.Trim(fraction, "0") != "" || whole != strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
}

func decimalComma(cell string) bool {
	before, after, ok := strings.Cut(cell, ",")
	if !ok || after == "" || after[0] < '0' || after[0] > '9' || strings.Contains(before, ".") {
		return false
	}
	_, class := parse(before + "." + after)
	return class == numberCell
}
