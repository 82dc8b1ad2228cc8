// Package scores audits membership scores that another program made, of one training,
// of one training a score or of a matrix of runs, and sets what every method makes of
// them side by side.
package scores

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Kind is the kind of a report of scores.
const Kind = "scores"

// Report is all that came out of an audit of scores. The scores are not in
// it, only the SHA-256 of their files, and of a matrix a [membership.ScoreSample].
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
func ParseReport(data []byte) (Report, error) { return report.Read(data, Kind, Report.check) }

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
	if err := r.check(); err != nil {
		return engine.Verification{}, err
	}
	a, err := r.audit(scores)
	if err != nil {
		return engine.Verification{}, err
	}
	return report.Verify(context.Background(), a, &engine.Runner{}, r, scores != nil)
}

// audit is the one of the report's plan, with these scores or, where they are nil, with what
// the report says of them.
func (r Report) audit(scores *Scores) (a *Audit, err error) {
	if scores != nil {
		a, err = r.Plan.Resolve(scores)
	} else {
		a = &Audit{Plan: r.Plan, shape: r.Evidence.Shape, files: make([]ScoreFile, len(r.Plan.Data)), notes: r.Notes}
		for i, sum := range r.Plan.Data {
			a.files[i].SHA256 = sum
		}
		a.Plan, err = r.Plan.resolve(a.shape, a.files)
	}
	if err == nil {
		for i := range min(len(a.files), len(r.Files)) {
			a.files[i].Name = r.Files[i].Name
		}
	}
	return a, err
}

// Replay implements [report.Audit].
func (a *Audit) Replay(v *engine.Verification, r Report, whole bool) (report.Replay[*Evidence], error) {
	again := report.Replay[*Evidence]{Found: r.Evidence}
	v.Skip("they may have changed; the SHA-256 of the files are compared", "files[].name")
	if whole {
		again.Draw = func(ctx context.Context, on *engine.Runner) (*Evidence, error) {
			ev, _, err := a.Run(ctx, on, nil)
			return ev, err
		}
		return again, nil
	}
	v.Recomputed, again.Taken = true, []string{"evidence", "notes"}
	v.Skip("taken from the report; only a replay with the files shows that the files give them", again.Taken...)
	return again, nil
}
