package audit

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Dataset is a table of numbers, flat by rows: row i is Values[i*Columns : (i+1)*Columns], one
// privacy unit. Of [LInfinity] rows are the answers of queries.
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

// Words print the dataset, shortened where it is long.
func (d Dataset) Words() string { return d.words(-1) }

// words print a dataset with a row in brackets; -1: none.
func (d Dataset) words(marked int) string {
	if d.Len() == 0 {
		return "no rows"
	}
	parts := make([]string, 0, d.Len())
	add := func(i int) {
		row := strings.Join(Each(d.Row(i), func(v float64) string { return fmt.Sprintf("%.6g", v) }), " ")
		switch {
		case i == marked:
			row = "[" + row + "]"
		case d.Columns > 1:
			row = "(" + row + ")"
		}
		parts = append(parts, row)
	}
	const most = 12
	for i := range d.Len() {
		if i < most || d.Len() <= most+2 {
			add(i)
		}
	}
	if n := d.Len() - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("... %d rows more", n))
		if marked >= most {
			parts[len(parts)-1] += ", among them"
			add(marked)
			parts = append(parts[:len(parts)-2], parts[len(parts)-2]+" "+parts[len(parts)-1])
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Alone are the rows that another dataset has not.
func (d Dataset) Alone(other Dataset) (rows []int) {
	left := map[string]int{}
	key := func(row []float64) string {
		var b []byte
		for _, v := range row {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
		}
		return string(b)
	}
	for i := range other.Len() {
		left[key(other.Row(i))]++
	}
	for i := range d.Len() {
		if k := key(d.Row(i)); left[k] > 0 {
			left[k]--
		} else {
			rows = append(rows, i)
		}
	}
	return rows
}

func (d Dataset) validate(field string) error {
	if d.Columns < 1 {
		return Fault(field+".columns", d.Columns, "at least 1")
	}
	if len(d.Values)%d.Columns != 0 {
		return Fault(field+".values", fmt.Sprintf("%d numbers", len(d.Values)), fmt.Sprintf("a multiple of its %d columns", d.Columns))
	}
	if i := NonFinite(d.Values); i >= 0 {
		return Fault(fmt.Sprintf("%s.values[%d]", field, i), Number(d.Values[i]), "a finite number")
	}
	return nil
}

// Pair is two neighbouring datasets. Label says in words what the pair is.
type Pair struct {
	Label  string  `json:"label,omitempty"`
	First  Dataset `json:"first"`
	Second Dataset `json:"second"`
}

// Words print both datasets of a pair. A row alone that is not in the other stands in brackets.
func (p Pair) Words() (first, second string) {
	words := func(d, other Dataset) string {
		alone := d.Alone(other)
		if len(alone) != 1 {
			alone = []int{-1}
		}
		return d.words(alone[0])
	}
	return words(p.First, p.Second), words(p.Second, p.First)
}

// Domain is where the datasets of a mechanism live: the search space of a finder.
type Domain struct {
	Columns int       `json:"columns"`
	MinRows int       `json:"minRows"`
	MaxRows int       `json:"maxRows"` // most rows of either dataset; equal to MinRows where the size is fixed
	Lower   []float64 `json:"lower"`   // per column, inclusive
	Upper   []float64 `json:"upper"`   // per column, inclusive
	Integer bool      `json:"integer,omitempty"`
	Reach   float64   `json:"reach,omitempty"` // [LInfinity] and [BoundedReplace] only: how far one coordinate may move
}

// Check refuses a domain that is none, or that holds no two neighbours under the relation.
func (dom Domain) Check(r Relation) error {
	bounded := dom.Columns >= 1 && len(dom.Lower) == dom.Columns && len(dom.Upper) == dom.Columns
	err := First(
		Require(slices.Contains(relations, string(r)) && r != Given, "relation", fmt.Sprintf("%q", string(r)), "%s", Searchable),
		Require(bounded, "domain", fmt.Sprintf("%d columns with %d lower and %d upper bounds", dom.Columns, len(dom.Lower), len(dom.Upper)), "at least 1 column, each with a lower and an upper bound"),
	)
	if err != nil {
		return err
	}
	room := r == AddRemove
	for c, low := range dom.Lower {
		high := dom.Upper[c]
		ends := fmt.Sprintf("%s:%s", Number(low), Number(high))
		err = First(err, Require(low-low == 0 && high-high == 0 && low <= high, "domain", ends, "two finite numbers, the lower one first"),
			Require(!dom.Integer || math.Ceil(low) <= math.Floor(high), "domain", ends, "a range that contains a whole number"))
		room = room || low < high && (!dom.Integer || math.Ceil(low) < math.Floor(high))
	}
	return First(err,
		Remedy("widen a column", Require(room, "domain", "one point", "a range: no value can differ")),
		Require(dom.MinRows >= 0 && dom.MaxRows >= dom.MinRows, "rows", fmt.Sprintf("%d:%d", dom.MinRows, dom.MaxRows), "two numbers from 0 on, the smaller first"),
		Remedy("for example 0:5; if the number of rows is public, use -relation replace",
			Require(r != AddRemove || dom.MinRows < dom.MaxRows, "rows", fmt.Sprintf("always %d", dom.MaxRows), "a range, because add-remove changes the number of rows")),
		Require(r == AddRemove || dom.MaxRows > 0, "rows", 0, "at least 1 for the relation %s", r),
		Require(!r.HasReach() || dom.Reach > 0 && !math.IsInf(dom.Reach, 1), "reach", Number(dom.Reach), "a finite number above 0: how far one value may move"),
		Require(!r.HasReach() || !dom.Integer || dom.Reach >= 1, "reach", Number(dom.Reach), "at least 1 where values are whole numbers"),
	)
}

// Contains reports an error that names the first value outside the domain.
func (dom Domain) Contains(d Dataset, field string) error {
	if err := d.validate(field); err != nil {
		return err
	}
	if d.Columns != dom.Columns {
		return Fault(field+".columns", d.Columns, fmt.Sprint(dom.Columns))
	}
	if len(dom.Lower) != dom.Columns || len(dom.Upper) != dom.Columns {
		return Fault("domain", fmt.Sprintf("with %d lower and %d upper bounds", len(dom.Lower), len(dom.Upper)), fmt.Sprintf("one of each for each of its %d columns", dom.Columns))
	}
	if n := d.Len(); n < dom.MinRows || n > dom.MaxRows {
		want := Pick(dom.MinRows == dom.MaxRows, fmt.Sprintf("%d rows", dom.MinRows), fmt.Sprintf("%d to %d rows", dom.MinRows, dom.MaxRows))
		return Fault(field, fmt.Sprintf("%d rows", n), want)
	}
	for i, v := range d.Values {
		want := ""
		if lo, hi := dom.Lower[i%d.Columns], dom.Upper[i%d.Columns]; v < lo || v > hi {
			want = fmt.Sprintf("in [%s, %s]", Number(lo), Number(hi))
		} else if dom.Integer && v != math.Floor(v) {
			want = "a whole number"
		}
		if want != "" {
			return Fault(fmt.Sprintf("%s.values[%d]", field, i), Number(v), want)
		}
	}
	return nil
}

// ParsePair reads a pair from JSON; unknown fields are refused.
func ParsePair(data []byte) (Pair, error) {
	var p Pair
	return p, DecodeStrict(data, "pair", &p)
}
