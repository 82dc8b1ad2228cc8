package recorded

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

const gzipMagic = "\x1f\x8b"

// gzipReader holds a file in gzip until its end, and then gives what is in it to the
// parser, in pieces. Its size, name and digest remain those of the file as it is.
type gzipReader struct {
	p    *Parser
	data []byte
}

func (r *gzipReader) write(chunk []byte) error {
	r.data = append(r.data, chunk...)
	return nil
}

func (r *gzipReader) close() ([]*Table, error) {
	if err := r.unpack(); err != nil {
		return nil, err
	}
	return r.p.reader.close()
}

// unpack feeds the parser, which then has a reader of what is in the file.
func (r *gzipReader) unpack() error {
	p := r.p
	p.reader, p.unpacked = nil, true
	broken := func(err error) error {
		return &audit.InputError{Field: p.o.Name, Found: fmt.Sprintf("a damaged gzip file (%s)", strings.TrimPrefix(err.Error(), "gzip: ")), Want: "a whole one", Remedy: "copy or save it again"}
	}
	packed := bytes.NewReader(r.data)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return broken(err)
	}
	buf := make([]byte, 1<<18)
	total := int64(0)
	for {
		n, err := z.Read(buf)
		if total += int64(n); total > p.o.MaxExpanded {
			return &audit.InputError{Field: p.o.Name, Found: "beyond " + sizeWords(p.o.MaxExpanded) + " when it is unpacked", Want: "at most that", Remedy: "take fewer rows or columns"}
		}
		if n > 0 {
			if err := p.feed(buf[:n]); err != nil {
				return err
			}
			if p.o.Progress != nil {
				if err := p.o.Progress(1 - float64(packed.Len())/float64(len(r.data))); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
	}
	if total == 0 {
		return emptyFile(p.o.Name)
	}
	if p.reader == nil {
		return p.begin()
	}
	return nil
}
