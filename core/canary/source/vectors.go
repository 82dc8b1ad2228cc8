package source

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// MaxCells is how many numbers a file of vectors may hold (16 MiB packed).
const MaxCells = 1 << 21

// matrix is rows by columns numbers, row by row.
type matrix struct {
	rows, columns int
	v             []float64
}

func (m matrix) row(i int) []float64 { return m.v[i*m.columns:][:m.columns] }

func (m matrix) norms() []float64 {
	norms := make([]float64, m.rows)
	for i := range norms {
		norms[i] = math.Sqrt(linalg.Dot(m.row(i), m.row(i)))
	}
	return norms
}

// parseVectors reads a CSV file of numbers, one vector a line, all of one length.
// Empty lines and cells are passed over; a first line without any number is a header.
func parseVectors(file []byte) (matrix, error) {
	var m matrix
	head, _, _ := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(file, []byte("\uFEFF")), "\r\n"), []byte{'\n'})
	first := true
	err := csv.Each("vectors", file, csv.Separator(head), true, func(line int, cells []string) error {
		cells = slices.DeleteFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" })
		if len(cells) == 0 {
			return nil
		}
		bad, row := -1, make([]float64, len(cells))
		numbers := 0
		for j, c := range cells {
			x, err := strconv.ParseFloat(strings.TrimSpace(c), 64)
			if err == nil && x-x == 0 {
				row[j] = x
				numbers++
			} else if bad < 0 {
				bad = j
			}
		}
		if first && numbers == 0 {
			first = false
			return nil
		}
		first = false
		place := fmt.Sprintf("vectors, line %d", line)
		if bad >= 0 {
			return &audit.InputError{Field: fmt.Sprintf("%s, column %d", place, bad+1), Found: fmt.Sprintf("%q", strings.TrimSpace(cells[bad])), Want: "a finite number"}
		}
		if m.rows == 0 {
			m.columns = len(row)
		}
		if len(row) != m.columns {
			return &audit.InputError{Field: place, Found: fmt.Sprintf("of %d numbers", len(row)), Want: fmt.Sprintf("of %d, as the lines before", m.columns)}
		}
		m.rows++
		m.v = append(m.v, row...)
		if len(m.v) > MaxCells {
			return &audit.InputError{Field: "vectors", Found: fmt.Sprintf("of more than %d numbers", MaxCells), Want: "fewer", Remedy: "give fewer vectors, or of fewer dimensions"}
		}
		return nil
	})
	if err == nil && m.rows == 0 {
		err = &audit.InputError{Field: "vectors", Found: "empty", Want: "a CSV file with one vector a line"}
	}
	return m, err
}

// pack writes columns and cells, little-endian.
func (m matrix) pack() []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(m.columns)), PackFloats(m.v)...)
}

func unpackVectors(b []byte) (matrix, error) {
	bad := &audit.InputError{Field: "vectors", Found: fmt.Sprintf("%d bytes", len(b)), Want: "whole packed vectors"}
	if len(b) < 16 || len(b)%8 != 0 {
		return matrix{}, bad
	}
	n := len(b)/8 - 1
	columns := binary.LittleEndian.Uint64(b)
	if columns < 1 || columns > uint64(n) || n%int(columns) != 0 || n > MaxCells {
		return matrix{}, bad
	}
	m := matrix{rows: n / int(columns), columns: int(columns), v: UnpackFloats(b[8:])}
	for _, x := range m.v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return matrix{}, bad
		}
	}
	return m, nil
}

// PackFloats writes numbers little-endian, eight bytes each.
func PackFloats(v []float64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// UnpackFloats reads what [PackFloats] wrote.
func UnpackFloats(b []byte) []float64 {
	v := make([]float64, len(b)/8)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v
}

// preparePool makes the canaries of the user's file: its rows, or its tail
// singular vectors, scaled.
func preparePool(s *Setup, file []byte) ([]byte, error) {
	m, err := parseVectors(file)
	if err != nil {
		return nil, err
	}
	norms := m.norms()
	to := 1.0
	if s.Pool.Scale == MedianNorm {
		sorted := slices.Sorted(slices.Values(norms))
		if to = sorted[(len(sorted)-1)/2]; !(to > 0 && to <= 1) {
			return nil, &audit.InputError{Field: "vectors", Found: fmt.Sprintf("with a median norm of %v", to), Want: "above 0 and at most 1, as the sum is over the unit ball",
				Remedy: fmt.Sprintf("use the scale %q, or divide all vectors by the same number", UnitNorm)}
		}
	}
	if s.Design == TailSingular {
		if s.Pool.Scale == OwnNorm {
			return nil, &audit.InputError{Field: "scale", Path: "scale", Found: fmt.Sprintf("%q", OwnNorm), Want: fmt.Sprintf("%q or %q for singular vectors", UnitNorm, MedianNorm)}
		}
		rank := min(m.rows, m.columns)
		s.Pool.Tail = cmp.Or(s.Pool.Tail, (rank+1)/2)
		if s.Pool.Tail < 1 || s.Pool.Tail > rank {
			return nil, &audit.InputError{Field: "tail", Path: "tail", Found: fmt.Sprint(s.Pool.Tail), Want: fmt.Sprintf("in [1, %d], as the file has %d rows and %d columns", rank, m.rows, m.columns)}
		}
		tail, ok := linalg.TailSingular(m.v, m.rows, m.columns, s.Pool.Tail)
		if !ok {
			return nil, &audit.InputError{Field: "vectors", Found: "a matrix whose singular values do not converge", Want: "one whose entries are of similar size"}
		}
		m = matrix{rows: s.Pool.Tail, columns: m.columns, v: tail}
		norms = m.norms()
	}
	for i, length := range norms {
		switch {
		case s.Pool.Scale == OwnNorm && length > 1:
			return nil, &audit.InputError{Field: fmt.Sprintf("vectors: vector %d", i+1), Found: fmt.Sprintf("of norm %.6g", length), Want: "in the unit ball", Remedy: fmt.Sprintf("use the scale %q", UnitNorm)}
		case s.Pool.Scale != OwnNorm && !(length > 0):
			return nil, &audit.InputError{Field: fmt.Sprintf("vectors: vector %d", i+1), Found: "zero", Want: "one that has a direction", Remedy: "remove it"}
		case s.Pool.Scale != OwnNorm:
			row := m.row(i)
			for j := range row {
				row[j] = float64(float64(row[j]*to) / length)
			}
		}
	}
	return m.pack(), nil
}
