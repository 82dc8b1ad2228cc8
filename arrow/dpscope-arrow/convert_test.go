package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batch makes a record batch of columns of JSON.
func batch(t *testing.T, fields []arrow.Field, columns ...string) arrow.RecordBatch {
	t.Helper()
	var arrays []arrow.Array
	rows := 0
	for i, text := range columns {
		a, _, err := array.FromJSON(memory.DefaultAllocator, fields[i].Type, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		arrays, rows = append(arrays, a), a.Len()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// saved writes batches in a format: parquet, parquet in zstd, arrow, feather or stream.
func saved(t *testing.T, format string, batches ...arrow.RecordBatch) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x."+format)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	schema := batches[0].Schema()
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	switch format {
	case "parquet", "zstd":
		codec := compress.Codecs.Snappy
		if format == "zstd" {
			codec = compress.Codecs.Zstd
		}
		w, err = pqarrow.NewFileWriter(schema, struct{ *os.File }{f}, parquet.NewWriterProperties(parquet.WithCompression(codec)), pqarrow.DefaultWriterProps())
	case "arrow":
		w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema))
	case "feather": // version 2, as pyarrow writes it
		w, err = ipc.NewFileWriter(f, ipc.WithSchema(schema), ipc.WithLZ4())
	case "stream":
		w = ipc.NewWriter(f, ipc.WithSchema(schema))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func converted(name string, args ...string) (stdout, stderr string, code int) {
	var out, bad bytes.Buffer
	code = run(append(args, name), &out, &bad)
	return out.String(), bad.String(), code
}

var field = func(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// All formats give the same rows, over several batches: numbers to the last bit, whole
// numbers to the last digit, words in quotes.
func TestFormats(t *testing.T) {
	fields := []arrow.Field{field("double", arrow.PrimitiveTypes.Float64), field("single", arrow.PrimitiveTypes.Float32), field("long", arrow.PrimitiveTypes.Int64),
		field("ulong", arrow.PrimitiveTypes.Uint64), field("byte", arrow.PrimitiveTypes.Int8), field("true", arrow.FixedWidthTypes.Boolean), field("word, \"x\"", arrow.BinaryTypes.String)}
	one := batch(t, fields, `[0.1, 1e300]`, `[0.5, 0.1]`, `[-9007199254740993, 1]`, `[18446744073709551615, 2]`, `[-128, 3]`, `[true, false]`, `["a\"b", "1"]`)
	two := batch(t, fields, `[-3]`, `[2]`, `[0]`, `[0]`, `[127]`, `[true]`, `["c,\nd"]`)
	const want = "\"double\",\"single\",\"long\",\"ulong\",\"byte\",\"true\",\"word, \"\"x\"\"\"\n" +
		"0.1,0.5,-9007199254740993,18446744073709551615,-128,1,\"a\"\"b\"\n1e+300,0.10000000149011612,1,2,3,0,\"1\"\n-3,2,0,0,127,1,\"c,\nd\"\n"
	for _, format := range []string{"parquet", "zstd", "arrow", "feather", "stream"} {
		out, bad, code := converted(saved(t, format, one, two))
		if code != 0 || out != want {
			t.Errorf("%s: %d %s\n%s\nwant\n%s", format, code, bad, out, want)
		}
	}
	out, _, _ := converted(saved(t, "parquet", one), "-head")
	var h head
	line, rest, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &h); err != nil || h.Format != "parquet" || len(h.Columns) != 7 || h.Columns[0].Words || !h.Columns[6].Words || !strings.HasPrefix(want, rest) {
		t.Errorf("%v %+v", err, h)
	}
}

func TestDictionaryAndHalf(t *testing.T) {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	fields := []arrow.Field{field("w", words), field("v", arrow.BinaryTypes.LargeString)}
	out, bad, code := converted(saved(t, "arrow", batch(t, fields, `["in", "out", "in"]`, `["x", "y", "z"]`)), "-head")
	if code != 0 || !strings.HasSuffix(out, "\"w\",\"v\"\n\"in\",\"x\"\n\"out\",\"y\"\n\"in\",\"z\"\n") || !strings.Contains(out, `{"name":"w","words":true}`) {
		t.Errorf("%d %s\n%s", code, bad, out)
	}
	b := array.NewFloat16Builder(memory.DefaultAllocator)
	b.Append(float16.New(0.25))
	half := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field("h", arrow.FixedWidthTypes.Float16)}, nil), []arrow.Array{b.NewArray()}, 1)
	if out, _, _ := converted(saved(t, "stream", half)); out != "\"h\"\n0.25\n" {
		t.Errorf("%q", out)
	}
}

func TestRefused(t *testing.T) {
	numbers := []arrow.Field{field("x", arrow.PrimitiveTypes.Float64)}
	whole := saved(t, "parquet", batch(t, numbers, `[1, 2, 3]`))
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	list := []arrow.Field{field("l", arrow.ListOf(arrow.PrimitiveTypes.Float64))}
	nulls := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	index, _, _ := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, strings.NewReader(`[0, 1]`))
	values, _, _ := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(`["a", null]`))
	hidden := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{field("d", nulls)}, nil), []arrow.Array{array.NewDictionaryArray(nulls, index, values)}, 2)
	for name, c := range map[string]struct{ path, want string }{
		"null":            {saved(t, "parquet", batch(t, numbers, `[1, 2]`), batch(t, numbers, `[3, null]`)), `row 4, column 1 (x) is null, must be a value`},
		"null in words":   {saved(t, "stream", hidden), `row 2, column 1 (d) is null`},
		"nested":          {saved(t, "arrow", batch(t, list, `[[1], [2]]`)), `column 1 (l) is of nested values (list<item: float64, nullable>)`},
		"date":            {saved(t, "arrow", batch(t, []arrow.Field{field("d", arrow.FixedWidthTypes.Date32)}, `["2020-01-01"]`)), `column 1 (d) is of dates or times (date32)`},
		"cut":             {file("cut.parquet", data[:len(data)-9]), "cannot be read"},
		"nothing of it":   {file("x.csv", []byte("x\n1\n")), "cannot be read"},
		"feather 1":       {file("x.feather", []byte("FEA1 and so on")), "Feather version 1"},
		"not there":       {"nowhere.parquet", "nowhere.parquet"},
		"damaged numbers": {file("d.parquet", bytes.Replace(data, data[4:24], make([]byte, 20), 1)), "must be a whole"},
	} {
		out, bad, code := converted(c.path)
		if code != 2 || !strings.Contains(bad, c.want) {
			t.Errorf("%s: %d %q %q, want %q", name, code, bad, out, c.want)
		}
	}
	_, bad, _ := converted(saved(t, "arrow", batch(t, list, `[[1]]`)), "-head")
	var f fault
	if err := json.Unmarshal([]byte(bad), &f); err != nil || f.Field == "" || f.Want == "" {
		t.Errorf("%v: %q", err, bad)
	}
	if _, bad, code := converted("-x"); code != 2 || !strings.HasPrefix(bad, "Usage") {
		t.Errorf("%d %q", code, bad)
	}
}
