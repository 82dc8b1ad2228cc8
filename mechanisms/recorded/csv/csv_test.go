package csv

import (
	"bytes"
	stdlib "encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// all reads a text, as "LINE: cell|cell" for each record.
func all(r Reader, text string) (records []string, err error) {
	err = r.Each([]byte(text), func(line int, cells [][]byte) error {
		records = append(records, fmt.Sprintf("%d: %s", line, bytes.Join(cells, []byte{'|'})))
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
		{"\n\n1\n", ',', false, "1: ; 2: ; 3: 1"},
		{"a;\"b\nc\";d\n\"e\"\"f\"\n", ';', false, "1: a|b\nc|d; 3: e\"f"},
		{" a, b ,\" c\"\n", ',', false, "1:  a| b | c"},
		{"a, \"b\"\n", ',', false, "text, line 1, column 2 is a quote inside a cell"},
		{" a, b , \" c\"\n", ',', true, "1: a|b | c"},
		{"a,\t b\n", '\t', true, "1: a,|b"},
		{"1,\n\"\",\n", ',', false, "1: 1|; 2: |"},
		{"1\n\"2,3\n", ',', false, "text, line 2, column 1 is a quote that is not closed"},
		{"1,\"2\"3\n", ',', false, `text, line 1, column 2 is "3" after a closing quote`},
		{"1,2\"\n", ',', false, "text, line 1, column 2 is a quote inside a cell"},
		{"\"1\"\r2\n", ',', false, "text, line 1, column 1 is a carriage return"},
	} {
		r := Reader{What: "text", Separator: c.separator, Trim: c.trim}
		records, err := all(r, c.text)
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

// FuzzRecords: whatever the bytes, no panic, an error is an input error, and cutting
// the text into chunks changes nothing. What encoding/csv reads is read in the same
// way.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\t\"b\r\nc\"\r\n", "\"q\"\"\nr\",x", " 1, \"2\"\n", "\"", ",,\n\n", "\"a\"\r", "1;2\n3", "\"a\" ,b"} {
		f.Add([]byte(s), uint8(2))
		f.Add([]byte(s), uint8(131))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		if len(text) > 1<<12 {
			return // a record in chunks is looked through again and again
		}
		r := Reader{What: "text", Separator: ',', Trim: size >= 128, Line: 1}
		whole, err := all(r, string(text))
		if err != nil && !audit.IsInput(err) {
			t.Fatalf("error %v is no input error", err)
		}
		var parts []string
		collect := func(cells [][]byte) error {
			parts = append(parts, fmt.Sprintf("%d: %s", r.Line, bytes.Join(cells, []byte{'|'})))
			return nil
		}
		var cut error
		var rest []byte
		for text := bytes.TrimPrefix(text, []byte("\uFEFF")); len(text) > 0 && cut == nil; {
			n := min(int(size)%128+1, len(text))
			rest, text = append(rest, text[:n]...), text[n:]
			var used int
			used, cut = r.Records(rest, len(text) == 0, collect)
			rest = rest[used:]
		}
		if fmt.Sprint(err) != fmt.Sprint(cut) || !slices.Equal(whole, parts) {
			t.Fatalf("at once %q, %v; in chunks %q, %v", whole, err, parts, cut)
		}
		if bytes.ContainsAny(text, "\r") || r.Trim && bytes.ContainsFunc(text, func(c rune) bool { return c > '~' || c == '\v' || c == '\f' }) {
			return // encoding/csv changes line ends in quotes, and trims other blanks
		}
		std := stdlib.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF"))))
		std.FieldsPerRecord, std.TrimLeadingSpace = -1, size >= 128
		want, stdErr := std.ReadAll()
		if stdErr != nil {
			return
		}
		if err != nil {
			t.Fatalf("%v; encoding/csv reads %q", err, want)
		}
		var got []string
		for _, x := range whole {
			if _, cells, _ := strings.Cut(x, ": "); cells != "" {
				got = append(got, cells) // encoding/csv passes over blank lines
			}
		}
		var words []string
		for _, x := range want {
			if record := strings.Join(x, "|"); record != "" {
				words = append(words, record)
			}
		}
		if !slices.Equal(got, words) {
			t.Fatalf("%q, encoding/csv reads %q", got, words)
		}
	})
}

// TestCarriageReturns: lines that end with CR alone are refused with a remedy, and not taken
// for one line with words over several.
func TestCarriageReturns(t *testing.T) {
	for _, text := range []string{"a,b\r1,x\r2,y\r", "a,b\n1,x\rz\n"} {
		r := Reader{What: "f.csv", Separator: ','}
		err := r.Each([]byte(text), func(int, [][]byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "LF or CRLF") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
