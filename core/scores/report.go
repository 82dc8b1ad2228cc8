package scores

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Kind is the kind of a report of scores.
const Kind = "scores"

// Report is all that came out of an audit of scores. The scores are not in
// it, only the SHA-256 of their files, and of a matrix a [membership.Portrait].
type Report struct {
	report.Report
	Plan     Plan        `json:"plan"` // every default written out
	Files    []ScoreFile `json:"files"`
	Notes    []string    `json:"notes" same:"words"` // what was taken for granted when reading the files
	Evidence *Evidence   `json:"evidence"`
}

// Chance implements [report.View].
func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.Parse(data, Kind, &r); err != nil {
		return Report{}, err
	}
	return r, r.check()
}

func (r Report) check() error {
	if err := r.CheckByMethod(r.Plan.Claim); err != nil {
		return err
	}
	if r.Evidence == nil || r.Deciding() == nil {
		return &audit.InputError{Field: "report", Found: "incomplete", Want: "the counts, and what the methods make of them"}
	}
	if err := r.Evidence.check(r.Plan); err != nil {
		return fmt.Errorf("report: evidence: %w", err)
	}
	return nil
}

// Verify replays a report. With scores, those of its files, everything is
// done again; without, all that follows from the report's counts is made again.
func Verify(r Report, scores *Scores) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	v.Skip("they may have changed; the SHA-256 of the files are compared", "files[].name")
	named := func(files []ScoreFile) []ScoreFile {
		for i := range min(len(files), len(r.Files)) {
			files[i].Name = r.Files[i].Name
		}
		return files
	}
	if scores != nil {
		want, err := Run(r.Plan, *scores, r.Generator)
		if err == nil {
			want.Subject = subject(named(want.Files))
			report.Compare(&v, &r, &want)
		}
		return v, err
	}
	files := make([]ScoreFile, len(r.Plan.Data))
	for i, sum := range r.Plan.Data {
		files[i].SHA256 = sum
	}
	p, err := r.Plan.resolve(r.Evidence.Shape, named(files))
	if err != nil {
		return v, err
	}
	v.Recomputed = true
	v.Skip("taken from the report; that the files give them is shown only with the files", "evidence", "notes")
	want := Conclude(p, r.Evidence, files, r.Notes)
	report.Compare(&v, &r, &want, "evidence", "notes")
	return v, nil
}
