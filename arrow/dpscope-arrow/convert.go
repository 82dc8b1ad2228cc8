package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// batchRows is how many rows of a Parquet file are in memory at once.
const batchRows = 1 << 16

// head tells dpscope what the CSV is of.
type head struct {
	Format  string   `json:"format"` // parquet or arrow
	Columns []column `json:"columns"`
}

type column struct {
	Name  string `json:"name"`
	Words bool   `json:"words"`
}

// rows are batches of a file.
type rows interface {
	Schema() *arrow.Schema
	Next() bool
	RecordBatch() arrow.RecordBatch
	Err() error
}

// convert writes the rows of a file as CSV.
func convert(name string, withHead bool, to io.Writer) (err error) {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	defer func() { // what the library does on some damaged files
		if r := recover(); r != nil {
			err = &fault{Field: name, Found: fmt.Sprintf("damaged (%v)", r), Want: "a whole file", Remedy: "copy or save it again"}
		}
	}()
	from, format, err := open(in)
	if err != nil {
		return &fault{Field: name, Found: fmt.Sprintf("a file that cannot be read (%v)", err), Want: "a whole Parquet, Arrow or Feather 2 file", Remedy: "copy or save it again"}
	}
	h := head{Format: format}
	var kinds []cell
	for i, f := range from.Schema().Fields() {
		words, write, err := kindOf(f.Type)
		if err != nil {
			err.Field = fmt.Sprintf("%s, column %d (%s)", name, i+1, f.Name)
			return err
		}
		h.Columns, kinds = append(h.Columns, column{f.Name, words}), append(kinds, write)
	}
	if len(kinds) == 0 {
		return &fault{Field: name, Found: "without columns", Want: "a table"}
	}
	w := bufio.NewWriterSize(to, 1<<18)
	if withHead {
		if err := json.NewEncoder(w).Encode(h); err != nil {
			return err
		}
	}
	var line []byte
	for i, c := range h.Columns {
		line = append(appendWord(line, c.Name), ",\n"[b2i(i == len(h.Columns)-1)])
	}
	w.Write(line)
	before := 0
	for from.Next() {
		batch := from.RecordBatch()
		columns := batch.Columns()
		for i, c := range columns {
			if !mayBeNull(c) {
				continue
			}
			for k := range c.Len() {
				if isNull(c, k) {
					return &fault{Field: fmt.Sprintf("%s, row %d, column %d (%s)", name, before+k+1, i+1, h.Columns[i].Name), Found: "null", Want: "a value", Remedy: "fill or leave out the row; a missing value that is an output can be a word"}
				}
			}
		}
		for k := range int(batch.NumRows()) {
			line = line[:0]
			for i, c := range columns {
				line = append(kinds[i](line, c, k), ",\n"[b2i(i == len(columns)-1)])
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		before += int(batch.NumRows())
	}
	if err := from.Err(); err != nil && err != io.EOF {
		return &fault{Field: fmt.Sprintf("%s, after row %d", name, before), Found: fmt.Sprintf("damaged (%v)", err), Want: "a whole file", Remedy: "copy or save it again"}
	}
	return w.Flush()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A null is one of the column, or of the dictionary that it points into.
func mayBeNull(c arrow.Array) bool {
	d, ok := c.(*array.Dictionary)
	return c.NullN() > 0 || ok && mayBeNull(d.Dictionary())
}

func isNull(c arrow.Array, i int) bool {
	d, ok := c.(*array.Dictionary)
	return c.IsNull(i) || ok && isNull(d.Dictionary(), d.GetValueIndex(i))
}

// open tells the format by content.
func open(in *os.File) (rows, string, error) {
	magic := make([]byte, 6)
	n, _ := in.ReadAt(magic, 0)
	switch magic = magic[:n]; {
	case bytes.HasPrefix(magic, []byte("PAR1")):
		f, err := file.NewParquetReader(in)
		if err != nil {
			return nil, "", err
		}
		r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
		if err != nil {
			return nil, "", err
		}
		rec, err := r.GetRecordReader(context.Background(), nil, nil)
		return rec, "parquet", err
	case bytes.HasPrefix(magic, []byte("ARROW1")):
		f, err := ipc.NewFileReader(in)
		return &batches{FileReader: f}, "arrow", err
	case bytes.HasPrefix(magic, []byte("FEA1")):
		return nil, "", fmt.Errorf("Feather version 1, which nothing writes any more")
	}
	r, err := ipc.NewReader(in)
	return r, "arrow", err
}

// batches are those of an Arrow file one after the other.
type batches struct {
	*ipc.FileReader
	next int
	now  arrow.RecordBatch
	err  error
}

func (b *batches) Next() bool {
	if b.next >= b.NumRecords() {
		return false
	}
	if b.now != nil {
		b.now.Release()
	}
	b.now, b.err = b.RecordBatchAt(b.next)
	b.next++
	return b.err == nil
}

func (b *batches) RecordBatch() arrow.RecordBatch { return b.now }
func (b *batches) Err() error                     { return b.err }

// cell appends value i of a column.
type cell func(to []byte, c arrow.Array, i int) []byte

func number[T interface{ Value(int) V }, V ~float32 | ~float64](to []byte, c arrow.Array, i int) []byte {
	return strconv.AppendFloat(to, float64(c.(T).Value(i)), 'g', -1, 64)
}

func signed[T interface{ Value(int) V }, V ~int8 | ~int16 | ~int32 | ~int64](to []byte, c arrow.Array, i int) []byte {
	return strconv.AppendInt(to, int64(c.(T).Value(i)), 10)
}

func unsigned[T interface{ Value(int) V }, V ~uint8 | ~uint16 | ~uint32 | ~uint64](to []byte, c arrow.Array, i int) []byte {
	return strconv.AppendUint(to, uint64(c.(T).Value(i)), 10)
}

func word[T interface{ Value(int) string }](to []byte, c arrow.Array, i int) []byte {
	return appendWord(to, c.(T).Value(i))
}

// appendWord appends a cell in quotes.
func appendWord(to []byte, s string) []byte {
	to = append(to, '"')
	for i := range len(s) {
		if s[i] == '"' {
			to = append(to, '"')
		}
		to = append(to, s[i])
	}
	return append(to, '"')
}

// kindOf says how a column of a type is written, and whether it holds words.
func kindOf(t arrow.DataType) (words bool, write cell, err *fault) {
	const want = "of floating-point numbers, integers, booleans or words"
	switch t.ID() {
	case arrow.FLOAT16:
		return false, func(to []byte, c arrow.Array, i int) []byte {
			return strconv.AppendFloat(to, float64(c.(*array.Float16).Value(i).Float32()), 'g', -1, 64)
		}, nil
	case arrow.FLOAT32:
		return false, number[*array.Float32], nil
	case arrow.FLOAT64:
		return false, number[*array.Float64], nil
	case arrow.INT8:
		return false, signed[*array.Int8], nil
	case arrow.INT16:
		return false, signed[*array.Int16], nil
	case arrow.INT32:
		return false, signed[*array.Int32], nil
	case arrow.INT64:
		return false, signed[*array.Int64], nil
	case arrow.UINT8:
		return false, unsigned[*array.Uint8], nil
	case arrow.UINT16:
		return false, unsigned[*array.Uint16], nil
	case arrow.UINT32:
		return false, unsigned[*array.Uint32], nil
	case arrow.UINT64:
		return false, unsigned[*array.Uint64], nil
	case arrow.BOOL:
		return false, func(to []byte, c arrow.Array, i int) []byte {
			return append(to, "01"[b2i(c.(*array.Boolean).Value(i))])
		}, nil
	case arrow.STRING:
		return true, word[*array.String], nil
	case arrow.LARGE_STRING:
		return true, word[*array.LargeString], nil
	case arrow.STRING_VIEW:
		return true, word[*array.StringView], nil
	case arrow.DICTIONARY:
		words, value, err := kindOf(t.(*arrow.DictionaryType).ValueType)
		return words, func(to []byte, c arrow.Array, i int) []byte {
			d := c.(*array.Dictionary)
			return value(to, d.Dictionary(), d.GetValueIndex(i))
		}, err
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION:
		return false, nil, &fault{Found: fmt.Sprintf("of dates or times (%s)", t), Want: want, Remedy: "convert them to numbers, or leave the column out"}
	}
	if _, nested := t.(arrow.NestedType); nested {
		return false, nil, &fault{Found: fmt.Sprintf("of nested values (%s)", t), Want: want, Remedy: "flatten it: a column for each number"}
	}
	return false, nil, &fault{Found: fmt.Sprintf("of the type %s", t), Want: want, Remedy: "convert it, or leave the column out"}
}
