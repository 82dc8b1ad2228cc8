package core

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// BroughtKind says how a mechanism from outside dpscope runs.
type BroughtKind string

const (
	BroughtCommand BroughtKind = "command"     // a program that answers requests on its standard streams
	BroughtModule  BroughtKind = "webassembly" // a WebAssembly module
	BroughtScript  BroughtKind = "javascript"  // a JavaScript function
)

// Brought says of a mechanism that the user brought what it takes to find and
// run it again.
type Brought struct {
	Kind BroughtKind `json:"kind"`
	Name string      `json:"name"` // the command line, or the file without its folder
	// SHA256 is of the code, where one file is all of it.
	SHA256 string `json:"sha256,omitempty"`
	// Code is the function itself, where that is short enough to be kept.
	Code     string   `json:"code,omitempty"`
	Datasets Space    `json:"datasets"`
	Columns  []Column `json:"columns"` // of one output
	// NonFinite says how NaN and infinities are read: refuse (or nothing), or
	// symbol.
	NonFinite string `json:"nonFinite,omitempty"`
	// Unseeded says why the same seed does not give the same outputs; empty
	// where it does.
	Unseeded string `json:"unseeded,omitempty"`
}

// Space is the [Domain] of a mechanism that the user brought, with the relation
// that the user means.
type Space struct {
	Columns  int       `json:"columns"`
	MinRows  int       `json:"minRows"`
	MaxRows  int       `json:"maxRows"`
	Lower    []float64 `json:"lower"`
	Upper    []float64 `json:"upper"`
	Integer  bool      `json:"integer,omitempty"`
	Reach    float64   `json:"reach,omitempty"` // of l-infinity
	Relation Relation  `json:"relation"`
}

// Limits of a space.
const (
	maxSpaceColumns = 1000
	maxSpaceRows    = 100_000
)

// ParseSpace reads a space from its short form: ranges of the columns, as 0:1,-5:5 or
// 8x0:1 for eight columns of one range, the least and most rows, as 0:10 or 3, and the relation. Where ranges
// or rows are empty they are 0:1 and 0:5. reach is of l-infinity, and 0 means 1.
func ParseSpace(ranges, rows string, relation Relation, integer bool, reach float64) (Space, error) {
	s := Space{Integer: integer, Relation: relation}
	if ranges == "" {
		ranges = "0:1"
	}
	if relation == "" {
		s.Relation = AddRemove
	}
	if rows == "" {
		rows = map[bool]string{false: "0:5", true: "1:5"}[s.Relation != AddRemove]
	}
	for r := range strings.SplitSeq(ranges, ",") {
		times, one := 1, strings.TrimSpace(r)
		if n, rest, ok := strings.Cut(one, "x"); ok && !strings.HasPrefix(n, "0") { // 0x1p3 is a number
			if k, err := strconv.Atoi(n); err == nil && k > 0 && k <= maxSpaceColumns {
				times, one = k, rest
			}
		}
		lo, up, ok := strings.Cut(one, ":")
		x, err1 := strconv.ParseFloat(lo, 64)
		y, err2 := strconv.ParseFloat(up, 64)
		if !ok || err1 != nil || err2 != nil {
			return s, &InputError{Field: "domain", Found: fmt.Sprintf("%q", r), Want: "lower:upper for each column, with commas between", Remedy: "for example 0:1, or 0:1,18:99, or 8x0:1 for eight columns"}
		}
		for range min(times, maxSpaceColumns+1-len(s.Lower)) { // one too many is refused below
			s.Lower, s.Upper = append(s.Lower, x), append(s.Upper, y)
		}
	}
	s.Columns = len(s.Lower)
	lo, up, ok := strings.Cut(rows, ":")
	if !ok {
		up = lo
	}
	var err1, err2 error
	s.MinRows, err1 = strconv.Atoi(strings.TrimSpace(lo))
	s.MaxRows, err2 = strconv.Atoi(strings.TrimSpace(up))
	if err1 != nil || err2 != nil {
		return s, &InputError{Field: "rows", Found: fmt.Sprintf("%q", rows), Want: "the least and the most rows of a dataset", Remedy: "for example 0:5 or 3"}
	}
	if s.Reach = reach; s.Relation == LInfinity && reach == 0 {
		s.Reach = 1
	}
	return s, s.Validate()
}

