package learners

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// tableOf is the table of examples that were read: features of which the bounds, the
// user's, became -1 and 1, and a label of two classes. Errors are of type
// [audit.InputError].
func tableOf(name string, d *train.Dataset) (*Table, error) {
	n, features := d.Len(), len(d.Features)
	if len(d.Classes) != 2 {
		return nil, &audit.InputError{Field: "classes", Path: "/csv/classes", Found: fmt.Sprintf("%d classes, %q the first", len(d.Classes), d.Classes[:min(3, len(d.Classes))]), Want: "two",
			Remedy: "keep the rows of two classes, or say which column holds the label"}
	}
	if features > mostFeatures {
		return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of %d features", features), Want: fmt.Sprintf("at most %d", mostFeatures)}
	}
	if features >= n {
		return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("%d columns in %d rows", features+1, n), Want: "more rows than columns", Remedy: "leave columns out"}
	}
	t := &Table{Name: name, Title: fmt.Sprintf("%s: %s and %s, %d rows", name, d.Classes[0], d.Classes[1], n), Source: "a file of the user's",
		Features: d.Features, Classes: [2]string{d.Classes[0], d.Classes[1]}, Lower: slices.Repeat([]float64{-1}, features), Upper: slices.Repeat([]float64{1}, features), Clamped: d.Clamped}
	t.Rows.Columns = features + 1
	varies, of := make([]bool, features), [2]int{}
	for i, label := range d.Labels {
		x := d.X[i*features : (i+1)*features]
		for j, v := range x {
			varies[j] = varies[j] || v != d.X[j]
		}
		of[label]++
		t.Rows.Values = append(append(t.Rows.Values, x...), float64(label))
	}
	for y, rows := range of {
		if rows == 0 {
			return nil, &audit.InputError{Field: "data", Found: fmt.Sprintf("of one class: no row is of class %q", d.Classes[y]), Want: "rows of both"}
		}
	}
	for j, yes := range varies {
		if !yes {
			return nil, &audit.InputError{Field: fmt.Sprintf("column %q", d.Features[j]), Path: "data", Found: "the same in every row, within its bounds", Want: "a feature that varies",
				Remedy: "leave the column out, or declare bounds that hold its values"}
		}
	}
	if d.Clamped > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d of %d values were outside the declared bounds and were clamped to them. The audit uses the clamped table.", d.Clamped, n*features))
	}
	if d.InferredClasses {
		t.Notes = append(t.Notes, "The two classes were read from the file. Declare them if it is sensitive which classes occur.")
	}
	return t, nil
}

// mostFeatures bounds the features of a table: a training takes time of their square.
const mostFeatures = 100
