package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
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

func refusal(why string) error {
	return &user.Failed{Err: fmt.Errorf("it refuses the request: %s", why)}
}

// asked is how many things a request is for.
type asked struct {
	n            int
	things, want string
	plain        bool // each is a number, or null for none
}

func outputsOf(n int) asked {
	return asked{n, "outputs", fmt.Sprintf("the %d outputs of the request", n), false}
}

// not is the error of an answer of another number of things.
func (a asked) not(found string) error {
	return audit.Fault("its answer", "of "+found+" "+a.things, a.want)
}

// outputs are those of an answer, as many as were asked for. frames: it offers frames.
func outputs(kind string, body []byte, n int) (rows [][]cell, frames bool, err error) {
	switch kind {
	case frameFail:
		err = refusal(string(body))
	case frameJSON:
		rows, frames, err = scan(body, outputsOf(n))
	default:
		rows, err = block(kind, body, n)
	}
	if err == nil && len(rows) != n {
		err = outputsOf(n).not(strconv.Itoa(len(rows)))
	}
	return rows, frames, err
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

// words are strings, and what stands between other signs.
var words = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[\w.]+`)

// newScanner reads a line. The decoder sees numbers of the same length for NaN and infinities:
// [scanner.number] looks into the line.
func newScanner(line []byte) *scanner {
	data := line
	if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
		data = words.ReplaceAllFunc(line, func(word []byte) []byte {
			switch string(word) {
			case "NaN":
				return []byte("0e0")
			case "Infinity":
				return []byte("1e999999")
			}
			return word
		})
	}
	s := &scanner{in: json.NewDecoder(bytes.NewReader(data)), line: line}
	s.in.UseNumber()
	return s
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

// fault says what stands where the last token begins.
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
	return audit.Fault(fmt.Sprintf("its answer, character %d", at+1), found, want)
}

func (s *scanner) end() error {
	s.from = s.in.InputOffset()
	if _, err := s.in.Token(); !errors.Is(err, io.EOF) {
		return s.fault("the end of the line")
	}
	return nil
}

// scan reads an answer of outputs, at most as many as were asked for. frames: it offers frames.
func scan(line []byte, of asked) (rows [][]cell, frames bool, err error) {
	if rows = numbers(line, of); rows != nil {
		return rows, false, nil
	}
	s := newScanner(line)
	switch t, _ := s.next(""); t {
	case json.Delim('['):
		rows, err = s.rows(of)
	case json.Delim('{'):
		rows, err = s.object(of)
	default:
		err = audit.Fault("what it printed", shown(line), `an answer: {"outputs": [...]}, or the array alone`,
			"write everything else to standard error")
	}
	if err == nil {
		err = s.end()
	}
	return rows, err == nil && s.frames, err
}

// numbers are the outputs of an answer of numbers alone, else nil: most answers are, and this is
// several times as fast as token by token.
func numbers(line []byte, of asked) (rows [][]cell) {
	text := bytes.TrimSpace(line)
	if rest, object := bytes.CutPrefix(text, []byte(`{"outputs":`)); object && bytes.HasSuffix(rest, []byte("}")) {
		text = bytes.TrimSpace(rest[:len(rest)-1])
	}
	var all [][]float64
	var err error
	if bytes.ContainsAny(text, `n"`) { // null would be read as 0; with words all would be read twice
		return nil
	} else if bytes.LastIndexByte(text, '[') > 0 {
		err = json.Unmarshal(text, &all)
	} else {
		var single []float64
		err = json.Unmarshal(text, &single)
		all = slices.Collect(slices.Chunk(single, 1))
	}
	if err != nil || len(all) > of.n {
		return nil
	}
	rounded := func(v float64) bool { return math.Abs(v) >= 1<<53 } // it may be
	for _, row := range all {
		if len(row) > user.MostColumns || slices.ContainsFunc(row, rounded) {
			return nil
		}
		rows = append(rows, audit.Each(row, floatCell))
	}
	return rows
}

func shown[T []byte | string](b T) string {
	if len(b) > shownBytes {
		return fmt.Sprintf("%q... (%d bytes)", b[:shownBytes], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// pairs reads the rest of an object; value reads that of a key.
func (s *scanner) pairs(keys string, value func(key json.Token) error) error {
	for s.in.More() {
		key, err := s.next(keys)
		if err == nil {
			err = value(key)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.next("the end of the object")
	return err
}

// object reads the rest of {"outputs": [...]} or {"error": "..."}.
func (s *scanner) object(of asked) (rows [][]cell, err error) {
	found := false
	err = s.pairs(`the key "outputs"`, func(key json.Token) error {
		switch {
		case key == "error":
			why, err := s.value()
			if err != nil {
				return err
			}
			return refusal(why.text())
		case key == "frames":
			if v, err := s.value(); err != nil || v.form != numeral || v.value != framesVersion {
				return s.fault(fmt.Sprintf("frames of version %d, which %s names", framesVersion, FramesVariable))
			}
			s.frames = true
			return nil
		case key != "outputs" || found:
			return s.fault(`the one key "outputs"`)
		}
		found = true
		rows, err = s.array(of)
		return err
	})
	if err == nil && !found {
		err = s.fault(`the key "outputs"`)
	}
	return rows, err
}

func (s *scanner) array(of asked) ([][]cell, error) {
	want := "an array of " + of.things
	if t, err := s.next(want); err != nil {
		return nil, err
	} else if t != json.Delim('[') {
		return nil, s.fault(want)
	}
	return s.rows(of)
}

func (s *scanner) rows(of asked) (rows [][]cell, err error) {
	want := audit.Pick(of.plain, "a number", wantValue)
	for s.in.More() {
		t, err := s.next(want)
		if err == nil && len(rows) == of.n {
			err = of.not(fmt.Sprintf("more than %d", of.n))
		}
		if err != nil {
			return nil, err
		}
		from := len(s.cells) // of the row
		switch {
		case of.plain && t == nil:
			s.cells = append(s.cells, floatCell(math.NaN()))
		case t == json.Delim('{') && !of.plain:
			err = s.failedRun()
		case t == json.Delim('[') && !of.plain:
			err = s.columns(from)
		default:
			err = s.add(t)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, s.cells[from:])
	}
	_, err = s.next("a comma or ']'")
	return rows, err
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

// columns reads the rest of one output, whose first cell is that of a number.
func (s *scanner) columns(first int) error {
	for s.in.More() {
		t, err := s.next(wantValue)
		if err == nil && len(s.cells)-first == user.MostColumns {
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
