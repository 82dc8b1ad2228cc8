package engine

import (
	"fmt"
	"strings"
)

// Same notes the outcome of one comparison: what was compared, and where it
// differs how.
func (v *Verification) Same(ok bool, what, format string, args ...any) {
	if ok {
		v.Checked = append(v.Checked, what)
		return
	}
	v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
}

// Skip notes fields that are not compared, and why.
func (v *Verification) Skip(why string, fields ...string) {
	v.NotCompared = append(v.NotCompared, fields...)
	v.Notes = append(v.Notes, fmt.Sprintf("not compared: %s (%s)", strings.Join(fields, ", "), why))
}

// Verification is what replaying a report found.
type Verification struct {
	// Summary is the verdict in words as the replay makes it. Show this one,
	// not the report's own.
	Summary     string
	Checked     []string // what was replayed or derived and is the same, in words
	Differences []string // what is not
	Notes       []string // what the replay could not show
	// NotCompared are the fields that stand in the report unchecked, as paths such
	// as evidence.learners, each with all below it. The notes name them and say why.
	NotCompared []string
	// Recomputed: the counts are the report's own, which were not drawn again;
	// only what follows from them was checked.
	Recomputed bool
}

// OK reports whether the replay gave the same.
func (v Verification) OK() bool { return len(v.Differences) == 0 && len(v.Checked) > 0 }
