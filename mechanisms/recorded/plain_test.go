package recorded_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// inPieces compares reading in pieces, by workers, with the sequential reader alone.
func inPieces(t *testing.T, text string, o recorded.Options, chunk int) {
	t.Helper()
	print := func(f *recorded.File, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		return dump(f)
	}
	want := print(recorded.ReadPieces(strings.NewReader(text), o, chunk, 0, 1))
	for _, piece := range []int{1, 64, 1 << 10} {
		for _, workers := range []int{1, 2, 8} {
			if got := print(recorded.ReadPieces(strings.NewReader(text), o, chunk, piece, workers)); got != want {
				t.Fatalf("pieces of %d, %d workers:\n%s\nsequentially:\n%s\nof %.300q", piece, workers, got, want, text)
			}
		}
	}
}

// Rows of all sorts, with something that is not plain among them here and there: whatever
// the pieces and the workers, what is read is what the sequential reader reads.
func TestPiecesChangeNothing(t *testing.T) {
	odd := []string{"NaN", "", " ", "\"1\"", "\"a\nb\"", "\"a\"\"b\"", "word", "9007199254740993", "1e400", "1,5", "-inf", "+3", ".5", "5.", "0x10", "1_0", "\x00", "\xff", "1\r", "\r", "81129638414606681695789005144064000",
		"\"", "1\n\n2", "1\n", "1e-300", "12345678901234567890123", "-0", "\"open\n1\n2\n3", " 7 ", "\t", "9007199254740992", "1;2", "a\"b", "\"\""}
	kinds := []string{"number", "whole", "bit", "word", "mixed"}
	cell := func(r *rand.Rand, kind string) string {
		switch kind {
		case "number":
			return fmt.Sprint(r.NormFloat64() * []float64{1, 1e-8, 1e12}[r.IntN(3)])
		case "whole":
			return fmt.Sprint(r.Int64N(1 << 40))
		case "bit":
			return fmt.Sprint(r.IntN(2))
		case "word":
			return []string{"true", "false", "not a word"}[r.IntN(3)]
		}
		return []string{"none", "1.5", "2", "other"}[r.IntN(4)]
	}
	n := 40
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		var columns []string
		for range 1 + r.IntN(3) {
			columns = append(columns, kinds[r.IntN(len(kinds))])
		}
		rows := 1100 + r.IntN(1000) // the first 1000 tell the kinds
		often := []int{0, 0, 3, 300, 3000}[r.IntN(5)]
		separator, end := []string{",", ",", "\t", ";"}[r.IntN(4)], []string{"\n", "\r\n"}[r.IntN(2)]
		var b strings.Builder
		for i := range rows {
			for k, kind := range columns {
				if k > 0 {
					b.WriteString(separator)
				}
				if often > 0 && i > 1010 && r.IntN(often) == 0 {
					b.WriteString(odd[r.IntN(len(odd))])
				} else {
					b.WriteString(cell(r, kind))
				}
			}
			if often > 0 && i > 1010 && r.IntN(5*often) == 0 {
				b.WriteString(separator + "1")
			}
			if i < rows-1 || r.IntN(2) == 0 {
				b.WriteString(end)
			}
		}
		o := recorded.Options{Name: "x", Scores: r.IntN(3) == 0, MaxSymbols: 1 << 10}
		o.Header = []string{"", recorded.HeaderNo}[r.IntN(2)]
		o.NonFinite = []string{"", recorded.AsSymbol}[r.IntN(2)]
		o.Decimal = []string{"", "", recorded.DecimalComma, recorded.DecimalPoint}[r.IntN(4)]
		if r.IntN(3) == 0 {
			o.Kinds = map[string]audit.ColumnKind{"c1": []audit.ColumnKind{audit.Mixed, audit.Symbol}[r.IntN(2)]}
			o.Header = recorded.HeaderNo
		}
		if r.IntN(4) == 0 {
			o.MaxCells = 1050 + r.IntN(3000)
		}
		inPieces(t, b.String(), o, []int{10, 333, 1 << 16}[r.IntN(3)])
	}
}

// The same of single lines behind plain ones, each of which is something of its own.
func TestPiecesOfOddLines(t *testing.T) {
	start := "x,w\n" + strings.Repeat("1.5,yes\n-2,no\n", 520)
	for _, line := range []string{"", "1.5", "1.5,yes,2", "word,yes", "NaN,yes", ",yes", "1,", "9007199254740993,no", "1e999,no", "1,\"yes\"", "\"1\",yes", "1,new", "1,y\x00", "\"1,yes\n1,yes", "1,ye\"s", "1,yes\r", " 1 , yes", "1,5,yes",
		strings.Repeat(" ", 70000) + "1,yes", strings.Repeat("\n", 5)} {
		for _, o := range []recorded.Options{{}, {Scores: true}, {Reading: audit.Reading{NonFinite: recorded.AsSymbol, Decimal: recorded.DecimalComma}}} {
			o.Name = "x"
			inPieces(t, start+line+"\n1,yes\n2,no\n", o, 1<<21)
			inPieces(t, start+line, o, 100)
		}
	}
}

// No line is longer than the limit says, wherever a chunk ends.
func TestLongLine(t *testing.T) {
	for _, extra := range []int{0, 1} {
		for _, quoted := range []bool{false, true} {
			cell := strings.Repeat("a", recorded.MaxLine-2+extra)
			if quoted {
				cell = "\"" + cell[:len(cell)-2] + "\""
			}
			text := "x,w\n1,b\n2," + cell + "\n3,c\n"
			for _, chunk := range []int{1 << 16, 1 << 20, 1 << 23} {
				_, err := recorded.ReadPieces(strings.NewReader(text), recorded.Options{Name: "x"}, chunk, 1<<10, 2)
				if long := err != nil && strings.Contains(err.Error(), "line 3") && strings.Contains(err.Error(), "longer than 1 MiB"); long != (extra > 0) {
					t.Errorf("%d bytes more than the limit, quoted %v, chunks of %d: %v", extra, quoted, chunk, err)
				}
			}
		}
	}
}

// failing is a file whose reads fail from some place on.
type failing struct {
	*bytes.Reader
	left int
	err  error
}

func (f *failing) Read(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, f.err
	}
	return f.Reader.Read(b)
}

// Reading ahead ends with the file, with an error of it, and with one of what is in it.
func TestReadAheadEnds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	good := "x,w\n" + strings.Repeat("1.5,yes\n-2.25,no\n", 500_000)
	broken := errors.New("the disk is broken")
	for name, c := range map[string]struct {
		r    io.Reader
		want string
	}{
		"whole":     {strings.NewReader(good), ""},
		"bad row":   {strings.NewReader(good[:4+17*100_000] + "\n" + good), "line 200002"},
		"bad start": {strings.NewReader("x,w\n1,2,3\n" + good), "line 2"},
		"broken":    {&failing{bytes.NewReader([]byte(good)), 5_000_000, broken}, "the disk is broken"},
		"stream":    {struct{ io.Reader }{strings.NewReader(good)}, ""},
	} {
		f, err := recorded.Read(c.r, recorded.Options{})
		if c.want == "" && (err != nil || f.Tables[0].Rows() != 1_000_000) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
