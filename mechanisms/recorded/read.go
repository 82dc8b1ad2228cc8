package recorded

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

// Read reads all of r. After a fault in a row of text the file has the known columns, without
// values: one may set their kinds.
func Read(r io.Reader, o Options) (*File, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if err := CheckSize(o.Name, o.Size, o); err != nil {
		return nil, err
	}
	hash := sha256.New()
	p := &parser{o: o, left: o.MaxCells}
	p.from = part{in: io.TeeReader(r, hash), broken: func(err error) error {
		if audit.IsInput(err) {
			return err
		}
		return fmt.Errorf("%s: %w", o.Name, err)
	}, each: func(n int64) error {
		if err := CheckSize(o.Name, n, o); err != nil {
			return err
		}
		return p.tell()
	}}
	tables, err := p.read()
	if err = cmp.Or(p.from.err, err); err != nil {
		return p.refused(), err
	}
	is := audit.RecordedFile{Name: o.Name, Format: p.format, Bytes: p.from.n, SHA256: fmt.Sprintf("%x", hash.Sum(nil))}
	return &File{RecordedFile: is, Tables: tables, Notes: p.notes}, nil
}

// parser is what the readers of all formats share.
type parser struct {
	o      Options
	from   part // the file
	format string
	tab    *tabulator // of a file that is one table of text
	notes  []string
	left   int // cells
}

// refused is a file that has columns alone, nil for none.
func (p *parser) refused() *File {
	if p.tab == nil {
		return nil
	}
	t := &Table{}
	for i, name := range p.tab.names {
		kind := p.tab.kind(i)
		if p.tab.table != nil {
			kind = p.tab.table.Columns[i].Kind
		}
		t.Columns = append(t.Columns, &Column{Name: name, Kind: kind})
	}
	return &File{RecordedFile: audit.RecordedFile{Name: p.o.Name, Format: p.format}, Tables: []*Table{t}}
}

func (p *parser) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *parser) tell() error { return p.o.Progress(p.from.n) }

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

const gzipMagic = "\x1f\x8b"

func (p *parser) read() ([]*Table, error) {
	in := bufio.NewReaderSize(&p.from, MaxLine)
	head, _ := in.Peek(MaxLine)
	if !bytes.HasPrefix(head, []byte(gzipMagic)) {
		return p.unpacked(in, p.o.Size)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, p.damaged(err)
	}
	packed := &part{in: z, broken: p.damaged, each: func(n int64) error {
		if n > p.o.MaxExpanded {
			return audit.Fault(p.o.Name, "beyond "+sizeWords(p.o.MaxExpanded)+" when it is unpacked", "at most that", "take fewer rows or columns")
		}
		return p.tell()
	}}
	in = bufio.NewReaderSize(packed, MaxLine)
	head, _ = in.Peek(len(zipMagic))
	if bytes.HasPrefix(head, []byte(gzipMagic)) || isZip(head) {
		return nil, audit.Fault(p.o.Name, "packed twice: a zip or gzip file in a gzip file", wantFormat, "unpack it once")
	}
	tables, err := p.unpacked(in, 0)
	p.format += ".gz"
	return tables, cmp.Or(packed.err, err)
}

func (p *parser) damaged(err error) error {
	return audit.Fault(p.o.Name, fmt.Sprintf("a damaged gzip file (%s)", strings.TrimPrefix(err.Error(), "gzip: ")), "a whole one", again)
}

// pieceBytes is how much is read between two calls of Options.Progress.
const pieceBytes = 1 << 18

// part is a file, or what is packed in one.
type part struct {
	in     io.Reader
	broken func(error) error   // is an error of in as one of the file
	each   func(n int64) error // sees how much was read
	n      int64
	err    error // why it could not be read on
}

func (x *part) Read(b []byte) (int, error) {
	n, err := x.in.Read(b[:min(len(b), pieceBytes)])
	x.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		x.err = x.broken(err)
	} else if n > 0 {
		x.err = x.each(x.n)
	}
	return n, cmp.Or(x.err, err)
}

// unpacked reads what is not packed, of so many bytes if that is known.
func (p *parser) unpacked(in *bufio.Reader, size int64) ([]*Table, error) {
	head, _ := in.Peek(MaxLine)
	switch {
	case len(head) == 0:
		return nil, audit.Fault(p.o.Name, "empty", "a file with data", "was it still being written?")
	case bytes.HasPrefix(head, []byte(npyMagic)):
		p.format = NPY
		t, err := p.npy(p.o.Name, in)
		return []*Table{t}, err
	case isZip(head):
		p.format = NPZ
		return p.npz(in)
	}
	for _, k := range known {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return nil, audit.Fault(p.o.Name, k.name, wantFormat, k.remedy)
		}
	}
	text := bytes.TrimPrefix(head, byteOrderMark)
	mark := len(head) - len(text)
	if at := binaryByte(text[:min(512, len(text))]); at >= 0 {
		return nil, audit.Fault(p.o.Name, fmt.Sprintf("not text (byte 0x%02x at offset %d) and of no known binary format", text[at], at+mark), wantFormat)
	}
	if err := p.fits(text, size); err != nil {
		return nil, err
	}
	in.Discard(mark)
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		return p.json(in, text)
	}
	t, err := p.text(in, text)
	return []*Table{t}, err
}

// fits refuses too many cells, by a text's first rows and size.
func (p *parser) fits(head []byte, size int64) error {
	cells := 0
	for i, c := range head {
		if c == ',' || c == ';' || c == '\t' || c == '\n' && head[max(i, 1)-1] != ',' {
			cells++
		}
	}
	if n := int(float64(cells) / float64(max(1, len(head))) * float64(size)); n > p.left {
		return tooManyCells(p.o.Name, n, &p.o)
	}
	return nil
}

// binaryByte is where text stops being text, or -1; it may end within a rune.
func binaryByte[T []byte | string](text T) int {
	b := []byte(text)
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
			return audit.Pick(utf8.FullRune(b[i:]), i, -1)
		}
		i += n
	}
	return -1
}

// bounded gives text to a reader of records until a record is too long.
type bounded struct {
	in    io.Reader
	n     int64        // bytes
	lines int          // ends of lines
	taken func() int64 // bytes up to the end of the last record
	long  func() error
}

func (b *bounded) Read(to []byte) (int, error) {
	if b.n-b.taken() > MaxLine {
		return 0, b.long()
	}
	n, err := b.in.Read(to)
	b.n += int64(n)
	b.lines += bytes.Count(to[:n], []byte{'\n'})
	return n, err
}

func longer(place string, remedy string) error {
	return audit.Fault(place, "longer than "+sizeWords(MaxLine), "shorter", remedy)
}
