package classifier

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// What is learnt from at most, in distinct outputs and in all; what comes later is only bet on.
const (
	mostRows    = 1 << 18
	mostOutputs = 1 << 22
)

// Data are the outputs of one pair of datasets that are learnt from.
type Data struct {
	columns []audit.Column
	at      []int // offset of each column in a row
	width   int
	rows    []float64           // distinct outputs, flat; all of them where there are numbers
	count   [][2]float64        // how often each was seen on either dataset
	fold    [][folds][2]float64 // of these, in each fold; nil where all outputs are distinct
	known   map[uint64]int32
	total   [2]int
	rounded *Data // how its numbers are rounded; nil where no claim is about that
}

// NewData is for outputs of these columns; it is empty.
func NewData(columns []audit.Column) *Data {
	d := &Data{columns: columns, at: audit.Offsets(columns), width: audit.Width(columns)}
	if audit.AllSymbols(columns) {
		d.known = map[uint64]int32{}
	}
	if rounded := roundedColumns(columns); len(rounded) > 0 {
		d.rounded = NewData(rounded)
	}
	return d
}

// Len is how many outputs a side it was given.
func (d *Data) Len() int { return min(d.total[0], d.total[1]) }

// Full reports whether it should be given no more outputs.
func (d *Data) Full() bool { return len(d.count) >= mostRows || d.total[0]+d.total[1] >= mostOutputs }

// Add gives it outputs on one of the datasets; it is to be given as many on the other.
func (d *Data) Add(side int, rows []float64) {
	if d.rounded != nil {
		for at := 0; at+d.width <= len(rows); at += d.width {
			d.rounded.Add(side, rounding(d.columns, rows[at:at+d.width]))
		}
	}
	if d.known == nil {
		d.rows, d.count = slices.Grow(d.rows, len(rows)), slices.Grow(d.count, len(rows)/d.width)
	}
	for ; len(rows) >= d.width; rows = rows[d.width:] {
		d.total[side]++
		row := rows[:d.width]
		if d.known != nil {
			// Two outputs with one key are taken for the same: that costs power only.
			key := audit.RowKey(row)
			if at, ok := d.known[key]; ok {
				d.fold[at][(int(at)+int(d.count[at][0]+d.count[at][1]))%folds][side]++
				d.count[at][side]++
				continue
			}
			d.known[key] = int32(len(d.count))
			var f [folds][2]float64
			f[len(d.count)%folds][side] = 1
			d.fold = append(d.fold, f)
		}
		d.rows = append(d.rows, row...)
		var n [2]float64
		n[side] = 1
		d.count = append(d.count, n)
	}
}

// roundedColumns say how numbers are rounded: the grid first, as it tells most (Mironov, On
// Significance of the Least Significant Bits for Differential Privacy, 2012).
func roundedColumns(columns []audit.Column) (list []audit.Column) {
	for _, c := range columns {
		if c.Bits {
			for _, name := range []string{"grid", "exponent", "sign"} {
				list = append(list, audit.Column{Name: c.Name + ", " + name, Kind: audit.Symbol})
			}
		}
	}
	return list
}

func rounding(columns []audit.Column, row []float64) (out []float64) {
	at := 0
	for _, c := range columns {
		if c.Bits {
			sign, exponent, grid := audit.Rounding(row[at])
			out = append(out, float64(grid), float64(exponent), float64(sign))
		}
		at += c.Width()
	}
	return out
}

func (d *Data) row(i int) []float64 { return d.rows[i*d.width : (i+1)*d.width] }

func (d *Data) step(n int) int { return max(1, (len(d.count)+n-1)/n) }

// folds is how many parts the outputs are learnt without in turn, for learners on other learners' odds.
const folds = 4

// inFold is how often distinct output i was seen in a fold.
func (d *Data) inFold(i, fold int) [2]float64 {
	if d.fold != nil {
		return d.fold[i][fold]
	}
	return audit.Pick(i%folds == fold, d.count[i], [2]float64{})
}

func (d *Data) eachInFold(do func(i, fold int, n [2]float64)) {
	for f := range folds {
		for i := range d.count {
			if n := d.inFold(i, f); n[0]+n[1] > 0 {
				do(i, f, n)
			}
		}
	}
}

// fitRows is about how many distinct outputs regressions are fitted to; the others are only counted.
const fitRows = 8192

// isFitted reports whether a distinct output is one of these: of each fold one in so many is.
func (d *Data) isFitted(i int) bool {
	return d.known != nil || i/folds%max(1, len(d.count)/fitRows) == 0
}

type oddsOf [folds][]float64

func newOdds(n int) (o oddsOf) {
	for f := range o {
		o[f] = make([]float64, n)
	}
	return o
}

func (t *Table) count(z, n [2]float64) {
	for side := range n {
		if n[side] > 0 {
			t[side][cellOf(z[side])] += int(n[side])
		}
	}
}
