package recorded_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// The same outputs in every format give the same samples.
func TestFormatsAgree(t *testing.T) {
	const n = 250
	a, b := ramp(n, 0), ramp(n, 3)
	var comma, tab, semicolon, bare, objects, arrays, document, named strings.Builder
	comma.WriteString("x,dataset\n")
	tab.WriteString("x\tdataset\n")
	semicolon.WriteString("x;dataset\n")
	list := func(x []float64) string { return strings.ReplaceAll(fmt.Sprint(x), " ", ",") }
	for i := range n {
		for side, x := range []float64{a[i], b[i]} {
			fmt.Fprintf(&comma, "%g,%d\r\n", x, side)
			fmt.Fprintf(&tab, "%g\t%d\n", x, side)
			fmt.Fprintf(&semicolon, "\"%g\";%d\n", x, side)
			fmt.Fprintf(&bare, "%g,%d\n", x, side)
			fmt.Fprintf(&objects, "{\"x\": %g, \"dataset\": %d}\n", x, side)
			fmt.Fprintf(&arrays, "[%g, %d]\n", x, side)
		}
	}
	document.WriteString("[\n" + strings.ReplaceAll(strings.TrimSuffix(objects.String(), "\n"), "\n", ",\n") + "\n]\n")
	fmt.Fprintf(&named, `{"d0": %s, "d1": %s}`, list(a), list(b))
	interleaved, side := make([]float64, 0, 2*n), make([]float64, 2*n)
	for i := range n {
		interleaved = append(interleaved, a[i], b[i])
		side[2*i+1] = 1
	}
	var table []float64
	for i := range interleaved {
		table = append(table, interleaved[i], side[i])
	}
	want := sums(readPair(t, audit.Reading{}, read(t, comma.String(), recorded.Options{})))
	if want[2] != n || want[0] == want[1] {
		t.Fatalf("sums %v", want)
	}
	for _, x := range []struct {
		name    string
		format  string
		data    string
		dataset string
	}{
		{"comma", recorded.CSV, comma.String(), ""},
		{"byte order mark, blank lines at the end", recorded.CSV, "\uFEFF" + comma.String() + "\r\n\n", ""},
		{"tab", recorded.TSV, tab.String(), ""},
		{"semicolon and quotes", recorded.CSV, semicolon.String(), ""},
		{"no header", recorded.CSV, bare.String(), "c2"},
		{"no line end at the end", recorded.CSV, strings.TrimSuffix(bare.String(), "\n"), "c2"},
		{"objects", recorded.JSONLines, objects.String(), ""},
		{"arrays", recorded.JSONLines, arrays.String(), "c2"},
		{"document", recorded.JSON, document.String(), ""},
		{"named arrays", recorded.JSON, named.String(), ""},
		{"named arrays on lines", recorded.JSON, strings.ReplaceAll(named.String(), ",", ",\n"), ""},
		{"npy", recorded.NPY, npy(1, "<f8", false, []int{2 * n, 2}, table), "c2"},
		{"npy, Fortran", recorded.NPY, npy(2, ">f8", true, []int{2 * n, 2}, table), "c2"},
		{"npy, float32", recorded.NPY, npy(3, "<f4", false, []int{2 * n, 2}, table), "c2"},
		{"npz", recorded.NPZ, npz(false, entry{"d0.npy", npy(1, "<f8", false, []int{n}, a)}, entry{"d1.npy", npy(1, "<f8", false, []int{n, 1}, b)}), ""},
		{"npz, other names", recorded.NPZ, npz(true, entry{"with.npy", npy(1, "<f8", false, []int{n}, a)}, entry{"without.npy", npy(1, "<f8", false, []int{n}, b)}), ""},
		{"npz of columns", recorded.NPZ, npz(true, entry{"x.npy", npy(1, "<f8", false, []int{2 * n}, interleaved)}, entry{"dataset.npy", npy(1, "|b1", false, []int{2 * n}, side)}), ""},
	} {
		f := read(t, x.data, recorded.Options{Name: x.name})
		if f.Format != x.format {
			t.Errorf("%s: format %s, want %s", x.name, f.Format, x.format)
		}
		if got := sums(readPair(t, audit.Reading{Dataset: x.dataset}, f)); got != want {
			t.Errorf("%s: sums %v, want %v", x.name, got, want)
		}
	}
	one := func(x []float64) *recorded.File {
		return read(t, strings.ReplaceAll(strings.Trim(fmt.Sprint(x), "[]"), " ", "\n"), recorded.Options{})
	}
	if got := sums(readPair(t, audit.Reading{}, one(a), one(b))); got != want {
		t.Errorf("two files: sums %v, want %v", got, want)
	}
	if got := sums(readPair(t, audit.Reading{}, read(t, npy(1, "<f8", false, []int{n}, a), recorded.Options{}), read(t, list(b), recorded.Options{}))); got != want {
		t.Errorf("an NPY and a JSON array: sums %v, want %v", got, want)
	}
}