// ranges is the short form of the columns' ranges.
func (s Space) ranges() string {
	var parts []string
	for i := 0; i < s.Columns; {
		end := i + 1
		for end < s.Columns && s.Lower[end] == s.Lower[i] && s.Upper[end] == s.Upper[i] {
			end++
		}
		one := exactly(s.Lower[i]) + ":" + exactly(s.Upper[i])
		if end-i >= shortRun {
			parts, i = append(parts, fmt.Sprintf("%dx%s", end-i, one)), end
			continue
		}
		for ; i < end; i++ {
			parts = append(parts, one)
		}
	}
	return strings.Join(parts, ",")
}

// Validate reports the first thing that makes the space none to search.
func (s Space) Validate() error {
	if _, err := ParseRelation(string(s.Relation)); err != nil {
		return err
	}
	if s.Relation == Given {
		return &InputError{Field: "relation", Found: string(Given), Want: "add-remove, replace or l-infinity", Remedy: "given is that of recorded outputs"}
	}
	if s.Columns < 1 || s.Columns > maxSpaceColumns || len(s.Lower) != s.Columns || len(s.Upper) != s.Columns {
		return &InputError{Field: "domain", Found: fmt.Sprintf("%d columns with %d lower and %d upper ends", s.Columns, len(s.Lower), len(s.Upper)), Want: fmt.Sprintf("1 to %d columns with one of each", maxSpaceColumns)}
	}
	for i, lo := range s.Lower {
		if up := s.Upper[i]; !(lo <= up) || math.IsInf(lo, 0) || math.IsInf(up, 0) {
			return &InputError{Field: "domain", Found: fmt.Sprintf("%s:%s", number(lo), number(up)), Want: "finite numbers, the lower first"}
		}
	}
	most := s.MaxRows
	if s.MinRows < 0 || most < s.MinRows || most < 1 || most > maxSpaceRows {
		return &InputError{Field: "rows", Found: fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows), Want: fmt.Sprintf("in [0, %d], the least first, and the most at least 1", maxSpaceRows)}
	}
	if s.Relation == AddRemove && s.MinRows == most {
		return &InputError{Field: "rows", Found: fmt.Sprintf("%d always", most), Want: "a range, as add-remove changes the number of rows", Remedy: "for example 0:5; or use -relation replace"}
	}
	if s.Relation != AddRemove && s.MinRows == 0 {
		return &InputError{Field: "rows", Found: fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows), Want: fmt.Sprintf("at least 1 for the relation %s", s.Relation)}
	}
	if s.Relation == LInfinity && !(s.Reach > 0 && !math.IsInf(s.Reach, 1)) {
		return &InputError{Field: "reach", Found: number(s.Reach), Want: "a finite number above 0: how far one answer may move"}
	}
	return nil
}

// Domain is the space as finders see it.
func (s Space) Domain() Domain {
	return Domain{Columns: s.Columns, MinRows: s.MinRows, MaxRows: s.MaxRows, Lower: s.Lower, Upper: s.Upper, Integer: s.Integer, Reach: s.Reach}
}

