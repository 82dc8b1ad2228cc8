package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// json reads a file that begins with head, whose first character is { or [.
func (p *parser) json(in io.Reader, head []byte) ([]*Table, error) {
	j := &jsonText{p: p, text: &bounded{in: in}}
	j.text.long = func() error { return longer(fmt.Sprintf("%s, line %d", p.o.Name, j.line()), "") }
	j.in = json.NewDecoder(j.text)
	j.text.taken = j.in.InputOffset
	p.format = jsonForm(head)
	if p.format == JSONLines {
		return one(j.lines())
	}
	open, err := j.token()
	if err != nil {
		return nil, err
	}
	var tables []*Table
	if open == json.Delim('{') {
		tables, err = j.arrays()
	} else {
		tables, err = one(j.array(""))
	}
	if err == nil {
		if _, after := j.in.Token(); !errors.Is(after, io.EOF) {
			err = j.fault(nil, "the end of the file")
		}
	}
	return tables, err
}

// jsonForm tells rows one after the other from one document, by its beginning.
func jsonForm(head []byte) string {
	look := json.NewDecoder(bytes.NewReader(head))
	open, _ := look.Token()
	second, _ := look.Token()
	if open == json.Delim('{') {
		if third, _ := look.Token(); third == json.Delim('[') {
			return JSON
		}
		return JSONLines
	}
	look = json.NewDecoder(bytes.NewReader(head))
	if second != json.Delim('{') && second != json.Delim('[') && look.Decode(new(json.RawMessage)) == nil && look.More() {
		return JSONLines
	}
	return JSON
}

func one(t *Table, err error) ([]*Table, error) { return []*Table{t}, err }

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
	if len(rest) > 0 && errors.Is(err, io.ErrUnexpectedEOF) {
		x.Found, x.Want, x.Remedy = x.Found+", which is cut off at the end of the file", "the rest of it", "copy or save it again"
	}
	var syntax *json.SyntaxError
	if len(rest) > 0 && errors.As(err, &syntax) {
		x.Found, x.Want = x.Found+", an "+syntax.Error(), "rows of JSON: numbers and strings"
		if line, _, _ := bytes.Cut(rest, []byte{'\n'}); bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
			x.Want, x.Remedy = "JSON, which has no NaN and no infinity", `write them as strings, "NaN" or "-Infinity"`
		}
	}
	return x
}

// arrays reads the rest of an object of arrays.
func (j *jsonText) arrays() ([]*Table, error) {
	var tables []*Table
	for j.in.More() {
		name, err := j.token()
		if err != nil {
			return nil, err
		}
		key := name.(string)
		if value, err := j.token(); err != nil {
			return nil, err
		} else if value != json.Delim('[') {
			return nil, j.bad(fmt.Sprint(value), fmt.Sprintf("an array, as the value of %q", key))
		}
		if slices.ContainsFunc(tables, func(t *Table) bool { return t.Name == key }) {
			return nil, j.bad(fmt.Sprintf("the key %q twice", key), "each key once")
		}
		t, err := j.array(key)
		if err != nil {
			return nil, err
		}
		if tables = append(tables, t); len(tables) > MaxColumns {
			return nil, j.fault(nil, fmt.Sprintf("at most %d arrays", MaxColumns))
		}
	}
	_, err := j.token() // its end
	return tables, err
}

func (j *jsonText) bad(found, want string) error {
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", j.p.o.Name, j.line()), Found: found, Want: want}
}

// array reads the rest of an array of rows.
func (j *jsonText) array(name string) (*Table, error) {
	what := j.p.o.Name
	if name != "" {
		what += fmt.Sprintf(", array %q", name)
	}
	rows := &jsonRows{jsonText: j, what: what}
	matrix := false
	for j.in.More() {
		if err := j.in.Decode(&rows.raw); err != nil {
			return nil, j.fault(err, "the rest of an array")
		}
		is := rows.raw[0] == '['
		if rows.tab == nil {
			matrix = is
		}
		if matrix != is {
			return nil, rows.bad(quoted([]byte(rows.raw)), "a row like the first")
		}
		if err := rows.row(); err != nil {
			return nil, err
		}
	}
	if _, err := j.token(); err != nil { // its end
		return nil, err
	}
	if rows.tab == nil {
		return nil, &audit.InputError{Field: what, Found: "an empty array", Want: "an array with rows"}
	}
	t, err := rows.tab.close()
	if err != nil {
		return nil, err
	}
	t.Name, t.Matrix = name, matrix
	return t, nil
}

func (j *jsonText) lines() (*Table, error) {
	rows := &jsonRows{jsonText: j, what: j.p.o.Name}
	for {
		err := j.in.Decode(&rows.raw)
		if errors.Is(err, io.EOF) {
			return rows.tab.close()
		}
		if err != nil {
			return nil, j.fault(err, "the rest of a row")
		}
		if err := rows.row(); err != nil {
			return nil, err
		}
	}
}

type jsonRows struct {
	*jsonText
	what    string // the file, or the array in it
	tab     *tabulator
	object  bool // rows are objects
	index   map[string]int
	raw     json.RawMessage // the row
	keys    []string
	cells   []string
	ordered []string // cells of an object in the columns' order
	placed  []bool
}

func (r *jsonRows) row() error {
	if err := r.split(string(r.raw)); err != nil {
		return err
	}
	object := r.raw[0] == '{'
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

// split cuts a row, which is JSON, into its keys and its cells.
func (r *jsonRows) split(row string) error {
	r.keys, r.cells = r.keys[:0], r.cells[:0]
	object := row[0] == '{'
	if object || row[0] == '[' {
		row = row[1:]
	}
	for len(r.cells) <= MaxColumns {
		row = strings.TrimLeft(row, " \t\r\n,:")
		if row == "" || row[0] == '}' || row[0] == ']' {
			return nil
		}
		n, cell := 0, ""
		if row[0] == '"' {
			if n = 1 + strings.IndexAny(row[1:], `"\\`); row[n] == '"' {
				cell = row[1:n]
			} else { // with escapes
				for ; row[n] != '"'; n++ {
					if row[n] == '\\' {
						n++
					}
				}
				if err := json.Unmarshal([]byte(row[:n+1]), &cell); err != nil {
					return r.bad(quoted(row[:n+1]), "a string of JSON")
				}
			}
			n++
		} else {
			if n = strings.IndexAny(row, " \t\r\n,]}"); n < 0 {
				n = len(row)
			}
			switch cell = row[:n]; cell[0] {
			case 't':
				cell = "1"
			case 'f':
				cell = "0"
			case 'n', '{', '[':
				return r.bad(quoted(row[:min(n+1, len(row))]), "a number or a string")
			}
		}
		if row = row[n:]; object && len(r.keys) == len(r.cells) {
			r.keys = append(r.keys, cell)
		} else {
			r.cells = append(r.cells, cell)
		}
	}
	return r.bad(fmt.Sprintf("a row of more than %d values", MaxColumns), fmt.Sprintf("at most %d", MaxColumns))
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
			r.p.note("rows have no column names: the columns are called c1 to c%d", len(names))
		}
	}
	return nil
}

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
