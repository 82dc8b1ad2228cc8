package audit

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

const (
	// MinSamples is the least number of outputs a side.
	MinSamples = 100
	// BlockRows is the most outputs that an audit asks for at a time. With another no report would
	// replay.
	BlockRows = 4096
)

// ColumnKind says how the numbers of an output column are to be read.
type ColumnKind string

const (
	Real   ColumnKind = "real"   // one float64
	Symbol ColumnKind = "symbol" // one float64 that is only a name; equality is all it has
	// Mixed is a symbol and the number that it carries, or 0: two float64 a row.
	Mixed ColumnKind = "mixed"
)

// Column describes one column of a mechanism's output.
type Column struct {
	Name   string     `json:"name"`
	Kind   ColumnKind `json:"kind"`
	Labels []Label    `json:"labels,omitempty"` // words for symbols
	// Bits: of a real column, the claim is about doubles, so a learner may read their [Rounding].
	Bits bool `json:"-"`
}

// Rounding is how a number stands among the doubles: its sign (1 below zero), the exponents of its
// highest bit, as written, and of its lowest bit that is set; 2000 of 0 and -0.
func Rounding(x float64) (sign, exponent, grid int) {
	const mantissa, bias = 52, 1023
	b := math.Float64bits(x)
	low := b & (1<<mantissa - 1)
	at := int(b>>mantissa) & 0x7ff
	grid = 2000
	if at > 0 || low > 0 {
		grid = max(at, 1) - bias - mantissa + min(bits.TrailingZeros64(low), mantissa)
	}
	return int(b >> 63), at - bias, grid
}

// WithBits are the columns with claims about doubles.
func WithBits(columns []Column) []Column {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Bits = columns[i].Kind == Real
	}
	return columns
}

// Label is the word for one symbol.
type Label struct {
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

// Number is what a column of the kind has of these cells, where that is a number; a mixed one has
// it beside carriers.
func (k ColumnKind) Number(cells, carriers []float64) (v float64, ok bool) {
	switch {
	case k == Real:
		return cells[0], true
	case k == Mixed && slices.Contains(carriers, cells[0]):
		return cells[1], true
	}
	return 0, false
}

// Width is the number of float64 of one row in this column.
func (c Column) Width() int {
	if c.Kind == Mixed {
		return 2
	}
	return 1
}

// Word is the label of symbol v, or its number.
func (c Column) Word(v float64) string {
	for _, l := range c.Labels {
		if l.Value == v {
			return l.Text
		}
	}
	for _, o := range Outcomes {
		if o.In(c.Kind) == v {
			return o.String()
		}
	}
	return Number(v)
}

// Width is the number of float64 of one output row.
func Width(columns []Column) int {
	w := 0
	for i := range columns { // in place: it is asked for every row
		w += columns[i].Width()
	}
	return w
}

// Offsets are where the columns begin in a row.
func Offsets(columns []Column) []int {
	at := make([]int, len(columns))
	for i := 1; i < len(columns); i++ {
		at[i] = at[i-1] + columns[i-1].Width()
	}
	return at
}

// RowKey mixes the bits of a row: others hardly ever have equal keys.
func RowKey(row []float64) (key uint64) {
	for _, v := range row {
		key = (key ^ math.Float64bits(v+0)) * 0x9e3779b97f4a7c15 // -0 and 0 are one symbol
		key ^= key >> 32
	}
	return key
}

// AllSymbols tells whether no column holds a number.
func AllSymbols(columns []Column) bool {
	return !slices.ContainsFunc(columns, func(c Column) bool { return c.Kind != Symbol })
}

// Reals is how many columns hold numbers alone.
func Reals(columns []Column) int {
	return Count(columns, func(c Column) bool { return c.Kind == Real })
}

// Ascending are sorted numbers, in which 0 has no sign: the list itself where it is so already.
func Ascending(list []float64) []float64 {
	if slices.IsSorted(list) && !slices.ContainsFunc(list, func(x float64) bool { return x == 0 && math.Signbit(x) }) {
		return list
	}
	sorted := slices.Clone(list)
	for i := range sorted {
		sorted[i] += 0
	}
	slices.Sort(sorted)
	return sorted
}

// Samples are outputs of a mechanism: row i is Rows[i*W : (i+1)*W] with W = Width(Columns).
type Samples struct {
	Columns []Column
	Rows    []float64
}

// Len is the number of outputs.
func (s Samples) Len() int {
	w := Width(s.Columns)
	if w == 0 {
		return 0
	}
	return len(s.Rows) / w
}

// Row is output i; it shares memory with s.
func (s Samples) Row(i int) []float64 {
	w := Width(s.Columns)
	return s.Rows[i*w : (i+1)*w]
}

// Slice is outputs lo to hi-1; it shares memory with s.
func (s Samples) Slice(lo, hi int) Samples {
	w := Width(s.Columns)
	return Samples{Columns: s.Columns, Rows: s.Rows[lo*w : hi*w]}
}

// CheckColumns refuses a description of outputs that nothing can be learnt from.
func CheckColumns(columns []Column) error {
	if len(columns) == 0 {
		return fmt.Errorf("the mechanism describes no output column, must describe at least one")
	}
	for i, c := range columns {
		if c.Kind != Real && c.Kind != Symbol && c.Kind != Mixed {
			return fmt.Errorf("output column %d has kind %q, must be real, symbol or mixed", i, c.Kind)
		}
	}
	return nil
}

// Finite is a pointer to x, nil where x is not finite.
func Finite(x float64) *float64 {
	if x-x != 0 { // false only for finite x
		return nil
	}
	return &x
}

// NonFinite returns the index of the first NaN or infinity in rows, or -1.
func NonFinite(rows []float64) int {
	for i, v := range rows {
		if v-v != 0 { // false only for finite v
			return i
		}
	}
	return -1
}

// Unordered is the index of the first number not finite, or not above the one before, or -1.
func Unordered(list []float64) int {
	for i, x := range list {
		if x-x != 0 || i > 0 && !(x > list[i-1]) {
			return i
		}
	}
	return -1
}

// Number prints a float for a message: short, and exact enough to type back.
func Number(v float64) string { return fmt.Sprintf("%.10g", v) }
