package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user"
)

// cell is one value of an output.
type cell struct {
	form  form
	value float64 // of a number; 1 and 0 for true and false
	word  []byte  // of all but a numeral
}

type form uint8

const (
	numeral   form = iota
	nonFinite      // NaN, an infinity, or a number beyond float64
	truth          // true or false
	text           // a string, or null
	long           // a whole number that float64 would round
)

// scanner reads an answer.
type scanner struct {
	data  []byte
	at    int
	cells []cell
}

// scan reads an answer and calls row for each output; cells are valid until the
// next one.
func scan(line []byte, row func(i int, cells []cell) error) (rows int, err error) {
	s := &scanner{data: line}
	s.space()
	switch s.peek() {
	case '[':
		rows, err = s.rows(row)
	case '{':
		rows, err = s.object(row)
	default:
		return 0, &audit.InputError{Field: "what it printed", Found: shown(line), Want: `an answer: {"outputs": [...]}, or the array alone`,
			Remedy: "what is not an answer belongs on standard error"}
	}
	if err != nil {
		return rows, err
	}
	if s.space(); s.at < len(s.data) {
		return rows, s.fault(s.at, "the end of the line")
	}
	return rows, nil
}

// shown is the beginning of what was printed.
func shown(b []byte) string {
	if len(b) > shownBytes {
		return fmt.Sprintf("%q... (%d bytes)", b[:shownBytes], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// fault says what stands at an offset and what belongs there.
func (s *scanner) fault(at int, want string) error {
	found := "the end of the line"
	if at < len(s.data) {
		found = shown(s.data[at:])
	}
	return &audit.InputError{Field: fmt.Sprintf("its answer, byte %d", at+1), Found: found, Want: want}
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

// next goes past the comma before an element, or past the end of the list.
func (s *scanner) next(end byte, first bool) (done bool, err error) {
	s.space()
	switch c := s.peek(); {
	case c == end && c != 0:
		s.at++
		return true, nil
	case first:
		return false, nil
	case c == ',':
		s.at++
		s.space()
		return false, nil
	}
	return false, s.fault(s.at, fmt.Sprintf("a comma or %c", end))
}

// object reads {"outputs": [...]} or {"error": "..."}.
func (s *scanner) object(row func(int, []cell) error) (rows int, err error) {
	s.at++
	found := false
	for first := true; ; first = false {
		done, err := s.next('}', first)
		if err != nil {
			return rows, err
		}
		if done {
			break
		}
		from := s.at
		if s.peek() != '"' {
			return rows, s.fault(from, "a key in double quotes")
		}
		key, err := s.text()
		if err != nil {
			return rows, err
		}
		if s.space(); s.peek() != ':' {
			return rows, s.fault(s.at, "a colon")
		}
		s.at++
		s.space()
		switch {
		case string(key) == "error":
			why, err := s.value()
			if err != nil {
				return rows, err
			}
			return rows, fmt.Errorf("it refuses the request: %s", why.word)
		case string(key) != "outputs" || found:
			return rows, s.fault(from, `the one key "outputs"`)
		case s.peek() != '[':
			return rows, s.fault(s.at, "an array of outputs")
		}
		found = true
		if rows, err = s.rows(row); err != nil {
			return rows, err
		}
	}
	if !found {
		return 0, s.fault(s.at-1, `the key "outputs"`)
	}
	return rows, nil
}

// rows reads an array of outputs.
func (s *scanner) rows(row func(int, []cell) error) (n int, err error) {
	s.at++
	for ; ; n++ {
		done, err := s.next(']', n == 0)
		if err != nil || done {
			return n, err
		}
		s.cells = s.cells[:0]
		if s.peek() != '[' {
			c, err := s.value()
			if err != nil {
				return n, err
			}
			s.cells = append(s.cells, c)
		} else if err := s.columns(); err != nil {
			return n, err
		}
		if err := row(n, s.cells); err != nil {
			return n, err
		}
	}
}

// columns reads one output of several columns.
func (s *scanner) columns() error {
	s.at++
	for {
		done, err := s.next(']', len(s.cells) == 0)
		if err != nil || done {
			return err
		}
		if len(s.cells) == user.MostColumns {
			return s.fault(s.at, fmt.Sprintf("at most %d values an output", user.MostColumns))
		}
		c, err := s.value()
		if err != nil {
			return err
		}
		s.cells = append(s.cells, c)
	}
}

var literals = []struct {
	text string
	cell cell
}{
	{"true", cell{form: truth, value: 1, word: []byte("true")}},
	{"false", cell{form: truth, value: 0, word: []byte("false")}},
	{"null", cell{form: text, word: []byte("null")}},
	{"NaN", cell{form: nonFinite, value: math.NaN(), word: []byte("NaN")}},
	{"Infinity", cell{form: nonFinite, value: math.Inf(1), word: []byte("+Inf")}},
	{"-Infinity", cell{form: nonFinite, value: math.Inf(-1), word: []byte("-Inf")}},
}

// value reads a number, a string or a word.
func (s *scanner) value() (cell, error) {
	from := s.at
	switch c := s.peek(); {
	case c == '"':
		w, err := s.text()
		return cell{form: text, word: w}, err
	case c >= '0' && c <= '9', c == '-' && !bytes.HasPrefix(s.data[from:], []byte("-I")):
		for s.at < len(s.data) && numberByte[s.data[s.at]] {
			s.at++
		}
		digits := s.data[from:s.at]
		v, err := strconv.ParseFloat(string(digits), 64)
		_, low, whole := recorded.Whole(digits, v)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
		case low != 0 || !whole:
			if before, after, _ := bytes.Cut(digits, []byte{'.'}); len(bytes.Trim(after, "0")) == 0 {
				digits = before // 9007199254740993.0 is the same number
			}
			return cell{form: long, value: v, word: digits}, nil
		case err == nil:
			return cell{value: v + 0}, nil // no negative zero: it equals zero
		case math.IsInf(v, 1):
			return cell{form: nonFinite, value: v, word: []byte("+Inf")}, nil
		case math.IsInf(v, -1):
			return cell{form: nonFinite, value: v, word: []byte("-Inf")}, nil
		}
	default:
		for _, l := range literals {
			if bytes.HasPrefix(s.data[s.at:], []byte(l.text)) {
				s.at += len(l.text)
				return l.cell, nil
			}
		}
	}
	s.at = from
	return cell{}, s.fault(from, "a number, a string, true, false or null")
}

var numberByte = func() (t [256]bool) {
	for _, c := range "+-.0123456789eE" {
		t[c] = true
	}
	return t
}()

// text reads a string. It shares memory with the answer where nothing is escaped.
func (s *scanner) text() ([]byte, error) {
	from := s.at
	plain := true
	for i := from + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			raw := s.data[from : i+1]
			if s.at = i + 1; plain && utf8.Valid(raw) {
				return raw[1 : len(raw)-1], nil
			}
			var out string
			if err := json.Unmarshal(raw, &out); err != nil {
				return nil, s.fault(from, "a string of JSON")
			}
			return []byte(out), nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			plain = false
		}
	}
	return nil, s.fault(from, "a string with its closing quote")
}
