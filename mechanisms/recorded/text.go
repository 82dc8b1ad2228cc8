package recorded

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/recorded/csv"
)

// textReader reads CSV and TSV. Blank lines may stand at the end only.
type textReader struct {
	p         *parser
	cut       *csv.Reader
	separator byte
	first     *heldRow // the first line, until it is known whether it is a header
	blank     int      // number of the first line of blanks, 0 for none
}

func (p *parser) text(in io.Reader, head []byte) (*Table, error) {
	line, _, ended := bytes.Cut(head, []byte{'\n'})
	if !ended && len(head)+len(byteOrderMark) >= MaxLine {
		return nil, longer(p.o.Name+", line 1", longText)
	}
	t := &textReader{p: p, separator: csv.Separator(line)}
	if p.format = CSV; t.separator == '\t' {
		p.format = TSV
	}
	if line = bytes.TrimSpace(line); t.separator == ',' && bytes.IndexByte(line, ';') >= 0 && numbersWithCommas(strings.Split(string(line), ";")) {
		bad := withDecimalComma(string(line))
		bad.Field = p.o.Name + ", line 1"
		return nil, bad
	}
	rows := &bounded{in: in, long: func() error { return longer(onLine(p.o.Name, t.cut.End+1), longText) }}
	t.cut = csv.NewReader(p.o.Name, rows, t.separator, false)
	rows.taken = t.cut.Offset
	for {
		cells, err := t.cut.Read()
		if errors.Is(err, io.EOF) {
			return t.close()
		}
		if err == nil {
			err = t.record(cells)
		}
		if err != nil {
			return nil, err
		}
	}
}

const longText = "is a quote not closed, or is the file not CSV or TSV?"

// numbersWithCommas reports whether all cells are numbers, some with a decimal comma.
func numbersWithCommas(cells []string) bool {
	some := false
	for _, c := range cells {
		if decimalComma(c) {
			some = true
		} else if _, class := parse(c); class != numberCell {
			return false
		}
	}
	return some
}

func (t *textReader) close() (*Table, error) {
	if t.first == nil {
		return nil, audit.Fault(t.p.o.Name, "without any row", "a file with data")
	}
	if t.p.tab == nil {
		if err := t.settleHeader(nil); err != nil {
			return nil, err
		}
	}
	tab := t.p.tab
	if tab.table == nil && len(tab.held) == 0 {
		return nil, audit.Fault(t.p.o.Name, "a header without rows", "a header and rows",
			"if the first line is a row and no header, say that the file has none")
	}
	table, err := tab.close()
	if err != nil {
		return nil, err
	}
	words := tab.named && t.p.o.Header == ""
	for _, c := range table.Columns {
		words = words && c.Kind == audit.Symbol
	}
	if words {
		t.p.note("all cells are words: the first line is taken as column names")
	}
	return table, nil
}

func (t *textReader) record(cells []string) error {
	if len(cells) == 1 && strings.TrimSpace(cells[0]) == "" {
		t.blank = cmp.Or(t.blank, t.cut.Line)
		return nil
	}
	t.blank = cmp.Or(t.blank, t.cut.Blank)
	if t.blank > 0 && t.first != nil {
		return audit.Fault(onLine(t.p.o.Name, t.blank), "blank", "a row; blank lines are allowed only at the end")
	}
	t.blank = 0 // before the first
	if t.p.tab != nil {
		return t.p.tab.row(cells)
	}
	if t.first == nil {
		t.first = &heldRow{t.cut.Line, slices.Clone(cells)}
		return nil
	}
	if err := t.settleHeader(cells); err != nil {
		return err
	}
	return t.p.tab.row(cells)
}

var columnWords = map[string]bool{"dataset": true, "score": true, "member": true, "in": true, "out": true, "run": true,
	"in_canary_scores": true, "out_canary_scores": true}

// settleHeader takes the first line for a header if none of its cells is a number, or one is a
// word that only a header holds. second may be nil.
func (t *textReader) settleHeader(second []string) error {
	tab := &tabulator{o: &t.p.o, what: t.p.o.Name, left: &t.p.left, text: true, line: func() int { return t.cut.Line }}
	t.p.tab = tab
	cells := t.first.cells
	if len(cells) == 1 && t.separator == ',' {
		if f := strings.Fields(cells[0]); len(f) > 1 && second != nil && len(strings.Fields(second[0])) == len(f) {
			if _, class := parse(strings.Fields(second[0])[0]); class != textCell {
				return audit.Fault(onLine(t.p.o.Name, t.cut.Line), "cells separated by spaces", "cells separated by commas or tabs",
					`numpy.savetxt(..., delimiter=",") writes commas`)
			}
		}
	}
	header := t.p.o.Header == HeaderYes
	if t.p.o.Header == "" {
		header = !slices.ContainsFunc(cells, func(c string) bool {
			_, class := parse(c)
			return class != textCell
		})
		for i, c := range cells {
			header = header || columnWords[strings.ToLower(columnName(i, c))]
		}
	}
	names := audit.Listed(len(cells), columnNumber)
	for i, c := range cells {
		if header {
			names[i] = cmp.Or(columnName(i, c), names[i])
		}
	}
	if !header {
		t.p.note("the first line is data: the columns are called c1 to c%d", len(names))
	}
	if err := tab.setNames(t.first.line, names, header); err != nil {
		return err
	}
	if header {
		for i, c := range cells {
			if strings.Contains(c, "\n") {
				return audit.Fault(onLine(t.p.o.Name, t.first.line)+fmt.Sprintf(", column %d", i+1), "a name over several lines", "a name on one line")
			}
		}
		return nil
	}
	tab.held = append(tab.held, *t.first)
	return nil
}

// columnName is the name in a header's cell; numpy.savetxt puts "# " before the first.
func columnName(i int, cell string) string {
	name := strings.TrimSpace(cell)
	if i == 0 {
		name = strings.TrimSpace(strings.TrimPrefix(name, "#"))
	}
	return name
}
