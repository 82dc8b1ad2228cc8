package recorded

import (
	"bytes"
	"fmt"

	"github.com/dpscope/dpscope/mechanisms/recorded/jsonscan"
)

// jsonScanner scans rows of values.
type jsonScanner struct {
	jsonscan.Scanner
	nested bool // an array or object was met where a value belongs

	progress func(float64) error
	told     int
}

// rowPlace names the line in which a row begins.
func (s *jsonScanner) rowPlace() string { return fmt.Sprintf("%s, line %d", s.What, s.Line) }

// more is [jsonscan.Scanner.More], and tells of progress.
func (s *jsonScanner) more(end byte, first bool) (done bool, err error) {
	if s.progress != nil && s.At-s.told > 1<<20 {
		s.told = s.At
		if err := s.progress(float64(s.At) / float64(len(s.Data))); err != nil {
			return false, err
		}
	}
	return s.More(end, first)
}

// row scans an object, an array or a value into the reader's cells, and for an
// object its keys. Cells share memory with data.
func (s *jsonScanner) row(r *jsonReader) (object bool, err error) {
	r.cells, r.keys = r.cells[:0], r.keys[:0]
	s.Space()
	open := s.Peek()
	if open != '{' && open != '[' {
		c, err := s.value()
		r.cells = append(r.cells, c)
		return false, err
	}
	object = open == '{'
	end := open + 2 // ] or }
	s.At++
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
			return object, s.Fault(s.At, fmt.Sprintf("at most %d values in a row", MaxColumns))
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
	if k == nil || !bytes.HasPrefix(s.Data[s.At:], k) {
		return nil, false
	}
	s.At += len(k)
	return k[1 : len(k)-2], true
}

// key is [jsonscan.Scanner.Key] without NUL.
func (s *jsonScanner) key() ([]byte, error) {
	s.Space()
	from := s.At
	k, err := s.Key()
	if err == nil && bytes.IndexByte(k, 0) >= 0 {
		err = s.Fault(from, "a string without NUL")
	}
	return k, err
}

// jsonWords are words that are values, and jsonCells their cells.
var (
	jsonWords = []string{"true", "false", "NaN", "Infinity", "-Infinity"}
	jsonCells = [][]byte{[]byte("1"), []byte("0"), []byte("NaN"), []byte("Infinity"), []byte("-Infinity")}
)

// value scans a number, a string or a word.
func (s *jsonScanner) value() ([]byte, error) {
	s.Space()
	from := s.At
	switch c := s.Peek(); {
	case c == '"':
		text, err := s.Text()
		if err == nil && bytes.IndexByte(text, 0) >= 0 {
			err = s.Fault(from, "a string without NUL")
		}
		return text, err
	case c == '{' || c == '[':
		s.nested = true
		return nil, s.Fault(from, "a number or a string")
	case c > '9' || c == '-' && from+1 < len(s.Data) && s.Data[from+1] == 'I':
		if i := s.Word(jsonWords); i >= 0 {
			return jsonCells[i], nil
		}
	}
	number := s.Number()
	if len(number) > 0 && jsonscan.NumberLength(number) == len(number) {
		return number, nil
	}
	if s.At == len(s.Data) && len(number) > 0 {
		return nil, s.Fault(from, "a number or a string, whole")
	}
	return nil, s.Fault(from, "a number or a string")
}
