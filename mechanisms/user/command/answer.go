package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded"
	"github.com/dpscope/dpscope/mechanisms/user"
)

type cell struct {
	form  form
	value float64 // of a number; 1 and 0 for true and false
	word  string  // of all but a numeral
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
func refusal(why string) error {
	return &user.Failed{Err: fmt.Errorf("it refuses the request: %s", why)}
}

const (
	wantValue  = "a number, a string, true, false or null"
	wantOutput = `a number, a word, an array of these, or {"error": "..."}`
)

// scanner reads an answer, which is JSON but for NaN and infinities, as Python writes them.
type scanner struct {
	in     *json.Decoder
	line   []byte
	from   int64 // end of the token before the last one
	cells  []cell
	frames bool // are offered
}

// newScanner reads a line. In what the decoder reads, numbers of the same length stand for
// NaN and the infinities: [scanner.number] looks into the line.
func newScanner(line []byte) *scanner {
	data := line
	if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
		data = bytes.Clone(line)
		quoted := false
		for i := 0; i < len(data); i++ {
			switch rest := data[i:]; {
			case quoted && rest[0] == '\\':
				i++
			case rest[0] == '"':
				quoted = !quoted
			case !quoted && isWord(data, i, "NaN"):
				copy(rest, "0e0")
			case !quoted && isWord(data, i, "Infinity"):
				copy(rest, "1e999999")
			}
		}
	}
	s := &scanner{in: json.NewDecoder(bytes.NewReader(data)), line: line}
	s.in.UseNumber()
	return s
}

// isWord reports whether a word stands there in a line, and not within something longer.
func isWord(line []byte, at int, word string) bool {
	rest, found := bytes.CutPrefix(line[at:], []byte(word))
	return found && (at == 0 || bytes.IndexByte([]byte(" \t\r\n[,:-"), line[at-1]) >= 0) &&
		(len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n],}"), rest[0]) >= 0)
}

// next is the next token, which has to be what is wanted.
func (s *scanner) next(want string) (json.Token, error) {
	s.from = s.in.InputOffset()
	t, err := s.in.Token()
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return nil, s.fault("JSON: " + syntax.Error())
	}
	if err != nil {
		return nil, s.fault(want + ", and the rest of its answer")
	}
	return t, nil
}

// fault says what stands where the last token begins, and what belongs there.
func (s *scanner) fault(want string) error {
	at := int(s.from)
	for at < len(s.line) && strings.IndexByte(" \t\r,:", s.line[at]) >= 0 {
		at++
	}
	found := "the end"
	if rest := s.line[at:]; len(rest) > 20 {
		found = fmt.Sprintf("%q...", rest[:20])
	} else if len(rest) > 0 {
		found = fmt.Sprintf("%q", rest)
	}
	return &audit.InputError{Field: fmt.Sprintf("its answer, character %d", at+1), Found: found, Want: want}
}

func (s *scanner) end() error {
	s.from = s.in.InputOffset()
	if _, err := s.in.Token(); !errors.Is(err, io.EOF) {
		return s.fault("the end of the line")
	}
	return nil
}

func offersFrames(line []byte) bool {
	if !bytes.Contains(line, []byte(`"frames"`)) {
		return false
	}
	s := newScanner(line)
	if t, err := s.next(""); err != nil || t != json.Delim('{') {
		return false
	}
	_, err := s.object(func(int, []cell) error { return nil })
	return err == nil && s.frames
}

// scan reads an answer and calls row for each output; cells are valid until the next one.
func scan(line []byte, row func(i int, cells []cell) error) (rows int, err error) {
	if outputs, width := numbers(line); width > 0 {
		cells := make([]cell, width)
		for ; len(outputs) > 0; outputs = outputs[width:] {
			for c := range cells {
				cells[c].value = outputs[c] + 0 // no negative zero: it equals zero
			}
			if err := row(rows, cells); err != nil {
				return rows, err
			}
			rows++
		}
		return rows, nil
	}
	s := newScanner(line)
	switch t, _ := s.next(""); t {
	case json.Delim('['):
		rows, err = s.rows(row)
	case json.Delim('{'):
		rows, err = s.object(row)
	default:
		return 0, &audit.InputError{Field: "what it printed", Found: shown(line), Want: `an answer: {"outputs": [...]}, or the array alone`,
			Remedy: "write everything else to standard error"}
	}
	if err != nil {
		return rows, err
	}
	return rows, s.end()
}

