package recorded

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream/spill"
)

// Scores are membership scores of canaries: a higher score means that the
// canary was more likely in the training set.
type Scores struct {
	// Ranks are the scores, runs after runs where there are several: list [In] and list
	// [Out].
	Ranks *spill.Ranks
	// Matrix is there where the scores are those of several runs.
	Matrix *Matrix
	Files  []*File
	Notes  []string // in words: what was taken for granted, ties
}

// Matrix is scores of the same canaries in several independent runs of the
// training, flat by rows: run i holds Score[i*Canaries : (i+1)*Canaries].
type Matrix struct {
	Runs, Canaries int
	Score          []float64
	Member         []bool // whether the canary was in, in that run
}

// Classes of canaries: those that were in, and those that were out.
const (
	In = iota
	Out
)

// Names of arrays and columns of scores: ours, and those of jax_privacy, whose
// auditing module takes in_canary_scores and out_canary_scores.
var (
	inNames  = []string{"in", "in_canary_scores"}
	outNames = []string{"out", "out_canary_scores"}
)

// ScoreOptions are the options with which a file of scores is read.
func ScoreOptions(o Options) Options {
	o.Scores = true
	return o
}

// ReadScores takes scores from one file of any of these forms, or from two files of
// one column each, the scores of canaries that were in first:
//
//   - columns or arrays score and member, with 1 for in and 0 for out; with a
//     column run, or as arrays of two dimensions (runs, canaries), a matrix;
//   - columns or arrays in and out (or in_canary_scores and out_canary_scores),
//     which may differ in length; as arrays of two dimensions, a matrix whose
//     canaries are those of in, then those of out.
//
// The files are read with [ScoreOptions].
func ReadScores(files []*File) (*Scores, error) {
	s := &Scores{Files: files}
	for _, f := range files {
		s.Notes = append(s.Notes, f.Notes...)
		for _, t := range f.Tables {
			if t.Rows() == 0 { // all of its cells are empty
				return nil, &audit.InputError{Field: f.Name, Found: "without a value", Want: wantScores}
			}
		}
	}
	var err error
	switch len(files) {
	case 1:
		err = s.oneFile(files[0])
	case 2:
		err = s.twoFiles(files[0], files[1])
	default:
		err = &audit.InputError{Field: "scores", Found: fmt.Sprintf("%d files", len(files)), Want: "one file or two"}
	}
	if err != nil {
		return nil, err
	}
	return s, s.check()
}

const wantScores = "columns or arrays in and out, or score and member (1 for in, 0 for out)"

func (s *Scores) oneFile(f *File) error {
	if len(f.Tables) == 1 && f.Tables[0].Name == "" {
		t := f.Tables[0]
		// Columns are looked up as one-column arrays.
		split := &File{Name: f.Name, Tables: nil}
		for _, c := range t.Columns {
			split.Tables = append(split.Tables, &Table{Name: c.Name, Columns: []*Column{c}})
		}
		if run := split.Table("run"); run != nil {
			return s.byRun(f, t)
		}
		return s.arrays(split)
	}
	return s.arrays(f)
}

func find(f *File, names []string) *Table {
	for _, n := range names {
		if t := f.Table(n); t != nil {
			return t
		}
	}
	return nil
}

// arrays takes scores from arrays by name.
func (s *Scores) arrays(f *File) error {
	in, out := find(f, inNames), find(f, outNames)
	score, member := f.Table("score"), f.Table("member")
	if score == nil {
		score = f.Table("scores")
	}
	switch {
	case in != nil && out != nil && score == nil:
		return s.inOut(f.Name, in, out)
	case score != nil && member != nil && in == nil && out == nil:
		return s.scoreMember(f.Name, score, member)
	case in != nil && out == nil, out != nil && in == nil:
		return &audit.InputError{Field: f.Name, Found: "one class of scores (" + arrayNames(f) + ")", Want: wantScores}
	case score != nil && member == nil:
		return &audit.InputError{Field: f.Name, Found: "scores without membership (" + arrayNames(f) + ")", Want: wantScores, Remedy: "add a column member: 1 where the canary was in, 0 where it was out"}
	}
	return &audit.InputError{Field: f.Name, Found: "with " + arrayNames(f), Want: wantScores}
}

