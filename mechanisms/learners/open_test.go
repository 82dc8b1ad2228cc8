package learners

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func read(name string, text []byte, o train.CSV) (*Table, error) {
	d, err := train.ReadCSV(text, o)
	if err != nil {
		return nil, err
	}
	table, err := tableOf(d)
	if err == nil {
		table.Name = name
	}
	return table, err
}

// A file becomes a table whose features are scaled by the declared bounds; what lies
// outside is moved, counted and said.
func TestRead(t *testing.T) {
	table := must.Get(read("people", []byte("age,income,kind\n0,1000,no\n120,0,yes\n30,5000,no\n90,500,yes\n"), train.CSV{
		Label: "kind", Bounds: map[string][2]float64{"age": {0, 120}, "income": {0, 2000}}}))(t)
	want := []float64{-1, 0, 0, 1, -1, 1, -0.5, 1, 0, 0.5, -0.5, 1}
	if fmt.Sprint(table.Rows.Values) != fmt.Sprint(want) || table.Rows.Columns != 3 || table.Clamped != 1 || table.Classes != [2]string{"no", "yes"} {
		t.Errorf("%+v", table)
	}
	if len(table.Notes) != 2 || !strings.Contains(table.Notes[0], "1 of 8 values were outside") {
		t.Errorf("notes %q", table.Notes)
	}
	for _, spec := range On(table) {
		p := resolved(t, spec, nil)
		if p.Word("table") != "people" {
			t.Errorf("%s is of %s", spec.Name, p.Word("table"))
		}
		m := must.Get(spec.New(p))(t)
		if err := m.Sample(table.Rows, stream.New(stream.Key{}), make([]float64, 3*audit.Width(m.Columns()))); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		what, text string
		o          train.CSV
		want       []string
	}{
		{"one class", "1,.5,x\n1,.3,x\n0,.1,x\n.5,0,x\n", train.CSV{}, []string{"one class"}},
		{"one of two declared", "1,.5,x\n1,.3,x\n0,.1,x\n.5,0,x\n", train.CSV{Classes: []string{"x", "y"}}, []string{"one class", `"y"`, "rows of both"}},
		{"three classes", "1,.5,x\n1,.3,y\n0,.1,z\n.5,0,x\n", train.CSV{}, []string{"3 classes", "two", "keep the rows of two"}},
		{"a constant column", "1,.5,x\n1,.3,y\n1,.1,x\n1,0,x\n", train.CSV{}, []string{`column "column 1"`, "same in every row", "leave the column out"}},
		{"constant once clamped", "5,.5,x\n6,.3,y\n7,.1,x\n8,0,x\n", train.CSV{}, []string{"within its bounds", "declare bounds"}},
		{"missing", "1,.5,x\n,.3,y\n", train.CSV{}, []string{"line 2, column 1", "empty", "leave the example out"}},
		{"wide", "1,.5,.2,x\n0,.3,.1,y\n", train.CSV{}, []string{"4 columns in 2 rows", "more rows than columns"}},
	} {
		_, err := read("t", []byte(c.text), c.o)
		refused(t, c.what, err, c.want...)
	}
}

func refused(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	if err == nil || !audit.IsInput(err) {
		t.Errorf("%s: error %v, want an input error", what, err)
		return
	}
	for _, says := range want {
		must.Refuse(t, err, says, what)
	}
}

