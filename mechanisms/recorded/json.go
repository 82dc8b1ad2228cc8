package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// jsonText is a file of JSON lines, rows one after the other, or of one document: an array of
// rows, or an object of arrays, each a list of values or of rows. A row is an object of values
// by column or an array of values. A value is a number, a string, true or false (1 or 0).
type jsonText struct {
	p    *parser
	in   *json.Decoder
	text *bounded
}

// json reads a file whose first character is { or [.
func (p *parser) json(in io.Reader) ([]*Table, error) {
	j := &jsonText{p: p, text: &bounded{in: in}}
	j.text.long = func() error { return longer(fmt.Sprintf("%s, line %d", p.o.Name, j.line()), "") }
	j.in = json.NewDecoder(j.text)
	j.in.UseNumber()
	j.text.taken = j.in.InputOffset
	p.format = JSONLines
	tables, err := j.file()
	if err == nil && p.format == JSON {
		if _, after := j.in.Token(); !errors.Is(after, io.EOF) {
			err = j.fault(nil, "the end of the file")
		}
	}
	return tables, err
}

// file tells the form by the first tokens.
func (j *jsonText) file() ([]*Table, error) {
	rows := &jsonRows{jsonText: j, what: j.p.o.Name}
	open, err := j.token()
	if err != nil {
		return nil, err
	}
	if open == json.Delim('{') {
		if j.in.More() {
			if err := rows.key(); err != nil {
				return nil, err
			}
			value, err := j.token()
			if err != nil {
				return nil, err
			}
			if value == json.Delim('[') {
				return j.arrays(rows.keys[0])
			}
			if err := rows.value(value); err != nil {
				return nil, err
			}
		}
		return one(rows.lines(open))
	}
	for len(rows.cells) <= MaxColumns && j.in.More() {
		value, err := j.token()
		if err != nil {
			return nil, err
		}
		if len(rows.cells) == 0 && isOpen(value) {
			return one(j.array("", value))
		}
		if err := rows.value(value); err != nil {
			return nil, err
		}
	}
	if len(rows.cells) <= MaxColumns {
		if _, err := j.token(); err != nil { // its end
			return nil, err
		}
		if len(rows.cells) == 0 {
			return nil, emptyArray(j.p.o.Name)
		}
		if next, err := j.in.Token(); !errors.Is(err, io.EOF) { // it was a row
			if err != nil {
				return nil, j.fault(err, wantRow)
			}
			if err := rows.add(false); err != nil {
				return nil, err
			}
			if err := rows.open(next); err != nil {
				return nil, err
			}
			return one(rows.lines(next))
		}
	}
	return one(j.array("", nil, rows.cells...))
}

func one(t *Table, err error) ([]*Table, error) { return []*Table{t}, err }

func isOpen(t json.Token) bool { return t == json.Delim('{') || t == json.Delim('[') }

func emptyArray(what string) error {
	return &audit.InputError{Field: what, Found: "an empty array", Want: "an array with rows"}
}

// token is the next one, which has to be there.
func (j *jsonText) token() (json.Token, error) {
	t, err := j.in.Token()
	if err != nil {
		err = j.fault(err, "the rest of an array or an object")
	}
	return t, err
}

// rest is what was read and not decoded.
func (j *jsonText) rest() []byte {
	rest, _ := io.ReadAll(j.in.Buffered())
	return rest
}

// line is the line of the last token.
func (j *jsonText) line() int { return 1 + j.text.lines - bytes.Count(j.rest(), []byte{'\n'}) }

// fault says what stands behind the last token and what belongs there.
func (j *jsonText) fault(err error, want string) error {
	if audit.IsInput(err) {
		return err
	}
	rest := bytes.TrimLeft(j.rest(), " \t\r\n,:")
	x := &audit.InputError{Field: fmt.Sprintf("%s, line %d", j.p.o.Name, 1+j.text.lines-bytes.Count(rest, []byte{'\n'})), Found: "the end", Want: want, Remedy: "copy or save it again"}
	if len(rest) > 0 {
		line, _, _ := bytes.Cut(rest, []byte{'\n'})
		x.Found, x.Remedy = quoted(bytes.TrimSpace(line)), ""
	}
	var syntax *json.SyntaxError
	switch {
	case namesNonFinite(rest):
		x.Want, x.Remedy = "JSON, which has no NaN and no infinity", `write them as strings, "NaN" or "-Infinity"`
	case len(rest) > 0 && errors.As(err, &syntax):
		x.Found, x.Want = x.Found+", an "+syntax.Error(), "rows of JSON: numbers and strings"
	}
	return x
}