func (s *Scores) twoFiles(a, b *File) error {
	var tables [2]*Table
	for i, f := range []*File{a, b} {
		if len(f.Tables) != 1 {
			return &audit.InputError{Field: f.Name, Found: "with the arrays " + arrayNames(f), Want: "one array of scores, as there are two files"}
		}
		if tables[i] = f.Tables[0]; !tables[i].Matrix && len(tables[i].Columns) != 1 {
			return &audit.InputError{Field: f.Name, Found: fmt.Sprintf("of %d columns", len(tables[i].Columns)), Want: "one column of scores, as there are two files"}
		}
	}
	s.Notes = append(s.Notes, "the first file is taken as the scores of canaries that were in, the second as those that were out")
	return s.inOut("scores", tables[0], tables[1])
}

// inOut takes two arrays of scores.
func (s *Scores) inOut(name string, in, out *Table) error {
	if in.Matrix != out.Matrix {
		return &audit.InputError{Field: name, Found: "one array of one dimension and one of two", Want: "both of one dimension, or both of two (runs, canaries)"}
	}
	if !in.Matrix {
		if err := cmp.Or(in.Columns[0].haveScores(name, "in"), out.Columns[0].haveScores(name, "out")); err != nil {
			return err
		}
		s.Ranks = spill.Rank(in.Columns[0].reals.Scratch(), in.Columns[0].all(), out.Columns[0].all())
		return nil
	}
	if in.Rows() != out.Rows() {
		return &audit.InputError{Field: name, Found: fmt.Sprintf("%d runs in and %d out", in.Rows(), out.Rows()), Want: "as many rows in both: a row is a run"}
	}
	m := &Matrix{Runs: in.Rows(), Canaries: len(in.Columns) + len(out.Columns)}
	for i := range m.Runs {
		for k, t := range []*Table{in, out} {
			for _, c := range t.Columns {
				if err := c.areScores(name); err != nil {
					return err
				}
				m.Score, m.Member = append(m.Score, c.Real(i)), append(m.Member, k == 0)
			}
		}
	}
	s.setMatrix(m)
	return nil
}

// scoreMember takes scores and membership of the same shape.
func (s *Scores) scoreMember(name string, score, member *Table) error {
	if score.Matrix != member.Matrix || len(score.Columns) != len(member.Columns) || score.Rows() != member.Rows() {
		return &audit.InputError{Field: name, Found: fmt.Sprintf("score of %d x %d and member of %d x %d", score.Rows(), len(score.Columns), member.Rows(), len(member.Columns)), Want: "both of the same shape"}
	}
	for _, c := range score.Columns {
		if err := c.areScores(name); err != nil {
			return err
		}
	}
	if !score.Matrix {
		return s.classes(name, score.Columns[0], member.Columns[0])
	}
	m := &Matrix{Runs: score.Rows(), Canaries: len(score.Columns)}
	for i := range m.Runs {
		for k, c := range score.Columns {
			in, err := isMember(name, member.Columns[k], i)
			if err != nil {
				return err
			}
			m.Score, m.Member = append(m.Score, c.Real(i)), append(m.Member, in)
		}
	}
	s.setMatrix(m)
	return nil
}

// classes takes the scores of both classes.
func (s *Scores) classes(name string, score, member *Column) error {
	were := marks{}
	for i := range score.Len() {
		in, err := isMember(name, member, i)
		if err != nil {
			return err
		}
		were.add(in)
	}
	of := func(mark bool) iter.Seq[float64] {
		return func(yield func(float64) bool) {
			for i := range were.each(mark) {
				if !yield(score.Real(i)) {
					return
				}
			}
		}
	}
	s.Ranks = spill.Rank(score.reals.Scratch(), of(true), of(false))
	return nil
}

// byRun takes columns run, score and member; each run has as many rows.
func (s *Scores) byRun(f *File, t *Table) error {
	run, score, member := t.Column("run"), t.Column("score"), t.Column("member")
	if score == nil || member == nil {
		return &audit.InputError{Field: f.Name, Found: "with the columns " + strings.Join(firstFew(t.names()), ", "), Want: "run, score and member"}
	}
	if err := cmp.Or(t.checkEven(f.Name), score.areScores(f.Name)); err != nil {
		return err
	}
	switch {
	case run.Kind == audit.Mixed:
		return &audit.InputError{Field: f.Name + ", column run", Found: "of numbers and words", Want: "one of both"}
	case run.wide():
		return &audit.InputError{Field: f.Name + ", column run", Found: "of whole numbers beyond 2^53", Want: "smaller ones", Remedy: "number the runs 1, 2, ..."}
	}
	at := map[float64]int{}
	var scores [][]float64
	var members [][]bool
	for i := range t.Rows() {
		k, ok := at[run.key(i)]
		if !ok {
			k = len(scores)
			at[run.key(i)] = k
			scores, members = append(scores, nil), append(members, nil)
		}
		in, err := isMember(f.Name, member, i)
		if err != nil {
			return err
		}
		scores[k], members[k] = append(scores[k], score.Real(i)), append(members[k], in)
	}
	m := &Matrix{Runs: len(scores), Canaries: len(scores[0])}
	for k := range scores {
		if len(scores[k]) != m.Canaries {
			return &audit.InputError{Field: f.Name, Found: fmt.Sprintf("run number %d with %d canaries, the first with %d", k+1, len(scores[k]), m.Canaries), Want: "as many in every run"}
		}
		m.Score, m.Member = append(m.Score, scores[k]...), append(m.Member, members[k]...)
	}
	s.setMatrix(m)
	return nil
}

