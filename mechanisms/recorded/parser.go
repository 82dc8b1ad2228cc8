package recorded

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// Parser reads a file that is given to it in chunks of any size. What it
// returns does not depend on how the file was cut into chunks.
type Parser struct {
	o      Options
	hash   summer
	bytes  int64
	head   []byte // until the format is known
	format Format
	reader reader
	notes  []string
	left   int // cells
	err    error
	closed bool

	unpacked bool        // what is read was in gzip
	source   io.ReaderAt // the whole file, where it need not be held
}

// summer is a digest of what is written to it.
type summer interface {
	io.Writer
	Sum(b []byte) []byte
}

// reader reads one format.
type reader interface {
	// write takes the next bytes; it does not keep them.
	write(chunk []byte) error
	// close takes the end of the file.
	close() ([]*Table, error)
}

// NewParser returns a parser of a new file.
func NewParser(o Options) (*Parser, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	return &Parser{o: o, hash: newDigest(), left: o.MaxCells}, nil
}

// headBytes is how much of a file tells its format, if it is that long.
const headBytes = 512

var errClosed = errors.New("intake: the parser is closed")

// Write takes the next chunk. After an error every call returns that error.
func (p *Parser) Write(chunk []byte) (int, error) {
	if p.closed {
		return 0, errClosed
	}
	if p.err != nil {
		return 0, p.err
	}
	if p.err = p.parse(chunk); p.err != nil {
		return 0, p.err
	}
	p.hash.Write(chunk)
	return len(chunk), nil
}

// parse takes the next chunk, but for its digest.
func (p *Parser) parse(chunk []byte) error {
	p.bytes += int64(len(chunk))
	if err := CheckSize(p.o.Name, p.bytes, p.o); err != nil {
		return err
	}
	return p.feed(chunk)
}

// feed takes what the reader is to read.
func (p *Parser) feed(chunk []byte) error {
	if p.reader != nil {
		return p.reader.write(chunk)
	}
	n := min(headBytes-len(p.head), len(chunk))
	p.head = append(p.head, chunk[:n]...)
	if len(p.head) < headBytes {
		return nil
	}
	if err := p.begin(); err != nil {
		return err
	}
	return p.reader.write(chunk[n:])
}

// begin chooses the reader and gives it what is there.
func (p *Parser) begin() error {
	head := p.head
	p.head = nil
	if err := p.choose(head); err != nil {
		return err
	}
	return p.reader.write(head)
}

// Close ends the file and returns what was read. A parser that failed returns
// its error again.
func (p *Parser) Close() (*File, error) {
	if p.closed && p.err == nil {
		return nil, errClosed
	}
	p.closed = true
	if p.err != nil {
		return nil, p.err
	}
	var f *File
	f, p.err = p.close()
	return f, p.err
}

func (p *Parser) close() (*File, error) {
	if p.bytes == 0 {
		return nil, emptyFile(p.o.Name)
	}
	if p.reader == nil {
		if err := p.begin(); err != nil {
			return nil, err
		}
	}
	tables, err := p.reader.close()
	if err != nil {
		return nil, err
	}
	sum := p.hash.Sum(nil)
	f := &File{Name: p.o.Name, Format: p.format, Bytes: p.bytes, SHA256: hex.EncodeToString(sum), Tables: tables, Notes: p.notes}
	switch r := p.reader.(type) {
	case *jsonReader:
		f.Format = r.format()
	case *textReader:
		if r.cut.Separator == '\t' {
			f.Format = TSV
		}
	}
	if p.unpacked {
		f.Format += ".gz"
	}
	return f, nil
}

// Columns are the columns of the table that is being read, as far as they are
// known, after an error too: so that one may set the kinds of those of a file
// that was refused. Nil for a file of arrays.
func (p *Parser) Columns() []audit.Column {
	var t *tabulator
	switch r := p.reader.(type) {
	case *textReader:
		t = r.tab
	case *jsonReader:
		t = r.tab
	}
	if t == nil {
		return nil
	}
	var out []audit.Column
	for i, name := range t.names {
		kind := t.kind(i)
		if t.table != nil {
			kind = t.table.Columns[i].Kind
		}
		out = append(out, audit.Column{Name: name, Kind: kind})
	}
	return out
}

