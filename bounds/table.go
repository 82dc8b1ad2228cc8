package bounds

import "fmt"

// Table counts pairs of outputs by bin: N[a*Bins+b] pairs whose first output,
// drawn on the first dataset, lies in bin a and whose second, drawn on the
// second, lies in bin b. The bins are fixed before the pairs are drawn, and all
// outputs are independent. A witness that is constant on every bin is then a
// slice of Bins values, and a product over pairs depends on the table alone.
// Tables of disjoint shards add up.
type Table struct {
	Bins int   `json:"bins"` // 1 to 1024
	N    []int `json:"n"`    // Bins*Bins counts
}

// maxBins keeps a table within 8 MB.
const maxBins = 1024

// NewTable returns an empty table. It panics unless 1 <= bins <= 1024.
func NewTable(bins int) Table {
	if bins < 1 || bins > maxBins {
		panic("bounds: a table has 1 to 1024 bins")
	}
	return Table{Bins: bins, N: make([]int, bins*bins)}
}

// Validate reports the first field that is out of range, nil if there is none.
// An empty table is out of range: no bound can be had from it.
func (t Table) Validate() error {
	if t.Bins < 1 || t.Bins > maxBins {
		return fmt.Errorf("table: bins is %d, must be 1 to %d", t.Bins, maxBins)
	}
	if len(t.N) != t.Bins*t.Bins {
		return fmt.Errorf("table: n has %d counts, must have bins squared = %d", len(t.N), t.Bins*t.Bins)
	}
	total := 0
	for i, n := range t.N {
		if n < 0 || n > maxTrials-total {
			return fmt.Errorf("table: n[%d] is %d, must be at least 0, and all counts together at most %d", i, n, maxTrials)
		}
		total += n
	}
	if total == 0 {
		return fmt.Errorf("table: it holds no pair: draw at least one output of each dataset")
	}
	return nil
}

// Add returns the table of both shards. It panics if the bins differ in number.
func (t Table) Add(u Table) Table {
	if t.Bins != u.Bins || len(t.N) != len(u.N) {
		panic("bounds: tables with different bins do not add up")
	}
	sum := NewTable(t.Bins)
	for i := range sum.N {
		sum.N[i] = t.N[i] + u.N[i]
	}
	return sum
}

// Swap returns the table with the datasets exchanged, for a bound in the other
// direction. Which direction to certify must not be chosen on the same pairs.
func (t Table) Swap() Table {
	u := NewTable(t.Bins)
	for i, n := range t.N {
		u.N[i%t.Bins*t.Bins+i/t.Bins] = n
	}
	return u
}

// Pairs is the number of pairs.
func (t Table) Pairs() int {
	total := 0
	for _, n := range t.N {
		total += n
	}
	return total
}

// First counts the outputs of the first dataset by bin.
func (t Table) First() []int {
	m := make([]int, t.Bins)
	for i, n := range t.N {
		m[i/t.Bins] += n
	}
	return m
}

// Second counts the outputs of the second dataset by bin.
func (t Table) Second() []int {
	m := make([]int, t.Bins)
	for i, n := range t.N {
		m[i%t.Bins] += n
	}
	return m
}

// PairCounts splits the pairs by whether their first and second output lie in
// the event, a set of bins: n10 pairs have the first inside and the second
// outside. It panics unless in has a value for each bin.
func (t Table) PairCounts(in []bool) (n11, n10, n01, n00 int) {
	if len(in) != t.Bins {
		panic("bounds: an event needs one value for each bin")
	}
	for i, n := range t.N {
		switch first, second := in[i/t.Bins], in[i%t.Bins]; {
		case first && second:
			n11 += n
		case first:
			n10 += n
		case second:
			n01 += n
		default:
			n00 += n
		}
	}
	return n11, n10, n01, n00
}

// Event returns the counts of an event, a set of bins. It panics as PairCounts.
func (t Table) Event(in []bool) Counts {
	n11, n10, n01, n00 := t.PairCounts(in)
	all := n11 + n10 + n01 + n00
	return Counts{X: n11 + n10, N1: all, Y: n11 + n01, N0: all}
}

// mustBeTable is the guard of every bound on a table; values are the witness.
func mustBeTable(t Table, values []float64) {
	if t.Validate() != nil {
		panic("bounds: table out of range; call Table.Validate first")
	}
	if len(values) != t.Bins {
		panic("bounds: a witness needs one value for each bin")
	}
}

// tableCell is a cell of a table that holds something; n need not be whole.
type tableCell struct {
	a, b int
	n    float64
}

func (t Table) cells() []tableCell {
	var cells []tableCell
	for i, n := range t.N {
		if n > 0 {
			cells = append(cells, tableCell{i / t.Bins, i % t.Bins, float64(n)})
		}
	}
	return cells
}
