package recorded

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// textReader reads CSV and TSV as of RFC 4180, with lines that end in LF or
// CRLF: records of the same number of cells, cells with separators, quotes or
// line ends in double quotes, quotes in them doubled. Blank lines may stand at
// the end only. The separator is a tab if the first line has one, else a
// comma, else a semicolon; a semicolon goes before commas that stand before decimals.
type textReader struct {
	p         *Parser
	separator byte
	started   bool
	rest      []byte   // the beginning of a line whose end is not there yet
	cells     [][]byte // of one line
	unquoted  []byte   // their text, where it had to be copied
	line      int      // number of the line that comes next
	blank     int      // number of the first blank line, 0 for none
	first     *heldRow // the first line, until it is known whether it is a header
	tab       *tabulator
}

func (t *textReader) write(chunk []byte) error {
	if !t.started {
		t.rest = append(t.rest, chunk...)
		body := bytes.TrimPrefix(t.rest, byteOrderMark)
		end := bytes.IndexByte(body, '\n')
		if end < 0 {
			if len(body) > MaxLine {
				return t.tooLong()
			}
			return nil
		}
		if err := t.begin(body[:end]); err != nil {
			return err
		}
		chunk, t.rest = body, nil
	}
	data := chunk
	if len(t.rest) > 0 {
		t.rest = append(t.rest, chunk...)
		data = t.rest
	}
	used, err := t.records(data, false)
	if err != nil {
		return err
	}
	if len(data)-used > MaxLine {
		return t.tooLong()
	}
	t.rest = append(t.rest[:0], data[used:]...)
	return nil
}

func (t *textReader) tooLong() error {
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", t.p.o.Name, t.line), Found: "longer than " + sizeWords(MaxLine), Want: "shorter",
		Remedy: "is a quote not closed, or is it no CSV or TSV?"}
}

// begin tells the separator by the first line.
func (t *textReader) begin(line []byte) error {
	t.started, t.separator = true, ','
	o, comma, semicolon := &t.p.o, bytes.IndexByte(line, ',') >= 0, bytes.IndexByte(line, ';') >= 0
	switch {
	case bytes.IndexByte(line, '\t') >= 0:
		t.separator = '\t'
	case semicolon && !comma:
		t.separator = ';'
	case o.Decimal == DecimalComma && (semicolon || !comma || decimalComma(line)):
		t.separator = ';'
	case o.Decimal == "" && semicolon && numbersWithCommas(bytes.Split(bytes.TrimSpace(line), []byte{';'})):
		if !o.Scores {
			f := withDecimalComma(bytes.TrimSpace(line))
			return &audit.InputError{Field: o.Name + ", line 1", Found: f.found, Want: f.want, Remedy: f.remedy}
		}
		t.separator, o.Decimal = ';', DecimalComma
	}
	return nil
}

// numbersWithCommas reports whether all cells are numbers, some of them with a
// decimal comma.
func numbersWithCommas(cells [][]byte) bool {
	some := false
	for _, c := range cells {
		if decimalComma(c) {
			some = true
		} else if _, class := parseNumber(bytes.TrimSpace(c)); class != numberCell {
			return false
		}
	}
	return some
}

func (t *textReader) close() ([]*Table, error) {
	if !t.started {
		t.rest = bytes.TrimPrefix(t.rest, byteOrderMark)
		if err := t.begin(t.rest); err != nil {
			return nil, err
		}
	}
	if _, err := t.records(t.rest, true); err != nil {
		return nil, err
	}
	if t.first == nil && t.tab == nil {
		return nil, &audit.InputError{Field: t.p.o.Name, Found: "without any row", Want: "a file with data"}
	}
	if t.tab == nil {
		if err := t.settleHeader(nil); err != nil {
			return nil, err
		}
	}
	if t.tab.rows == 0 && len(t.tab.held) == 0 {
		return nil, &audit.InputError{Field: t.p.o.Name, Found: "a header without rows", Want: "a header and rows",
			Remedy: "if the first line is a row and no header, say that the file has none"}
	}
	table, err := t.tab.close()
	if err != nil {
		return nil, err
	}
	words := t.tab.named && t.p.o.Header == ""
	for _, c := range table.Columns {
		words = words && c.Kind == audit.Symbol
	}
	if words {
		t.p.note("all cells are words: the first line is taken as the columns' names")
	}
	if t.p.o.Scores && t.p.o.Decimal == DecimalComma {
		t.p.note("the file has decimal commas: 1,5 is read as 1.5")
	}
	return []*Table{table}, nil
}

