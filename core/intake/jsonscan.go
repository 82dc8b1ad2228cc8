package intake

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/core"
)

// jsonScanner scans values.
type jsonScanner struct {
	what   string
	line   int // number of the first line
	data   []byte
	at     int
	nested bool // an array or object was met where a value belongs, or a row is not complete

	lineAt, lines int // line counting up to lineAt
	progress      func(float64) error
	told          int
}

// position is the line and the column, in bytes, of an offset. Calls with
// growing offsets cost one pass in all.
func (s *jsonScanner) position(at int) (line, column int) {
	at = min(at, len(s.data))
	if at < s.lineAt {
		s.lineAt, s.lines = 0, 0
	}
	s.lines += bytes.Count(s.data[s.lineAt:at], []byte{'\n'})
	s.lineAt = at
	return s.line + s.lines, at - bytes.LastIndexByte(s.data[:at], '\n')
}

func (s *jsonScanner) place(at int) string {
	line, column := s.position(at)
	if at == 0 {
		return fmt.Sprintf("%s, line %d", s.what, line)
	}
	return fmt.Sprintf("%s, line %d, character %d", s.what, line, column)
}

// fault says what stands at an offset and what belongs there.
func (s *jsonScanner) fault(at int, want string) error {
	found := "the end"
	if at < len(s.data) {
		end := at
		for end < len(s.data) && end < at+20 && s.data[end] != '\n' {
			end++
		}
		found = quoted(s.data[at:end])
	} else {
		s.nested = true
	}
	line, column := s.position(at)
	return &core.InputError{Field: fmt.Sprintf("%s, line %d, character %d", s.what, line, column), Found: found, Want: want}
}

func (s *jsonScanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// more goes to the next element of an array or object, or past its end.
func (s *jsonScanner) more(end byte, first bool) (done bool, err error) {
	if s.progress != nil && s.at-s.told > 1<<20 {
		s.told = s.at
		if err := s.progress(float64(s.at) / float64(len(s.data))); err != nil {
			return false, err
		}
	}
	s.space()
	switch c := s.peek(); {
	case c == end:
		s.at++
		return true, nil
	case first:
		return false, nil
	case c == ',':
		s.at++
		s.space()
		if s.peek() == end {
			return false, s.fault(s.at, "another element after the comma")
		}
		return false, nil
	}
	return false, s.fault(s.at, fmt.Sprintf("a comma or %q", end))
}

// row scans an object, an array or a value into the reader's cells, and for an
// object its keys. Cells share memory with data.
func (s *jsonScanner) row(r *jsonReader) (object bool, err error) {
	r.cells, r.keys = r.cells[:0], r.keys[:0]
	s.space()
	open := s.peek()
	if open != '{' && open != '[' {
		c, err := s.value()
		r.cells = append(r.cells, c)
		return false, err
	}
	object = open == '{'
	end := open + 2 // ] or }
	s.at++
	for first := true; ; first = false {
		done, err := s.more(end, first)
		if err != nil {
			return object, err
		}
		if done {
			return object, nil
		}
		if object {
			k, err := s.key()
			if err != nil {
				return object, err
			}
			r.keys = append(r.keys, k)
		}
		c, err := s.value()
		if err != nil {
			return object, err
		}
		if r.cells = append(r.cells, c); len(r.cells) > MaxColumns {
			s.nested = true
			return object, s.fault(s.at, fmt.Sprintf("at most %d values in a row", MaxColumns))
		}
	}
}

func (s *jsonScanner) key() ([]byte, error) {
	s.space()
	if s.peek() != '"' {
		return nil, s.fault(s.at, "a key in double quotes")
	}
	k, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.space(); s.peek() != ':' {
		return nil, s.fault(s.at, "a colon")
	}
	s.at++
	return k, nil
}

var jsonWords = []struct{ word, cell string }{
	{"true", "1"}, {"false", "0"}, {"NaN", "NaN"}, {"Infinity", "Infinity"}, {"-Infinity", "-Infinity"},
}

// value scans a number, a string or a word.
func (s *jsonScanner) value() ([]byte, error) {
	s.space()
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '{' || c == '[':
		s.nested = true
		return nil, s.fault(s.at, "a number or a string")
	}
	from := s.at
	if c := s.peek(); c > '9' || c == '-' && s.at+1 < len(s.data) && s.data[s.at+1] == 'I' {
		for _, w := range jsonWords {
			if bytes.HasPrefix(s.data[s.at:], []byte(w.word)) {
				s.at += len(w.word)
				return []byte(w.cell), nil
			}
		}
	}
	for s.at < len(s.data) && numberByte[s.data[s.at]] {
		s.at++
	}
	cell := s.data[from:s.at]
	if !jsonNumber(cell) {
		at := s.at
		s.at = from
		if at == len(s.data) && at > from {
			return nil, s.fault(from, "a number or a string, whole")
		}
		return nil, s.fault(from, "a number or a string")
	}
	return cell, nil
}

var numberByte = func() (t [256]bool) {
	for _, c := range "+-.0123456789eE" {
		t[c] = true
	}
	return t
}()

// jsonNumber reports whether b is a number as JSON writes it.
func jsonNumber(b []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(b) && b[n] >= '0' && b[n] <= '9' {
			n++
		}
		b = b[n:]
		return n > 0
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	zero := len(b) > 1 && b[0] == '0' && b[1] >= '0' && b[1] <= '9'
	if zero || !digits() {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		if b = b[1:]; !digits() {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		if b = b[1:]; len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(b) == 0
}

// text scans a string. It shares memory with data where nothing is escaped.
func (s *jsonScanner) text() ([]byte, error) {
	from := s.at
	escaped := false
	for i := from + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			raw := s.data[from:s.at]
			if !escaped && binaryByte(raw) < 0 {
				return raw[1 : len(raw)-1], nil
			}
			if escaped && bytes.Contains(raw, []byte(`\u0000`)) {
				return nil, s.fault(from, "a string without NUL")
			}
			var out string
			if err := json.Unmarshal(raw, &out); err != nil {
				s.at = from
				return nil, s.fault(from, "a string of JSON")
			}
			return []byte(out), nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return nil, s.fault(from, "a string that ends on its line")
		}
	}
	s.nested = true
	return nil, s.fault(from, "a string with its closing quote")
}
