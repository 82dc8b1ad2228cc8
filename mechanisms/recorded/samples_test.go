package recorded_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

func hasNote(t *testing.T, notes []string, want string) {
	t.Helper()
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, want) }) {
		t.Errorf("notes %q, want one with %q", notes, want)
	}
}

func TestDatasetsBySaying(t *testing.T) {
	text := "x,World\n" + strings.Repeat("1,with\n2,without\n", 250)
	s := readPair(t, audit.Reading{Dataset: "world"}, read(t, text, recorded.Options{}))
	hasNote(t, s.Notes, "World = with is taken as the first dataset, World = without as the second")
	if got, want := sums(s), [4]float64{250, 500, 250, 250}; got != want {
		t.Errorf("sums %v, want %v", got, want)
	}
	// Numbers, the smaller first, whichever comes first in the file.
	text = "x,dataset\n" + strings.Repeat("1,7\n2,-3\n", 250)
	if got, want := sums(readPair(t, audit.Reading{}, read(t, text, recorded.Options{}))), [4]float64{500, 250, 250, 250}; got != want {
		t.Errorf("sums %v, want %v", got, want)
	}
}

// Where nothing tells a header from a row, what was taken for granted is said.
func TestWordsOnly(t *testing.T) {
	text := "answer,dataset\n" + strings.Repeat("yes,with\nno,without\n", 250)
	s := readPair(t, audit.Reading{}, read(t, text, recorded.Options{}))
	hasNote(t, s.Notes, "the first line is taken as column names")
	text = strings.Repeat("yes,with\nno,without\n", 250)
	s = readPair(t, audit.Reading{Dataset: "c2"}, read(t, text, recorded.Options{Reading: audit.Reading{Header: recorded.HeaderNo}}))
	if s.Rows(0)+s.Rows(1) != 500 {
		t.Errorf("%d and %d rows, want 500 in all", s.Rows(0), s.Rows(1))
	}
}

func TestUnequalRows(t *testing.T) {
	s := readPair(t, audit.Reading{}, read(t, "x,dataset\n"+strings.Repeat("1,0\n2,1\n", 250)+"3,1\n", recorded.Options{}))
	hasNote(t, s.Notes, "has 250 rows, rows with dataset = 1 has 251")
}

// Row numbers, as pandas writes them, are no outputs: they would tell the
// datasets apart for nothing.
func TestRowNumbers(t *testing.T) {
	var whole, each strings.Builder
	whole.WriteString(",x,dataset\n")
	each.WriteString(",x,dataset\n")
	for i := range 500 {
		fmt.Fprintf(&whole, "%d,%d,%d\n", i, i%7, i/250)
		fmt.Fprintf(&each, "%d,%d,%d\n", i%250, i%7, i/250)
	}
	for _, text := range []string{whole.String(), each.String()} {
		s := readPair(t, audit.Reading{}, read(t, text, recorded.Options{}))
		if len(s.Columns) != 1 || s.Columns[0].Name != "x" {
			t.Errorf("columns %v", s.Columns)
		}
		hasNote(t, s.Notes, `"c1" is ignored: it counts the rows`)
		if s = readPair(t, audit.Reading{Outputs: []string{"c1"}}, read(t, text, recorded.Options{})); len(s.Columns) != 1 || s.Columns[0].Name != "c1" {
			t.Errorf("columns %v, want the one that was asked for", s.Columns)
		}
	}
}

// A dataset column in each of two files would tell them apart, too.
func TestDatasetColumnInTwoFiles(t *testing.T) {
	file := func(name string, k int) *recorded.File {
		return read(t, "x,dataset\n"+strings.Repeat(fmt.Sprintf("1,%d\n2,%d\n", k, k), 150), recorded.Options{Name: name})
	}
	s := readPair(t, audit.Reading{}, file("a", 0), file("b", 1))
	if len(s.Columns) != 1 || s.Columns[0].Name != "x" {
		t.Errorf("columns %v", s.Columns)
	}
	hasNote(t, s.Notes, `a: the column "dataset" is ignored`)
}

// Symbols of two files have the same codes; a column that is real in one and
// has NaN in the other is mixed in both.
func TestTwoFilesUnify(t *testing.T) {
	o := recorded.Options{Reading: audit.Reading{NonFinite: recorded.AsSymbol}}
	a := read(t, "x,w\n"+strings.Repeat("1,red\n2,blue\n", 150), o)
	b := read(t, "w,x\n"+strings.Repeat("green,1\nblue,NaN\n", 150), o)
	s := readPair(t, audit.Reading{}, a, b)
	if want := []audit.ColumnKind{audit.Mixed, audit.Symbol}; s.Columns[0].Kind != want[0] || s.Columns[1].Kind != want[1] {
		t.Fatalf("columns %v", s.Columns)
	}
	words := func(side, i int) string {
		row := make([]float64, 3)
		s.Row(side, i, row)
		return fmt.Sprintf("%s %g %s", s.Columns[0].Word(row[0]), row[1], s.Columns[1].Word(row[2]))
	}
	for _, x := range []struct {
		side, row int
		want      string
	}{{0, 0, "a number 1 red"}, {0, 1, "a number 2 blue"}, {1, 0, "a number 1 green"}, {1, 299, "NaN 0 blue"}} {
		if got := words(x.side, x.row); got != x.want {
			t.Errorf("row %d of dataset %d: %q, want %q", x.row, x.side, got, x.want)
		}
	}
}

func TestConstantsAreSaid(t *testing.T) {
	s := readPair(t, audit.Reading{}, read(t, "count,same,dataset\n"+strings.Repeat("42,5,0\n41,5,1\n", 250), recorded.Options{}))
	hasNote(t, s.Notes, `"count" is 42 in every row of the first dataset and 41 in every row of the second`)
	hasNote(t, s.Notes, `"same" is 5 in every row: it has no information`)
}
