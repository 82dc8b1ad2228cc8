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

// jsonRows makes a table of JSON lines: rows one after the other, each an object of values by
// column, an array of values or a value. A value is a number, a string, true or false (1 or 0).
type jsonRows struct {
	p       *parser
	in      *json.Decoder
	text    *bounded
	tab     *tabulator
	object  bool // rows are objects
	index   map[string]int
	raw     json.RawMessage // the row
	keys    []string
	cells   []string
	ordered []string // cells of an object in the columns' order
	placed  []bool
}

// oneRow says how a document of JSON becomes lines.
const oneRow = "a row stands on a line of its own: jq -c '.[]' FILE makes lines of an array of rows"

// json reads JSON lines.
func (p *parser) json(in io.Reader) (*Table, error) {
	r := &jsonRows{p: p, text: &bounded{in: in}}
	p.format = JSONLines
	r.text.long = func() error { return longer(fmt.Sprintf("%s, line %d", p.o.Name, r.line()), oneRow) }
	r.in = json.NewDecoder(r.text)
	r.text.taken = r.in.InputOffset
	for {
		err := r.in.Decode(&r.raw)
		if errors.Is(err, io.EOF) {
			return r.tab.close()
		}
		if err != nil {
			return nil, r.fault(err)
		}
		if err := r.row(); err != nil {
			return nil, err
		}
	}
}

// rest is what was read and not decoded.
func (r *jsonRows) rest() []byte {
	rest, _ := io.ReadAll(r.in.Buffered())
	return rest
}

// line is the line in which the last row ends.
func (r *jsonRows) line() int { return 1 + r.text.lines - bytes.Count(r.rest(), []byte{'\n'}) }

// fault says what stands behind the last row.
func (r *jsonRows) fault(err error) error {
	if audit.IsInput(err) {
		return err
	}
	rest := bytes.TrimLeft(r.rest(), " \t\r\n,:")
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	x := &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.p.o.Name, 1+r.text.lines-bytes.Count(rest, []byte{'\n'})), Found: quoted(bytes.TrimSpace(line)), Want: "rows of JSON: numbers and strings"}
	var syntax *json.SyntaxError
	switch {
	case len(rest) == 0:
		x.Found, x.Want, x.Remedy = "the end", "the rest of a row", "copy or save it again"
	case errors.Is(err, io.ErrUnexpectedEOF):
		x.Found, x.Want, x.Remedy = x.Found+", which is cut off at the end of the file", "the rest of it", "copy or save it again"
	case errors.As(err, &syntax):
		x.Found += ", an " + syntax.Error()
		if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
			x.Want, x.Remedy = "JSON, which has no NaN and no infinity", `write them as strings, "NaN" or "-Infinity"`
		}
	}
	return x
}

// row adds the row.
func (r *jsonRows) row() error {
	if err := r.split(string(r.raw)); err != nil {
		return err
	}
	return r.add(r.raw[0] == '{')
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
				return r.refuse(quoted(row[:min(n+1, len(row))]), "a number or a string", oneRow)
			}
		}
		if row = row[n:]; object && len(r.keys) == len(r.cells) {
			r.keys = append(r.keys, cell)
		} else {
			r.cells = append(r.cells, cell)
		}
	}
	return r.refuse(fmt.Sprintf("a row of more than %d values", MaxColumns), fmt.Sprintf("at most %d", MaxColumns), oneRow)
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

func (r *jsonRows) bad(found, want string) error { return r.refuse(found, want, "") }

func (r *jsonRows) refuse(found, want, remedy string) error {
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.p.o.Name, r.line()), Found: found, Want: want, Remedy: remedy}
}

// start fixes the columns by the first row.
func (r *jsonRows) start(object bool) error {
	if len(r.cells) == 0 {
		return r.bad("a row without values", "at least one")
	}
	tab := &tabulator{p: r.p, line: r.line}
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
	if r.p.tab = tab; !object {
		r.p.note("rows have no column names: the columns are called c1 to c%d", len(names))
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