// namesNonFinite reports whether NaN or an infinity stands here as Python writes them.
func namesNonFinite(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("-"))
	return bytes.HasPrefix(b, []byte("NaN")) || bytes.HasPrefix(b, []byte("Infinity"))
}

// arrays reads the rest of an object of arrays behind its first opening bracket.
func (j *jsonText) arrays(key string) ([]*Table, error) {
	var tables []*Table
	for {
		if slices.ContainsFunc(tables, func(t *Table) bool { return t.Name == key }) {
			return nil, &audit.InputError{Field: fmt.Sprintf("%s, line %d", j.p.o.Name, j.line()), Found: fmt.Sprintf("the key %q twice", key), Want: "each key once"}
		}
		t, err := j.array(key, nil)
		if err != nil {
			return nil, err
		}
		if tables = append(tables, t); len(tables) > MaxColumns {
			return nil, j.fault(nil, fmt.Sprintf("at most %d arrays", MaxColumns))
		}
		if !j.in.More() {
			_, err := j.token()
			return tables, err
		}
		name, err := j.token()
		if err != nil {
			return nil, err
		}
		key = name.(string)
		if value, err := j.token(); err != nil {
			return nil, err
		} else if value != json.Delim('[') {
			return nil, j.found(value, fmt.Sprintf("an array, as the value of %q", key))
		}
	}
}

// array reads the rest of an array of rows, whose first values were read, or the opening
// bracket of its first row.
func (j *jsonText) array(name string, open json.Token, values ...string) (*Table, error) {
	j.p.format = JSON
	what := j.p.o.Name
	if name != "" {
		what += fmt.Sprintf(", array %q", name)
	}
	rows := &jsonRows{jsonText: j, what: what}
	for _, v := range values {
		rows.cells = []string{v}
		if err := rows.add(false); err != nil {
			return nil, err
		}
	}
	if 0 < len(values) && len(values) <= MaxColumns { // they are all
		return rows.tab.close()
	}
	matrix := open == json.Delim('[')
	for open != nil || j.in.More() {
		if open == nil {
			var err error
			if open, err = j.token(); err != nil {
				return nil, err
			}
			if rows.tab == nil {
				matrix = open == json.Delim('[')
			}
		}
		if matrix != (open == json.Delim('[')) {
			return nil, j.found(open, "a row like the first")
		}
		if err := rows.open(open); err != nil {
			return nil, err
		}
		if err := rows.row(open); err != nil {
			return nil, err
		}
		open = nil
	}
	if _, err := j.token(); err != nil {
		return nil, err
	}
	if rows.tab == nil {
		return nil, emptyArray(what)
	}
	t, err := rows.tab.close()
	if err != nil {
		return nil, err
	}
	t.Name, t.Matrix = name, matrix
	return t, nil
}

// found says that a token is not what belongs there.
func (j *jsonText) found(t json.Token, want string) error {
	found := fmt.Sprint(t)
	if t == nil {
		found = "null"
	}
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", j.p.o.Name, j.line()), Found: quoted(found), Want: want}
}

// jsonRows makes a table of rows.
type jsonRows struct {
	*jsonText
	what    string // the file, or the array in it
	tab     *tabulator
	object  bool // rows are objects
	index   map[string]int
	keys    []string // of the row
	cells   []string
	ordered []string // cells of an object in the columns' order
	placed  []bool
}

const wantRow = "a row, an object or an array"

