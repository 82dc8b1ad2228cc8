package recorded

import (
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Kind is what files hold.
type Kind string

// Kinds of files.
const (
	Outputs  Kind = "outputs" // of a mechanism on two datasets: for [Pair]
	OfScores Kind = "scores"  // of members and others: for [ReadScores]
	Labelled Kind = "table"   // with labels, for a learner
)

// has reports whether a name has one of the words in it, a short one as a word of its own.
func has(name string, words ...string) bool {
	name = strings.ToLower(name)
	alone := strings.FieldsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(alone, w) || len(w) > 3 && strings.Contains(name, w)
	})
}

// Others reports whether a name says that it is of scores of canaries that were out.
func Others(name string) bool { return has(name, "non", "nonmember", "out", "held", "holdout") }

// Members reports whether a name says that it is of who was in.
func Members(name string) bool { return has(name, "member", "train", "canary", "in") && !Others(name) }

// Sign says by the name of a score whether a lower or a higher one means in: "lower",
// "higher", or nothing. A sign that the scores themselves choose would void the confidence of
// their bound.
func Sign(name string) string {
	lower, higher := has(name, "loss", "error", "nll", "perplexity", "entropy"), has(name, "score", "logit", "conf", "prob", "likelihood", "accuracy")
	switch {
	case lower == higher:
		return ""
	case lower == has(name, "neg", "negative", "minus"):
		return "higher"
	}
	return "lower"
}

func (f *File) names() []string {
	if len(f.Tables) == 1 {
		return f.Tables[0].names()
	}
	return audit.Each(f.Tables, func(t *Table) string { return t.Name })
}

// NamesOfScores reports whether these are columns or arrays of [ReadScores], and no outputs.
func NamesOfScores(names []string) bool {
	return among(names, "dataset") == "" && (among(names, "score", "scores") != "" && among(names, "member") != "" || among(names, outNames...) != "" && among(names, inNames...) != "")
}

// among is the first of the names that is one of those, in any case of its letters.
func among(names []string, of ...string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(of, strings.ToLower(n)) }); i >= 0 {
		return names[i]
	}
	return ""
}

// MembersIn is what holds the scores of members alone, the first of two files, or the column or
// array in; else empty.
func MembersIn(files []*File) string {
	if len(files) > 1 {
		return files[0].Name
	}
	names := files[0].names()
	if among(names, outNames...) == "" {
		return ""
	}
	return among(names, inNames...)
}

// likely is the only one of those, or else the first whose name says so.
func likely(of []string, like func(string) bool) string {
	i := slices.IndexFunc(of, like)
	switch {
	case len(of) == 1:
		return of[0]
	case i < 0:
		return ""
	}
	return of[i]
}

// ScoresIn says which columns or arrays may hold scores, and which, by yes and no, who was in;
// and which of them seem to.
func ScoresIn(f *File) (score, member string, scores, members []string) {
	if names := f.names(); f.Tables[0].Matrix && NamesOfScores(names) {
		return among(names, "score", "scores"), among(names, "member"), nil, nil
	}
	for _, c := range f.Columns() {
		was := map[bool]bool{}
		for i := 0; i < c.Len() && was != nil; i++ {
			if in, err := isMember(f.Name, c, i); err != nil {
				was = nil
			} else {
				was[in] = true
			}
		}
		if len(was) == 2 {
			members = append(members, c.Name)
		}
		if c.Kind == audit.Real && !strings.EqualFold(c.Name, "run") {
			scores = append(scores, c.Name)
		}
	}
	member = likely(members, Members)
	scores = slices.DeleteFunc(scores, func(n string) bool { return n == member })
	return likely(scores, func(n string) bool { return Sign(n) != "" }), member, scores, members
}

// DatasetsIn are the columns that may tell the datasets of a file apart, and that which seems to.
func DatasetsIn(f *File) (apart string, of []string) {
	of = f.TwoValued()
	if apart = among(of, "dataset"); apart != "" {
		return apart, of
	}
	like := func(n string) bool { return has(n, "arm", "group", "neighbour", "neighbor", "side", "world") }
	return likely(of, func(n string) bool {
		return like(n) && !slices.ContainsFunc(of, func(other string) bool { return other != n && like(other) })
	}), of
}

// Guess says what files seem to hold.
func Guess(files []*File) Kind {
	f, names := files[0], files[0].names()
	if len(files) > 1 {
		if both := f.Name + " " + files[1].Name; Others(both) && len(names) == 1 && has(both, "member", "train", "canar", "score", "loss", "in") {
			return OfScores
		}
		return Outputs
	}
	score, member, _, _ := ScoresIn(f)
	if NamesOfScores(names) || among(names, "dataset") == "" && Members(member) && score != "" {
		return OfScores
	}
	last := f.Tables[0].Columns[len(f.Tables[0].Columns)-1]
	classes := f.Format == CSV && len(names) > 1 && last.Kind == audit.Symbol && len(last.Symbols) <= mostClasses
	if classes && (f.TwoValued() == nil || has(last.Name, "label", "class", "target", "species", "kind")) {
		return Labelled
	}
	return Outputs
}

const mostClasses = 20 // of a table with labels, as a guess