// records takes all complete records of data, and with end also one that no
// line end closes. It returns how many bytes it took.
func (t *textReader) records(data []byte, end bool) (int, error) {
	at := 0
	for at < len(data) {
		n := bytes.IndexByte(data[at:], '\n')
		size := n + 1
		if n < 0 {
			if !end {
				return at, nil
			}
			n = len(data) - at
			size = n
		}
		line := data[at : at+n]
		lines := 1
		if bytes.IndexByte(line, '"') >= 0 {
			took, crossed, whole, err := t.quotedRecord(data[at:], end)
			if err != nil {
				return at, err
			}
			if !whole {
				return at, nil
			}
			size, lines = took, crossed
		} else {
			if n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			t.split(line)
		}
		if err := t.record(); err != nil {
			return at, err
		}
		t.line += lines
		at += size
	}
	return at, nil
}

// split cuts a line without quotes into cells.
func (t *textReader) split(line []byte) {
	t.cells = t.cells[:0]
	for {
		i := bytes.IndexByte(line, t.separator)
		if i < 0 {
			break
		}
		t.cells = append(t.cells, line[:i])
		line = line[i+1:]
	}
	t.cells = append(t.cells, line)
}

// quotedRecord cuts a record with quotes into cells. It returns how many bytes
// and lines it took, and whole = false if its end is not there yet.
func (t *textReader) quotedRecord(data []byte, end bool) (took, lines int, whole bool, err error) {
	t.cells, t.unquoted = t.cells[:0], t.unquoted[:0]
	type span struct{ from, to int }
	var spans []span
	at, lines := 0, 1
	fail := func(found, want, remedy string) error {
		return &audit.InputError{Field: fmt.Sprintf("%s, line %d, column %d", t.p.o.Name, t.line+lines-1, len(spans)+1), Found: found, Want: want, Remedy: remedy}
	}
	for {
		from := len(t.unquoted)
		if at < len(data) && data[at] == '"' {
			opened := lines
			at++
			for {
				i := bytes.IndexByte(data[at:], '"')
				if i < 0 || at+i+1 == len(data) && !end {
					if !end {
						return 0, 0, false, nil
					}
					if i < 0 {
						lines = opened
						return 0, 0, false, fail("a quote that is not closed", "a closing quote before the end of the file", "a quote inside a quoted cell is written twice")
					}
				}
				lines += bytes.Count(data[at:at+i], []byte{'\n'})
				t.unquoted = append(t.unquoted, data[at:at+i]...)
				at += i + 1
				if at < len(data) && data[at] == '"' {
					t.unquoted = append(t.unquoted, '"')
					at++
					continue
				}
				break
			}
			if at < len(data) && data[at] != t.separator && data[at] != '\n' && data[at] != '\r' {
				return 0, 0, false, fail(fmt.Sprintf("%s after a closing quote", quoted(data[at:at+1])), "the separator or the end of the line", "a quote inside a quoted cell is written twice")
			}
		} else {
			for at < len(data) && data[at] != t.separator && data[at] != '\n' {
				if data[at] == '"' {
					return 0, 0, false, fail("a quote inside a cell without quotes", "the whole cell in quotes", "a quote inside a quoted cell is written twice")
				}
				t.unquoted = append(t.unquoted, data[at])
				at++
			}
		}
		to := len(t.unquoted)
		if at < len(data) && data[at] == '\r' { // after a quoted cell
			if at+1 == len(data) && !end {
				return 0, 0, false, nil
			}
			if at+1 < len(data) && data[at+1] != '\n' {
				return 0, 0, false, fail("a carriage return after a closing quote", "the separator or the end of the line", "")
			}
			at++
		} else if to > from && t.unquoted[to-1] == '\r' && (at == len(data) || data[at] == '\n') && data[at-1] == '\r' {
			to--
		}
		spans = append(spans, span{from, to})
		if at == len(data) {
			if !end {
				return 0, 0, false, nil
			}
			break
		}
		at++
		if data[at-1] == '\n' {
			break
		}
	}
	for _, s := range spans {
		t.cells = append(t.cells, t.unquoted[s.from:s.to])
	}
	return at, lines, true, nil
}

