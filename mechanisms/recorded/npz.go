package recorded

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

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
type npzReader struct {
	p    *Parser
	data []byte
}

func (r *npzReader) write(chunk []byte) error {
	r.data = append(r.data, chunk...)
	return nil
}

func (r *npzReader) close() ([]*Table, error) {
	name := r.p.o.Name
	z, err := zip.NewReader(bytes.NewReader(r.data), int64(len(r.data)))
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
	buf := make([]byte, 1<<18)
	read := uint64(0)
	for {
		n, err := in.Read(buf) // ends with an error where there is more than f says
		read += uint64(n)
		if n > 0 {
			if err := s.write(buf[:n]); err != nil {
				return nil, err
			}
			if r.p.o.Progress != nil {
				if err := r.p.o.Progress(float64(before+read) / float64(total)); err != nil {
					return nil, err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, broken(err)
		}
	}
	tables, err := s.close()
	if err != nil {
		return nil, err
	}
	tables[0].Name = name
	return tables[0], nil
}