// Whole reports whether the file can only be read as a whole, so that Close does
// the work.
func (p *Parser) Whole() bool {
	switch r := p.reader.(type) {
	case *npzReader, *gzipReader:
		return true
	case *jsonReader:
		return r.document
	}
	return false
}

func emptyFile(name string) error {
	return &audit.InputError{Field: name, Found: "empty", Want: "a file with data", Remedy: "was it still being written?"}
}

// note says once what was taken for granted.
func (p *Parser) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

var byteOrderMark = []byte("\uFEFF")

// known are beginnings of files that other tools would read.
var known = []struct {
	magic, name, remedy string
}{
	{"BZh", "a bzip2 file", "unpack it first"},
	{"\xfd7zXZ", "an xz file", "unpack it first"},
	{"(\xb5/\xfd", "a zstd file", "unpack it first"},
	{"\x89HDF", "an HDF5 file", "save its arrays with numpy.savez"},
	{"PAR1", "a Parquet file", "write it as CSV or NPY: duckdb -c \"COPY 'FILE' TO 'FILE.csv'\", or pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)"},
	{"ARROW1", "an Arrow file", arrow},
	{"FEA1", "a Feather file", arrow},
	{"\xff\xff\xff\xff", "an Arrow stream", "write it as CSV or NPY: pyarrow.csv.write_csv(pyarrow.ipc.open_stream('FILE').read_all(), 'FILE.csv')"},
	{"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
	{"\x80\x02", "a Python pickle", savez},
	{"\x80\x03", "a Python pickle", savez},
	{"\x80\x04", "a Python pickle", savez},
	{"\x80\x05", "a Python pickle", savez},
	{"%PDF", "a PDF", ""},
	{"<!", "HTML", ""},
	{"<html", "HTML", ""},
	{"<?xml", "XML", ""},
	{"\x00asm", "a WebAssembly module", ""},
}

const arrow = "write it as CSV or NPY: pandas.read_feather('FILE').to_csv('FILE.csv', index=False)"

const savez = "save its arrays with numpy.savez; pickles can run programs and are not read"

const wantFormat = "CSV, TSV, JSON lines, JSON, NPY or NPZ"

// choose tells the format by content.
func (p *Parser) choose(head []byte) error {
	switch zip := bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")); {
	case bytes.HasPrefix(head, []byte(gzipMagic)) && !p.unpacked:
		p.reader = &gzipReader{held{p: p}}
		return nil
	case p.unpacked && (zip || bytes.HasPrefix(head, []byte(gzipMagic))):
		return &audit.InputError{Field: p.o.Name, Found: "packed twice: a zip or gzip file in a gzip file", Want: wantFormat, Remedy: "unpack it once"}
	case bytes.HasPrefix(head, []byte(npyMagic)):
		p.format, p.reader = NPY, &npyStream{what: p.o.Name, o: &p.o, left: &p.left}
		return nil
	case zip:
		p.format, p.reader = NPZ, &npzReader{held{p: p}}
		return nil
	}
	for _, k := range known {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return &audit.InputError{Field: p.o.Name, Found: k.name, Want: wantFormat, Remedy: k.remedy}
		}
	}
	text := bytes.TrimPrefix(head, byteOrderMark)
	if at := binaryByte(text); at >= 0 {
		return &audit.InputError{Field: p.o.Name, Found: fmt.Sprintf("not text (byte 0x%02x at offset %d) and of no known binary format", text[at], at+len(head)-len(text)), Want: wantFormat}
	}
	first := bytes.TrimLeft(text, " \t\r\n")
	if len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		p.format, p.reader = JSONLines, &jsonReader{p: p}
		return nil
	}
	p.format, p.reader = CSV, &textReader{p: p, cut: csv.Reader{What: p.o.Name, Line: 1, Longest: MaxLine + 1}}
	return nil
}

// binaryByte is where text stops being text, or -1. A rune that the end cuts
// off is text.
func binaryByte(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			if c := b[i]; c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			if !utf8.FullRune(b[i:]) {
				return -1
			}
			return i
		}
		i += n
	}
	return -1
}

