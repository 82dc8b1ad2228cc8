package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Recorded is a mechanism whose outputs exist already, which are taken in a random order that the
// seed fixes: the sequential test bets on all, exploration takes the first Plan.Explore,
// certification those after them. So none certifies that was explored, and which do does not depend
// on their values.
type Recorded interface {
	Mechanism
	// Recorded fills out with the outputs number at, at+1, ... on one dataset (side 0 or 1), in a
	// random order that depends on seed, side and their number alone.
	Recorded(seed uint64, side, at int, out []float64) error
}

// RecordedName is the name of recorded outputs in a catalogue.
const RecordedName = "samples"

// Recording says where recorded outputs come from.
type Recording struct {
	Files    []RecordedFile `json:"files"`    // one, or one for each dataset
	Datasets [2]string      `json:"datasets"` // in words
	Rows     [2]int         `json:"rows"`     // on each dataset
	Columns  []Column       `json:"columns"`  // of one output
	Reading  Reading        `json:"reading"`
	Split    *RecordedSplit `json:"split,omitempty"`

	Notes []string `json:"-"`
}

// RecordedFile is one file of outputs.
type RecordedFile struct {
	Name   string `json:"name"` // without its folder
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Reading is how files of outputs are read where that is not told by content.
type Reading struct {
	Header    string                `json:"header,omitempty"`    // yes or no
	Dataset   string                `json:"dataset,omitempty"`   // column that tells the dataset
	Outputs   []string              `json:"outputs,omitempty"`   // columns that are outputs
	Kinds     map[string]ColumnKind `json:"kinds,omitempty"`     // of columns
	NonFinite string                `json:"nonFinite,omitempty"` // refuse or symbol
}

// RecordedSplit is how the outputs on each dataset were used; those bet on are explored and
// certified, too.
type RecordedSplit struct {
	Bet       int    `json:"bet,omitempty"` // at most: a bound that no longer climbs ends it
	Explored  int    `json:"explored"`
	Certified int    `json:"certified"` // at most: a run that was stopped ended earlier
	Unused    [2]int `json:"unused"`    // by any stage
}

// RecordedLimitations stand in reports of recorded outputs, too.
var RecordedLimitations = []string{
	"The outputs were recorded outside dpscope. The bounds assume that the rows are independent runs of one mechanism and that its two datasets are neighbours; dpscope cannot check either.",
}

// Spec is the line of a registry for the outputs, which m gives out.
func (r *Recording) Spec(m Mechanism) MechanismSpec {
	readPair := Pair{Label: r.Datasets[0] + " against " + r.Datasets[1], First: Records(0), Second: Records(1)}
	return MechanismSpec{
		Name:      RecordedName,
		Title:     "Outputs recorded elsewhere",
		Source:    "outputs recorded outside dpscope",
		Params:    []ParamSpec{},
		Relations: func(Params) []Relation { return []Relation{Given} },
		// A plan must say what is claimed.
		Claim: func(Params) Claim { return DPClaim(1, 0) },
		Truth: func(Params) string { return "unknown" },
		Domain: func(Params, Relation) Domain {
			return Domain{Columns: 1, MinRows: 1, MaxRows: 1, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
		},
		Pairs:     func(Params, Relation) []Pair { return []Pair{readPair} },
		New:       func(Params) (Mechanism, error) { return m, nil },
		Recording: r,
	}
}

// Words are the facts of recorded outputs.
func (r *Recording) Words() string {
	return strings.Join(Listed(len(r.Files), func(i int) string {
		f := r.Files[i]
		return fmt.Sprintf("%s (%s, SHA-256 %.12s...)", f.Name, f.Format, f.SHA256)
	}), " and ")
}

// shortRun is from how many columns on those that are alike are named together.
const shortRun = 4

const mostKinds = 1 << 16

// ParseKind adds to kinds what the flag -kind says: name=kind, or c3..c9=kind for columns without
// names of their own.
func ParseKind(flag string, kinds map[string]ColumnKind) error {
	i := strings.LastIndexByte(flag, '=')
	if i <= 0 {
		return Fault("kind", strconv.Quote(flag), "name=kind", "for example -kind answer=symbol, or -kind c1..c8=real")
	}
	name, kind := flag[:i], ColumnKind(flag[i+1:])
	from, to, _ := strings.Cut(name, "..")
	a, b := columnNumber(from), columnNumber(to)
	if a == 0 || b == 0 {
		kinds[name] = kind
		return nil
	}
	if b < a || b-a >= mostKinds {
		return Fault("kind", strconv.Quote(flag), fmt.Sprintf("the first column and then the last, at most c%d", mostKinds))
	}
	for n := a; n <= b; n++ {
		kinds["c"+strconv.Itoa(n)] = kind
	}
	return nil
}

// columnNumber is the number of a column that is called c1, c2, ..., 0 of any other.
func columnNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "c")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// KindTexts are what [ParseKind] reads again.
func KindTexts(kinds map[string]ColumnKind) []string {
	names := slices.SortedStableFunc(maps.Keys(kinds), func(a, b string) int {
		m, n := columnNumber(a), columnNumber(b)
		return cmp.Or(cmp.Compare(m, n), strings.Compare(a, b)) // of those with names of their own, 0
	})
	var texts []string
	for i := 0; i < len(names); {
		end := i + 1
		for end < len(names) && columnNumber(names[i]) > 0 && columnNumber(names[end]) == columnNumber(names[i])+end-i && kinds[names[end]] == kinds[names[i]] {
			end++
		}
		if end-i >= shortRun {
			texts, i = append(texts, fmt.Sprintf("%s..%s=%s", names[i], names[end-1], kinds[names[i]])), end
			continue
		}
		for ; i < end; i++ {
			texts = append(texts, names[i]+"="+string(kinds[names[i]]))
		}
	}
	return texts
}