// Every integer type and order, with the values at the ends of its range.
func TestIntegerTypes(t *testing.T) {
	for descr, values := range map[string][]float64{
		"|i1": {-128, -1}, "|u1": {0, 255}, "|b1": {0, 1}, "<i2": {-32768, 32767}, ">i2": {-32768, 258}, "<u2": {0, 65535}, ">u2": {1, 65534},
		"<i4": {-1 << 31, 1<<31 - 1}, ">i4": {-1 << 31, 7}, "<u4": {0, 1<<32 - 1}, ">u4": {1, 2}, "<i8": {-1 << 53, 1 << 52}, ">i8": {-1, 1 << 40}, "<u8": {0, 1 << 63}, ">u8": {3, 1 << 50},
		"<f4": {-1.5, 3.25}, ">f4": {-1.5, 3.25}, "=f8": {math.Pi, -0.1},
	} {
		f := read(t, npy(1, descr, false, []int{2}, values), recorded.Options{})
		c := f.Tables[0].Columns[0]
		if c.Len() != 2 || c.Real(0) != values[0] || c.Real(1) != values[1] {
			t.Errorf("%s: %v %v, want %v", descr, c.Real(0), c.Real(1), values)
		}
	}
	half := npy(1, "<u2", false, []int{5}, []float64{0x3c00, 0xc000, 0x0001, 0x7bff, 0x8400})
	f := read(t, strings.Replace(half, "<u2", "<f2", 1), recorded.Options{})
	for i, want := range []float64{1, -2, 0x1p-24, 65504, -0x1p-14} {
		if got := f.Tables[0].Columns[0].Real(i); got != want {
			t.Errorf("float16 number %d: %v, want %v", i, got, want)
		}
	}
}

// What comes out does not depend on the chunks.
func TestChunks(t *testing.T) {
	quotes := "name,\"the \"\"value\"\"\",dataset\r\n" + strings.Repeat("\"a, b\",1e-3,0\r\n\"line\nend\",\"-2.5\",1\r\nplain,7,0\n", 40)
	files := []string{csv(60), quotes, "\uFEFF" + csv(3), "{\"a\": 1, \"b\": \"x\\u00e9\"}\n{\"b\": \"y\", \"a\": 2}\n", "[[1,2],\n[3,4]]", "{\"in\":[1,2],\n \"out\": [3.5]}",
		npy(1, "<f8", true, []int{7, 3}, ramp(21, 1)), npy(2, ">i2", false, []int{9}, ramp(9, 1)), packed(csv(60)),
		npz(true, entry{"d0.npy", npy(1, "<f8", false, []int{30}, ramp(30, 0))}, entry{"d1.npy", npy(1, "<f4", false, []int{4}, ramp(4, 0))})}
	for i, data := range files {
		want := dump(read(t, data, recorded.Options{}))
		for name, r := range map[string]io.Reader{"bytes": iotest.OneByteReader(strings.NewReader(data)), "the end with the last": iotest.DataErrReader(strings.NewReader(data))} {
			f, err := recorded.Read(r, recorded.Options{})
			if err != nil {
				t.Fatalf("file %d by %s: %v", i, name, err)
			}
			if got := dump(f); got != want {
				t.Errorf("file %d by %s:\n%s\nwant\n%s", i, name, got, want)
			}
		}
	}
}

// A JSON array may be longer than a row.
func TestLongArray(t *testing.T) {
	for n := recorded.MaxColumns - 1; n < recorded.MaxColumns+3; n++ {
		f := read(t, strings.ReplaceAll(fmt.Sprint(ramp(n, 0)), " ", ","), recorded.Options{})
		if c := f.Tables[0].Columns; f.Format != recorded.JSON || len(c) != 1 || c[0].Len() != n || c[0].Real(n-1) != ramp(n, 0)[n-1] {
			t.Errorf("%d values: %d columns of %d", n, len(c), c[0].Len())
		}
	}
}

func TestKinds(t *testing.T) {
	f := read(t, csv(3), recorded.Options{})
	var kinds []audit.ColumnKind
	for _, c := range f.Tables[0].Columns {
		kinds = append(kinds, c.Kind)
	}
	if want := []audit.ColumnKind{audit.Real, audit.Symbol, audit.Real}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	if got := f.Tables[0].Columns[1].Symbols; !slices.Equal(got, []string{"yes", "no", "abort"}) {
		t.Errorf("symbols %q", got)
	}
	f = read(t, "x,y\n1,2\nabort,3\n-0,3.50\n", recorded.Options{Reading: audit.Reading{Kinds: map[string]audit.ColumnKind{"x": audit.Mixed, "Y": audit.Symbol}}})
	x, y := f.Tables[0].Columns[0], f.Tables[0].Columns[1]
	if x.Text(0) != "1" || x.Real(0) != 1 || x.Text(1) != "abort" || x.Real(1) != 0 || math.Signbit(x.Real(2)) {
		t.Errorf("a mixed column: %s", dump(f))
	}
	if y.Kind != audit.Symbol || y.Text(2) != "3.50" {
		t.Errorf("numbers as symbols: %s", dump(f))
	}
	// A NaN late in a column of numbers makes it mixed, rows before it too.
	late := "x\n" + strings.Repeat("1\n", 3000) + "NaN\n-inf\n2\n"
	c := read(t, late, recorded.Options{Reading: audit.Reading{NonFinite: recorded.AsSymbol}}).Tables[0].Columns[0]
	if c.Kind != audit.Mixed || c.Text(2999) != "1" || c.Real(2999) != 1 || c.Text(3000) != "NaN" || c.Text(3001) != "-Inf" || c.Text(3002) != "2" {
		t.Errorf("NaN as a symbol: kind %s, %s %s %s", c.Kind, c.Text(3000), c.Text(3001), c.Text(3002))
	}
	c = read(t, npy(1, "<f8", false, []int{3}, []float64{1, math.Inf(1), 2}), recorded.Options{Reading: audit.Reading{NonFinite: recorded.AsSymbol}}).Tables[0].Columns[0]
	if c.Text(1) != "+Inf" || c.Text(2) != "2" {
		t.Errorf("an infinity of an NPY as a symbol: %s %s", c.Text(1), c.Text(2))
	}
}
