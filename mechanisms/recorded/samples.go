package recorded

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// MinRows is the least number of outputs on each dataset: half explore, half certify.
const MinRows = 2 * audit.MinSamples

// MaxRows is the largest number of outputs on each dataset.
const MaxRows = 1<<31 - 1

// Samples are outputs of a mechanism on two datasets, in no order that matters.
type Samples struct {
	Columns  []audit.Column // of one output
	Datasets [2]string      // the two datasets in words
	Files    []*File
	Reading  audit.Reading
	By       string   // the column that tells the dataset; empty where each has a file or an array
	Notes    []string // what was taken for granted or left out

	columns [2][]*Column
	rows    [2][]uint32 // of each dataset, in its table

	mu    sync.Mutex
	seed  uint64
	order [2][]uint32 // rows in the order of the seed; nil until needed
}

// Rows is how many outputs there are on a dataset, 0 or 1.
func (s *Samples) Rows(side int) int { return len(s.rows[side]) }

// Row writes output i on a dataset.
func (s *Samples) Row(side, i int, out []float64) {
	for _, c := range s.columns[side] {
		out = out[c.put(s.rows[side][i], out):]
	}
}

// arranged are the rows of a dataset in the order of a seed.
func (s *Samples) arranged(seed uint64, side int) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seed != seed {
		s.seed, s.order = seed, [2][]uint32{}
	}
	if s.order[side] == nil {
		rows := slices.Clone(s.rows[side])
		stream.New(stream.Key{Seed: seed, Purpose: "split", Side: side}).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		s.order[side] = rows
	}
	return s.order[side]
}

func upTo(n int) []uint32 { return audit.Listed(n, func(i int) uint32 { return uint32(i) }) }

// Pair takes the outputs on two datasets from two files of one table each, or from one with
// a column or an array that tells the dataset, or with an array for each. They were read as
// r says.
func Pair(files []*File, r audit.Reading) (*Samples, error) {
	s := &Samples{Files: files, Reading: r}
	for _, f := range files {
		for _, t := range f.Tables {
			if err := t.checkEven(f.Name); err != nil {
				return nil, err
			}
		}
		for _, n := range f.Notes {
			s.note("%s%s", audit.Pick(len(files) > 1, f.Name+": ", ""), n)
		}
	}
	if err := oneOrTwo("samples", files, s.oneFile, s.twoFiles); err != nil {
		return nil, err
	}
	for side, rows := range s.rows {
		if len(rows) > MaxRows {
			return nil, audit.Fault("samples, "+s.Datasets[side], fmt.Sprintf("of %d rows", len(rows)), fmt.Sprintf("at most %d", MaxRows), "take fewer rows")
		}
		if len(rows) < MinRows {
			return nil, audit.Fault("samples, "+s.Datasets[side], fmt.Sprintf("of %d rows", len(rows)),
				fmt.Sprintf("at least %d, the smallest useful number: half of them explore, half certify", MinRows), "run the mechanism more often")
		}
	}
	if err := s.chooseColumns(); err != nil {
		return nil, err
	}
	if s.Rows(0) != s.Rows(1) {
		s.note("%s has %d rows, %s has %d: a random sample of the longer one is used, as many rows as the shorter one has", s.Datasets[0], s.Rows(0), s.Datasets[1], s.Rows(1))
	}
	return s, nil
}

func oneOrTwo(field string, files []*File, one func(*File) error, two func(a, b *File) error) error {
	switch len(files) {
	case 1:
		return one(files[0])
	case 2:
		for _, f := range files {
			if len(f.Tables) != 1 {
				return audit.Fault(f.Name, "with the arrays "+arrayNames(f), "one array, as there are two files")
			}
		}
		return two(files[0], files[1])
	}
	return audit.Fault(field, fmt.Sprintf("%d files", len(files)), "one file or two")
}

func (s *Samples) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

func (s *Samples) datasetName() string { return cmp.Or(s.Reading.Dataset, "dataset") }

func (s *Samples) oneFile(f *File) error {
	if len(f.Tables) == 1 {
		return s.split(f, f.Tables[0])
	}
	if f.Table(s.datasetName()) != nil {
		for _, t := range f.Tables {
			if t.Rows() != f.Tables[0].Rows() {
				return audit.Fault(f.Name, fmt.Sprintf("the arrays %q with %d rows and %q with %d", f.Tables[0].Name, f.Tables[0].Rows(), t.Name, t.Rows()), "arrays of the same length")
			}
		}
		return s.split(f, &Table{Columns: f.Columns()})
	}
	d0, d1 := f.Table("d0"), f.Table("d1")
	switch {
	case d0 != nil && d1 != nil:
		if len(f.Tables) > 2 {
			s.note("of %d arrays only d0 and d1 are read", len(f.Tables))
		}
	case (d0 != nil || d1 != nil) || len(f.Tables) != 2:
		return audit.Fault(f.Name, "with the arrays "+arrayNames(f), fmt.Sprintf("d0 and d1, the outputs on two datasets, or an array %q beside arrays of the same length", s.datasetName()))
	default:
		d0, d1 = f.Tables[0], f.Tables[1]
		s.note("the array %q is taken as the first dataset, %q as the second", d0.Name, d1.Name)
	}
	s.Datasets = [2]string{fmt.Sprintf("array %q", d0.Name), fmt.Sprintf("array %q", d1.Name)}
	return s.join(d0, d1)
}

