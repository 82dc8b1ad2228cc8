package estimators

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/dpscope/dpscope/audit"
)

// floatBits reads the bits of a double: noise computed in floating point and then added leaves results on
// a grid that depends on what it was added to. It fits a table of sign, exponent and grid (the exponent
// of the lowest bit set) and a logistic regression on all bits, and keeps what guesses held-out outputs
// better.
var floatBits = audit.LearnerSpec{
	Name:    "float-bits",
	Title:   "Bits of a floating-point number",
	Source:  "Porous outputs of floating-point noise, Mironov 2012, sections 4 and 5",
	ByName:  true,
	Bits:    true,
	Applies: needs(oneReal, "float-bits needs outputs of one real column"),
	Learn:   learner(learnFloatBits),
	Decode:  decoder[bitsModel],
}

const (
	mantissaBits = 52
	bitsShort    = 3 // columns that the table reads
	bitsRows     = 20_000
)

// bitColumns are sign, exponent, grid, zeros at the end of the mantissa, and its bits from the highest.
var bitColumns = audit.Listed(4+mantissaBits, func(i int) audit.Column {
	if i < 4 {
		return audit.Column{Name: [...]string{"sign", "exponent", "grid", "end zeros"}[i], Kind: audit.Symbol}
	}
	return audit.Column{Name: fmt.Sprintf("bit %d", i-3), Kind: audit.Symbol}
})

// readBits writes derived columns of x into out: all, or the first three.
func readBits(x float64, out []float64) {
	sign, exponent, grid := audit.Rounding(x)
	out[0], out[1], out[2] = float64(sign), float64(exponent), float64(grid)
	if len(out) == bitsShort {
		return
	}
	fraction := math.Float64bits(x) & (1<<mantissaBits - 1)
	out[3] = float64(min(bits.TrailingZeros64(fraction), mantissaBits))
	for i := range out[4:] {
		out[4+i] = float64(fraction >> (mantissaBits - 1 - i) & 1)
	}
}

type bitsModel struct {
	Table    *tableModel    `json:"table,omitempty"`
	Logistic *logisticModel `json:"logistic,omitempty"`
}

func (m *bitsModel) inner() (audit.Model, int) {
	if m.Table != nil {
		return m.Table, bitsShort
	}
	return m.Logistic, len(bitColumns)
}

func (m *bitsModel) Score(rows, out []float64) {
	inner, width := m.inner()
	derived := make([]float64, min(block, len(out))*width)
	for len(out) > 0 {
		n := min(block, len(out))
		for i, x := range rows[:n] {
			readBits(x, derived[i*width:(i+1)*width])
		}
		inner.Score(derived[:n*width], out[:n])
		rows, out = rows[n:], out[n:]
	}
}

// ReadsRounding implements [audit.RoundingModel].
func (m *bitsModel) ReadsRounding() {}

func (m *bitsModel) Describe(threshold float64, above bool) string {
	inner, width := m.inner()
	if width == bitsShort {
		return "by sign, exponent and grid of the floating-point number, " + inner.Describe(threshold, above)
	}
	return "by the bits of the floating-point number, " + inner.Describe(threshold, above)
}

// bitsOf is the exploration in width derived columns, of the first limit outputs a side that keep takes.
func bitsOf(ex audit.Exploration, width, limit int, keep func(i int) bool) audit.Exploration {
	columns := bitColumns[:width]
	sides := sides(ex)
	for s, side := range sides {
		rows := make([]float64, 0, min(limit, side.Len())*width)
		for i, x := range side.Rows {
			checked(&ex, i)
			if len(rows) == limit*width {
				break
			}
			if keep(i) {
				rows = rows[:len(rows)+width]
				readBits(x, rows[len(rows)-width:])
			}
		}
		sides[s] = audit.Samples{Columns: columns, Rows: rows}
	}
	ex.First, ex.Second = sides[0], sides[1]
	return ex
}

func learnFloatBits(ex audit.Exploration) *bitsModel {
	fitted := func(i int) bool { return i%foldsOf != foldsOf-1 }
	held := func(i int) bool { return i%foldsOf == foldsOf-1 }
	all := func(int) bool { return true }
	if min(ex.First.Len(), ex.Second.Len()) < foldsOf {
		fitted, held = all, all
	}
	best, least := 0, math.Inf(1)
	for _, width := range []int{bitsShort, len(bitColumns)} {
		m := learnBits(ex, width, bitsRows, fitted)
		rest := bitsOf(ex, width, bitsRows, held)
		var scores, slopes [2][]float64
		inner, _ := m.inner()
		for s, side := range []audit.Samples{rest.First, rest.Second} {
			scores[s], slopes[s] = make([]float64, side.Len()), make([]float64, side.Len())
			inner.Score(side.Rows, scores[s])
		}
		if loss := (witnessLoss{theta: 1}).value(scores, [2][]float64{}, slopes); loss < least {
			best, least = width, loss
		}
	}
	limit := audit.Pick(best == bitsShort, max(ex.First.Len(), ex.Second.Len()), bitsRows)
	return learnBits(ex, best, limit, all)
}

func learnBits(ex audit.Exploration, width, limit int, keep func(i int) bool) *bitsModel {
	ex = bitsOf(ex, width, limit, keep)
	if width > bitsShort {
		return &bitsModel{Logistic: fitFeatures(ex, plainFeatures, designRows)}
	}
	return &bitsModel{Table: learnTable(ex)}
}

func (m *bitsModel) open(columns []audit.Column) {
	require(oneReal(columns), "model", "bits of a number", "a learner for these columns: float-bits takes one real column")
	require((m.Table == nil) != (m.Logistic == nil), "model.table, logistic", "both or neither", "one of the two")
	if m.Table != nil {
		m.Table.open(bitColumns[:bitsShort])
	} else {
		m.Logistic.open(bitColumns)
	}
}