// Datasets of another shape, of no rows where some are needed and with numbers that
// are none are refused, and so is a lambda that is too small where that is asked for:
// the error says the smallest allowed, and a little more than that passes.
func TestRefused(t *testing.T) {
	for _, spec := range All() {
		m := must.Get(spec.New(resolved(t, spec, audit.Params{"table": {Text: "iris"}})))(t)
		out := make([]float64, audit.Width(m.Columns()))
		s := stream.New(stream.Key{})
		refused(t, spec.Name, m.Sample(audit.Records(1, 2), s, out), "dataset.columns is 1", "4 features, then the label")
		refused(t, spec.Name, m.Sample(repeated(3, 0, 0, 0, math.NaN(), 1), s, out), "dataset.values[3] is NaN")
		if strings.HasPrefix(spec.Name, "logistic") {
			refused(t, spec.Name, m.Sample(audit.Dataset{Columns: 5}, s, out), "0 rows")
		}
	}
	spec := specOf(t, "logistic-objective")
	given := audit.Params{"epsilon": {Number: 0.1}, "lambda": {Number: 0.001}, "small-lambda": {Text: "refuse"}}
	_, err := spec.New(resolved(t, spec, given))
	least := 0.25 / (100 * math.Expm1(0.05))
	refused(t, "lambda", err, "lambda is 0.001", "above "+audit.Number(least), "100 rows")
	given["lambda"] = audit.ParamValue{Number: least * 1.001}
	must.Get(spec.New(resolved(t, spec, given)))(t)
}

// The tables that come along lie in their bounds, have both classes, and no feature
// is constant but for the dark margins of drawn digits. Of irises the means are those that are known, of versicolor by table II of
// Fisher's paper.
func TestBuiltInTables(t *testing.T) {
	for _, table := range BuiltIn() {
		seen, least, most := [2]int{}, slices.Repeat([]float64{1}, len(table.Features)), slices.Repeat([]float64{-1}, len(table.Features))
		for i := range table.Rows.Len() {
			row := table.Rows.Row(i)
			seen[int(row[len(least)])]++
			for j := range least {
				least[j], most[j] = min(least[j], row[j]), max(most[j], row[j])
			}
		}
		for j := range least {
			dark := table.Name == "digits" && (j%8 == 0 || j%8 == 7) // its margins
			if least[j] < table.Lower[j] || most[j] > table.Upper[j] || (least[j] >= most[j]) != dark || dark && most[j] != 0 {
				t.Errorf("%s: %s is in [%v, %v]", table.Name, table.Features[j], least[j], most[j])
			}
		}
		if seen[0] != seen[1] {
			t.Errorf("%s: %v rows of the classes", table.Name, seen)
		}
	}
	iris := BuiltIn()[0]
	sums := [2][4]float64{}
	for i := range iris.Rows.Len() {
		row := iris.Rows.Row(i)
		for j, v := range []float64{6 + 2*row[0], 3 + 2*row[1], 4 + 4*row[2], 2 + 2*row[3]} {
			sums[int(row[4])][j] += v / 50
		}
	}
	for y, want := range [2][4]float64{{5.936, 2.770, 4.260, 1.326}, {6.588, 2.974, 5.552, 2.026}} {
		for j := range want {
			if math.Abs(sums[y][j]-want[j]) > 1e-9 {
				t.Errorf("%s of %s is %v on average, must be %v", iris.Features[j], iris.Classes[y], sums[y][j], want[j])
			}
		}
	}
}

// Rows of a pair are told apart as multisets, copies of a poisoned row among them.
func TestRowsOfAPair(t *testing.T) {
	a := audit.Dataset{Columns: 2, Values: []float64{1, 0, 2, 0, 3, 1, 3, 1}}
	b := audit.Dataset{Columns: 2, Values: []float64{3, 1, 9, 1, 9, 1, 1, 0}}
	if got := fmt.Sprint(differing(a, b), differing(b, a), without(a, differing(b, a)), without(b, differing(a, b))); got != "[[9 1] [9 1]] [[2 0] [3 1]] [[1 0] [3 1]] [[3 1] [1 0]]" {
		t.Error(got)
	}
	for _, c := range []struct {
		pair audit.Pair
		want string
	}{
		{audit.Pair{First: a, Second: b}, "[9]"},
		{audit.Pair{First: a, Second: audit.Dataset{Columns: 2, Values: a.Values[:6]}}, "[3]"}, // taken away
		{audit.Pair{First: a, Second: a}, "[]"},
	} {
		if got := fmt.Sprint(poison(c.pair)); got != c.want {
			t.Errorf("poison %s, want %s", got, c.want)
		}
	}
}