// Read reads all of r. A file in gzip is unpacked on the way; an NPZ is held in memory,
// unless r is an [io.ReaderAt] too, which then has to begin where r does.
func Read(r io.Reader, o Options) (*File, error) {
	p, err := NewParser(o)
	if err != nil {
		return nil, err
	}
	p.source, _ = r.(io.ReaderAt)
	raw := &reading{r: r}
	head := make([]byte, len(gzipMagic))
	n, err := io.ReadFull(raw, head)
	if string(head[:n]) == gzipMagic {
		return p.unpackFrom(io.MultiReader(bytes.NewReader(head), raw), raw)
	}
	if n > 0 {
		_, err = p.Write(head[:n])
	}
	if err == nil {
		io.CopyBuffer(struct{ io.Writer }{p}, raw, make([]byte, 1<<18))
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case raw.err != nil:
		return nil, fmt.Errorf("%s: %w", p.o.Name, raw.err)
	}
	return p.Close()
}

// reading remembers why a reader failed.
type reading struct {
	r   io.Reader
	err error
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

const gzipMagic = "\x1f\x8b"

// held holds a file that can only be read as a whole, unless the parser can read it again.
type held struct {
	p    *Parser
	data []byte
}

func (r *held) write(chunk []byte) error {
	if r.p.source == nil {
		r.data = append(r.data, chunk...)
	}
	return nil
}

func (r *held) whole() io.ReaderAt {
	if r.p.source != nil {
		return r.p.source
	}
	return bytes.NewReader(r.data)
}

// inPieces reads all of in; broken makes its errors ones of the file.
func inPieces(in io.Reader, broken func(error) error, take func(piece []byte) error) error {
	buf := make([]byte, 1<<18)
	for {
		n, err := 0, error(nil)
		for m := 0; n < len(buf) && err == nil; n += m {
			m, err = in.Read(buf[n:])
		}
		if n > 0 {
			if err := take(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return broken(err)
		}
	}
}

// gzipReader gives what is in a file in gzip to the parser. Its size, name and digest
// remain those of the file as it is.
type gzipReader struct{ held }

func (r *gzipReader) close() ([]*Table, error) {
	packed := bytes.NewReader(r.data)
	err := r.p.unpack(packed, func() error { return r.p.o.tell(1 - float64(packed.Len())/float64(len(r.data))) })
	if err != nil {
		return nil, err
	}
	return r.p.reader.close()
}

// unpack feeds the parser with what packed holds, so that it has a reader of that.
func (p *Parser) unpack(packed io.Reader, tell func() error) error {
	p.reader, p.unpacked = nil, true
	broken := func(err error) error {
		return &audit.InputError{Field: p.o.Name, Found: fmt.Sprintf("a damaged gzip file (%s)", strings.TrimPrefix(err.Error(), "gzip: ")), Want: "a whole one", Remedy: "copy or save it again"}
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		return broken(err)
	}
	total := int64(0)
	err = inPieces(z, broken, func(piece []byte) error {
		if total += int64(len(piece)); total > p.o.MaxExpanded {
			return &audit.InputError{Field: p.o.Name, Found: "beyond " + sizeWords(p.o.MaxExpanded) + " when it is unpacked", Want: "at most that", Remedy: "take fewer rows or columns"}
		}
		return cmp.Or(p.feed(piece), tell())
	})
	if err != nil {
		return err
	}
	if total == 0 {
		return emptyFile(p.o.Name)
	}
	if p.reader == nil {
		return p.begin()
	}
	return nil
}

// unpackFrom is Read of a file in gzip, from its reader raw.
func (p *Parser) unpackFrom(packed io.Reader, raw *reading) (*File, error) {
	counted := writerFunc(func(b []byte) {
		p.bytes += int64(len(b))
		p.hash.Write(b)
	})
	p.err = p.unpack(io.TeeReader(packed, counted), func() error { return CheckSize(p.o.Name, p.bytes, p.o) })
	if raw.err != nil {
		return nil, fmt.Errorf("%s: %w", p.o.Name, raw.err)
	}
	return p.Close()
}

type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