// numbers are the outputs of an answer of numbers alone, of so many columns each: most
// answers are, and this is several times as fast as token by token. Of any other the width
// is 0.
func numbers(line []byte) (flat []float64, width int) {
	text := bytes.TrimSpace(line)
	if rest, object := bytes.CutPrefix(text, []byte(`{"outputs":`)); object && bytes.HasSuffix(rest, []byte("}")) {
		text = rest[:len(rest)-1]
	}
	if bytes.ContainsAny(text, `n"`) { // null would be read as 0; with words all would be read twice
		return nil, 0
	}
	if after := bytes.TrimLeft(text, "[ "); len(after) == 0 || bytes.Count(text[:len(text)-len(after)], []byte{'['}) < 2 {
		width = 1
		if json.Unmarshal(text, &flat) != nil {
			return nil, 0
		}
	} else {
		var rows [][]float64
		if json.Unmarshal(text, &rows) != nil || len(rows) == 0 || len(rows[0]) > user.MostColumns {
			return nil, 0
		}
		width = len(rows[0])
		for _, row := range rows {
			if len(row) != width {
				return nil, 0
			}
			flat = append(flat, row...)
		}
	}
	if slices.ContainsFunc(flat, func(v float64) bool { return math.Abs(v) >= 1<<53 }) { // it may be rounded
		return nil, 0
	}
	return flat, width
}

func shown[T []byte | string](b T) string {
	if len(b) > shownBytes {
		return fmt.Sprintf("%q... (%d bytes)", b[:shownBytes], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// object reads the rest of {"outputs": [...]} or {"error": "..."}.
func (s *scanner) object(row func(int, []cell) error) (rows int, err error) {
	found := false
	for s.in.More() {
		key, err := s.next(`the key "outputs"`)
		if err != nil {
			return rows, err
		}
		switch {
		case key == "error":
			why, err := s.value()
			if err != nil {
				return rows, err
			}
			return rows, refusal(why.text())
		case key == "frames":
			if v, err := s.value(); err != nil || v.form != numeral || v.value != framesVersion {
				return rows, s.fault(fmt.Sprintf("frames of version %d, which %s names", framesVersion, FramesVariable))
			}
			s.frames = true
			continue
		case key != "outputs" || found:
			return rows, s.fault(`the one key "outputs"`)
		}
		found = true
		if t, err := s.next("an array of outputs"); err != nil {
			return rows, err
		} else if t != json.Delim('[') {
			return rows, s.fault("an array of outputs")
		}
		if rows, err = s.rows(row); err != nil {
			return rows, err
		}
	}
	if _, err := s.next("the end of the object"); err != nil {
		return rows, err
	}
	if !found {
		return 0, s.fault(`the key "outputs"`)
	}
	return rows, nil
}

// rows reads the rest of an array of outputs.
func (s *scanner) rows(row func(int, []cell) error) (n int, err error) {
	for ; s.in.More(); n++ {
		t, err := s.next(wantValue)
		if err != nil {
			return n, err
		}
		s.cells = s.cells[:0]
		switch t {
		case json.Delim('{'):
			err = s.failedRun()
		case json.Delim('['):
			err = s.columns()
		default:
			err = s.add(t)
		}
		if err == nil {
			err = row(n, s.cells)
		}
		if err != nil {
			return n, err
		}
	}
	_, err = s.next("a comma or ']'")
	return n, err
}

// failedRun reads the rest of {"error": "..."}, the output of a run that failed.
func (s *scanner) failedRun() error {
	if key, err := s.next(wantOutput); err != nil || key != "error" {
		return s.fault(wantOutput)
	}
	why, err := s.value()
	if err != nil {
		return err
	}
	if end, err := s.next(wantOutput); err != nil || end != json.Delim('}') {
		return s.fault(wantOutput)
	}
	s.cells = append(s.cells, cell{form: failed, word: refusal(why.text()).Error()})
	return nil
}

// columns reads the rest of one output of several columns.
func (s *scanner) columns() error {
	for s.in.More() {
		t, err := s.next(wantValue)
		if err == nil && len(s.cells) == user.MostColumns {
			err = s.fault(fmt.Sprintf("at most %d values an output", user.MostColumns))
		}
		if err == nil {
			err = s.add(t)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.next("a comma or ']'")
	return err
}

func (s *scanner) add(t json.Token) error {
	c, err := s.cell(t)
	s.cells = append(s.cells, c)
	return err
}

func (s *scanner) value() (cell, error) {
	t, err := s.next(wantValue)
	if err != nil {
		return cell{}, err
	}
	return s.cell(t)
}

func (s *scanner) cell(t json.Token) (cell, error) {
	switch t := t.(type) {
	case nil:
		return cell{form: text, word: "null"}, nil
	case string:
		return cell{form: text, word: t}, nil
	case bool:
		if t {
			return cell{form: truth, value: 1, word: "true"}, nil
		}
		return cell{form: truth, word: "false"}, nil
	case json.Number:
		return s.number(string(t)), nil
	}
	return cell{}, s.fault(wantValue)
}

func (s *scanner) number(digits string) cell {
	v, _ := strconv.ParseFloat(digits, 64) // an infinity beyond its range
	if recorded.Rounds(digits, v) {
		if before, after, _ := strings.Cut(digits, "."); strings.Trim(after, "0") == "" {
			digits = before // 9007199254740993.0 is the same number
		}
		return cell{form: long, value: v, word: digits}
	}
	if bytes.HasSuffix(s.line[:s.in.InputOffset()], []byte("NaN")) {
		v = math.NaN()
	}
	return floatCell(v)
}
