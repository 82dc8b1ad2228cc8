package recorded

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Scores are membership scores of canaries, a higher one the likelier in.
type Scores struct {
	Sorted [2][]float64 // ascending, by class
	Matrix *Matrix      // of several runs, else nil
	Notes  []string     // what was taken for granted, ties

	columns ScoreColumns
}

// Matrix is scores of the same canaries in independent runs: those of run i are
// Score[i*Canaries : (i+1)*Canaries].
type Matrix struct {
	Runs, Canaries int
	Score          []float64
	Member         []bool // whether the canary was in, in that run
}

// ScoreColumns say which columns or arrays hold scores, and what a score means.
type ScoreColumns struct {
	Score  string `json:"score,omitempty"`  // default score
	Member string `json:"member,omitempty"` // that which says who was in; default member
	Lower  bool   `json:"lower,omitempty"`  // a lower score speaks for in, as a loss does: scores are negated
}

// Classes of canaries.
const (
	In = iota
	Out
)

// Names of arrays and columns of scores: ours, and those of jax_privacy's auditing module.
var (
	inNames  = []string{"in", "in_canary_scores"}
	outNames = []string{"out", "out_canary_scores"}
)

// ReadScores takes scores from two files of one column each, canaries that were in first, or
// from one of columns or arrays score and member (1 for in, 0 for out), or in and out (or
// in_canary_scores and out_canary_scores), of any lengths. With a column run, or as arrays of
// two dimensions (runs, canaries), they are a matrix. Files are read with [Options].Scores.
func ReadScores(files []*File, columns ScoreColumns) (*Scores, error) {
	s := &Scores{columns: columns}
	if columns.Lower {
		s.Notes = append(s.Notes, "a lower score means in: all scores are negated, and so are thresholds")
	}
	for _, f := range files {
		s.Notes = append(s.Notes, f.Notes...)
		for _, t := range f.Tables {
			if t.Rows() == 0 { // all of its cells are empty
				return nil, audit.Fault(f.Name, "without a value", wantScores)
			}
		}
	}
	if err := oneOrTwo("scores", files, s.oneFile, s.twoFiles); err != nil {
		return nil, err
	}
	return s, s.check()
}

const wantScores = "columns or arrays in and out, or score and member (1 for in, 0 for out)"

func (s *Scores) oneFile(f *File) error {
	if len(f.Tables) == 1 && f.Tables[0].Name == "" {
		t := f.Tables[0]
		// Columns are looked up as one-column arrays.
		split := &File{RecordedFile: f.RecordedFile, Tables: audit.Each(t.Columns, func(c *Column) *Table { return &Table{Name: c.Name, Columns: []*Column{c}} })}
		if split.Table("run") != nil {
			return s.byRun(f, t, split)
		}
		f = split
	}
	return s.arrays(f)
}

func find(f *File, names ...string) *Table {
	for _, n := range names {
		if t := f.Table(n); t != nil {
			return t
		}
	}
	return nil
}

func (s *Scores) arrays(f *File) error {
	in, out := find(f, inNames...), find(f, outNames...)
	score, member, err := s.named(f)
	if err != nil {
		return err
	}
	named := s.columns.Score != "" || s.columns.Member != ""
	switch {
	case score != nil && member != nil && (named || in == nil && out == nil):
		return s.scoreMember(f.Name, score, member)
	case named:
	case in != nil && out != nil && score == nil:
		return s.inOut(f.Name, in, out)
	case in != nil && out == nil, out != nil && in == nil:
		return audit.Fault(f.Name, "one class of scores ("+arrayNames(f)+")", wantScores)
	case score != nil && member == nil:
		return audit.Fault(f.Name, "scores without membership ("+arrayNames(f)+")", wantScores, "add a column member: 1 where the canary was in, 0 where it was out")
	}
	return audit.Fault(f.Name, "with "+arrayNames(f), wantScores, "name the column of the scores and the column of membership; if a lower score means in, as for a loss, say so")
}

// named finds the arrays of scores and of membership, nil for none of the usual name.
func (s *Scores) named(f *File) (score, member *Table, err error) {
	array := func(setting, name string, usual ...string) *Table {
		if name == "" {
			return find(f, usual...)
		}
		t := f.Table(name)
		if t == nil && err == nil {
			err = audit.At("/"+setting, audit.Fault(setting, quoted(name), "a column of "+f.Name+": "+arrayNames(f)))
		}
		return t
	}
	score = array("score", s.columns.Score, "score", "scores")
	member = array("member", s.columns.Member, "member")
	return score, member, err
}

func (s *Scores) twoFiles(a, b *File) error {
	s.Notes = append(s.Notes, "the first file is taken as the scores of canaries that were in, the second as those that were out")
	return s.inOut("scores", a.Tables[0], b.Tables[0])
}

func (s *Scores) inOut(name string, in, out *Table) error {
	if in.Matrix != out.Matrix {
		return audit.Fault(name, "one array of one dimension and one of two", "both of one dimension, or both of two (runs, canaries)")
	}
	if in.Matrix && in.Rows() != out.Rows() {
		return audit.Fault(name, fmt.Sprintf("%d runs in and %d out", in.Rows(), out.Rows()), "as many rows in both: a row is a run")
	}
	classes := [2]*Table{In: in, Out: out}
	for class, t := range classes {
		if !t.Matrix && len(t.Columns) != 1 {
			return audit.Fault(fmt.Sprintf("%s, canaries that were %s", name, []string{In: "in", Out: "out"}[class]),
				fmt.Sprintf("of %d columns", len(t.Columns)), "one column of scores")
		}
	}
	m := &Matrix{Runs: max(in.Rows(), out.Rows()), Canaries: len(in.Columns) + len(out.Columns)}
	for i := range m.Runs {
		for class, t := range classes {
			for _, c := range t.Columns {
				if err := c.areScores(name, class); err != nil {
					return err
				}
				if i < c.Len() {
					s.add(m, c, i, class == In)
				}
			}
		}
	}
	s.take(m, in.Matrix)
	return nil
}

