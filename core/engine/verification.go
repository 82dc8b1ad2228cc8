package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
)

// Verification is what replaying a report found.
type Verification struct {
	// Summary is the replay's verdict: show this one, not the report's own.
	Summary     string
	Checked     []Part    // what is the same
	Differences []string  // what is not
	Skipped     []Skipped // what stands in the report unchecked
	Notes       []string  // what else the replay could not show
	// Recomputed: the counts are the report's own; only what follows from them was checked.
	Recomputed bool
}

// Part is a part of a report, or a group of parts, with the number of its fields.
type Part struct {
	Name   string
	Fields int
}

// Skipped are paths of fields that were not compared, each with all below it.
type Skipped struct {
	Why    string
	Fields []string
}

// Same notes the outcome of one comparison: of what, and how it differs.
func (v *Verification) Same(ok bool, what, format string, args ...any) {
	if ok {
		v.Checked = append(v.Checked, Part{what, 1})
		return
	}
	v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
}

// Skip notes fields that are not compared, and why.
func (v *Verification) Skip(why string, fields ...string) {
	v.Skipped = append(v.Skipped, Skipped{why, fields})
}

// NotCompared are the fields that were skipped, whyever.
func (v Verification) NotCompared() (fields []string) {
	for _, s := range v.Skipped {
		fields = append(fields, s.Fields...)
	}
	return fields
}

// OK reports whether the replay gave the same.
func (v Verification) OK() bool { return len(v.Differences) == 0 && len(v.Checked) > 0 }

const fewFields = 3

// Words say what was not compared, and why; all names every field.
func (s Skipped) Words(all bool) string {
	what := strings.Join(s.Fields, ", ")
	if len(s.Fields) > fewFields && !all {
		what = phrase.Count(len(s.Fields), "field")
	}
	return fmt.Sprintf("not compared: %s (%s)", what, s.Why)
}

// Groups of the parts of a report, each of which follows from those before it.
const (
	Settings = "settings"
	Search   = "search" // drawn, as the counts are
	Counts   = "counts"
	Bounds   = "verdict and bounds"
)

var groups = []string{Settings, Search, Counts, Bounds}

// Follows compares two parts by their groups.
func Follows(a, b string) int {
	return slices.Index(groups, groupOf(a)) - slices.Index(groups, groupOf(b))
}

func groupOf(part string) string {
	part, _, _ = strings.Cut(part, " (")
	switch part {
	case "$schema", "schema", "kind", "schemaVersion", "subject", "claim", "promise", "source", "plan", "inputs", "files",
		"what the plan asks for", "names, seed and error of the plan", "share of the error":
		return Settings
	case "trials", "evidence.pair", "evidence.witness", "evidence.learners", "evidence.edges", "evidence.prepared", "evidence.explored":
		return Search
	}
	if part == "sequential" || strings.HasPrefix(part, "evidence") {
		return Counts
	}
	return audit.Pick(strings.HasPrefix(part, "error and seed of "), Settings, Bounds)
}

// Groups are what is the same, by what it is.
func (v Verification) Groups() (all []Part) {
	fields := map[string]int{}
	for _, p := range v.Checked {
		fields[groupOf(p.Name)] += p.Fields
	}
	for _, name := range groups {
		if fields[name] > 0 {
			all = append(all, Part{name, fields[name]})
		}
	}
	return all
}
