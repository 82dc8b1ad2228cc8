package recorded_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// commas is a table of numbers with decimal commas.
func commas(line string) string {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, line, strings.Replace(fmt.Sprint(float64(i%9)+0.25), ".", ",", 1), i%2)
	}
	return b.String()
}

// Numbers with decimal commas are no words: that is told with its place, and the
// option reads them.
func TestDecimalCommas(t *testing.T) {
	want := sums(readPair(t, audit.Reading{Dataset: "c2"}, read(t, strings.ReplaceAll(commas("%s;%d\n"), ",", "."), recorded.Options{})))
	for name, x := range map[string]struct{ data, place, dataset string }{
		"semicolons":            {"x;dataset\n" + commas("%s;%d\n"), "line 2, column 1 (x)", ""},
		"tabs":                  {"x\tdataset\n" + commas("%s\t%d\n"), "line 2, column 1 (x)", ""},
		"quotes":                {"x,dataset\n" + commas("\"%s\",%d\n"), "line 2, column 1 (x)", ""},
		"no header":             {commas("%s;%d\n"), "line 1", "c2"},
		"no header, tabs":       {commas("%s\t%d\n"), "line 1", "c2"},
		"whole numbers, mostly": {"x;dataset\n" + strings.Replace(commas("%s;%d\n"), "0,25;1", "0;1", 1), "column 1 (x)", ""},
	} {
		_, err := recorded.Read(strings.NewReader(x.data), recorded.Options{Name: "f"})
		if err == nil || !audit.IsInput(err) || !strings.Contains(err.Error(), "decimal comma") || !strings.Contains(err.Error(), `set decimal to ","`) || !strings.Contains(err.Error(), x.place) {
			t.Errorf("%s: %v", name, err)
		}
		f := read(t, x.data, recorded.Options{Reading: audit.Reading{Decimal: recorded.DecimalComma}})
		s := readPair(t, audit.Reading{Dataset: x.dataset, Decimal: recorded.DecimalComma}, f)
		if got := sums(s); got != want && name != "whole numbers, mostly" {
			t.Errorf("%s: sums %v, want %v", name, got, want)
		}
		rec := s.Spec().Recording
		if again := rec.Reading; again.Decimal != recorded.DecimalComma {
			t.Errorf("%s: a replay reads %+v", name, again)
		}
	}
	one := read(t, "1,5\n2,25\n", recorded.Options{Reading: audit.Reading{Decimal: recorded.DecimalComma}}).Tables[0]
	if len(one.Columns) != 1 || one.Columns[0].Real(1) != 2.25 {
		t.Errorf("one column: %v", one.Columns)
	}
}

// Words that look like it are words where that is said, and beside other words.
func TestNoDecimalCommas(t *testing.T) {
	kind := map[string]audit.ColumnKind{"x": audit.Symbol}
	for name, x := range map[string]struct {
		data string
		o    recorded.Options
	}{
		"named":       {"x;dataset\n" + commas("%s;%d\n"), recorded.Options{Reading: audit.Reading{Kinds: kind}}},
		"points":      {"x;dataset\n" + commas("%s;%d\n"), recorded.Options{Reading: audit.Reading{Decimal: recorded.DecimalPoint}}},
		"other words": {"x;dataset\n1,5;0\na;1\nb;1\n", recorded.Options{}},
		"lists":       {"x;dataset\n1,5,2;0\n2,3,4;1\n", recorded.Options{}},
		"JSON":        {"{\"x\": \"1,5\", \"dataset\": 0}\n{\"x\": \"2,5\", \"dataset\": 1}\n", recorded.Options{}},
		"JSON, comma": {"{\"x\": \"1,5\", \"dataset\": 0.5}\n{\"x\": \"2,5\", \"dataset\": 1}\n", recorded.Options{Reading: audit.Reading{Decimal: recorded.DecimalComma}}},
	} {
		if c := read(t, x.data, x.o).Tables[0].Columns[0]; c.Kind != audit.Symbol {
			t.Errorf("%s: %s", name, c.Kind)
		}
	}
	// A point is none where commas are: 1.234,5 would be guessed at.
	if _, err := recorded.Read(strings.NewReader("x;dataset\n1,5;0\n1.5;1\n"), recorded.Options{Reading: audit.Reading{Decimal: recorded.DecimalComma}}); err == nil || !strings.Contains(err.Error(), `line 3, column 1 (x) is "1.5"`) {
		t.Error(err)
	}
	if _, err := recorded.Read(strings.NewReader("x\n1\n"), recorded.Options{Reading: audit.Reading{Decimal: "'"}}); err == nil || !strings.Contains(err.Error(), "decimal") {
		t.Error(err)
	}
}

// Scores are never words, so that there is nothing to ask.
func TestScoresWithDecimalCommas(t *testing.T) {
	for name, data := range map[string][]string{
		"score and member": {"score;member\n3;1\n1;0\n4,5;1\n-0,5;0\n2;1\n"},
		"quotes":           {"score,member\n\"3,0\",1\n\"1,0\",0\n\"4,5\",1\n\"-0,5\",0\n\"2,0\",1\n"},
		"uneven columns":   {"in;out\n3,0;1,0\n4,5;-0,5\n2,0;\n"},
		"two files":        {"3,0;\n", "1,0;\n"},
	} {
		s, err := scores(t, data...)
		if name == "two files" {
			if err == nil {
				t.Errorf("%s: %v", name, s)
			}
			continue
		}
		if err != nil || !slices.Equal(scoresOf(s, recorded.In), []float64{3, 4.5, 2}) || !slices.Equal(scoresOf(s, recorded.Out), []float64{1, -0.5}) {
			t.Errorf("%s: %v, %v", name, s, err)
			continue
		}
		hasNote(t, s.Notes, "1,5 is read as 1.5")
	}
}