// record takes the cells of one record, which begins at t.line.
func (t *textReader) record() error {
	if len(t.cells) == 1 && len(bytes.TrimSpace(t.cells[0])) == 0 {
		if t.blank == 0 {
			t.blank = t.line
		}
		return nil
	}
	if t.blank > 0 {
		if t.tab == nil && t.first == nil {
			t.blank = 0 // blank lines before the first
		} else {
			return &audit.InputError{Field: fmt.Sprintf("%s, line %d", t.p.o.Name, t.blank), Found: "blank", Want: "a row; blank lines may stand at the end only"}
		}
	}
	if t.tab != nil {
		return t.tab.row(t.line, t.cells)
	}
	if t.first == nil {
		t.first = &heldRow{line: t.line}
		for _, c := range t.cells {
			t.first.cells = append(t.first.cells, append([]byte{}, c...))
		}
		return nil
	}
	if err := t.settleHeader(t.cells); err != nil {
		return err
	}
	return t.tab.row(t.line, t.cells)
}

// columnWords are names that only a header holds.
var columnWords = map[string]bool{"dataset": true, "score": true, "member": true, "in": true, "out": true, "run": true,
	"in_canary_scores": true, "out_canary_scores": true}

// settleHeader decides whether the first line is a header: if none of its cells
// is a number, or one is a word that only a header holds. The second line is nil
// where there is none.
func (t *textReader) settleHeader(second [][]byte) error {
	t.tab = &tabulator{o: &t.p.o, what: t.p.o.Name, left: &t.p.left, text: true}
	cells := t.first.cells
	if len(cells) == 1 && t.separator == ',' {
		if f := bytes.Fields(cells[0]); len(f) > 1 && second != nil && len(bytes.Fields(second[0])) == len(f) {
			if _, _, class := t.p.o.parse(bytes.Fields(second[0])[0]); class != textCell {
				return &audit.InputError{Field: fmt.Sprintf("%s, line %d", t.p.o.Name, t.line), Found: "cells separated by spaces", Want: "cells separated by commas or tabs",
					Remedy: `numpy.savetxt(..., delimiter=",") writes commas`}
			}
		}
	}
	header := t.p.o.Header == HeaderYes
	if t.p.o.Header == "" {
		header = true
		for _, c := range cells {
			if _, _, class := t.p.o.parse(c); class != textCell {
				header = false
			}
		}
		for i, c := range cells {
			header = header || columnWords[strings.ToLower(columnName(i, c))]
		}
	}
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i] = columnNumber(i)
		if name := columnName(i, c); header && name != "" {
			names[i] = name
		}
	}
	if !header {
		t.p.note("the first line is a row: the columns are called c1 to c%d", len(names))
	}
	if err := t.tab.setNames(t.first.line, names, header); err != nil {
		return err
	}
	if header {
		for i, c := range cells {
			if bytes.ContainsAny(c, "\n\r") {
				return &audit.InputError{Field: fmt.Sprintf("%s, line %d, column %d", t.p.o.Name, t.first.line, i+1), Found: "a name over several lines", Want: "a name on one line"}
			}
		}
		return nil
	}
	return t.tab.row(t.first.line, t.first.cells)
}

// columnName is the name in a header's cell; numpy.savetxt puts "# " before the
// first.
func columnName(i int, cell []byte) string {
	name := strings.TrimSpace(string(cell))
	if i == 0 {
		name = strings.TrimSpace(strings.TrimPrefix(name, "#"))
	}
	return name
}
