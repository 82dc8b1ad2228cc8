package recorded

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

const npyMagic = "\x93NUMPY"

// npyStream reads one array in NumPy's format, versions 1 to 3 (NumPy
// Enhancement Proposal 1 and numpy.lib.format): one or two dimensions, in C or
// Fortran order, of numbers of either byte order. Rows of the table are the
// first dimension.
type npyStream struct {
	what string
	o    *Options
	left *int

	buf     []byte // the head, then the part of an element
	start   int    // bytes before the first element
	table   *Table
	elem    element
	rows    int
	fortran bool
	done    int // elements
	total   int
}

// element is the type of an array's elements.
type element struct {
	kind  byte // f, i, u or b
	size  int
	order binary.ByteOrder
}

// value is an element, other than an integer of 8 bytes.
func (e element) value(b []byte) float64 {
	switch e.kind {
	case 'f':
		switch e.size {
		case 8:
			return math.Float64frombits(e.order.Uint64(b))
		case 4:
			return float64(math.Float32frombits(e.order.Uint32(b)))
		}
		return half(e.order.Uint16(b))
	case 'i':
		switch e.size {
		case 4:
			return float64(int32(e.order.Uint32(b)))
		case 2:
			return float64(int16(e.order.Uint16(b)))
		}
		return float64(int8(b[0]))
	}
	switch e.size {
	case 4:
		return float64(e.order.Uint32(b))
	case 2:
		return float64(e.order.Uint16(b))
	}
	return float64(b[0])
}

