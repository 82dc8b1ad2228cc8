// Package jsonscan scans JSON piece by piece, without making values of what is
// scanned: for files and answers whose numbers are as many as the outputs of an
// audit. It takes NaN and the infinities, as Python writes them, where its caller
// does, and tells where a fault is.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

// Scanner goes through a text.
type Scanner struct {
	What string // names the text in errors
	Line int    // number of the first line; 0: it is the only one, and errors do not name it
	Data []byte
	At   int

	// Short: the data ended before what was scanned did.
	Short bool

	lineAt, lines int // line counting up to lineAt
}

// Position is the line and the column, in bytes, of an offset. Calls with
// growing offsets cost one pass in all.
func (s *Scanner) Position(at int) (line, column int) {
	at = min(at, len(s.Data))
	if at < s.lineAt {
		s.lineAt, s.lines = 0, 0
	}
	s.lines += bytes.Count(s.Data[s.lineAt:at], []byte{'\n'})
	s.lineAt = at
	return s.Line + s.lines, at - bytes.LastIndexByte(s.Data[:at], '\n')
}

// Place names an offset.
func (s *Scanner) Place(at int) string {
	if s.Line == 0 {
		return fmt.Sprintf("%s, character %d", s.What, at+1)
	}
	line, column := s.Position(at)
	return fmt.Sprintf("%s, line %d, character %d", s.What, line, column)
}

// Fault says what stands at an offset and what belongs there.
func (s *Scanner) Fault(at int, want string) error {
	found := "the end"
	if at < len(s.Data) {
		line, _, _ := bytes.Cut(s.Data[at:], []byte{'\n'})
		if found = fmt.Sprintf("%q", line); len(line) > 20 {
			found = fmt.Sprintf("%q...", line[:20])
		}
	} else {
		s.Short = true
	}
	return &audit.InputError{Field: s.Place(at), Found: found, Want: want}
}

// Space goes past blanks and line ends.
func (s *Scanner) Space() {
	for s.At < len(s.Data) {
		switch s.Data[s.At] {
		case ' ', '\t', '\r', '\n':
			s.At++
		default:
			return
		}
	}
}

// Peek is the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.At < len(s.Data) {
		return s.Data[s.At]
	}
	return 0
}

// End wants nothing more but blanks.
func (s *Scanner) End(what string) error {
	if s.Space(); s.At < len(s.Data) {
		return s.Fault(s.At, "the end of the "+what)
	}
	return nil
}

// More goes to the next element of an array or object, or past its end.
func (s *Scanner) More(end byte, first bool) (done bool, err error) {
	s.Space()
	switch c := s.Peek(); {
	case c == end:
		s.At++
		return true, nil
	case first:
		return false, nil
	case c == ',':
		s.At++
		s.Space()
		if s.Peek() == end {
			return false, s.Fault(s.At, "another element after the comma")
		}
		return false, nil
	}
	return false, s.Fault(s.At, fmt.Sprintf("a comma or %q", end))
}

// Key takes the key of an object's element, and the colon.
func (s *Scanner) Key() ([]byte, error) {
	s.Space()
	if s.Peek() != '"' {
		return nil, s.Fault(s.At, "a key in double quotes")
	}
	k, err := s.Text()
	if err != nil {
		return nil, err
	}
	if s.Space(); s.Peek() != ':' {
		return nil, s.Fault(s.At, "a colon")
	}
	s.At++
	return k, nil
}

// Word takes the first of some words that stands here, and returns its number; -1
// for none.
func (s *Scanner) Word(words []string) int {
	for i, w := range words {
		if s.At+len(w) <= len(s.Data) && string(s.Data[s.At:s.At+len(w)]) == w {
			s.At += len(w)
			return i
		}
	}
	return -1
}

var numberByte = func() (t [256]bool) {
	for _, c := range "+-.0123456789eE" {
		t[c] = true
	}
	return t
}()

// Number takes what stands here of the letters of numbers. Whether it is one is
// for the caller to say, see [NumberLength].
func (s *Scanner) Number() []byte {
	from := s.At
	for s.At < len(s.Data) && numberByte[s.Data[s.At]] {
		s.At++
	}
	return s.Data[from:s.At]
}

// NumberLength is the length of the number that b begins with, as JSON writes
// numbers; 0 if it begins with none.
func NumberLength(b []byte) int {
	at := 0
	if len(b) > 0 && b[0] == '-' {
		at = 1
	}
	end := Digits(b, at)
	if end == at || b[at] == '0' && end > at+1 {
		return 0
	}
	if end < len(b) && b[end] == '.' {
		at = end + 1
		if end = Digits(b, at); end == at {
			return 0
		}
	}
	if end < len(b) && (b[end] == 'e' || b[end] == 'E') {
		if at = end + 1; at < len(b) && (b[at] == '+' || b[at] == '-') {
			at++
		}
		if end = Digits(b, at); end == at {
			return 0
		}
	}
	return end
}

// Digits is where the digits end that begin at an offset.
func Digits(b []byte, at int) int {
	for at < len(b) && b[at] >= '0' && b[at] <= '9' {
		at++
	}
	return at
}

// Text takes a string. It shares memory with the data where nothing is escaped.
func (s *Scanner) Text() ([]byte, error) {
	from := s.At
	escaped := false
	for i := from + 1; i < len(s.Data); i++ {
		switch c := s.Data[i]; {
		case c == '"':
			s.At = i + 1
			raw := s.Data[from:s.At]
			if !escaped && utf8.Valid(raw) {
				return raw[1 : len(raw)-1], nil
			}
			var out string
			if err := json.Unmarshal(raw, &out); err != nil {
				s.At = from
				return nil, s.Fault(from, "a string of JSON")
			}
			return []byte(out), nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return nil, s.Fault(from, "a string that ends on its line")
		}
	}
	s.Short = true
	return nil, s.Fault(from, "a string with its closing quote")
}
