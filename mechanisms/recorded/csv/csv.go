// Package csv cuts comma-separated text into cells, as of RFC 4180, with lines that
// end in LF or CRLF: cells with separators, quotes or line ends stand in double
// quotes, quotes in them are doubled. It takes text in chunks, which package
// encoding/csv does not, and tells where a fault is.
package csv

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// Separator tells by its first line what separates the cells of a text: a tab if
// the line has one, else a comma, else a semicolon.
func Separator(line []byte) byte {
	for _, c := range []byte{'\t', ',', ';'} {
		if bytes.IndexByte(line, c) >= 0 {
			return c
		}
	}
	return ','
}

// ErrLong is that a record is too long.
var ErrLong = errors.New("csv: the record is too long")

// Reader cuts records into cells.
type Reader struct {
	What      string // names the text in errors
	Separator byte
	Trim      bool // blanks before a cell are no part of it
	Longest   int  // bytes of a record with the end of its line, or [ErrLong]; 0: any
	Line      int  // number of the line in which the record begins that comes next

	cells    [][]byte
	unquoted []byte // text of the cells, where it had to be copied
}

// Each reads a whole text, with or without a byte order mark. Record gets the
// number of the line in which a record begins, from 1, and its cells, valid until
// it returns; a blank line is a record of one empty cell.
func (r *Reader) Each(text []byte, record func(line int, cells [][]byte) error) error {
	r.Line = 1
	_, err := r.Records(bytes.TrimPrefix(text, []byte("\uFEFF")), true, func(cells [][]byte) error { return record(r.Line, cells) })
	return err
}

// Records calls record for every complete record of data, and with end also for one
// that no line end closes; cells are valid until it returns. It returns how many
// bytes it took.
func (r *Reader) Records(data []byte, end bool, record func(cells [][]byte) error) (int, error) {
	at := 0
	for at < len(data) {
		n := bytes.IndexByte(data[at:], '\n')
		size := n + 1
		if n < 0 {
			if !end {
				return at, nil
			}
			n = len(data) - at
			size = n
		}
		line := data[at : at+n]
		lines := 1
		if bytes.IndexByte(line, '"') >= 0 {
			took, crossed, whole, err := r.quoted(data[at:], end)
			if err != nil {
				return at, err
			}
			if !whole {
				return at, nil
			}
			size, lines = took, crossed
		} else {
			if n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			if bytes.IndexByte(line, '\r') >= 0 {
				return at, &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.What, r.Line), Found: "with a carriage return in it", Want: "ended by LF or CRLF", Remedy: "save the file with one of these ends of lines, or put a cell with a carriage return in quotes"}
			}
			r.split(line)
		}
		if r.Longest > 0 && size > r.Longest {
			return at, ErrLong
		}
		if err := record(r.cells); err != nil {
			return at, err
		}
		r.Line += lines
		at += size
	}
	return at, nil
}

// split cuts a line without quotes into cells.
func (r *Reader) split(line []byte) {
	r.cells = r.cells[:0]
	for {
		if r.Trim {
			line = line[r.blanks(line):]
		}
		i := bytes.IndexByte(line, r.Separator)
		if i < 0 {
			break
		}
		r.cells = append(r.cells, line[:i])
		line = line[i+1:]
	}
	r.cells = append(r.cells, line)
}

// blanks is how many blanks a cell begins with.
func (r *Reader) blanks(b []byte) int {
	n := 0
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') && b[n] != r.Separator {
		n++
	}
	return n
}

// quoted cuts a record with quotes into cells. It returns how many bytes
// and lines it took, and whole = false if its end is not there yet.
func (r *Reader) quoted(data []byte, end bool) (took, lines int, whole bool, err error) {
	r.cells, r.unquoted = r.cells[:0], r.unquoted[:0]
	type span struct{ from, to int }
	var spans []span
	at, lines := 0, 1
	fail := func(found, want, remedy string) error {
		return &audit.InputError{Field: fmt.Sprintf("%s, line %d, column %d", r.What, r.Line+lines-1, len(spans)+1), Found: found, Want: want, Remedy: remedy}
	}
	for {
		from := len(r.unquoted)
		if r.Trim {
			at += r.blanks(data[at:])
		}
		if at < len(data) && data[at] == '"' {
			opened := lines
			at++
			for {
				i := bytes.IndexByte(data[at:], '"')
				if i < 0 || at+i+1 == len(data) && !end {
					if !end {
						return 0, 0, false, nil
					}
					if i < 0 {
						lines = opened
						return 0, 0, false, fail("a quote that is not closed", "a closing quote before the end of the file", "a quote inside a quoted cell is written twice")
					}
				}
				lines += bytes.Count(data[at:at+i], []byte{'\n'})
				r.unquoted = append(r.unquoted, data[at:at+i]...)
				at += i + 1
				if at < len(data) && data[at] == '"' {
					r.unquoted = append(r.unquoted, '"')
					at++
					continue
				}
				break
			}
			if at < len(data) && data[at] != r.Separator && data[at] != '\n' && data[at] != '\r' {
				return 0, 0, false, fail(fmt.Sprintf("%q after a closing quote", data[at:at+1]), "the separator or the end of the line", "a quote inside a quoted cell is written twice")
			}
		} else {
			for at < len(data) && data[at] != r.Separator && data[at] != '\n' {
				if data[at] == '"' {
					return 0, 0, false, fail("a quote inside a cell without quotes", "the whole cell in quotes", "a quote inside a quoted cell is written twice")
				}
				r.unquoted = append(r.unquoted, data[at])
				at++
			}
		}
		to := len(r.unquoted)
		if at < len(data) && data[at] == '\r' { // after a quoted cell
			if at+1 == len(data) && !end {
				return 0, 0, false, nil
			}
			if at+1 < len(data) && data[at+1] != '\n' {
				return 0, 0, false, fail("a carriage return after a closing quote", "the separator or the end of the line", "")
			}
			at++
		} else if to > from && r.unquoted[to-1] == '\r' && (at == len(data) || data[at] == '\n') && data[at-1] == '\r' {
			to--
		}
		spans = append(spans, span{from, to})
		if at == len(data) {
			if !end {
				return 0, 0, false, nil
			}
			break
		}
		at++
		if data[at-1] == '\n' {
			break
		}
	}
	for _, s := range spans {
		r.cells = append(r.cells, r.unquoted[s.from:s.to])
	}
	return at, lines, true, nil
}
