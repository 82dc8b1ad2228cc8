package recorded_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/recorded"
)

func read(t testing.TB, data string, o recorded.Options) *recorded.File {
	t.Helper()
	return must.Get(recorded.Read(strings.NewReader(data), o))(t)
}

// dump prints all values of a file, for comparisons.
func dump(f *recorded.File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s %q\n", f.Format, f.Bytes, f.SHA256, f.Notes)
	for _, t := range f.Tables {
		fmt.Fprintf(&b, "table %q %v\n", t.Name, t.Matrix)
		for _, c := range t.Columns {
			fmt.Fprintf(&b, "%q %s %q:", c.Name, c.Kind, c.Symbols)
			for i := range c.Len() {
				b.WriteString(" " + c.Text(i))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// npy writes an array as NumPy does; values are rows after rows.
func npy(version byte, descr string, fortran bool, shape []int, values []float64) string {
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	if fortran && len(shape) == 2 {
		n, k := shape[0], shape[1]
		turned := make([]float64, len(values))
		for i, v := range values {
			turned[i%k*n+i/k] = v
		}
		values = turned
	}
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	if len(shape) > 1 {
		dims = strings.TrimSuffix(dims, ", ")
	}
	truth := map[bool]string{true: "True", false: "False"}[fortran]
	if descr[0] != '[' {
		descr = "'" + descr + "'"
	}
	head := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': (%s), }", descr, truth, strings.TrimSuffix(dims, " "))
	at := 10
	if version > 1 {
		at = 12
	}
	head += strings.Repeat(" ", (64-(at+len(head)+1)%64)%64) + "\n"
	var b bytes.Buffer
	b.WriteString("\x93NUMPY")
	b.Write([]byte{version, 0})
	if version == 1 {
		binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	} else {
		binary.Write(&b, binary.LittleEndian, uint32(len(head)))
	}
	b.WriteString(head)
	for _, v := range values {
		var x any
		switch strings.Trim(descr, "'<>|=") {
		case "f8":
			x = v
		case "f4":
			x = float32(v)
		case "i8":
			x = int64(v)
		case "i4":
			x = int32(v)
		case "i2":
			x = int16(v)
		case "i1":
			x = int8(v)
		case "u8":
			x = uint64(v)
		case "u4":
			x = uint32(v)
		case "u2":
			x = uint16(v)
		case "u1":
			x = uint8(v)
		case "b1":
			x = v != 0
		default:
			x = math.Float64bits(v)
		}
		binary.Write(&b, order, x)
	}
	return b.String()
}

type entry struct{ name, data string }

// npz writes a zip file as numpy.savez (stored) or savez_compressed does.
func npz(compressed bool, entries ...entry) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		method := zip.Store
		if compressed {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err != nil {
			panic(err)
		}
		w.Write([]byte(e.data))
	}
	z.Close()
	return b.String()
}

// ramp is n numbers that differ.
func ramp(n int, from float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = from + float64((i*7919)%n)/4
	}
	return x
}

// csv writes rows of outputs with a dataset column, n a side.
func csv(n int) string {
	var b strings.Builder
	b.WriteString("noise,word,dataset\n")
	for i := range 2 * n {
		fmt.Fprintf(&b, "%g,%s,%d\n", float64((i*7919)%(2*n))/8, []string{"yes", "no", "abort"}[i%3], i%2)
	}
	return b.String()
}

func readPair(t testing.TB, c audit.Reading, files ...*recorded.File) *recorded.Samples {
	t.Helper()
	return must.Get(recorded.Pair(files, c))(t)
}

// sums are the sums of the first column on both datasets, and the row counts.
func sums(s *recorded.Samples) [4]float64 {
	var out [4]float64
	row := make([]float64, audit.Width(s.Columns))
	for side := range 2 {
		for i := range s.Rows(side) {
			s.Row(side, i, row)
			out[side] += row[0]
		}
		out[2+side] = float64(s.Rows(side))
	}
	return out
}
