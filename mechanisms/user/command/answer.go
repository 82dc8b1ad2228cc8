package command

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/recorded/jsonscan"
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
	failed         // the run failed; the word says why
)

// refusal is the error of a run that failed.
func refusal[T string | []byte](why T) error {
	return &user.Failed{Err: fmt.Errorf("it refuses the request: %s", why)}
}

var errOutput = errors.New(`an output is a number, a word, an array of these, or {"error": "..."}`)

// scanner reads an answer.
type scanner struct {
	jsonscan.Scanner
	cells  []cell
	frames bool // are offered
}

// offersFrames reports whether a first answer offers frames.
func offersFrames(line []byte) bool {
	if !bytes.Contains(line, []byte(`"frames"`)) {
		return false
	}
	s := &scanner{Scanner: jsonscan.Scanner{What: "its answer", Data: line}}
	s.Space()
	if s.Peek() != '{' {
		return false
	}
	_, err := s.object(func(int, []cell) error { return nil })
	return err == nil && s.frames
}

// scan reads an answer and calls row for each output; cells are valid until the
// next one.
func scan(line []byte, row func(i int, cells []cell) error) (rows int, err error) {
	s := &scanner{Scanner: jsonscan.Scanner{What: "its answer", Data: line}}
	s.Space()
	switch s.Peek() {
	case '[':
		rows, err = s.rows(row)
	case '{':
		rows, err = s.object(row)
	default:
		return 0, &audit.InputError{Field: "what it printed", Found: shown(line), Want: `an answer: {"outputs": [...]}, or the array alone`,
			Remedy: "write everything else to standard error"}
	}
	if err != nil {
		return rows, err
	}
	return rows, s.End("line")
}

// shown is the beginning of what was printed.
func shown(b []byte) string {
	if len(b) > shownBytes {
		return fmt.Sprintf("%q... (%d bytes)", b[:shownBytes], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// object reads {"outputs": [...]} or {"error": "..."}.
func (s *scanner) object(row func(int, []cell) error) (rows int, err error) {
	s.At++
	found := false
	for first := true; ; first = false {
		done, err := s.More('}', first)
		if err != nil {
			return rows, err
		}
		if done {
			break
		}
		from := s.At
		key, err := s.Key()
		if err != nil {
			return rows, err
		}
		s.Space()
		switch {
		case string(key) == "error":
			why, err := s.value()
			if err != nil {
				return rows, err
			}
			return rows, refusal(why.text())
		case string(key) == "frames":
			if v, err := s.value(); err != nil || v.form != numeral || v.value != framesVersion {
				return rows, s.Fault(from, fmt.Sprintf("frames of version %d, which %s names", framesVersion, FramesVariable))
			}
			s.frames = true
			continue
		case string(key) != "outputs" || found:
			return rows, s.Fault(from, `the one key "outputs"`)
		case s.Peek() != '[':
			return rows, s.Fault(s.At, "an array of outputs")
		}
		found = true
		if rows, err = s.rows(row); err != nil {
			return rows, err
		}
	}
	if !found {
		return 0, s.Fault(s.At-1, `the key "outputs"`)
	}
	return rows, nil
}

// rows reads an array of outputs.
func (s *scanner) rows(row func(int, []cell) error) (n int, err error) {
	s.At++
	for ; ; n++ {
		done, err := s.More(']', n == 0)
		if err != nil || done {
			return n, err
		}
		s.cells = s.cells[:0]
		if s.Peek() == '{' {
			_, err := s.object(func(int, []cell) error { return errOutput })
			f := new(user.Failed)
			if !errors.As(err, &f) {
				return n, cmp.Or(err, errOutput)
			}
			if done, err := s.More('}', false); err != nil || !done {
				return n, cmp.Or(err, errOutput)
			}
			s.cells = append(s.cells, cell{form: failed, word: []byte(f.Error())})
		} else if s.Peek() != '[' {
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
	s.At++
	for {
		done, err := s.More(']', len(s.cells) == 0)
		if err != nil || done {
			return err
		}
		if len(s.cells) == user.MostColumns {
			return s.Fault(s.At, fmt.Sprintf("at most %d values an output", user.MostColumns))
		}
		c, err := s.value()
		if err != nil {
			return err
		}
		s.cells = append(s.cells, c)
	}
}

// literals are words that are values, and literalCells their cells.
var (
	literals     = []string{"true", "false", "null", "NaN", "Infinity", "-Infinity"}
	literalCells = []cell{
		{form: truth, value: 1, word: []byte("true")},
		{form: truth, value: 0, word: []byte("false")},
		{form: text, word: []byte("null")},
		{form: nonFinite, value: math.NaN(), word: []byte("NaN")},
		{form: nonFinite, value: math.Inf(1), word: []byte("+Inf")},
		{form: nonFinite, value: math.Inf(-1), word: []byte("-Inf")},
	}
)

// value reads a number, a string or a word.
func (s *scanner) value() (cell, error) {
	from := s.At
	switch c := s.Peek(); {
	case c == '"':
		w, err := s.Text()
		return cell{form: text, word: w}, err
	case c >= '0' && c <= '9', c == '-' && !bytes.HasPrefix(s.Data[from:], []byte("-I")):
		digits := s.Number()
		v, err := strconv.ParseFloat(string(digits), 64)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
		case recorded.Rounds(string(digits), v):
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
		if i := s.Word(literals); i >= 0 {
			return literalCells[i], nil
		}
	}
	s.At = from
	return cell{}, s.Fault(from, "a number, a string, true, false or null")
}
