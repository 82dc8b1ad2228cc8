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

// Verify replays a report, see [report.Verify]. file is the user's file, if the audit had
// one.
func Verify(ctx context.Context, sources []source.Spec, pool *engine.Pool, r Report, file []byte, whole bool) (v engine.Verification, err error) {
	if err := r.check(); err != nil {
		return v, err
	}
	if whole, err = r.Plan.Replayed(sources, whole); err != nil {
		return v, err
	}
	a, err := r.Plan.Resolve(sources, file)
	if err != nil {
		return v, err
	}
	return report.Verify(ctx, a, &engine.Runner{Pool: pool}, r, whole)
}

// Replay implements [report.Audit].
func (a *Audit) Replay(v *engine.Verification, r Report, whole bool) (report.Replay[*Evidence], error) {
	again := report.Replay[*Evidence]{Found: r.Evidence}
	switch {
	case r.Evidence == nil || r.Termination.Reason != audit.Completed:
		return again, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that completed"}
	case whole:
		again.Draw = a.draw
	default:
		v.Recomputed, again.Taken = true, []string{"evidence"}
		v.Skip(r.Plan.Trainer.Taken("that a run of this seed gives it is shown only by replaying it whole"), again.Taken...)
	}
	return again, nil
}