func arrayNames(f *File) string {
	return firstFew(audit.Each(f.Tables, func(t *Table) string { return strconv.Quote(t.Name) }))
}

// Columns are those of all tables, of several with the array's name.
func (f *File) Columns() (out []*Column) {
	for _, t := range f.Tables {
		for _, c := range t.Columns {
			d := *c
			if len(f.Tables) > 1 {
				d.Name = t.Name
				if len(t.Columns) > 1 {
					d.Name += "." + c.Name
				}
			}
			out = append(out, &d)
		}
	}
	return out
}

func (s *Samples) split(f *File, t *Table) error {
	name := s.datasetName()
	by := t.Column(name)
	if by == nil {
		remedy := "name the column that says which dataset a row is of, or give a file for each dataset"
		if two := f.TwoValued(); len(two) > 0 {
			remedy = fmt.Sprintf("name the column that says which dataset a row is of (%s: two values), or give a file for each dataset", firstFew(two))
		}
		return audit.Fault(f.Name, "one dataset: columns "+firstFew(t.names()),
			fmt.Sprintf("outputs on two datasets: a column %q with 0 and 1, or a second file", name), remedy)
	}
	s.By = by.Name
	values, codes, err := twoValues(f, by)
	if err != nil {
		return err
	}
	if by.Name != "dataset" || values[0] != "0" || values[1] != "1" {
		s.note("%s = %s is taken as the first dataset, %s = %s as the second", by.Name, values[0], by.Name, values[1])
	}
	for side, v := range values {
		s.Datasets[side] = "rows with " + by.Name + " = " + v
	}
	for i := range by.Len() {
		side := audit.Pick(by.key(i) == codes[1], 1, 0)
		s.rows[side] = append(s.rows[side], uint32(i))
	}
	columns := t.without(by)
	s.columns = [2][]*Column{columns, columns}
	return nil
}

// TwoValued are the columns of two values of a file that is one table of several columns.
func (f *File) TwoValued() []string {
	if len(f.Tables) != 1 || len(f.Tables[0].Columns) < 2 {
		return nil
	}
	var out []string
	for _, c := range f.Tables[0].Columns {
		if _, _, err := twoValues(f, c); err == nil {
			out = append(out, c.Name)
		}
	}
	return out
}

// key tells values of a real or a symbol column apart.
func (c *Column) key(i int) float64 {
	if c.Kind == audit.Real {
		return c.reals[i]
	}
	return float64(c.codes[i])
}

// twoValues finds the two values of a column, the smaller number or word first.
func twoValues(f *File, c *Column) (words [2]string, keys [2]float64, err error) {
	refuse := func(found string, remedy ...string) ([2]string, [2]float64, error) {
		return words, keys, audit.Fault(c.of(f.Name), found, "two values, one for each dataset, such as 0 and 1", remedy...)
	}
	if c.Kind == audit.Mixed {
		return refuse("of numbers and words")
	}
	var at []int // rows of its values
	for i := range c.Len() {
		if slices.ContainsFunc(at, func(row int) bool { return c.key(row) == c.key(i) }) {
			continue
		}
		if len(at) == 2 {
			return refuse(fmt.Sprintf("with a third value, %s, in row %d", quoted(c.Text(i)), i+1),
				"name the column that says which dataset a row is of, or keep the rows of two datasets only")
		}
		at = append(at, i)
	}
	switch len(at) {
	case 0:
		return refuse("empty")
	case 1:
		return refuse(fmt.Sprintf("%s in every row: one dataset is missing", quoted(c.Text(0))))
	}
	a, b := at[0], at[1]
	if c.Kind == audit.Symbol && strings.TrimSpace(c.Text(a)) > strings.TrimSpace(c.Text(b)) || c.Kind == audit.Real && c.key(a) > c.key(b) {
		a, b = b, a
	}
	return [2]string{c.Text(a), c.Text(b)}, [2]float64{c.key(a), c.key(b)}, nil
}

