package audit

import (
	"fmt"
	"math"
)

// Dataset is a table of numbers, flat by rows: row i is
// Values[i*Columns : (i+1)*Columns]. A row is one privacy unit. For the
// relation [LInfinity] the rows are the answers of queries instead.
type Dataset struct {
	Columns int       `json:"columns"`
	Values  []float64 `json:"values"`
}

// Records is a dataset of one column.
func Records(values ...float64) Dataset {
	if values == nil {
		values = []float64{}
	}
	return Dataset{Columns: 1, Values: values}
}

// Len is the number of rows.
func (d Dataset) Len() int {
	if d.Columns <= 0 {
		return 0
	}
	return len(d.Values) / d.Columns
}

// Row is row i; it shares memory with d.
func (d Dataset) Row(i int) []float64 { return d.Values[i*d.Columns : (i+1)*d.Columns] }

// validate checks shape and finiteness.
func (d Dataset) validate(field string) error {
	if d.Columns < 1 {
		return &InputError{Field: field + ".columns", Found: fmt.Sprint(d.Columns), Want: "at least 1"}
	}
	if len(d.Values)%d.Columns != 0 {
		return &InputError{Field: field + ".values", Found: fmt.Sprintf("%d numbers", len(d.Values)),
			Want: fmt.Sprintf("a multiple of its %d columns", d.Columns)}
	}
	for i, v := range d.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &InputError{Field: fmt.Sprintf("%s.values[%d]", field, i), Found: Number(v), Want: "a finite number"}
		}
	}
	return nil
}

// Pair is two neighbouring datasets. Label says in words what the pair is.
type Pair struct {
	Label  string  `json:"label,omitempty"`
	First  Dataset `json:"first"`
	Second Dataset `json:"second"`
}

// Domain is where the datasets of a mechanism live: the search space of a
// finder.
type Domain struct {
	Columns int       // columns of a row
	MinRows int       // fewest rows of either dataset
	MaxRows int       // most rows of either dataset; equal to MinRows where the size is fixed
	Lower   []float64 // per column, inclusive
	Upper   []float64 // per column, inclusive
	Integer bool      // values are whole numbers
	Reach   float64   // [LInfinity] and [BoundedReplace] only: how far one coordinate may move
}

// Contains reports an error that names the first value outside the domain.
func (dom Domain) Contains(d Dataset, field string) error {
	if err := d.validate(field); err != nil {
		return err
	}
	if d.Columns != dom.Columns {
		return &InputError{Field: field + ".columns", Found: fmt.Sprint(d.Columns), Want: fmt.Sprint(dom.Columns)}
	}
	if len(dom.Lower) != dom.Columns || len(dom.Upper) != dom.Columns {
		return &InputError{Field: "domain", Found: fmt.Sprintf("with %d lower and %d upper bounds", len(dom.Lower), len(dom.Upper)), Want: fmt.Sprintf("one of each for each of its %d columns", dom.Columns)}
	}
	if n := d.Len(); n < dom.MinRows || n > dom.MaxRows {
		want := fmt.Sprintf("%d to %d rows", dom.MinRows, dom.MaxRows)
		if dom.MinRows == dom.MaxRows {
			want = fmt.Sprintf("%d rows", dom.MinRows)
		}
		return &InputError{Field: field, Found: fmt.Sprintf("%d rows", n), Want: want}
	}
	for i, v := range d.Values {
		lo, hi := dom.Lower[i%d.Columns], dom.Upper[i%d.Columns]
		if v < lo || v > hi {
			return &InputError{Field: fmt.Sprintf("%s.values[%d]", field, i), Found: Number(v),
				Want: fmt.Sprintf("in [%s, %s]", Number(lo), Number(hi))}
		}
		if dom.Integer && v != math.Floor(v) {
			return &InputError{Field: fmt.Sprintf("%s.values[%d]", field, i), Found: Number(v), Want: "a whole number"}
		}
	}
	return nil
}

// ParsePair reads a pair from JSON; unknown fields are refused.
func ParsePair(data []byte) (Pair, error) {
	var p Pair
	return p, DecodeStrict(data, "pair", &p)
}