func (s *Scores) scoreMember(name string, score, member *Table) error {
	if score.Matrix != member.Matrix || len(score.Columns) != len(member.Columns) || score.Rows() != member.Rows() {
		return audit.Fault(name, fmt.Sprintf("score of %d x %d and member of %d x %d", score.Rows(), len(score.Columns), member.Rows(), len(member.Columns)), "both of the same shape")
	}
	m := &Matrix{Runs: score.Rows(), Canaries: len(score.Columns)}
	for i := range m.Runs {
		for k, c := range score.Columns {
			in, err := isMember(name, member.Columns[k], i)
			if err = cmp.Or(c.areScores(name, In), err); err != nil {
				return err
			}
			s.add(m, c, i, in)
		}
	}
	s.take(m, score.Matrix)
	return nil
}

// byRun takes columns run, score and member; each run has as many rows.
func (s *Scores) byRun(f *File, t *Table, split *File) error {
	scores, members, err := s.named(split)
	if err != nil {
		return err
	}
	if scores == nil || members == nil {
		return audit.Fault(f.Name, "with the columns "+firstFew(t.names()), "run, score and member")
	}
	run, score, member := t.Column("run"), scores.Columns[0], members.Columns[0]
	if err := cmp.Or(t.checkEven(f.Name), score.areScores(f.Name, In)); err != nil {
		return err
	}
	if run.Kind == audit.Mixed {
		return audit.Fault(f.Name+", column run", "of numbers and words", "one of both")
	}
	rows := map[float64][]int{} // by run
	var runs []float64
	for i := range t.Rows() {
		k := run.key(i)
		if rows[k] == nil {
			runs = append(runs, k)
		}
		rows[k] = append(rows[k], i)
	}
	m := &Matrix{Runs: len(runs), Canaries: len(rows[runs[0]])}
	for n, k := range runs {
		if len(rows[k]) != m.Canaries {
			return audit.Fault(f.Name, fmt.Sprintf("run number %d with %d canaries, the first with %d", n+1, len(rows[k]), m.Canaries), "as many in every run")
		}
		for _, i := range rows[k] {
			in, err := isMember(f.Name, member, i)
			if err != nil {
				return err
			}
			s.add(m, score, i, in)
		}
	}
	s.take(m, true)
	return nil
}

// add adds score i of a column: the higher, the likelier in.
func (s *Scores) add(m *Matrix, c *Column, i int, in bool) {
	score := c.Real(i)
	if s.columns.Lower {
		score = 0 - score // no -0
	}
	m.Score, m.Member = append(m.Score, score), append(m.Member, in)
}

// take sorts the scores by class.
func (s *Scores) take(m *Matrix, keep bool) {
	if keep {
		s.Matrix = m
		s.Notes = append(s.Notes, fmt.Sprintf("a matrix of %d runs by %d canaries: a row is a run", m.Runs, m.Canaries))
	}
	for i, x := range m.Score {
		class := audit.Pick(m.Member[i], In, Out)
		s.Sorted[class] = append(s.Sorted[class], x)
	}
	slices.Sort(s.Sorted[In])
	slices.Sort(s.Sorted[Out])
}

func (c *Column) areScores(name string, class int) error {
	switch {
	case c.Kind != audit.Real:
		return audit.Fault(c.of(name), "of words", "scores: finite numbers, higher for canaries that were in")
	case c.Len() == 0:
		return audit.Fault(c.of(name), "empty", "scores of canaries that were "+[]string{In: "in", Out: "out"}[class])
	}
	return nil
}

var memberWords = map[string]bool{"1": true, "0": false, "true": true, "false": false, "in": true, "out": false, "yes": true, "no": false}

func isMember(name string, c *Column, i int) (bool, error) {
	if c.Kind == audit.Real {
		if v := c.Real(i); v == 0 || v == 1 {
			return v == 1, nil
		}
	}
	in, ok := memberWords[strings.ToLower(strings.TrimSpace(c.Text(i)))]
	if !ok {
		return false, audit.Fault(fmt.Sprintf("%s, row %d", c.of(name), i+1), quoted(c.Text(i)), "1 (in) or 0 (out)")
	}
	return in, nil
}

// check refuses scores of one class and says what is odd.
func (s *Scores) check() error {
	in, out := len(s.Sorted[In]), len(s.Sorted[Out])
	for class, other := range []string{In: "out", Out: "in"} {
		if len(s.Sorted[class]) == 0 {
			return audit.Fault("scores", "of one class: all canaries were "+other, "of canaries that were in and of canaries that were out")
		}
	}
	if in != out {
		s.Notes = append(s.Notes, fmt.Sprintf("%d scores of canaries that were in, %d of canaries that were out", in, out))
	}
	all := slices.Concat(s.Sorted[In], s.Sorted[Out])
	slices.Sort(all)
	switch total, distinct := in+out, len(slices.Compact(all)); {
	case distinct == 1:
		s.Notes = append(s.Notes, fmt.Sprintf("all %d scores are %s: they have no information", total, word(all[0])))
	case distinct < total/10:
		s.Notes = append(s.Notes, fmt.Sprintf("ties: %d scores have only %d different values", total, distinct))
	}
	if s.Sorted[In][in/2] < s.Sorted[Out][out/2] {
		s.Notes = append(s.Notes, "scores of canaries that were in are lower on the whole, but a higher score means in; if the scores are losses, say that a lower one means in")
	}
	return nil
}

func word(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}
