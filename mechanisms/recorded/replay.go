package recorded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Replay takes from files what a report of samples was computed on. The files
// were read with the report's reading; those of another content are
// refused by their SHA-256; two may come in either order. Their names become those
// in the report: they may have moved.
func Replay(rec *audit.Recording, files []*File) (*Samples, error) {
	if len(rec.Files) != len(files) {
		return nil, &audit.InputError{Field: "samples", Found: countFiles(len(files)), Want: countFiles(len(rec.Files)) + ", as the report has: " + recordedNames(rec)}
	}
	if len(files) == 2 && files[0].SHA256 == rec.Files[1].SHA256 {
		files = []*File{files[1], files[0]}
	}
	for i, f := range files {
		if want := rec.Files[i]; f.SHA256 != want.SHA256 {
			return nil, &audit.InputError{Field: f.Name, Found: "another file, with SHA-256 " + f.SHA256, Want: fmt.Sprintf("%s with SHA-256 %s, as the report says", want.Name, want.SHA256)}
		}
	}
	moved := make([]*File, len(files))
	for i, f := range files {
		g := *f
		g.Name = rec.Files[i].Name
		moved[i] = &g
	}
	return Pair(moved, rec.Reading)
}

func countFiles(n int) string {
	if n == 1 {
		return "one file"
	}
	return fmt.Sprintf("%d files", n)
}

func recordedNames(rec *audit.Recording) string {
	var names []string
	for _, f := range rec.Files {
		names = append(names, f.Name)
	}
	return strings.Join(firstFew(names), ", ")
}

// NamesOfScores reports whether a file with these columns or arrays holds
// membership scores of a trained model, for [ReadScores], and no outputs on two
// datasets.
func NamesOfScores(names []string) bool {
	has := map[string]bool{}
	for _, n := range names {
		has[strings.ToLower(n)] = true
	}
	known := func(n string) bool { return has[n] }
	return !has["dataset"] && (has["score"] && has["member"] || slices.ContainsFunc(inNames, known) && slices.ContainsFunc(outNames, known))
}
