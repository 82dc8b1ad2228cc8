package recorded

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/jsonscan"
)

// jsonReader reads JSON lines: a line is an object of values by column, an
// array of values, or a value. A file whose first line is no such thing is read
// as one document: an array of rows, or an object of arrays, each a list of
// values or of rows. A value is a number, a string, true or false (1 or 0);
// NaN, Infinity and -Infinity are read as Python writes them.
type jsonReader struct {
	p        *Parser
	rest     []byte
	document bool // all of it is in rest
	line     int
	blank    int
	tab      *tabulator
	object   bool // rows are objects
	cells    [][]byte
	keys     [][]byte
	ordered  [][]byte
	index    map[string]int
	plain    [][]byte // the keys in the order of the first row, quoted and with a colon; nil where one is written otherwise
	scan     jsonScanner
	only     []byte // the only line so far
}

func (r *jsonReader) format() Format {
	if r.document {
		return JSON
	}
	return JSONLines
}

func (r *jsonReader) write(chunk []byte) error {
	if r.line == 0 {
		r.line = 1
		chunk = bytes.TrimPrefix(chunk, byteOrderMark)
	}
	if r.document {
		return r.hold(chunk)
	}
	data := chunk
	if len(r.rest) > 0 {
		r.rest = append(r.rest, chunk...)
		data = r.rest
	}
	for {
		n := bytes.IndexByte(data, '\n')
		if n < 0 {
			break
		}
		if err := r.record(data[:n]); err != nil {
			return err
		}
		if r.document {
			held := append([]byte{}, data...)
			r.rest = nil
			return r.hold(held)
		}
		r.line++
		data = data[n+1:]
	}
	r.rest = append(r.rest[:0], data...)
	if len(r.rest) > MaxLine {
		if r.tab == nil { // one long line: a document
			r.document = true
			return r.hold(nil)
		}
		return &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.p.o.Name, r.line), Found: "longer than " + sizeWords(MaxLine), Want: "shorter"}
	}
	return nil
}

func (r *jsonReader) hold(chunk []byte) error {
	if r.rest = append(r.rest, chunk...); len(r.rest) > MaxDocument {
		return &audit.InputError{Field: r.p.o.Name, Found: "a JSON document beyond " + sizeWords(MaxDocument), Want: "at most that",
			Remedy: "write JSON lines, an object or an array a line, or NPZ"}
	}
	return nil
}

func (r *jsonReader) close() ([]*Table, error) {
	if r.document {
		return r.readDocument()
	}
	if len(r.rest) > 0 {
		if err := r.record(r.rest); err != nil {
			return nil, err
		}
		if r.document {
			return r.readDocument()
		}
	}
	if r.tab == nil {
		return nil, emptyFile(r.p.o.Name)
	}
	if r.only != nil && !r.object { // one array is a column, not a row
		r.document, r.rest, r.p.notes = true, r.only, nil
		r.p.left = r.p.o.MaxCells
		return r.readDocument()
	}
	t, err := r.tab.close()
	if err != nil {
		return nil, err
	}
	return []*Table{t}, nil
}

// record takes one line. It sets document if the first is no row.
func (r *jsonReader) record(line []byte) error {
	r.scan = jsonScanner{Scanner: jsonscan.Scanner{What: r.p.o.Name, Line: r.line, Data: line}}
	s := &r.scan
	s.Space()
	if s.At == len(line) {
		r.blank = cmp.Or(r.blank, r.line)
		return nil
	}
	if r.blank > 0 {
		if r.tab != nil {
			return &audit.InputError{Field: fmt.Sprintf("%s, line %d", r.p.o.Name, r.blank), Found: "blank", Want: "a row; blank lines may stand at the end only"}
		}
		r.blank = 0
	}
	r.only = nil
	if r.tab == nil && s.Peek() == '[' {
		r.only = append([]byte{}, line...)
	}
	err := r.row(s)
	if err != nil && r.tab == nil && (s.nested || s.Short) {
		r.document = true
		return nil
	}
	if err != nil {
		return err
	}
	return r.tab.row(r.line, r.ordered)
}

// row scans a row and puts its cells in the columns' order.
func (r *jsonReader) row(s *jsonScanner) error {
	object, err := s.row(r)
	if err != nil {
		return err
	}
	if err := s.End("line"); err != nil {
		return err
	}
	if r.tab == nil {
		if err := r.start(s, object); err != nil {
			return err
		}
	}
	return r.arrange(s, object)
}

// start fixes the columns by the first row.
func (r *jsonReader) start(s *jsonScanner, object bool) error {
	if len(r.cells) == 0 {
		return &audit.InputError{Field: s.rowPlace(), Found: "a row without values", Want: "at least one"}
	}
	tab := &tabulator{o: &r.p.o, what: r.p.o.Name, left: &r.p.left}
	names := make([]string, len(r.cells))
	r.index = map[string]int{}
	for i := range names {
		if names[i] = columnNumber(i); object {
			names[i] = string(r.keys[i])
		}
		r.index[names[i]] = i
		if object {
			r.plain = append(r.plain, plainKey(names[i]))
		}
	}
	if err := tab.setNames(r.line, names, object); err != nil {
		return err
	}
	if !object {
		r.p.note("rows have no names: the columns are called c1 to c%d", len(names))
	}
	r.tab, r.object = tab, object
	return nil
}

