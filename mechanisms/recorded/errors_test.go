package recorded_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

// bad is a file with a fault and what the message must hold, all of it.
type bad struct {
	name, data string
	o          recorded.Options
	choice     audit.Reading
	want       []string
}

func many(line string, n int) string { return strings.Repeat(line, n) }

func badFiles() []bad {
	whole := npy(1, "<f8", false, []int{300, 2}, ramp(600, 0))
	zipped := npz(true, entry{"d0.npy", npy(1, "<f8", false, []int{300}, ramp(300, 0))}, entry{"d1.npy", npy(1, "<f8", false, []int{300}, ramp(300, 1))})
	// A directory that says less than there is.
	lying := []byte(zipped)
	if i := strings.Index(zipped, "PK\x01\x02"); i >= 0 {
		binary.LittleEndian.PutUint32(lying[i+24:], 200)
	}
	symbols := "x,dataset\n"
	for i := range 30 {
		symbols += fmt.Sprintf("word%d,%d\n", i, i%2)
	}
	rows := many("1,0\n2,1\n", 300)
	var arrays strings.Builder
	for i := range recorded.MaxColumns + 1 {
		fmt.Fprintf(&arrays, ", \"a%d\": [1]", i)
	}
	return []bad{
		{name: "empty", data: "", want: []string{"empty", "file with data"}},
		{name: "blank", data: "\n\n \n", want: []string{"without any row"}},
		{name: "mark only", data: "\uFEFF", want: []string{"without any row"}},
		{name: "header only", data: "x,dataset\n", want: []string{"header without rows"}},
		{name: "header only, with BOM and CRLF", data: "\uFEFFx,dataset\r\n\r\n", want: []string{"header without rows"}},
		{name: "one dataset in the column", data: "x,dataset\n" + many("1,0\n", 300), want: []string{`column "dataset"`, `"0" in every row`, "one dataset is missing"}},
		{name: "no dataset column", data: "x,y\n" + rows, want: []string{"one dataset: columns x, y", `column "dataset"`, "second file"}},
		{name: "three datasets", data: "x,dataset\n1,0\n1,1\n1,2\n", want: []string{"third value", `"2"`, "row 3"}},
		{name: "a column of two values", data: "value,arm\n" + many("1,a\n2,b\n3,a\n", 200), want: []string{"one dataset: columns value, arm", "(arm: two values)"}},
		{name: "one array", data: npz(false, entry{"d0.npy", whole}), want: []string{"one dataset"}},
		{name: "d0 without d1", data: npz(false, entry{"d0.npy", whole}, entry{"e.npy", whole}, entry{"f.npy", whole}), want: []string{`"d0", "e", "f"`, "d0 and d1"}},
		{name: "ragged", data: "x,dataset\n1,0\n2\n", want: []string{"line 3", "of 1 cells", "of 2"}},
		{name: "ragged, too long", data: "x,dataset\n" + rows + "2,1,3\n", want: []string{"line 602", "of 3 cells", "of 2"}},
		{name: "text among numbers", data: "x,dataset\n" + rows + "abc,1\n", want: []string{"line 602, column 1 (x)", `"abc"`, "a number", "mixed"}},
		{name: "empty cell", data: "x,dataset\n1,0\n,1\n", want: []string{"line 3, column 1 (x)", "empty", "a number"}},
		{name: "NaN", data: "x,dataset\n" + rows + "nan,1\n", want: []string{"line 602, column 1 (x)", `"nan"`, "finite", "symbol"}},
		{name: "infinity", data: "1,0\n-Infinity,1\n", want: []string{"line 2, column 1", `"-Infinity"`, "finite"}},
		{name: "overflow", data: "1,0\n1e999,1\n", want: []string{"line 2, column 1", "beyond the largest float64"}},
		{name: "NaN in JSON lines", data: "{\"x\": 1, \"dataset\": 0}\n{\"x\": NaN, \"dataset\": 1}\n", want: []string{"line 2", "NaN", "no NaN", "as strings"}},
		{name: "NaN in an array", data: npy(1, "<f8", false, []int{2, 2}, []float64{1, 2, 3, nan}), want: []string{"row 2, column 2, byte ", "NaN", "finite"}},
		{name: "few rows", data: "x,dataset\n" + many("1,0\n2,1\n", 99), want: []string{"of 99 rows", "at least 200, the smallest useful number"}},
		{name: "quote not closed", data: "x,dataset\n1,0\n\"2,1\n3,0\n", want: []string{"line 3", "quote that is not closed"}},
		{name: "quote inside", data: "x,dataset\n1,0\n2\"3,1\n", want: []string{"line 3, character 2", "quote inside a cell"}},
		{name: "text after a quote", data: "x,dataset\n1,0\n\"2\"3,1\n", want: []string{"line 3", "after a closing quote", "character 3"}},
		{name: "blank line inside", data: "x,dataset\n1,0\n\n2,1\n", want: []string{"line 3", "blank"}},
		{name: "names twice", data: "x,dataset,x\n1,0,1\n", want: []string{"line 1, column 3", `"x"`, "the name of column 1 too"}},
		{name: "too many symbols", data: symbols, o: recorded.Options{MaxSymbols: 20}, want: []string{"line 22, column 1 (x)", "symbol number 21", "at most 20 symbols"}},
		{name: "too many cells", data: "x,dataset\n" + rows, o: recorded.Options{MaxCells: 500}, want: []string{"line 252", "at most 500 cells"}},
		{name: "too many bytes", data: "x,dataset\n" + rows, o: recorded.Options{MaxBytes: 1000}, want: []string{"at most 1000 bytes"}},
		{name: "line too long", data: "x,dataset\n\"" + many("a", recorded.MaxLine+600), want: []string{"line 2", "longer than 1 MiB"}},
		{name: "spaces", data: "1 2\n3 4\n", want: []string{"separated by spaces", `delimiter=","`}},
		{name: "unknown column kind", data: "x,dataset\n1,0\n", o: recorded.Options{Reading: audit.Reading{Kinds: map[string]audit.ColumnKind{"z": audit.Real}}}, want: []string{`"z"`, "Known: x, dataset"}},
		{name: "unknown kind", data: "x\n1\n", o: recorded.Options{Reading: audit.Reading{Kinds: map[string]audit.ColumnKind{"x": "colour"}}}, want: []string{`"colour"`, "real"}},
		{name: "unknown output column", data: "x,dataset\n" + rows, choice: audit.Reading{Outputs: []string{"y"}}, want: []string{`"y"`}},
		{name: "row numbers only", data: "i,dataset\n" + numbered(300), want: []string{"without a column of outputs"}},

		{name: "binary", data: "abc\x01\x00\xff", want: []string{"not text", "0x01", "offset 3", "CSV, TSV, JSON lines, JSON, NPY or NPZ"}},
		{name: "gzip", data: "\x1f\x8b\x08\x00", want: []string{"a damaged gzip file", "unexpected EOF", "save it again"}},
		{name: "Parquet", data: "PAR1\x00", want: []string{"a Parquet file", "as CSV or NPY", "duckdb", "pandas"}},
		{name: "Arrow", data: "ARROW1\x00\x00", want: []string{"an Arrow file", "as CSV or NPY", "pandas"}},
		{name: "Feather 1", data: "FEA1\x00\x00", want: []string{"a Feather file", "as CSV or NPY"}},
		{name: "Arrow stream", data: "\xff\xff\xff\xff\x70\x01\x00\x00", want: []string{"an Arrow stream", "as CSV or NPY", "pyarrow"}},
		{name: "HDF5", data: "\x89HDF\r\n\x1a\n", want: []string{"HDF5", "numpy.savez"}},
		{name: "pickle", data: "\x80\x04\x95", want: []string{"pickle"}},
		{name: "UTF-16", data: "\xff\xfex\x00", want: []string{"UTF-16", "UTF-8"}},
		{name: "Latin-1", data: "n\xe9,dataset\n1,0\n", want: []string{"not text", "0xe9", "offset 1"}},

		{name: "NPY cut in its header", data: whole[:40], want: []string{"cut off in its header, after 40 bytes"}},
		{name: "NPY cut in its magic", data: "\x93NUMPY", want: []string{"cut off in its header"}},
		{name: "NPY cut in its data", data: whole[:len(whole)-11], want: []string{"after 598 of 600 values", "byte ", fmt.Sprintf("a file of %d bytes", len(whole))}},
		{name: "NPY too long", data: whole + "x", want: []string{"more data", fmt.Sprintf("byte %d", len(whole))}},
		{name: "NPY version", data: strings.Replace(whole, "NUMPY\x01", "NUMPY\x09", 1), want: []string{"version 9.0", "1, 2 or 3"}},
		{name: "NPY of objects", data: npy(1, "|O", false, []int{2}, []float64{1, 2}), want: []string{"dtype", "object", "astype(float)"}},
		{name: "NPY of words", data: npy(1, "<U3", false, []int{2}, []float64{1, 2}), want: []string{"text", "CSV"}},
		{name: "NPY of fields", data: npy(1, "[('a', '<f8'), ('b', '<i4')]", false, []int{2}, []float64{1, 2}), want: []string{"structured array"}},
		{name: "NPY complex", data: npy(1, "<c16", false, []int{1}, []float64{1, 2}), want: []string{"complex"}},
		{name: "NPY of three dimensions", data: npy(1, "<f8", false, []int{1, 2, 1}, []float64{1, 2}), want: []string{"shape", "[1 2 1]", "one or two dimensions"}},
		{name: "NPY of none", data: npy(1, "<f8", false, nil, []float64{1}), want: []string{"shape", "one or two dimensions"}},
		{name: "NPY empty", data: npy(1, "<f8", false, []int{0, 3}, nil), want: []string{"shape", "with values"}},
		{name: "NPY larger than memory", data: npy(1, "<f8", false, []int{1 << 40, 1000}, nil), want: []string{"shape", "numbers", "of memory", "cells"}},
		{name: "NPY with a large header", data: "\x93NUMPY\x02\x00\x00\x00\x10\x00" + many(" ", 1<<20), want: []string{"byte 8", "a header of 1048576 bytes", "at most 65536"}},
		{name: "NPY with an odd header", data: strings.Replace(whole, "fortran_order", "fortran_0rder", 1), want: []string{"header that cannot be read", "fortran_0rder"}},

		{name: "zip cut off", data: zipped[:len(zipped)-30], want: []string{"cannot be read", "NPZ"}},
		{name: "zip without arrays", data: npz(false, entry{"xl/workbook.xml", "<a/>"}), want: []string{"without arrays", "xl/workbook.xml", "CSV"}},
		{name: "zip without files", data: npz(false), want: []string{"without files"}},
		{name: "zip that lies about a size", data: string(lying), want: []string{"array \"d0\""}},
		{name: "zip that expands", data: npz(true, entry{"d0.npy", npy(1, "|u1", false, []int{80 << 20}, nil) + many("\x00", 80<<20)}), want: []string{"d0.npy", "80 MiB packed into", "ratio"}},
		{name: "zip too large", data: zipped, o: recorded.Options{MaxExpanded: 3000}, want: []string{"d1.npy", "beyond 3000 bytes uncompressed"}},
		{name: "zip with a name twice", data: npz(false, entry{"d0.npy", whole}, entry{"d0.npy", whole}), want: []string{`"d0" twice`}},
		{name: "zip of too many arrays", data: npz(false, slices.Repeat([]entry{{"d0.npy", ""}}, 1025)...), want: []string{"1025 arrays", "at most 1024"}},
		{name: "zip of too many cells", data: zipped, o: recorded.Options{MaxCells: 500}, want: []string{`array "d1"`, "at most 500 cells"}},
		{name: "zip with a bad array", data: npz(false, entry{"d0.npy", "junk, no array"}), want: []string{`array "d0", byte 0`}},
		{name: "zip with a damaged array", data: strings.Replace(zipped, zipped[120:124], "....", 1), want: []string{`array "d0"`}},

		{name: "JSON, other keys", data: "{\"x\": 1}\n{\"y\": 2}\n", want: []string{"line 2", `"y"`, `"x"`}},
		{name: "JSON, key missing", data: "{\"x\": 1, \"y\": 2}\n{\"x\": 2}\n", want: []string{"line 2", `without the key "y"`}},
		{name: "JSON, key twice", data: "{\"x\": 1, \"y\": 2}\n{\"x\": 2, \"x\": 3}\n", want: []string{"line 2", `"x" twice`}},
		{name: "JSON, ragged", data: "[1, 2]\n[1]\n", want: []string{"line 2", "of 1 cells", "of 2"}},
		{name: "JSON, arrays and objects", data: "[1, 2]\n{\"a\": 1}\n", want: []string{"line 2", "an object", "an array"}},
		{name: "JSON, no number", data: "[1, 2]\n[1, 0x3]\n", want: []string{"line 2", "[1, 0x3]", "character 'x'"}},
		{name: "JSON, null", data: "[1, 2]\n[1, null]\n", want: []string{"line 2", "null", "a number or a string"}},
		{name: "JSON, cut off", data: "[1, 2]\n[1, 2", want: []string{"line 2", "cut off at the end", "the rest"}},
		{name: "JSON document, cut off", data: "{\"in\": [1, 2],\n\"out\": [1, ", want: []string{"line 2", "the end"}},
		{name: "JSON document, two arrays of odd rows", data: "{\"d0\": [[1, 2]],\n\"d1\": [[1], 2]}", want: []string{"line 2", "a row like the first"}},
		{name: "JSON document, no array", data: "{\"d0\": [1, 2],\n\"d1\": 3}", want: []string{"line 2", "3", "an array"}},
		{name: "JSON document, empty array", data: "{\"d0\": [], \"d1\": [1]}", want: []string{`array "d0"`, "empty"}},
		{name: "JSON document, too many arrays", data: "{" + arrays.String()[2:] + "}", want: []string{"at most 4096 arrays"}},
		{name: "JSON, too many values", data: many("[1"+many(", 1", recorded.MaxColumns)+"]\n", 2), want: []string{"line 1", "a row of more than 4096 values"}},
		{name: "JSON, empty object", data: "{}", want: []string{"without values"}},
		{name: "JSON, empty array", data: "[\n]", want: []string{"an empty array"}},
		{name: "JSON, text after it", data: "[[1],\n[2]] 3", want: []string{"line 2", "the end of the file"}},
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,0\n", i)
	}
	for i := range n {
		fmt.Fprintf(&b, "%d,1\n", i)
	}
	return b.String()
}

