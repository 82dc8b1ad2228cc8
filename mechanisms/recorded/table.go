package recorded

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpscope/dpscope/audit"
)

// File is what was read from one file.
type File struct {
	audit.RecordedFile
	Tables []*Table // one, or the arrays of an NPZ or of a JSON object
	Notes  []string // what was taken for granted, in words
}

// Cells is the number of values.
func (f *File) Cells() int {
	n := 0
	for _, t := range f.Tables {
		for _, c := range t.Columns {
			n += c.Len()
		}
	}
	return n
}

// Table is columns, equally long unless Options.Scores allowed otherwise.
type Table struct {
	Name    string // of the array; empty where the file is one table
	Columns []*Column
	Matrix  bool // the array had two dimensions, or its rows were arrays
}

// Rows is the length of the longest column.
func (t *Table) Rows() int {
	n := 0
	for _, c := range t.Columns {
		n = max(n, c.Len())
	}
	return n
}

// Column finds a column by name, or nil. Case counts where names differ in nothing else.
func (t *Table) Column(name string) *Column {
	var loose *Column
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
		if loose == nil && strings.EqualFold(c.Name, name) {
			loose = c
		}
	}
	return loose
}

func (t *Table) checkEven(name string) error {
	for _, c := range t.Columns {
		if c.Len() != t.Rows() {
			return audit.Fault(c.of(name), fmt.Sprintf("of %d values", c.Len()), fmt.Sprintf("of %d, as the longest", t.Rows()))
		}
	}
	return nil
}

func (t *Table) without(one *Column) []*Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return c == one })
}

func (t *Table) names() []string {
	return audit.Each(t.Columns, func(c *Column) string { return c.Name })
}

// Table finds an array by name, or nil.
func (f *File) Table(name string) *Table {
	for _, t := range f.Tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

func columnNumber(i int) string { return fmt.Sprintf("c%d", i+1) }

// tabulator makes a table of rows of text. It keeps the first until they tell the columns' kinds.
type tabulator struct {
	o     *Options
	what  string // the file, or the array in it
	names []string
	named bool // the names come from the file
	table *Table
	held  []heldRow
	bytes int        // held
	text  bool       // a CSV or TSV
	line  func() int // of the row that comes
	ended []int      // line at which a column ended, by column
	left  *int       // cells that all tables of the file may still take
}

const maxName = 200

type heldRow struct {
	line  int
	cells []string
}

// Limits of the rows that tell kinds.
const (
	sniffRows  = 1000
	sniffBytes = 1 << 20
)

func (t *tabulator) place(line, column int) string {
	name := ""
	if t.named && column < len(t.names) {
		name = " (" + t.names[column] + ")"
	}
	return fmt.Sprintf("%s, line %d, column %d%s", t.what, line, column+1, name)
}

func (t *tabulator) setNames(line int, names []string, named bool) error {
	if len(names) > MaxColumns {
		return audit.Fault(onLine(t.what, line), fmt.Sprintf("%d columns", len(names)), fmt.Sprintf("at most %d", MaxColumns))
	}
	seen := map[string]int{}
	for i, n := range names {
		if binaryByte([]byte(n)) >= 0 || !utf8.ValidString(n) || len(n) > maxName {
			return audit.Fault(t.place(line, i), quoted(n), fmt.Sprintf("a name in UTF-8 of at most %d bytes", maxName))
		}
		if j, twice := seen[n]; twice {
			return audit.Fault(t.place(line, i), fmt.Sprintf("%q, the name of column %d too", n, j+1),
				"a unique name", "rename one of them; if the first line holds no names, say that the file has no header")
		}
		seen[n] = i
	}
	t.names, t.named = names, named
	for name := range t.o.Kinds {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return audit.UnknownName(t.what+": kind of column", name, names)
		}
	}
	return nil
}

// row adds a row. It keeps no reference to the slice.
func (t *tabulator) row(cells []string) error {
	if len(cells) != len(t.names) {
		return audit.Fault(onLine(t.what, t.line()), fmt.Sprintf("of %d cells", len(cells)), fmt.Sprintf("of %d", len(t.names)),
			"every row has as many cells as the first; quote a cell that holds the separator")
	}
	if t.table != nil {
		return t.add(cells, t.line)
	}
	t.held = append(t.held, heldRow{t.line(), slices.Clone(cells)})
	for _, c := range cells {
		t.bytes += len(c) + 24
	}
	if len(t.held) < sniffRows && t.bytes < sniffBytes {
		return nil
	}
	return t.settle()
}

// settle decides kinds and adds the rows that were held.
func (t *tabulator) settle() error {
	t.table = &Table{Columns: audit.Listed(len(t.names), func(i int) *Column { return newColumn(t.names[i], t.kind(i)) })}
	t.ended = make([]int, len(t.names))
	for _, h := range t.held {
		if err := t.add(h.cells, func() int { return h.line }); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// kind is that of column i by option, or by most of the rows.
func (t *tabulator) kind(i int) audit.ColumnKind {
	if kind := t.o.kind(t.names[i]); kind != "" {
		return kind
	}
	texts, numbers := 0, 0
	for _, h := range t.held {
		if len(h.cells[i]) == 0 {
			continue
		}
		if _, class := parse(h.cells[i]); class == textCell && !(t.text && decimalComma(h.cells[i])) {
			texts++
		} else {
			numbers++
		}
	}
	return audit.Pick(texts > numbers, audit.Symbol, audit.Real)
}

func (t *tabulator) add(cells []string, line func() int) error {
	for i, cell := range cells {
		c := t.table.Columns[i]
		if t.text && t.o.Scores {
			if cell == "" {
				t.ended[i] = cmp.Or(t.ended[i], line())
				continue
			}
			if t.ended[i] > 0 {
				return audit.Fault(t.place(t.ended[i], i), fmt.Sprintf("empty, but line %d is not", line()), "a number, or empty to the end of the file")
			}
		}
		if bad := c.addText(cell, t.o); bad != nil {
			bad.Field = t.place(line(), i)
			return bad
		}
	}
	if *t.left -= len(cells); *t.left < 0 {
		return tooManyCells(onLine(t.what, line()), 0, t.o)
	}
	return nil
}

// bytesEach is about how much memory an audit takes for a number.
const bytesEach = 40

// tooManyCells refuses so many cells, 0 where that is not known.
func tooManyCells(place string, n int, o *Options) error {
	found := "too large for memory"
	if n > 0 {
		found = fmt.Sprintf("of about %.3g numbers, which would take %s of memory", float64(n), sizeWords(bytesEach*int64(n)))
	}
	return audit.Fault(place, found, fmt.Sprintf("at most %d cells", o.MaxCells),
		"take a random sample of the rows, for example by awk 'NR == 1 || rand() < 0.1', or fewer columns")
}

func (t *tabulator) close() (table *Table, err error) {
	if t.table == nil {
		err = t.settle()
	}
	return t.table, err
}