func (s *Scores) setMatrix(m *Matrix) {
	s.Matrix = m
	s.Notes = append(s.Notes, fmt.Sprintf("a matrix of %d runs by %d canaries: a row is a run", m.Runs, m.Canaries))
	of := func(member bool) iter.Seq[float64] {
		return func(yield func(float64) bool) {
			for i, x := range m.Score {
				if m.Member[i] == member && !yield(x) {
					return
				}
			}
		}
	}
	s.Ranks = spill.Rank(nil, of(true), of(false))
}

// areScores refuses what has no order that float64 holds.
func (c *Column) areScores(name string) error {
	field := fmt.Sprintf("%s, column %q", name, c.Name)
	switch {
	case c.Kind != audit.Real:
		return &audit.InputError{Field: field, Found: "of words", Want: "scores: finite numbers, higher for canaries that were in"}
	case c.wide():
		return &audit.InputError{Field: field, Found: "of whole numbers beyond 2^53, which float64 would round", Want: "scores that float64 holds", Remedy: "subtract the same number from all, or give their ranks: only the order counts"}
	}
	return nil
}

// haveScores refuses a column that is no list of scores of a class.
func (c *Column) haveScores(name, class string) error {
	if err := c.areScores(name); err != nil || c.Len() > 0 {
		return err
	}
	return &audit.InputError{Field: fmt.Sprintf("%s, column %q", name, c.Name), Found: "empty", Want: "scores of canaries that were " + class}
}

// all are the numbers of a real column.
func (c *Column) all() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := range c.Len() {
			if !yield(c.Real(i)) {
				return
			}
		}
	}
}

// memberWords are words for membership.
var memberWords = map[string]bool{"1": true, "0": false, "true": true, "false": false, "in": true, "out": false, "yes": true, "no": false}

func isMember(name string, c *Column, i int) (bool, error) {
	if c.Kind == audit.Real {
		if v := c.Real(i); (v == 0 || v == 1) && !c.wide() {
			return v == 1, nil
		}
	}
	in, ok := memberWords[strings.ToLower(strings.TrimSpace(c.Text(i)))]
	if !ok {
		return false, &audit.InputError{Field: fmt.Sprintf("%s, column %q, row %d", name, c.Name, i+1), Found: quoted(c.Text(i)), Want: "1 (in) or 0 (out)"}
	}
	return in, nil
}

// check refuses scores of one class and says what is odd.
func (s *Scores) check() error {
	in, out := s.Ranks.Len(In), s.Ranks.Len(Out)
	for class, other := range []string{In: "out", Out: "in"} {
		if s.Ranks.Len(class) == 0 {
			return &audit.InputError{Field: "scores", Found: "of one class: all canaries were " + other, Want: "of canaries that were in and of such that were out"}
		}
	}
	if in != out {
		s.Notes = append(s.Notes, fmt.Sprintf("%d scores of canaries that were in, %d of canaries that were out", in, out))
	}
	switch total, distinct := in+out, s.Ranks.Distinct(); {
	case distinct == 1:
		s.Notes = append(s.Notes, fmt.Sprintf("all %d scores are %s: they tell nothing", total, word(s.Ranks.Value(0))))
	case distinct < total/10:
		s.Notes = append(s.Notes, fmt.Sprintf("ties: %d scores have %d values only", total, distinct))
	}
	if s.Ranks.Nth(In, in/2) < s.Ranks.Nth(Out, out/2) {
		s.Notes = append(s.Notes, "scores of canaries that were in are lower on the whole: a higher score means in; are losses given instead of scores?")
	}
	return s.Ranks.Err()
}

func word(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}