// Pairs are the first pairs to try: a row that appears, goes from one end of the
// ranges to the other, or answers that move by the reach, among rows at either end.
func (s Space) Pairs() []Pair {
	full := func(n int, row []float64) []float64 {
		values := []float64{}
		for range n {
			values = append(values, row...)
		}
		return values
	}
	var out []Pair
	add := func(label string, first, second []float64) {
		p := Pair{Label: label, First: Dataset{s.Columns, first}, Second: Dataset{s.Columns, second}}
		same := func(q Pair) bool {
			return slices.Equal(q.First.Values, p.First.Values) && slices.Equal(q.Second.Values, p.Second.Values)
		}
		if s.Relation.Check(p, s.Domain()) == nil && !slices.ContainsFunc(out, same) {
			out = append(out, p)
		}
	}
	switch s.Relation {
	case AddRemove:
		for _, n := range []int{s.MinRows, s.MaxRows - 1} {
			for _, others := range [][]float64{s.Lower, s.Upper} {
				for i, row := range [][]float64{s.Upper, s.Lower} {
					few := full(n, others)
					add(fmt.Sprintf("%d rows at one end, and one more at the %s", n, []string{"upper", "lower"}[i]), few, append(append([]float64{}, few...), row...))
				}
			}
		}
	case Replace:
		for _, n := range []int{s.MinRows, s.MaxRows} {
			rest := full(n-1, s.Lower)
			add(fmt.Sprintf("one of %d rows from the lower to the upper end", n), append(append([]float64{}, s.Lower...), rest...), append(append([]float64{}, s.Upper...), rest...))
		}
	case LInfinity:
		moved := func(by float64) []float64 {
			row := append([]float64{}, s.Lower...)
			for i := range row {
				row[i] = min(s.Upper[i], row[i]+by)
			}
			return row
		}
		n := s.MaxRows
		add("all answers move by the reach", full(n, s.Lower), full(n, moved(s.Reach)))
		add("one answer moves by the reach", full(n, s.Lower), append(moved(s.Reach), full(n-1, s.Lower)...))
	}
	return out
}

// Spec is the line of a catalogue for the mechanism m, which may be called from
// several workers at once.
func (b Brought) Spec(m Mechanism) MechanismSpec {
	title := map[BroughtKind]string{BroughtCommand: "A command of the user's", BroughtModule: "A WebAssembly module of the user's", BroughtScript: "A JavaScript function of the user's"}[b.Kind]
	pairs := b.Datasets.Pairs()
	return MechanismSpec{
		Name: string(b.Kind), Title: title, Source: "brought by the user: " + b.Name,
		Relations: func(Params) []Relation { return []Relation{b.Datasets.Relation} },
		Claim:     func(Params) Claim { return DPClaim(1, 0) }, // a plan must say
		Truth:     func(Params) string { return "unknown" },
		Domain:    func(Params, Relation) Domain { return b.Datasets.Domain() },
		Pairs:     func(Params, Relation) []Pair { return pairs },
		New:       func(Params) (Mechanism, error) { return m, nil },
		Unseeded:  b.Unseeded,
		Brought:   &b,
	}
}

// arguments are the flags that bring the mechanism again.
func (b *Brought) arguments() []argument {
	name := map[BroughtKind]string{BroughtCommand: "exec", BroughtModule: "wasm"}[b.Kind]
	args := []argument{{name, b.Name}}
	s := b.Datasets
	args = append(args, argument{"domain", s.ranges()}, argument{"rows", fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows)})
	if s.Integer {
		args = append(args, argument{"integer", ""})
	}
	if s.Relation != AddRemove {
		args = append(args, argument{"relation", string(s.Relation)})
	}
	if s.Relation == LInfinity {
		args = append(args, argument{"reach", exactly(s.Reach)})
	}
	kinds := map[string]ColumnKind{}
	for _, c := range b.Columns {
		kinds[c.Name] = c.Kind
	}
	args = append(args, kindArguments(kinds)...)
	if b.NonFinite != "" {
		args = append(args, argument{"nonfinite", b.NonFinite})
	}
	return args
}

// words name the mechanism in a table of facts.
func (b *Brought) words() string {
	if b.SHA256 == "" {
		return fmt.Sprintf("%s: %s", b.Kind, b.Name)
	}
	return fmt.Sprintf("%s: %s (SHA-256 %.12s...)", b.Kind, b.Name, b.SHA256)
}

// SymbolOf is the number that stands for a word in a symbol column whose words
// are not known beforehand: 52 bits of a hash (FNV-1a). Two words that share one
// would be one symbol, which can only hide a difference.
func SymbolOf(word string) float64 {
	h := uint64(14695981039346656037)
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return float64((h ^ h>>52) & (1<<52 - 1))
}

// limitations stand in reports of mechanisms that were brought, too.
func (b *Brought) limitations() []string {
	out := []string{"What the mechanism does with the dataset, and that its outputs are independent, is the word of whoever brought it: it ran outside dpscope."}
	if b.Kind == BroughtCommand {
		out = append(out, "The report names the command; the code behind it, its libraries and its settings are not part of the report.")
	}
	return out
}
