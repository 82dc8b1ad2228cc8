package recorded

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

const npyMagic = "\x93NUMPY"

// element is a type of numbers: kind is f, i, u or b, for bool.
type element struct {
	kind  byte
	size  int
	order binary.ByteOrder
}

func (e element) add(c *Column, b []byte, o *Options) *fault {
	var bits uint64
	switch e.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(e.order.Uint16(b))
	case 4:
		bits = uint64(e.order.Uint32(b))
	case 8:
		bits = e.order.Uint64(b)
	}
	unused := 64 - 8*e.size
	switch n := int64(bits<<unused) >> unused; {
	case e.kind == 'f' && e.size == 8:
		return c.addValue(math.Float64frombits(bits), o)
	case e.kind == 'f' && e.size == 4:
		return c.addValue(float64(math.Float32frombits(uint32(bits))), o)
	case e.kind == 'f':
		return c.addValue(half(uint16(bits)), o)
	case e.kind == 'i' && n < 0:
		return c.addWhole(uint64(-n), true, o)
	}
	return c.addWhole(bits, false, o)
}

func half(b uint16) float64 {
	v := float64(math.Float32frombits(uint32(b&0x7fff)<<13)) * 0x1p112
	if exponent, fraction := b>>10&31, b&1023; exponent == 31 {
		v = audit.Pick(fraction > 0, math.NaN(), math.Inf(1))
	}
	return audit.Pick(b>>15 != 0, -v, v)
}

const maxHead = 1 << 16

// npy reads one array in NumPy's format, versions 1 to 3 (NumPy Enhancement Proposal 1 and
// numpy.lib.format), of one or two dimensions. The first is that of rows.
func (p *parser) npy(what string, in io.Reader) (*Table, error) {
	place := func(offset int) string { return fmt.Sprintf("%s, byte %d", what, offset) }
	var head []byte
	more := func(n int) error {
		from := len(head)
		head = append(head, make([]byte, n)...)
		n, err := io.ReadFull(in, head[from:])
		if err != nil {
			return audit.Fault(what, fmt.Sprintf("cut off in its header, after %d bytes", from+n), "a whole NPY file", again)
		}
		return nil
	}
	if err := more(8); err != nil {
		return nil, err
	}
	if string(head[:6]) != npyMagic {
		return nil, audit.Fault(place(0), quoted(head[:6]), fmt.Sprintf("%q, the beginning of an NPY file", npyMagic))
	}
	length := 2 // bytes of the header's size
	if version := head[6]; version == 2 || version == 3 {
		length = 4
	} else if version != 1 {
		return nil, audit.Fault(place(6), fmt.Sprintf("NPY version %d.%d", version, head[7]), "version 1, 2 or 3")
	}
	if err := more(length); err != nil {
		return nil, err
	}
	var size [4]byte
	copy(size[:], head[8:])
	if n := binary.LittleEndian.Uint32(size[:]); n > maxHead {
		return nil, audit.Fault(place(8), fmt.Sprintf("a header of %d bytes", n), fmt.Sprintf("at most %d", maxHead))
	} else if err := more(int(n)); err != nil {
		return nil, err
	}
	h, err := parseHead(head[8+length:])
	if err != nil {
		return nil, audit.Fault(place(8+length), "a header that cannot be read: "+err.Error(), "descr, fortran_order and shape, as NumPy writes them")
	}
	elem, err := parseElement(what+", dtype", h.Descr)
	if err != nil {
		return nil, err
	}
	t, err := p.shaped(what+", shape", h.Shape)
	if err != nil {
		return nil, err
	}
	rows, columns := h.Shape[0], len(t.Columns)
	total := rows * columns
	data := bufio.NewReaderSize(in, pieceBytes)
	for done := range total {
		b, err := data.Peek(elem.size)
		if err != nil {
			return nil, audit.Fault(place(len(head)+done*elem.size+len(b)), fmt.Sprintf("the end, after %d of %d values", done, total),
				fmt.Sprintf("a file of %d bytes", len(head)+total*elem.size), again)
		}
		column := done % columns
		if h.Fortran {
			column = done / rows
		}
		c := t.Columns[column]
		if bad := elem.add(c, b, &p.o); bad != nil {
			bad.Field = fmt.Sprintf("%s, row %d, column %d, byte %d", what, c.Len()+1, column+1, len(head)+done*elem.size)
			return nil, bad
		}
		data.Discard(elem.size)
	}
	if _, err := data.ReadByte(); err == nil {
		return nil, audit.Fault(place(len(head)+total*elem.size), "more data", "the end of the file, after the array", "save several arrays with numpy.savez")
	}
	return t, nil
}

