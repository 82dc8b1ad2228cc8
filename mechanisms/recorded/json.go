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

// jsonText is a file of JSON lines, or of one document: an array of rows, or an object of such
// arrays. A row is an object of values by column, an array of values, or a value: a number, a
// string, true or false (1 or 0).
type jsonText struct {
	p    *parser
	in   *json.Decoder
	text *bounded

	what   string // the file, or the array in it that is read
	tab    *tabulator
	object bool            // rows are objects
	matrix bool            // rows are arrays
	raw    json.RawMessage // the row
	keys   []string
	cells  []string
}

// json reads a file that begins with head, whose first character is { or [.
func (p *parser) json(in io.Reader, head []byte) ([]*Table, error) {
	j := &jsonText{p: p, text: &bounded{in: in}, what: p.o.Name}
	j.text.long = func() error { return longer(onLine(p.o.Name, j.line()), "") }
	j.in = json.NewDecoder(j.text)
	j.text.taken = j.in.InputOffset
	if p.format = jsonForm(head); p.format == JSONLines {
		t, err := j.lines()
		return []*Table{t}, err
	}
	open, err := j.token()
	if err != nil {
		return nil, err
	}
	var tables []*Table
	if open == json.Delim('{') {
		tables, err = j.arrays()
	} else {
		tables = make([]*Table, 1)
		tables[0], err = j.array("")
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
	place := onLine(j.p.o.Name, 1+j.text.lines-bytes.Count(rest, []byte{'\n'}))
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	found := quoted(bytes.TrimSpace(line))
	var syntax *json.SyntaxError
	switch {
	case len(rest) == 0:
		return audit.Fault(place, "the end", want, again)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return audit.Fault(place, found+", which is cut off at the end of the file", "the rest of it", again)
	case !errors.As(err, &syntax):
		return audit.Fault(place, found, want)
	case bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")):
		return audit.Fault(place, found+", an "+syntax.Error(), "JSON, which has no NaN and no infinity", `write them as strings, "NaN" or "-Infinity"`)
	}
	return audit.Fault(place, found+", an "+syntax.Error(), "rows of JSON: numbers and strings")
}

func (j *jsonText) bad(found, want string) error {
	return audit.Fault(onLine(j.what, j.line()), found, want)
}

func (j *jsonText) arrays() ([]*Table, error) {
	var tables []*Table
	for j.in.More() {
		j.what = j.p.o.Name
		name, err := j.token()
		if err != nil {
			return nil, err
		}
		key := name.(string)
		value, err := j.token()
		switch {
		case err != nil:
		case value != json.Delim('['):
			err = j.bad(fmt.Sprint(value), fmt.Sprintf("an array, as the value of %q", key))
		case slices.ContainsFunc(tables, func(t *Table) bool { return t.Name == key }):
			err = j.bad(fmt.Sprintf("the key %q twice", key), "each key once")
		case len(tables) == MaxColumns:
			err = j.fault(nil, fmt.Sprintf("at most %d arrays", MaxColumns))
		}
		if err != nil {
			return nil, err
		}
		t, err := j.array(key)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	_, err := j.token() // its end
	return tables, err
}

func (j *jsonText) array(name string) (*Table, error) {
	if j.tab = nil; name != "" {
		j.what += fmt.Sprintf(", array %q", name)
	}
	for j.in.More() {
		if err := j.row("the rest of an array"); err != nil {
			return nil, err
		}
	}
	if _, err := j.token(); err != nil { // its end
		return nil, err
	}
	if j.tab == nil {
		return nil, audit.Fault(j.what, "an empty array", "an array with rows")
	}
	t, err := j.tab.close()
	if err != nil {
		return nil, err
	}
	t.Name, t.Matrix = name, j.matrix
	return t, nil
}

func (j *jsonText) lines() (*Table, error) {
	for {
		err := j.row("the rest of a row")
		if errors.Is(err, io.EOF) {
			return j.tab.close()
		}
		if err != nil {
			return nil, err
		}
	}
}

// row reads a row. Behind the last line the error is io.EOF.
func (j *jsonText) row(want string) error {
	if err := j.in.Decode(&j.raw); errors.Is(err, io.EOF) && j.p.format == JSONLines {
		return err
	} else if err != nil {
		return j.fault(err, want)
	}
	if err := j.split(string(j.raw)); err != nil {
		return err
	}
	object, matrix := j.raw[0] == '{', j.raw[0] == '['
	if j.tab == nil {
		if err := j.start(object); err != nil {
			return err
		}
		j.object, j.matrix = object, matrix
	}
	switch {
	case matrix != j.matrix && j.p.format == JSON:
		return j.bad(quoted([]byte(j.raw)), "a row like the first")
	case object != j.object:
		words := map[bool]string{true: "an object", false: "an array or a value"}
		return j.bad(words[object], words[j.object]+", as the first row")
	case !object || slices.Equal(j.keys, j.tab.names):
		return j.tab.row(j.cells)
	}
	return j.ordered()
}

// split cuts a row, which is JSON, into its keys and its cells.
func (j *jsonText) split(row string) error {
	j.keys, j.cells = j.keys[:0], j.cells[:0]
	object := row[0] == '{'
	if object || row[0] == '[' {
		row = row[1:]
	}
	for len(j.cells) <= MaxColumns {
		row = strings.TrimLeft(row, " \t\r\n,:")
		if row == "" || row[0] == '}' || row[0] == ']' {
			return nil
		}
		n, cell := 0, ""
		if row[0] == '"' {
			for n = 1; row[n] != '"'; n++ {
				if row[n] == '\\' {
					n++
				}
			}
			n++
			if cell = row[1 : n-1]; strings.IndexByte(cell, '\\') >= 0 {
				json.Unmarshal([]byte(row[:n]), &cell) // which is valid
			}
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
				return j.bad(quoted(row[:min(n+1, len(row))]), "a number or a string")
			}
		}
		if row = row[n:]; object && len(j.keys) == len(j.cells) {
			j.keys = append(j.keys, cell)
		} else {
			j.cells = append(j.cells, cell)
		}
	}
	return j.bad(fmt.Sprintf("a row of more than %d values", MaxColumns), fmt.Sprintf("at most %d", MaxColumns))
}

// start fixes the columns by the first row.
func (j *jsonText) start(object bool) error {
	if len(j.cells) == 0 {
		return j.bad("a row without values", "at least one")
	}
	names := slices.Clone(j.keys)
	if !object {
		names = audit.Listed(len(j.cells), columnNumber)
	}
	tab := &tabulator{o: &j.p.o, what: j.what, left: &j.p.left, line: j.line}
	if err := tab.setNames(j.line(), names, object); err != nil {
		return err
	}
	j.tab = tab
	if j.p.format == JSONLines {
		if j.p.tab = tab; !object {
			j.p.note("rows have no column names: the columns are called c1 to c%d", len(names))
		}
	}
	return nil
}

// ordered adds a row whose keys stand in another order than those of the first.
func (j *jsonText) ordered() error {
	names, of := j.tab.names, make(map[string]string, len(j.keys))
	for i, k := range j.keys {
		if _, twice := of[k]; twice {
			return j.bad(fmt.Sprintf("the key %q twice", k), "each key once")
		}
		of[k] = j.cells[i]
	}
	missing := slices.IndexFunc(names, func(name string) bool { _, there := of[name]; return !there })
	if missing >= 0 || len(of) > len(names) {
		all := fmt.Sprintf("the keys of the first row: %q", names)
		if i := slices.IndexFunc(j.keys, func(k string) bool { return !slices.Contains(names, k) }); i >= 0 {
			return j.bad(fmt.Sprintf("a row with the key %q", j.keys[i]), all)
		}
		return j.bad(fmt.Sprintf("a row without the key %q", names[missing]), all)
	}
	return j.tab.row(audit.Each(names, func(name string) string { return of[name] }))
}
