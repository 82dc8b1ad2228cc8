// Package csv is encoding/csv with faults in the words of this program.
package csv

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Separator is the separator of a text by its first line: a tab if there is one, else a
// comma, else a semicolon.
func Separator(line []byte) byte {
	for _, c := range []byte{'\t', ',', ';'} {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return ','
}

// Reader cuts records into cells.
type Reader struct {
	Line  int // in which the last record begins, from 1
	Blank int // first blank line before it, 0 for none
	End   int // line in which it ends

	what string
	in   *csv.Reader
	at   int64 // byte in which the record ends
}

// NewReader reads a text without byte order mark. what names it in errors; with trim, blanks
// before a cell are no part of it.
func NewReader(what string, text io.Reader, separator byte, trim bool) *Reader {
	r := &Reader{what: what, in: csv.NewReader(text)}
	r.in.Comma, r.in.TrimLeadingSpace, r.in.FieldsPerRecord, r.in.ReuseRecord = rune(separator), trim, -1, true
	return r
}

// Offset is the byte in which the last record ends.
func (r *Reader) Offset() int64 { return r.at }

// Read returns the cells of the next record, which are valid until the next call. It passes
// over blank lines. At the end the error is io.EOF.
func (r *Reader) Read() ([]string, error) {
	cells, err := r.in.Read()
	if err != nil {
		return nil, r.fault(err)
	}
	r.Line, _ = r.in.FieldPos(0)
	if r.Blank = 0; r.Line > r.End+1 {
		r.Blank = r.End + 1
	}
	last := len(cells) - 1
	r.End, _ = r.in.FieldPos(last)
	r.End += strings.Count(cells[last], "\n")
	r.at = r.in.InputOffset()
	for _, c := range cells {
		if strings.IndexByte(c, '\r') >= 0 {
			return nil, audit.Fault(fmt.Sprintf("%s, line %d", r.what, r.Line), "with a carriage return in it", "ended by LF or CRLF", "save the file with one of these line endings")
		}
	}
	return cells, nil
}

func (r *Reader) fault(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	const twice = "a quote inside a quoted cell is written twice"
	if errors.Is(p.Err, csv.ErrBareQuote) {
		return audit.Fault(fmt.Sprintf("%s, line %d, character %d", r.what, p.Line, p.Column), "a quote inside a cell without quotes", "the whole cell in quotes", twice)
	}
	return audit.Fault(fmt.Sprintf("%s, line %d", r.what, p.StartLine), fmt.Sprintf("with a quote that is not closed, or with text after a closing quote (seen in line %d, character %d)", p.Line, p.Column),
		"quoted cells that end before the separator or the end of the line", twice)
}

// Each reads a whole text. record gets the line in which a record begins, and its cells, valid
// until it returns; not one of a single empty cell.
func Each(what string, text []byte, separator byte, trim bool, record func(line int, cells []string) error) error {
	r := NewReader(what, bytes.NewReader(bytes.TrimPrefix(text, []byte("\uFEFF"))), separator, trim)
	for {
		cells, err := r.Read()
		if err == nil && (len(cells) > 1 || cells[0] != "") {
			err = record(r.Line, cells)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