func (p *parser) shaped(field string, shape []int) (*Table, error) {
	columns := 1
	switch len(shape) {
	case 1:
	case 2:
		columns = shape[1]
	default:
		return nil, audit.Fault(field, fmt.Sprint(shape), "one or two dimensions: rows, or rows and columns", "reshape(len(a), -1) keeps the rows")
	}
	rows := shape[0]
	switch {
	case rows <= 0 || columns <= 0:
		return nil, audit.Fault(field, fmt.Sprint(shape), "an array with values")
	case columns > MaxColumns:
		return nil, audit.Fault(field, fmt.Sprint(shape), fmt.Sprintf("at most %d columns; rows are the first dimension", MaxColumns))
	case rows > p.left/columns:
		return nil, tooManyCells(field, rows*min(columns, math.MaxInt64/bytesEach/rows), &p.o)
	}
	p.left -= rows * columns
	t := &Table{Matrix: len(shape) == 2}
	for i := range columns {
		name := columnNumber(i)
		t.Columns = append(t.Columns, newColumn(name, cmp.Or(p.o.kind(name), audit.Real)))
	}
	return t, nil
}

// parseElement reads a type such as "<f8".
func parseElement(field string, is any) (element, error) {
	other := func(found, remedy string) (element, error) {
		return element{}, audit.Fault(field, found, "float16, float32, float64, an integer type or bool", remedy)
	}
	if _, fields := is.([]any); fields {
		return other("a structured array", "save each field as an array of an NPZ, or save CSV")
	}
	descr, word := is.(string)
	if !word {
		return other(fmt.Sprint(is), "")
	}
	if len(descr) < 2 || !strings.Contains("<|=>", descr[:1]) {
		return other(quoted(descr), "")
	}
	switch descr[1] {
	case 'O':
		return other("object (Python objects, pickled)", "convert it with astype(float); pickles can run programs and are not read")
	case 'U', 'S', 'a':
		return other("text ("+quoted(descr)+")", "save words as CSV, or number them")
	case 'c':
		return other("complex ("+quoted(descr)+")", "save real and imaginary part as two columns")
	case 'M', 'm':
		return other("dates or times ("+quoted(descr)+")", "convert them with astype(int)")
	}
	if !slices.Contains([]string{"f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"}, descr[1:]) {
		return other(quoted(descr), "convert it with astype(float)")
	}
	e := element{descr[1], int(descr[2] - '0'), binary.LittleEndian}
	if descr[0] == '>' {
		e.order = binary.BigEndian
	}
	return e, nil
}

// asJSON turns the Python literals that NumPy writes into JSON. Python 2 wrote lengths with an L.
var asJSON = strings.NewReplacer("'", `"`, "(", "[", "False", "false", "True", "true",
	"L,)", "]", "L)", "]", "L,", ",", ",)", "]", ", )", "]", ")", "]", ", }", "}", ",}", "}")

// npyHead is the header of an NPY file, a Python dictionary as text:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 2), }
type npyHead struct {
	Descr   any   `json:"descr"` // a type, or a list of fields
	Fortran bool  `json:"fortran_order"`
	Shape   []int `json:"shape"`
}

