package onerun

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Kind is the kind of a report of one run.
const Kind = "one-run"

// Report is all that came out of an audit in one run, and all that is
// needed to run it again, but for the user's file.
type Report struct {
	report.Report
	Plan     Plan        `json:"plan"` // every default written out
	Source   source.Note `json:"source" same:"words"`
	Evidence *Evidence   `json:"evidence,omitempty"` // absent in a run that did not complete
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
	if r.Evidence != nil {
		if err := r.Evidence.check(r.Plan); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	return nil
}

// Verify replays a report: with whole it runs the source again, else all that follows
// from the report's counts is made again. file is the user's file, if the audit had
// one.
func Verify(ctx context.Context, sources []source.Spec, pool *engine.Pool, r Report, file []byte, whole bool) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	if r.Evidence == nil || r.Termination.Reason != audit.Completed {
		return v, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that completed"}
	}
	whole, err := r.Plan.Replayed(sources, whole)
	if err != nil {
		return v, err
	}
	if whole {
		want, err := Run{Plan: r.Plan, File: file, Sources: sources, Pool: pool}.Do(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			report.Compare(&v, &r, &want)
		}
		return v, err
	}
	a, err := r.Plan.Resolve(sources, file)
	if err != nil {
		return v, err
	}
	v.Recomputed = true
	v.Skip(r.Plan.Trainer.Taken("that a run of this seed gives it is shown only by replaying it whole"), "evidence")
	want := Conclude(a, r.Evidence, audit.Termination{Reason: audit.Completed}, nil)
	report.Compare(&v, &r, &want, "evidence")
	return v, nil
}