// half is a float16.
func half(b uint16) float64 {
	sign, exponent, fraction := 1.0, int(b>>10&31), float64(b&1023)
	if b>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// place is a byte of the array's file.
func (s *npyStream) place(offset int) string { return fmt.Sprintf("%s, byte %d", s.what, offset) }

func (s *npyStream) write(chunk []byte) error {
	data := chunk
	if len(s.buf) > 0 {
		s.buf = append(s.buf, chunk...)
		data = s.buf
	}
	if s.table == nil {
		used, err := s.head(data)
		if err != nil {
			return err
		}
		if used == 0 {
			s.buf = append(s.buf[:0], data...)
			return nil
		}
		data = data[used:]
	}
	size := s.elem.size
	n := min(len(data)/size, s.total-s.done)
	for i := range n {
		if err := s.add(data[i*size : (i+1)*size]); err != nil {
			return err
		}
	}
	data = data[n*size:]
	if s.done == s.total && len(data) > 0 {
		return &audit.InputError{Field: s.place(s.start + s.total*size), Found: "more data", Want: "the end of the file, after the array", Remedy: "save several arrays with numpy.savez"}
	}
	s.buf = append(s.buf[:0], data...)
	return nil
}

func (s *npyStream) add(b []byte) error {
	column := 0
	switch k := len(s.table.Columns); {
	case k == 1:
	case s.fortran:
		column = s.done / s.rows
	default:
		column = s.done % k
	}
	c := s.table.Columns[column]
	var f *fault
	if e := s.elem; e.kind != 'f' && e.size == 8 {
		n, negative := e.order.Uint64(b), false
		if e.kind == 'i' && int64(n) < 0 {
			n, negative = -n, true
		}
		f = c.addWhole(n, negative, s.o)
	} else {
		f = c.addValue(e.value(b), s.o)
	}
	if f != nil {
		place := fmt.Sprintf("%s, row %d, column %d, byte %d", s.what, c.Len()+1, column+1, s.start+s.done*s.elem.size)
		return &audit.InputError{Field: place, Found: f.found, Want: f.want, Remedy: f.remedy}
	}
	s.done++
	return nil
}

func (s *npyStream) close() ([]*Table, error) {
	if s.table == nil {
		return nil, &audit.InputError{Field: s.what, Found: fmt.Sprintf("cut off in its header, after %d bytes", len(s.buf)), Want: "a whole NPY file", Remedy: "copy or save it again"}
	}
	if s.done < s.total {
		have := s.start + s.done*s.elem.size + len(s.buf)
		return nil, &audit.InputError{Field: s.place(have), Found: fmt.Sprintf("the end, after %d of %d values", s.done, s.total),
			Want: fmt.Sprintf("a file of %d bytes", s.start+s.total*s.elem.size), Remedy: "copy or save it again"}
	}
	return []*Table{s.table}, nil
}

// maxHead is how long a header may be.
const maxHead = 1 << 16

// head reads the header. It returns how long it is, 0 if its end is not there
// yet.
func (s *npyStream) head(data []byte) (int, error) {
	if len(data) < 8 {
		return 0, nil
	}
	if string(data[:6]) != npyMagic {
		return 0, &audit.InputError{Field: s.place(0), Found: quoted(data[:6]), Want: fmt.Sprintf("%q, the beginning of an NPY file", npyMagic)}
	}
	size, at := 0, 10
	switch version := data[6]; version {
	case 1:
		if len(data) < at {
			return 0, nil
		}
		size = int(binary.LittleEndian.Uint16(data[8:]))
	case 2, 3:
		if at = 12; len(data) < at {
			return 0, nil
		}
		size = int(min(binary.LittleEndian.Uint32(data[8:]), math.MaxInt32))
	default:
		return 0, &audit.InputError{Field: s.place(6), Found: fmt.Sprintf("NPY version %d.%d", version, data[7]), Want: "version 1, 2 or 3"}
	}
	if size > maxHead {
		return 0, &audit.InputError{Field: s.place(8), Found: fmt.Sprintf("a header of %d bytes", size), Want: fmt.Sprintf("at most %d", maxHead)}
	}
	if len(data) < at+size {
		return 0, nil
	}
	h, err := parseHead(data[at : at+size])
	if err != nil {
		return 0, &audit.InputError{Field: s.place(at), Found: "a header that cannot be read: " + err.Error(), Want: "descr, fortran_order and shape, as NumPy writes them"}
	}
	s.start = at + size
	return s.start, s.begin(h)
}

// begin checks type and shape and makes the table.
func (s *npyStream) begin(h npyHead) error {
	elem, f := parseElement(h.descr)
	if f != nil {
		return &audit.InputError{Field: s.what + ", dtype", Found: f.found, Want: f.want, Remedy: f.remedy}
	}
	field := s.what + ", shape"
	columns := 1
	switch len(h.shape) {
	case 1:
	case 2:
		columns = h.shape[1]
	default:
		return &audit.InputError{Field: field, Found: fmt.Sprint(h.shape), Want: "one or two dimensions: rows, or rows and columns", Remedy: "reshape(len(a), -1) keeps the rows"}
	}
	rows := h.shape[0]
	switch {
	case rows <= 0 || columns <= 0:
		return &audit.InputError{Field: field, Found: fmt.Sprint(h.shape), Want: "an array with values"}
	case columns > MaxColumns:
		return &audit.InputError{Field: field, Found: fmt.Sprint(h.shape), Want: fmt.Sprintf("at most %d columns; rows are the first dimension", MaxColumns)}
	case rows > *s.left/columns:
		return tooManyCells(field, s.o)
	}
	*s.left -= rows * columns
	s.elem, s.fortran, s.rows, s.total = elem, h.fortran, rows, rows*columns
	s.table = &Table{Shape: h.shape, Matrix: len(h.shape) == 2}
	for i := range columns {
		kind, name := audit.Real, columnNumber(i)
		for n, k := range s.o.Kinds {
			if strings.EqualFold(n, name) {
				kind = k
			}
		}
		s.table.Columns = append(s.table.Columns, newColumn(name, kind))
	}
	return nil
}

// parseElement reads a type such as "<f8".
func parseElement(descr string) (element, *fault) {
	const want = "float16, float32, float64, an integer type or bool"
	refuse := func(found, remedy string) (element, *fault) { return element{}, &fault{found, want, remedy} }
	if strings.HasPrefix(descr, "[") {
		return refuse("a structured array", "save each field as an array of an NPZ, or save CSV")
	}
	if len(descr) < 2 {
		return refuse(quoted(descr), "")
	}
	e := element{kind: descr[1], order: binary.LittleEndian}
	switch descr[0] {
	case '<', '|', '=':
	case '>':
		e.order = binary.BigEndian
	default:
		return refuse(quoted(descr), "")
	}
	switch e.kind {
	case 'O':
		return refuse("object (Python objects, pickled)", "convert it with astype(float); pickles can run programs and are not read")
	case 'U', 'S', 'a':
		return refuse("text ("+quoted(descr)+")", "save words as CSV, or number them")
	case 'c':
		return refuse("complex ("+quoted(descr)+")", "save real and imaginary part as two columns")
	case 'M', 'm':
		return refuse("dates or times ("+quoted(descr)+")", "convert them with astype(int)")
	}
	size, err := strconv.Atoi(descr[2:])
	ok := err == nil
	switch e.kind {
	case 'f':
		ok = ok && (size == 2 || size == 4 || size == 8)
	case 'i', 'u':
		ok = ok && (size == 1 || size == 2 || size == 4 || size == 8)
	case 'b':
		ok = ok && size == 1
	default:
		ok = false
	}
	if !ok {
		return refuse(quoted(descr), "convert it with astype(float)")
	}
	e.size = size
	return e, nil
}

// npyHead is the header of an NPY file, a Python dictionary as text:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (20000, 2), }
type npyHead struct {
	descr   string // a type, or the text of a list of fields
	fortran bool
	shape   []int
}

// asJSON turns the few forms of Python literals that NumPy writes into JSON. Python 2
// wrote lengths with an L.
var asJSON = strings.NewReplacer("'", `"`, "(", "[", "False", "false", "True", "true",
	"L,)", "]", "L)", "]", "L,", ",", ",)", "]", ", )", "]", ")", "]", ", }", "}", ",}", "}")

func parseHead(b []byte) (npyHead, error) {
	text := asJSON.Replace(string(b))
	var h struct {
		Descr   json.RawMessage `json:"descr"`
		Fortran bool            `json:"fortran_order"`
		Shape   []int           `json:"shape"`
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&h); err != nil {
		return npyHead{}, err
	}
	if _, err := in.Token(); err != io.EOF {
		return npyHead{}, errors.New("text after its end")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if n := strings.Count(text, `"`+key+`"`); n != 1 {
			return npyHead{}, fmt.Errorf("%s is there %d times", key, n)
		}
	}
	out := npyHead{string(h.Descr), h.Fortran, h.Shape}
	if !strings.HasPrefix(out.descr, "[") {
		if err := json.Unmarshal(h.Descr, &out.descr); err != nil {
			return npyHead{}, err
		}
	}
	return out, nil
}

// Limits of an NPZ. Deflate reaches a ratio of 1032 on an array of one value,
// which is a fair file; only a large array at such a ratio is refused.
const (
	maxArrays     = 1024
	suspectRatio  = 200
	suspectExpand = 64 << 20
)

// npzReader reads arrays from a zip file. A zip file is read from its end, so
// its bytes are held until then; the arrays in it are read one after the other
// in pieces.
type npzReader struct{ held }

func (r *npzReader) close() ([]*Table, error) {
	name := r.p.o.Name
	z, err := zip.NewReader(r.whole(), r.p.bytes)
	if err != nil {
		return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("a zip file that cannot be read (%s)", strings.TrimPrefix(err.Error(), "zip: ")), Want: "a whole NPZ file", Remedy: "copy or save it again"}
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
		if total += f.UncompressedSize64; f.UncompressedSize64 > uint64(r.p.o.MaxExpanded) || total > uint64(r.p.o.MaxExpanded) {
			return nil, r.tooLarge(f)
		}
		if f.UncompressedSize64 > suspectExpand && f.UncompressedSize64/suspectRatio > f.CompressedSize64 {
			return nil, &audit.InputError{Field: fmt.Sprintf("%s, array %s", name, quoted(f.Name)),
				Found: fmt.Sprintf("%s packed into %s", sizeWords(int64(f.UncompressedSize64)), sizeWords(int64(f.CompressedSize64))),
				Want:  fmt.Sprintf("a ratio of at most %d for an array beyond %s", suspectRatio, sizeWords(suspectExpand)), Remedy: "save it with numpy.savez instead of savez_compressed, if it is what it should be"}
		}
	}
	switch {
	case len(arrays) == 0:
		found := "a zip file without files"
		if others != "" {
			found = fmt.Sprintf("a zip file without arrays (it holds %s)", quoted(others))
		}
		return nil, &audit.InputError{Field: name, Found: found, Want: "an NPZ file, a zip of .npy files", Remedy: "save a spreadsheet as CSV"}
	case len(arrays) > maxArrays:
		return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("%d arrays", len(arrays)), Want: fmt.Sprintf("at most %d", maxArrays)}
	}
	var tables []*Table
	var before uint64
	for _, f := range arrays {
		t, err := r.array(f, before, total)
		if err != nil {
			return nil, err
		}
		before += f.UncompressedSize64
		for _, other := range tables {
			if other.Name == t.Name {
				return nil, &audit.InputError{Field: name, Found: fmt.Sprintf("the array %q twice", t.Name), Want: "each array once"}
			}
		}
		tables = append(tables, t)
	}
	r.data = nil
	return tables, nil
}