func parseHead(b []byte) (h npyHead, err error) {
	text := asJSON.Replace(string(b))
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&h); err != nil {
		return h, err
	}
	if _, err := in.Token(); err != io.EOF {
		return h, errors.New("text after its end")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if n := strings.Count(text, `"`+key+`"`); n != 1 {
			return h, fmt.Errorf("%s is there %d times", key, n)
		}
	}
	return h, nil
}

// Limits of an NPZ. Deflate fairly reaches a ratio of 1032 on an array of one value: only a
// large array is refused for it.
const (
	maxArrays     = 1024
	suspectRatio  = 200
	suspectExpand = 64 << 20
)

// zipMagic begins a zip file, and the other one of no files.
const zipMagic = "PK\x03\x04"

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zipMagic)) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// npz holds all of the zip file, which is read from its end.
func (p *parser) npz(in io.Reader) ([]*Table, error) {
	name := p.o.Name
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, audit.Fault(name, fmt.Sprintf("a zip file that cannot be read (%s)", strings.TrimPrefix(err.Error(), "zip: ")), "a whole NPZ file", again)
	}
	var arrays []*zip.File
	var total uint64
	others := ""
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".npy") {
			others = f.Name
			continue
		}
		arrays = append(arrays, f)
		if total += f.UncompressedSize64; f.UncompressedSize64 > uint64(p.o.MaxExpanded) || total > uint64(p.o.MaxExpanded) {
			return nil, audit.Fault(fmt.Sprintf("%s, array %s", name, quoted(f.Name)), "beyond "+sizeWords(p.o.MaxExpanded)+" uncompressed, with the arrays before it",
				"at most that", "save fewer rows, or as float32")
		}
		if f.UncompressedSize64 > suspectExpand && f.UncompressedSize64/suspectRatio > f.CompressedSize64 {
			return nil, audit.Fault(fmt.Sprintf("%s, array %s", name, quoted(f.Name)),
				fmt.Sprintf("%s packed into %s", sizeWords(int64(f.UncompressedSize64)), sizeWords(int64(f.CompressedSize64))),
				fmt.Sprintf("a ratio of at most %d for an array beyond %s", suspectRatio, sizeWords(suspectExpand)), "if the file is what you expect, save it with numpy.savez instead of savez_compressed")
		}
	}
	switch {
	case len(arrays) == 0:
		found := "a zip file without files"
		if others != "" {
			found = fmt.Sprintf("a zip file without arrays (it holds %s)", quoted(others))
		}
		return nil, audit.Fault(name, found, "an NPZ file, a zip of .npy files", "save a spreadsheet as CSV")
	case len(arrays) > maxArrays:
		return nil, audit.Fault(name, fmt.Sprintf("%d arrays", len(arrays)), fmt.Sprintf("at most %d", maxArrays))
	}
	var tables []*Table
	for _, f := range arrays {
		t, err := p.array(f)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(tables, func(other *Table) bool { return other.Name == t.Name }) {
			return nil, audit.Fault(name, fmt.Sprintf("the array %q twice", t.Name), "each array once")
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func (p *parser) array(f *zip.File) (*Table, error) {
	name := strings.TrimSuffix(f.Name, ".npy")
	what := fmt.Sprintf("%s, array %s", p.o.Name, quoted(name))
	broken := func(err error) error {
		return audit.Fault(what, fmt.Sprintf("damaged (%s)", strings.TrimPrefix(err.Error(), "zip: ")), "a whole NPZ file", again)
	}
	in, err := f.Open()
	if err != nil {
		return nil, broken(err)
	}
	defer in.Close()
	x := &part{in: in, broken: broken, each: func(int64) error { return p.tell() }} // in ends with an error where there is more than f says
	t, err := p.npy(what, x)
	if err = cmp.Or(x.err, err); err != nil {
		return nil, err
	}
	t.Name = name
	return t, nil
}