// lines reads rows to the end of the file. Of the first one the bracket was read, and what of
// it is there already.
func (r *jsonRows) lines(open json.Token) (*Table, error) {
	for {
		if !isOpen(open) {
			return nil, r.found(open, wantRow)
		}
		err := r.row(open)
		if err != nil {
			return nil, err
		}
		if open, err = r.in.Token(); errors.Is(err, io.EOF) {
			return r.tab.close()
		}
		if err != nil {
			return nil, r.fault(err, wantRow)
		}
		if err := r.open(open); err != nil {
			return nil, err
		}
	}
}

// open begins a row by its first token.
func (r *jsonRows) open(open json.Token) error {
	r.cells, r.keys = r.cells[:0], r.keys[:0]
	if isOpen(open) {
		return nil
	}
	return r.value(open)
}

// row reads the rest of a row and adds it.
func (r *jsonRows) row(open json.Token) error {
	if !isOpen(open) {
		return r.add(false)
	}
	for r.in.More() {
		if open == json.Delim('{') {
			if err := r.key(); err != nil {
				return err
			}
		}
		value, err := r.token()
		if err != nil {
			return err
		}
		if err := r.value(value); err != nil {
			return err
		}
		if len(r.cells) > MaxColumns {
			return r.fault(nil, fmt.Sprintf("at most %d values in a row", MaxColumns))
		}
	}
	if _, err := r.token(); err != nil { // its end
		return err
	}
	return r.add(open == json.Delim('{'))
}

func (r *jsonRows) key() error {
	k, err := r.token()
	if err != nil {
		return err
	}
	r.keys = append(r.keys, k.(string))
	return nil
}

func (r *jsonRows) value(t json.Token) error {
	switch v := t.(type) {
	case json.Number:
		r.cells = append(r.cells, string(v))
	case string:
		r.cells = append(r.cells, v)
	case bool:
		r.cells = append(r.cells, map[bool]string{true: "1", false: "0"}[v])
	default:
		return r.found(t, "a number or a string")
	}
	return nil
}

// add takes the row.
func (r *jsonRows) add(object bool) error {
	if r.tab == nil {
		if err := r.start(object); err != nil {
			return err
		}
	}
	if object != r.object {
		words := map[bool]string{true: "an object", false: "an array or a value"}
		return r.bad(words[object], words[r.object]+", as the first row")
	}
	if !object {
		return r.tab.row(r.cells)
	}
	if err := r.order(); err != nil {
		return err
	}
	return r.tab.row(r.ordered)
}

func (r *jsonRows) bad(found, want string) error {
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.what, r.line()), Found: found, Want: want}
}

// start fixes the columns by the first row.
func (r *jsonRows) start(object bool) error {
	if len(r.cells) == 0 {
		return r.bad("a row without values", "at least one")
	}
	tab := &tabulator{o: &r.p.o, what: r.what, left: &r.p.left, line: r.line}
	names := make([]string, len(r.cells))
	r.index = map[string]int{}
	for i := range names {
		if names[i] = columnNumber(i); object {
			names[i] = r.keys[i]
		}
		r.index[names[i]] = i
	}
	if err := tab.setNames(r.line(), names, object); err != nil {
		return err
	}
	r.tab, r.object = tab, object
	r.ordered, r.placed = make([]string, len(names)), make([]bool, len(names))
	if r.p.format == JSONLines {
		if r.p.tab = tab; !object {
			r.p.note("rows have no names: the columns are called c1 to c%d", len(names))
		}
	}
	return nil
}

// order puts the cells of an object in the columns' order.
func (r *jsonRows) order() error {
	names := r.tab.names
	clear(r.placed)
	for i, k := range r.keys {
		j := i
		if i >= len(names) || names[i] != k {
			var ok bool
			if j, ok = r.index[k]; !ok {
				return r.bad(fmt.Sprintf("a row with the key %q", k), fmt.Sprintf("the keys of the first row: %q", names))
			}
		}
		if r.placed[j] {
			return r.bad(fmt.Sprintf("the key %q twice", k), "each key once")
		}
		r.placed[j], r.ordered[j] = true, r.cells[i]
	}
	if j := slices.Index(r.placed, false); j >= 0 {
		return r.bad(fmt.Sprintf("a row without the key %q", names[j]), fmt.Sprintf("the keys of the first row: %q", names))
	}
	return nil
}
