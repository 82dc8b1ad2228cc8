package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
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
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d, character %d", s.what, line, column), Found: found, Want: want}
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
			k, ok := s.expectedKey(r.plain, len(r.keys))
			if !ok {
				if k, err = s.key(); err != nil {
					return object, err
				}
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

// expectedKey takes key number i if it stands here as in the first row; plain
// holds the keys with quotes and colon.
func (s *jsonScanner) expectedKey(plain [][]byte, i int) ([]byte, bool) {
	if i >= len(plain) {
		return nil, false
	}
	k := plain[i]
	if k == nil || !bytes.HasPrefix(s.data[s.at:], k) {
		return nil, false
	}
	s.at += len(k)
	return k[1 : len(k)-2], true
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
	n := numberLength(s.data[from:])
	end := from + n
	for end < len(s.data) && numberByte[s.data[end]] {
		end++
	}
	if n > 0 && end == from+n {
		s.at = end
		return s.data[from:end], nil
	}
	if end == len(s.data) && end > from {
		return nil, s.fault(from, "a number or a string, whole")
	}
	return nil, s.fault(from, "a number or a string")
}

var numberByte = func() (t [256]bool) {
	for _, c := range "+-.0123456789eE" {
		t[c] = true
	}
	return t
}()

// numberLength is the length of the number that b begins with, as JSON writes
// numbers; 0 if it begins with none.
func numberLength(b []byte) int {
	at := 0
	if len(b) > 0 && b[0] == '-' {
		at = 1
	}
	end := digits(b, at)
	if end == at || b[at] == '0' && end > at+1 {
		return 0
	}
	if end < len(b) && b[end] == '.' {
		at = end + 1
		if end = digits(b, at); end == at {
			return 0
		}
	}
	if end < len(b) && (b[end] == 'e' || b[end] == 'E') {
		if at = end + 1; at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		if end = digits(b, at); end == at {
			return 0
		}
	}
	return end
}

// digits is where the digits end that begin at an offset.
func digits(b []byte, at int) int {
	for at < len(b) && b[at] >= '0' && b[at] <= '9' {
		at++
	}
	return at
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