// plainKey is a key as most programs write it, or nil if it has to be escaped.
func plainKey(name string) []byte {
	if strings.ContainsAny(name, "\"\\") || binaryByte([]byte(name)) >= 0 {
		return nil
	}
	return []byte(`"` + name + `":`)
}

// arrange puts the cells in the columns' order.
func (r *jsonReader) arrange(s *jsonScanner, object bool) error {
	if object != r.object {
		words := map[bool]string{true: "an object", false: "an array or a value"}
		return &audit.InputError{Field: fmt.Sprintf("%s, line %d", s.What, r.line), Found: words[object], Want: words[r.object] + ", as the first row"}
	}
	if !object {
		r.ordered = r.cells
		return nil
	}
	return r.order(s)
}

// order puts the cells of an object in the columns' order.
func (r *jsonReader) order(s *jsonScanner) error {
	names := r.tab.names
	r.ordered = slices.Grow(r.ordered[:0], len(names))[:len(names)]
	clear(r.ordered)
	for i, k := range r.keys {
		j := i
		if i >= len(names) || names[i] != string(k) {
			var ok bool
			if j, ok = r.index[string(k)]; !ok {
				return &audit.InputError{Field: s.rowPlace(), Found: fmt.Sprintf("a row with the key %q", k), Want: fmt.Sprintf("the keys of the first row: %q", names)}
			}
		}
		if r.ordered[j] != nil {
			return &audit.InputError{Field: s.rowPlace(), Found: fmt.Sprintf("the key %q twice", k), Want: "each key once"}
		}
		r.ordered[j] = r.cells[i]
	}
	for j, c := range r.ordered {
		if c == nil {
			return &audit.InputError{Field: s.rowPlace(), Found: fmt.Sprintf("a row without the key %q", names[j]), Want: fmt.Sprintf("the keys of the first row: %q", names)}
		}
	}
	return nil
}

// readDocument reads the whole file.
func (r *jsonReader) readDocument() ([]*Table, error) {
	s := &jsonScanner{Scanner: jsonscan.Scanner{What: r.p.o.Name, Line: r.line, Data: r.rest}, progress: r.p.o.Progress}
	s.Space()
	var tables []*Table
	if s.Peek() == '[' {
		t, err := r.array(s, "")
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	} else {
		s.At++ // the brace by which the file was told to be JSON
		for first := true; ; first = false {
			done, err := s.more('}', first)
			if err != nil {
				return nil, err
			}
			if done {
				break
			}
			k, err := s.key()
			if err != nil {
				return nil, err
			}
			key := string(k)
			for _, t := range tables {
				if t.Name == key {
					return nil, &audit.InputError{Field: s.Place(s.At), Found: fmt.Sprintf("the key %q twice", key), Want: "each key once"}
				}
			}
			if s.Space(); s.Peek() != '[' {
				return nil, s.Fault(s.At, fmt.Sprintf("an array, as the value of %q", key))
			}
			t, err := r.array(s, key)
			if err != nil {
				return nil, err
			}
			if tables = append(tables, t); len(tables) > MaxColumns {
				return nil, s.Fault(s.At, fmt.Sprintf("at most %d arrays", MaxColumns))
			}
		}
	}
	if err := s.End("file"); err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, &audit.InputError{Field: r.p.o.Name, Found: "an object without arrays", Want: `arrays by name, such as {"d0": [...], "d1": [...]}`}
	}
	r.rest = nil
	return tables, nil
}

// array reads an array of rows: of values, of arrays or of objects.
func (r *jsonReader) array(s *jsonScanner, name string) (*Table, error) {
	what := r.p.o.Name
	if name != "" {
		what += fmt.Sprintf(", array %q", name)
	}
	one := &jsonReader{p: r.p}
	s.At++
	matrix := false
	for first := true; ; first = false {
		done, err := s.more(']', first)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
		s.Space()
		if first {
			matrix = s.Peek() == '['
		}
		if one.line, _ = s.Position(s.At); matrix != (s.Peek() == '[') {
			return nil, s.Fault(s.At, "a row like the first")
		}
		if err := one.element(s, what); err != nil {
			return nil, err
		}
	}
	if one.tab == nil {
		return nil, &audit.InputError{Field: what, Found: "an empty array", Want: "an array with rows"}
	}
	t, err := one.tab.close()
	if err != nil {
		return nil, err
	}
	t.Name, t.Matrix = name, matrix
	return t, nil
}

// element is [jsonReader.row] for one element of an array.
func (r *jsonReader) element(s *jsonScanner, what string) error {
	object, err := s.row(r)
	if err != nil {
		return err
	}
	row := &jsonScanner{Scanner: jsonscan.Scanner{What: what, Line: r.line}}
	if r.tab == nil {
		notes := len(r.p.notes)
		if err := r.start(row, object); err != nil {
			return err
		}
		r.tab.what = what
		r.p.notes = r.p.notes[:notes]
	}
	if err := r.arrange(row, object); err != nil {
		return err
	}
	return r.tab.row(r.line, r.ordered)
}

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
