package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// UserKind says how a mechanism from outside dpscope runs.
type UserKind string

const (
	UserCommand UserKind = "command" // a program that answers requests on its standard streams
	UserModule  UserKind = "webassembly"
	UserScript  UserKind = "javascript"
	UserPython  UserKind = "python"
)

// Scripted says whether a report holds the function as its text, which only the page runs.
func (k UserKind) Scripted() bool { return k == UserScript || k == UserPython }

// UserMechanism says what it takes to find and run again a mechanism that the user brought.
type UserMechanism struct {
	Kind   UserKind `json:"kind"`
	Name   string   `json:"name"` // the command line, or the file without its folder
	SHA256 string   `json:"sha256,omitempty"`
	Code   string   `json:"code,omitempty"`
	// Runtime names the interpreter that ran it, where that is no part of the browser.
	Runtime  string   `json:"runtime,omitempty"`
	Datasets Space    `json:"datasets"`
	Columns  []Column `json:"columns"`
	// NonFinite is refuse or symbol; else NaN and infinities are outcomes.
	NonFinite string `json:"nonFinite,omitempty"`
	// Unseeded says why the same seed does not give the same outputs.
	Unseeded string `json:"unseeded,omitempty"`
}

// Space is the [Domain] of a mechanism that the user brought, with the relation that is meant.
type Space struct {
	Domain
	Relation Relation `json:"relation"`
}

// Limits of a space.
const (
	maxSpaceColumns = 1000
	maxSpaceRows    = 100_000
)

// ParseSpace reads a space from its short form: ranges of the columns, as 0:1,-5:5 or 8x0:1, the
// least and most rows, as 0:10 or 3, and the relation. A reach of 0 means 1.
func ParseSpace(ranges, rows string, relation Relation, integer bool, reach float64) (Space, error) {
	s := Space{Domain{Integer: integer}, cmp.Or(relation, AddRemove)}
	rows = cmp.Or(rows, Pick(s.Relation == AddRemove, "0:5", "1:5"))
	for r := range strings.SplitSeq(cmp.Or(ranges, "0:1"), ",") {
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
			return s, Fault("domain", strconv.Quote(r), "lower:upper for each column, separated by commas", "for example 0:1, or 0:1,18:99, or 8x0:1 for eight columns")
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
		return s, Fault("rows", strconv.Quote(rows), "the smallest and the largest number of rows", "for example 0:5 or 3")
	}
	if s.Reach = reach; s.Relation.HasReach() && reach == 0 {
		s.Reach = 1
	}
	return s, s.Validate()
}

// Ranges is the short form of the columns' ranges, which [ParseSpace] reads.
func (s Space) Ranges() string {
	var parts []string
	for i := 0; i < s.Columns; {
		end := i + 1
		for end < s.Columns && s.Lower[end] == s.Lower[i] && s.Upper[end] == s.Upper[i] {
			end++
		}
		one := Exactly(s.Lower[i]) + ":" + Exactly(s.Upper[i])
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

// Validate refuses a space that is none to search, or too large.
func (s Space) Validate() error {
	_, err := ParseRelation(string(s.Relation))
	rows := fmt.Sprintf("%d:%d", s.MinRows, s.MaxRows)
	return First(err,
		Remedy("given is for recorded outputs only", Require(s.Relation != Given, "relation", Given, "%s", Searchable)),
		Require(s.Columns <= maxSpaceColumns, "domain", fmt.Sprintf("%d columns", s.Columns), "1 to %d columns, each with a lower and an upper bound", maxSpaceColumns),
		Require(s.MaxRows >= 1 && s.MaxRows <= maxSpaceRows, "rows", rows, "two numbers in [0, %d], the smaller first, the larger at least 1", maxSpaceRows),
		Require(s.Relation == AddRemove || s.MinRows != 0, "rows", rows, "at least 1 for the relation %s", s.Relation),
		s.Check(s.Relation),
	)
}

// Trial is a pair to try the mechanism on: of the fewest rows, at the lower end of the ranges, the
// last goes as far up as it may; or a row there is added.
func (s Space) Trial() Pair {
	row := func(t float64) []float64 {
		v := make([]float64, s.Columns)
		for i := range v {
			v[i] = s.Lower[i]
			if s.Integer {
				v[i] = math.Ceil(v[i])
			}
			up := s.Upper[i]
			if s.Relation.HasReach() {
				up = min(up, v[i]+s.Reach)
			}
			if s.Integer {
				up = math.Floor(up)
			}
			v[i] += float64(t * (up - v[i]))
		}
		return v
	}
	first := slices.Repeat(row(0), s.MinRows)
	same := slices.Clone(first)
	if s.Relation != AddRemove {
		same = same[:len(same)-s.Columns]
	}
	return Pair{First: Dataset{s.Columns, first}, Second: Dataset{s.Columns, append(same, row(1)...)}}
}

// Spec is a catalogue's line for the mechanism m, which several workers may call at once.
func (b UserMechanism) Spec(m Mechanism) MechanismSpec {
	title := map[UserKind]string{UserCommand: "A user's command", UserModule: "A user's WebAssembly module", UserScript: "A user's JavaScript function", UserPython: "A user's Python function"}[b.Kind]
	return MechanismSpec{
		Name: string(b.Kind), Title: title, Source: "provided by the user: " + b.Name,
		Relations: func(Params) []Relation { return []Relation{b.Datasets.Relation} },
		Claim:     func(Params) Claim { return DPClaim(1, 0) }, // a plan must say
		Truth:     func(Params) string { return "unknown" },
		Domain:    func(Params, Relation) Domain { return b.Datasets.Domain },
		Pairs:     func(Params, Relation) []Pair { return nil }, // the finder knows what to try
		New:       func(Params) (Mechanism, error) { return m, nil },
		Unseeded:  b.Unseeded,
		User:      &b,
	}
}

// Words name the mechanism in a table of facts.
func (b *UserMechanism) Words() string {
	words := fmt.Sprintf("%s: %s", b.Kind, b.Name)
	if b.SHA256 == "" {
		return words
	}
	if b.Runtime != "" {
		words += ", run by " + b.Runtime
	}
	return words + fmt.Sprintf(" (SHA-256 %.12s...)", b.SHA256)
}

// SymbolOf is the number that stands for a word in a symbol column: 52 bits of a hash (FNV-1a).
// Words that share one can only hide a difference.
func SymbolOf(word string) float64 {
	h := uint64(14695981039346656037)
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return float64((h ^ h>>52) & (1<<52 - 1))
}

// Limitations stand in reports of mechanisms that were brought, too.
func (b *UserMechanism) Limitations() []string {
	out := []string{"The mechanism ran outside dpscope. The bounds assume that it uses the dataset as given and that its outputs are independent; dpscope cannot check either."}
	if b.Kind == UserCommand {
		out = append(out, "The report names the command; the code behind it, its libraries and its settings are not part of the report.")
	}
	return out
}
