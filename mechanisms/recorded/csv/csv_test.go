package csv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

// all reads a text, as "LINE: cell|cell" for each record.
func all(text string, separator byte, trim bool) (records []string, err error) {
	err = Each("text", []byte(text), separator, trim, func(line int, cells []string) error {
		records = append(records, fmt.Sprintf("%d: %s", line, strings.Join(cells, "|")))
		return nil
	})
	return records, err
}

func TestEach(t *testing.T) {
	for _, c := range []struct {
		text      string
		separator byte
		trim      bool
		want      string // records, or the error's beginning
	}{
		{"a,b\n1,2", ',', false, "1: a|b; 2: 1|2"},
		{"\uFEFFa\tb\r\n1\t2\r\n", '\t', false, "1: a|b; 2: 1|2"},
		{"", ',', false, ""},
		{"\n\n1\n", ',', false, "3: 1"},
		{"a;\"b\nc\";d\n\"e\"\"f\"\n", ';', false, "1: a|b\nc|d; 3: e\"f"},
		{" a, b ,\" c\"\n", ',', false, "1:  a| b | c"},
		{"a, \"b\"\n", ',', false, "text, line 1, character 4 is a quote inside a cell"},
		{" a, b , \" c\"\n", ',', true, "1: a|b | c"},
		{"a,\t b\n", '\t', true, "1: a,|b"},
		{"1\n\n\"2\n3\"\n\n\n4\n", ',', false, "1: 1; 3: 2\n3; 7: 4"},
		{"1,\n\"\",\n", ',', false, "1: 1|; 2: |"},
		{"1\n\"2,3\n", ',', false, "text, line 2 is with a quote that is not closed"},
		{"1,\"2\"3\n", ',', false, "text, line 1 is with a quote that is not closed, or with text after a closing quote (seen in line 1, character 5)"},
		{"1,2\"\n", ',', false, "text, line 1, character 4 is a quote inside a cell"},
		{"\"1\"\r2\n", ',', false, "text, line 1 is with a quote that is not closed"},
	} {
		records, err := all(c.text, c.separator, c.trim)
		got := strings.Join(records, "; ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%q: %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestSeparator(t *testing.T) {
	for line, want := range map[string]byte{"": ',', "a b": ',', "a;b": ';', "1,5;2": ',', "a;b,c\td": '\t'} {
		if got := Separator([]byte(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Blank lines are said with the record behind them.
func TestBlank(t *testing.T) {
	r := NewReader("text", strings.NewReader("\n1\n\"2\n\n3\"\n\n\n4\n5\n\n"), ',', false)
	for _, want := range [][2]int{{2, 1}, {3, 0}, {8, 6}, {9, 0}} {
		if _, err := r.Read(); err != nil || r.Line != want[0] || r.Blank != want[1] {
			t.Errorf("line %d, blank %d, %v, want %v", r.Line, r.Blank, err, want)
		}
	}
}

// Whatever the bytes: no panic, and an error is an input error.
func FuzzEach(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\t\"b\r\nc\"\r\n", "\"q\"\"\nr\",x", " 1, \"2\"\n", "\"", ",,\n\n", "\"a\"\r", "1;2\n3", "\"a\" ,b"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, trim bool) {
		if _, err := all(text, ',', trim); err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
	})
}

// TestCarriageReturns: lines that end with CR alone are refused with a remedy, and not taken
// for one line with words over several.
func TestCarriageReturns(t *testing.T) {
	for _, text := range []string{"a,b\r1,x\r2,y\r", "a,b\n1,x\rz\n"} {
		must.Refuse(t, must.Err(all(text, ',', false)), "LF or CRLF", text)
	}
}
