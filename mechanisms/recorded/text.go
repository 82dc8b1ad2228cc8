package recorded

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// textReader reads CSV and TSV: records of the same number of cells. Blank lines may
// stand at the end only.
type textReader struct {
	p       *Parser
	cut     csv.Reader
	started bool
	rest    []byte   // the beginning of a line whose end is not there yet
	blank   int      // number of the first blank line, 0 for none
	first   *heldRow // the first line, until it is known whether it is a header
	tab     *tabulator
}

func (t *textReader) write(chunk []byte) error {
	if !t.started {
		t.rest = append(t.rest, chunk...)
		body := bytes.TrimPrefix(t.rest, byteOrderMark)
		end := bytes.IndexByte(body, '\n')
		if end > MaxLine || end < 0 && len(body) > MaxLine {
			return t.tooLong()
		}
		if end < 0 {
			return nil
		}
		if err := t.begin(body[:end]); err != nil {
			return err
		}
		chunk, t.rest = body, nil
	}
	return t.sequential(chunk, false)
}

// sequential reads text of which some may be there before it, record by record.
func (t *textReader) sequential(text []byte, end bool) error {
	data := text
	if len(t.rest) > 0 {
		t.rest = append(t.rest, text...)
		data = t.rest
	}
	used, err := t.cut.Records(data, end, t.record)
	if errors.Is(err, csv.ErrLong) || err == nil && len(data)-used > MaxLine {
		return t.tooLong()
	}
	t.rest = append(t.rest[:0], data[used:]...)
	return err
}

func (t *textReader) tooLong() error {
	return &audit.InputError{Field: fmt.Sprintf("%s, line %d", t.p.o.Name, t.cut.Line), Found: "longer than " + sizeWords(MaxLine), Want: "shorter",
		Remedy: "is a quote not closed, or is it no CSV or TSV?"}
}

// begin tells the separator by the first line.
func (t *textReader) begin(line []byte) error {
	t.started, t.cut.Separator = true, csv.Separator(line)
	if t.cut.Separator == ',' && bytes.IndexByte(line, ';') >= 0 && numbersWithCommas(bytes.Split(bytes.TrimSpace(line), []byte{';'})) {
		f := withDecimalComma(bytes.TrimSpace(line))
		return &audit.InputError{Field: t.p.o.Name + ", line 1", Found: f.found, Want: f.want, Remedy: f.remedy}
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
	if err := t.sequential(nil, true); err != nil {
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
	return []*Table{table}, nil
}

// record takes the cells of one record.
func (t *textReader) record(cells [][]byte) error {
	if len(cells) == 1 && len(bytes.TrimSpace(cells[0])) == 0 {
		t.blank = cmp.Or(t.blank, t.cut.Line)
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
		return t.tab.row(t.cut.Line, cells)
	}
	if t.first == nil {
		t.first = &heldRow{line: t.cut.Line}
		for _, c := range cells {
			t.first.cells = append(t.first.cells, append([]byte{}, c...))
		}
		return nil
	}
	if err := t.settleHeader(cells); err != nil {
		return err
	}
	return t.tab.row(t.cut.Line, cells)
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
	if len(cells) == 1 && t.cut.Separator == ',' {
		if f := bytes.Fields(cells[0]); len(f) > 1 && second != nil && len(bytes.Fields(second[0])) == len(f) {
			if _, class := parse(bytes.Fields(second[0])[0]); class != textCell {
				return &audit.InputError{Field: fmt.Sprintf("%s, line %d", t.p.o.Name, t.cut.Line), Found: "cells separated by spaces", Want: "cells separated by commas or tabs",
					Remedy: `numpy.savetxt(..., delimiter=",") writes commas`}
			}
		}
	}
	header := t.p.o.Header == HeaderYes
	if t.p.o.Header == "" {
		header = true
		for _, c := range cells {
			if _, class := parse(c); class != textCell {
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
