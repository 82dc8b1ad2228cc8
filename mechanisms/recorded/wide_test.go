package recorded_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// exactly is the sum of two float64.
func exactly(high, low float64) *big.Rat {
	a, b := new(big.Rat), new(big.Rat)
	a.SetFloat64(high)
	b.SetFloat64(low)
	return a.Add(a, b)
}

// A whole number is its two parts exactly, or refused; below 2^106 it is never
// refused, and the parts of smaller ones are not larger.
func TestWholeTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+]?0{0,2}[1-9][0-9]{0,45}(\.0{0,3})?`).Draw(t, "text")
		if rapid.Bool().Draw(t, "near a power of two") {
			n := new(big.Int).Lsh(big.NewInt(1), uint(rapid.IntRange(50, 130).Draw(t, "power")))
			text = n.Add(n, big.NewInt(rapid.Int64Range(-5, 1<<52).Draw(t, "offset"))).String()
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		want, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "."))
		if !ok {
			t.Fatal(text)
		}
		high, low, ok := recorded.Whole([]byte(text), v)
		if ok && exactly(high, low).Cmp(want) != 0 {
			t.Fatalf("%s: %v and %v", text, high, low)
		}
		if length := new(big.Int).Abs(want.Num()).BitLen(); !ok && length <= 106 {
			t.Fatalf("%s of %d bits is refused", text, length)
		}
		if math.Abs(high) > math.Abs(v) && high != v || low*high < 0 || low != 0 && math.Abs(low) >= math.Abs(high) {
			t.Fatalf("%s: %v and %v", text, high, low)
		}
	})
}

// beyond are whole numbers that float64 rounds, or nearly so.
var beyond = []string{"9007199254740993", "-9007199254740993", "9007199254740992", "9007199254740991", "-9007199254740995", "9223372036854775807", "-9223372036854775808",
	"9223372036854775805", "1152921504606846976", "1152921504606846977", "0", "-7"}

// wideFile is a table in CSV with those whole numbers, as often as it takes.
func wideFile(format func(x string, dataset int) string) string {
	var b strings.Builder
	for i := range 40 * len(beyond) {
		b.WriteString(format(beyond[i/2%len(beyond)], i%2))
	}
	return b.String()
}

// Whole numbers beyond 2^53 come out as they are in every format, in two columns
// whose sum they are.
func TestWholeNumbersAreKept(t *testing.T) {
	side := make([]string, 0, 240)
	for i := range 240 {
		side = append(side, beyond[i%len(beyond)])
	}
	list := "[" + strings.Join(side, ",") + "]"
	array := npy(1, "<i8", false, []int{240}, make([]float64, 240))
	head := array[:len(array)-240*8]
	var big8 strings.Builder
	big8.WriteString(head)
	for _, x := range side {
		n, err := strconv.ParseInt(x, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 8 {
			big8.WriteByte(byte(n >> (8 * k)))
		}
	}
	csv := "x,dataset\n" + wideFile(func(x string, d int) string { return fmt.Sprintf("%s,%d\n", x, d) })
	for name, files := range map[string][]string{
		"CSV":             {csv},
		"CSV in gzip":     {packed(csv)},
		"with decimals":   {"x;dataset\n" + wideFile(func(x string, d int) string { return fmt.Sprintf("%s.00;%d\n", x, d) })},
		"with a comma":    {"x\tdataset\n" + wideFile(func(x string, d int) string { return fmt.Sprintf("+%s,0\t%d\n", x, d) })},
		"JSON lines":      {wideFile(func(x string, d int) string { return fmt.Sprintf("{\"x\": %s, \"dataset\": %d}\n", x, d) })},
		"JSON of strings": {wideFile(func(x string, d int) string { return fmt.Sprintf("{\"x\": \"%s\", \"dataset\": %d}\n", x, d) })},
		"JSON":            {`{"d0": ` + list + `, "d1": ` + list + `}`},
		"NPY":             {big8.String(), big8.String()},
		"NPZ":             {npz(true, entry{"d0.npy", big8.String()}, entry{"d1.npy", big8.String()})},
		"NPY and JSON":    {big8.String(), list},
	} {
		o := recorded.Options{}
		if name == "with a comma" {
			files[0] = strings.ReplaceAll(files[0], "+-", "-")
			o.Decimal = recorded.DecimalComma
		}
		var parsed []*recorded.File
		for _, f := range files {
			parsed = append(parsed, read(t, f, o))
		}
		s := readPair(t, audit.Reading{}, parsed...)
		if len(s.Columns) != 2 || s.Columns[1].Name != s.Columns[0].Name+" (low bits)" || s.Columns[0].Kind != audit.Real || s.Columns[1].Kind != audit.Real {
			t.Errorf("%s: columns %v", name, s.Columns)
			continue
		}
		hasNote(t, s.Notes, "beyond 2^53")
		row := make([]float64, 2)
		for k := range 2 {
			for i := range s.Rows(k) {
				s.Row(k, i, row)
				if got := exactly(row[0], row[1]).RatString(); got != side[i] {
					t.Errorf("%s: row %d of dataset %d is %s, want %s", name, i, k, got, side[i])
				}
			}
		}
	}
	// Of those from 2^53 on the preview shows every digit.
	c := read(t, csv, recorded.Options{}).Tables[0].Columns[0]
	for i, x := range side {
		if got := c.Text(2 * i); got != x && x != "9007199254740991" {
			t.Errorf("shown as %s, want %s", got, x)
		}
	}
	// As symbols they are as many as there are.
	for _, text := range []string{csv, big8.String()} {
		f := read(t, text, recorded.Options{Reading: audit.Reading{Kinds: map[string]audit.ColumnKind{map[bool]string{true: "x", false: "c1"}[text == csv]: audit.Symbol}}})
		if got := f.Tables[0].Columns[0].Symbols; len(got) != len(beyond) {
			t.Errorf("symbols %q", got)
		}
	}
}

// A uint64 is kept, too.
func TestUint64(t *testing.T) {
	text := npy(1, "<u8", false, []int{1}, []float64{0})
	c := read(t, text[:len(text)-8]+strings.Repeat("\xff", 8), recorded.Options{}).Tables[0].Columns[0]
	if got := c.Text(0); got != "18446744073709551615" {
		t.Error(got)
	}
}

// A mixed column, and one whose large numbers come late, or on one dataset only.
func TestWholeNumbersLate(t *testing.T) {
	text := "x,w,dataset\n" + strings.Repeat("1,2,0\n2,2,1\n", 600) + "9007199254740993,NaN,0\n3,9007199254740995,1\n4,5,0\n"
	s := readPair(t, audit.Reading{}, read(t, text, recorded.Options{Reading: audit.Reading{NonFinite: recorded.AsSymbol}}))
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name+" "+string(c.Kind))
	}
	if want := []string{"x real", "x (low bits) real", "w mixed", "w (low bits) real"}; !slices.Equal(names, want) {
		t.Fatalf("columns %q, want %q", names, want)
	}
	for _, x := range []struct {
		side, row int
		want      []float64
	}{{0, 599, []float64{1, 0, 0, 2, 0}}, {0, 600, []float64{1 << 53, 1, 1, 0, 0}}, {0, 601, []float64{4, 0, 0, 5, 0}}, {1, 600, []float64{3, 0, 0, 9007199254740994, 1}}} {
		got := make([]float64, 5)
		if s.Row(x.side, x.row, got); !slices.Equal(got, x.want) {
			t.Errorf("row %d of dataset %d: %v, want %v", x.row, x.side, got, x.want)
		}
	}
	a, b := read(t, strings.Repeat("1\n", 200), recorded.Options{Name: "a"}), read(t, strings.Repeat("9007199254740993\n", 200), recorded.Options{Name: "b"})
	for range 2 { // what is made of files leaves them as they are
		if s := readPair(t, audit.Reading{}, a, b); len(s.Columns) != 2 || a.Tables[0].Columns[0].Text(199) != "1" || b.Tables[0].Columns[0].Text(0) != "9007199254740993" {
			t.Errorf("columns %v", s.Columns)
		}
	}
	// A column of that name is another one.
	s = readPair(t, audit.Reading{}, read(t, "x,x (low bits),dataset\n"+strings.Repeat("9007199254740993,1,0\n9007199254740992,2,1\n", 200), recorded.Options{}))
	if len(s.Columns) != 3 || s.Columns[1].Name != "x (low bits)'" {
		t.Errorf("columns %v", s.Columns)
	}
}

// Beyond 2^53 a column that stays the same is not one that counts, and one that
// counts is.
func TestCounterBeyond(t *testing.T) {
	var same, counts strings.Builder
	same.WriteString("x,dataset\n")
	counts.WriteString("x,y,dataset\n")
	for i := range 500 {
		fmt.Fprintf(&same, "%d,%d\n", uint64(1<<60)+uint64(i%2)<<53, i%2)
		fmt.Fprintf(&counts, "%d,%d,%d\n", uint64(1<<60)+uint64(i), i%7, i%2)
	}
	if s := readPair(t, audit.Reading{}, read(t, same.String(), recorded.Options{})); len(s.Columns) != 1 {
		t.Errorf("columns %v", s.Columns)
	}
	s := readPair(t, audit.Reading{}, read(t, counts.String(), recorded.Options{}))
	if len(s.Columns) != 1 || s.Columns[0].Name != "y" {
		t.Errorf("columns %v", s.Columns)
	}
	hasNote(t, s.Notes, `"x" is left out: it counts the rows`)
}

// A mechanism whose low bits tell the datasets apart is caught: a sum in units of
// 2^-40, exact on one dataset and odd on the other.
func TestLowBitsAreAudited(t *testing.T) {
	var b strings.Builder
	b.WriteString("sum,dataset\n")
	for i := range 4000 {
		fmt.Fprintf(&b, "%d,%d\n", int64(1)<<60+int64(i*7919%1000)<<20+int64(i%2), i%2)
	}
	s := readPair(t, audit.Reading{}, read(t, b.String(), recorded.Options{}))
	claim := audit.DPClaim(1, 0)
	if r := runAudit(t, s.Spec(), pair.Plan{Claim: &claim, Seed: 1}, 1); r.Verdict != audit.Violation {
		t.Error(r.Summary)
	}
}

// What is not kept is refused, with its place and what to do.
func TestWholeNumbersRefused(t *testing.T) {
	rows := func(x string) string { return "x,dataset\n" + strings.Repeat("1,0\n2,1\n", 300) + x + ",1\n" }
	long := "1" + strings.Repeat("0", 39) + "1"
	for x, want := range map[string]string{
		long:                                "line 602, column 1 (x) is \"" + long[:40] + "\"..., of more digits than are kept",
		strings.Repeat("9", 308):            "of more digits",
		strings.Repeat("9", 400):            "of more digits",
		"-" + strings.Repeat("9", 400):      "of more digits",
		"9007199254740993.5":                "of more digits",
		"81129638414606681695789005144064":  "", // 2^106
		"81129638414606681695789005144063":  "",
		"81129638414606681695789005144065":  "of more digits",
		fmt.Sprintf("%.0f", 1e300):          "", // all digits of a float64
		"1.2345678901234567890123456789e40": "",
		"123456789012345678901234567890":    "",
	} {
		_, err := recorded.Read(strings.NewReader(rows(x)), recorded.Options{Reading: audit.Reading{NonFinite: recorded.AsSymbol}})
		if want == "" && err != nil || want != "" && (err == nil || !audit.IsInput(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "symbol")) {
			t.Errorf("%s: %v, want %q", x, err, want)
		}
		if err != nil {
			f := read(t, rows(x), recorded.Options{Reading: audit.Reading{Kinds: map[string]audit.ColumnKind{"x": audit.Symbol}}})
			if c := f.Tables[0].Columns[0]; c.Text(600) != x {
				t.Errorf("%s as a symbol: %s", x, c.Text(600))
			}
		}
	}
	_, err := recorded.Pair([]*recorded.File{read(t, "x,dataset\n"+strings.Repeat("1,9007199254740992\n2,9007199254740993\n", 300), recorded.Options{})}, audit.Reading{})
	if err == nil || !strings.Contains(err.Error(), `column "dataset" is of whole numbers beyond 2^53`) {
		t.Error(err)
	}
	for _, text := range []string{"in,out\n9007199254740993,1\n", "score,member\n1,1\n9007199254740993,0\n", "run,score,member\n1,9007199254740993,1\n1,3,0\n", "run,score,member\n9007199254740993,1,1\n1,3,0\n",
		`{"in": [[9007199254740993], [1]], "out": [[1], [1]]}`, `{"score": [[9007199254740993], [1]], "member": [[1], [0]]}`} {
		if _, err := scores(t, text); err == nil || !audit.IsInput(err) || !strings.Contains(err.Error(), "beyond 2^53") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
