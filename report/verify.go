package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

// WithLost are the warnings that follow, with those about workers that the report has.
func WithLost(want, report []string) []string {
	lost := func(w string) bool { return strings.HasPrefix(w, engine.LostWorker) }
	return append(slices.DeleteFunc(append([]string{}, want...), lost), slices.DeleteFunc(slices.Clone(report), func(w string) bool { return !lost(w) })...)
}

// notCompared says what no replay holds a report against.
const notCompared = "not compared: generator (the program that says it made the report) and timing (of its clock)"

// SameWhole holds the whole report against the one that follows, in which what is
// not compared is the report's own, so that no field is forgotten. It tells nothing
// where a difference is known already. Words may change
// from version to version.
func SameWhole(v *engine.Verification, g audit.Generator, r, want any) {
	v.Notes = append(v.Notes, notCompared)
	if len(v.Differences) > 0 {
		return
	}
	if version, _, _ := strings.Cut(g.Version, "+"); version != audit.Version && !audit.NearJSON(r, want) {
		v.Notes = append(v.Notes, fmt.Sprintf("the report as a whole: version %s put it otherwise than this one", version))
		return
	}
	v.Same(audit.NearJSON(r, want), "the report as a whole", "it has other fields than its numbers and settings make")
}

// Bare are the rows without their words, [Worded] only those.
func Bare(rows []Row) []Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Title, out[i].Assumption, out[i].Note = "", "", ""
	}
	return out
}

// Worded are the words of rows.
func Worded(rows []Row) [][3]string {
	out := make([][3]string, len(rows))
	for i, x := range rows {
		out[i] = [3]string{x.Title, x.Assumption, x.Note}
	}
	return out
}