func (r *npzReader) tooLarge(f *zip.File) error {
	return &audit.InputError{Field: fmt.Sprintf("%s, array %s", r.p.o.Name, quoted(f.Name)), Found: "beyond " + sizeWords(r.p.o.MaxExpanded) + " uncompressed, with the arrays before it",
		Want: "at most that", Remedy: "save fewer rows, or as float32"}
}

// array reads one array. Its size is what the zip file says, to the byte: what
// says otherwise is refused before it is held.
func (r *npzReader) array(f *zip.File, before, total uint64) (*Table, error) {
	name := strings.TrimSuffix(f.Name, ".npy")
	what := fmt.Sprintf("%s, array %s", r.p.o.Name, quoted(name))
	broken := func(err error) error {
		return &audit.InputError{Field: what, Found: fmt.Sprintf("damaged (%s)", strings.TrimPrefix(err.Error(), "zip: ")), Want: "a whole NPZ file", Remedy: "copy or save it again"}
	}
	in, err := f.Open()
	if err != nil {
		return nil, broken(err)
	}
	defer in.Close()
	s := &npyStream{what: what, o: &r.p.o, left: &r.p.left}
	read := uint64(0)
	err = inPieces(in, broken, func(piece []byte) error { // ends with an error where there is more than f says
		read += uint64(len(piece))
		if err := s.write(piece); err != nil {
			return err
		}
		return r.p.o.tell(float64(before+read) / float64(total))
	})
	if err != nil {
		return nil, err
	}
	tables, err := s.close()
	if err != nil {
		return nil, err
	}
	tables[0].Name = name
	return tables[0], nil
}