var nan = func() float64 { z := 0.0; return z / z }()

// Every fault is an input error that names the file and says what the table
// above says.
func TestBadFiles(t *testing.T) {
	for _, x := range badFiles() {
		t.Run(x.name, func(t *testing.T) {
			x.o.Name = "some.file"
			f, err := recorded.Read(strings.NewReader(x.data), x.o)
			if err == nil {
				_, err = recorded.Pair([]*recorded.File{f}, x.choice)
			}
			var in *audit.InputError
			if !errors.As(err, &in) {
				t.Fatalf("error %v, want an input error", err)
			}
			text := err.Error()
			must.Say(t, text, x.want...)
			if in.Want == "" || len(text) > 600 {
				t.Errorf("%q says too little or too much", text)
			}
		})
	}
}

func TestSizeBeforeReading(t *testing.T) {
	must.Refuse(t, recorded.CheckSize("big.csv", 2<<30, recorded.Options{}), "big.csv is 2 GiB, must be at most 1 GiB")
	must.Do(t, recorded.CheckSize("small.csv", 1<<30, recorded.Options{}))
}

// A file that memory does not hold is refused before more than its first rows are read, in
// every format that has no size of its own; one that is a tenth smaller than that is not.
func TestFits(t *testing.T) {
	for name, row := range map[string]string{"csv": "1.25,0\n", "tsv": "1.25\t0\r\n", "lines": "{\"x\": 1.25, \"dataset\": 0}\n", "arrays": "[1.25, 0]\n", "document": "[1.25, 0],\n"} {
		const rows = 400_000
		text := strings.Repeat(row, rows)
		if name == "document" {
			text = "[" + strings.TrimSuffix(text, ",\n") + "]"
		}
		o := recorded.Options{Name: "f", Size: int64(len(text)), MaxCells: rows}
		in := strings.NewReader(text)
		if _, err := recorded.Read(in, o); err == nil || !strings.Contains(err.Error(), "f is of about 8e+05 numbers, which would take 30.5") || in.Len() < len(text)-recorded.MaxLine {
			t.Errorf("%s: %v, with %d of %d bytes left", name, err, in.Len(), len(text))
		}
		o.MaxCells = 22 * rows / 10
		if _, err := recorded.Read(strings.NewReader(text), o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTwoFilesThatDoNotFit(t *testing.T) {
	a := "x,y\n" + many("1,2\n", 300)
	for _, x := range []struct{ name, second, want string }{
		{"other columns", "x,z\n" + many("1,2\n", 300), "columns x, z"},
		{"fewer columns", "x\n" + many("1\n", 300), "of 1 columns (x)"},
		{"other kinds", "x,y\n" + many("one,2\n", 300), "real in file a.csv and symbol in file b.csv"},
		{"several datasets", "x,y,dataset\n" + many("1,2,0\n1,2,1\n", 300), "of several values"},
	} {
		must.Input(t, must.Err(recorded.Pair([]*recorded.File{read(t, a, recorded.Options{Name: "a.csv"}), read(t, x.second, recorded.Options{Name: "b.csv"})}, audit.Reading{})), x.want, x.name)
	}
}