func (s *Samples) twoFiles(a, b *File) error {
	var tables [2]*Table
	for i, f := range []*File{a, b} {
		t := f.Tables[0]
		if by := t.Column(s.datasetName()); by != nil {
			if !by.constant(upTo(by.Len())) {
				return audit.Fault(by.of(f.Name), "of several values", "one value, as each of the two files is a dataset",
					"give one file with both datasets, or two files of one each")
			}
			s.note("%s: the column %q is ignored: it says which dataset this is", f.Name, by.Name)
			t = &Table{Columns: t.without(by)}
		}
		tables[i] = t
	}
	s.Datasets = [2]string{"file " + a.Name, "file " + b.Name}
	if a.Name == b.Name {
		s.Datasets = [2]string{"first file", "second file"}
	}
	if a.SHA256 == b.SHA256 {
		s.note("both files hold the same bytes")
	}
	return s.join(tables[0], tables[1])
}

func (s *Samples) join(a, b *Table) error {
	if len(a.Columns) != len(b.Columns) {
		return audit.Fault("samples, "+s.Datasets[1], fmt.Sprintf("of %d columns (%s)", len(b.Columns), firstFew(b.names())),
			fmt.Sprintf("of %d, as %s (%s)", len(a.Columns), s.Datasets[0], firstFew(a.names())))
	}
	for _, c := range a.Columns {
		d := b.Column(c.Name)
		if d == nil {
			return audit.Fault("samples, "+s.Datasets[1], "with the columns "+firstFew(b.names()), fmt.Sprintf("those of %s: %s", s.Datasets[0], firstFew(a.names())),
				"if a file has no header, say so")
		}
		if err := unify(s, c, d); err != nil {
			return err
		}
		s.columns[0] = append(s.columns[0], c)
		s.columns[1] = append(s.columns[1], d)
	}
	s.rows = [2][]uint32{upTo(a.Rows()), upTo(b.Rows())}
	return nil
}

func unify(s *Samples, a, b *Column) error {
	if a.Kind != b.Kind {
		switch {
		case a.Kind == audit.Real && b.Kind == audit.Mixed:
			a.mix()
		case a.Kind == audit.Mixed && b.Kind == audit.Real:
			b.mix()
		default:
			return audit.Fault(fmt.Sprintf("samples, column %q", a.Name), fmt.Sprintf("%s in %s and %s in %s", a.Kind, s.Datasets[0], b.Kind, s.Datasets[1]),
				"of one kind", "set the column's kind: real, symbol or mixed")
		}
	}
	if a.Kind == audit.Real {
		return nil
	}
	to := audit.Each(b.Symbols, a.code)
	for i, k := range b.codes {
		b.codes[i] = to[k]
	}
	b.Symbols, b.index = a.Symbols, a.index
	return nil
}

func (s *Samples) chooseColumns() error {
	all := s.columns
	s.columns = [2][]*Column{}
	t := Table{Columns: all[0]}
	chosen := map[*Column]bool{}
	for _, name := range s.Reading.Outputs {
		c := t.Column(name)
		if c == nil {
			return audit.UnknownName("column", name, t.names())
		}
		chosen[c] = true
	}
	for i, c := range all[0] {
		if len(chosen) > 0 && !chosen[c] {
			continue
		}
		// A column that numbers the rows tells how the file was written, not the mechanism.
		other := all[1][i]
		if len(chosen) == 0 && (c == other && c.counter(upTo(c.Len())) || c.counter(s.rows[0]) && other.counter(s.rows[1])) {
			s.note("the column %q is ignored: it counts the rows", c.Name)
			continue
		}
		s.columns[0], s.columns[1] = append(s.columns[0], c), append(s.columns[1], other)
		out := audit.Column{Name: c.Name, Kind: c.Kind}
		for k, word := range c.Symbols {
			out.Labels = append(out.Labels, audit.Label{Value: float64(k), Text: word})
		}
		s.Columns = append(s.Columns, out)
	}
	if len(s.columns[0]) == 0 {
		return audit.Fault("samples", "without a column of outputs", "at least one beside the dataset and row numbers")
	}
	s.noteConstants()
	return nil
}

func (s *Samples) noteConstants() {
	for i, a := range s.columns[0] {
		b := s.columns[1][i]
		if !a.constant(s.rows[0]) || !b.constant(s.rows[1]) {
			continue
		}
		x, y := a.Text(int(s.rows[0][0])), b.Text(int(s.rows[1][0]))
		if x == y {
			s.note("the column %q is %s in every row: it has no information", a.Name, x)
			continue
		}
		s.note("the column %q is %s in every row of the first dataset and %s in every row of the second: if the mechanism releases an exact value there, no epsilon holds; samples alone can certify at most about the logarithm of their number",
			a.Name, x, y)
	}
}

func firstFew(names []string) string {
	if len(names) > 8 {
		names = append(slices.Clone(names[:8]), "...")
	}
	return strings.Join(names, ", ")
}
