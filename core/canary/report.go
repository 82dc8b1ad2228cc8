package canary

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Kind is the kind of a report of an audit with canaries.
const Kind = "canary"

// Report is all that came out of a canary audit, and all that is needed to run it
// again, but for the user's file.
type Report struct {
	report.Report
	Plan   Plan        `json:"plan"` // every default written out
	Source source.Note `json:"source" same:"words"`
	// Continued are the runs that the audit went on from, the first one first: see
	// [Continue]. Nothing depends on them.
	Continued []Part `json:"continued,omitempty" same:"own"`
	// Evidence is absent where nothing was drawn.
	Evidence *Evidence `json:"evidence,omitempty"`
	In       *Side     `json:"in,omitempty" same:"near"`  // canaries that were inside
	Out      *Side     `json:"out,omitempty" same:"near"` // fresh canaries
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

// check refuses a report whose parts do not fit together.
func (r Report) check() error {
	if err := r.CheckByMethod(r.Plan.Claim); err != nil {
		return err
	}
	if err := r.Plan.checkNumbers(); err != nil {
		return fmt.Errorf("report: plan: %w", err)
	}
	least := 1
	for i, c := range r.Continued {
		if sum, err := hex.DecodeString(c.Report); err != nil || len(sum) != 32 || c.Runs < least || c.Runs > r.Plan.Runs || !r.Plan.sequential() {
			return &audit.InputError{Field: fmt.Sprintf("report: continued[%d]", i), Found: fmt.Sprintf("%d runs, report %.70q", c.Runs, c.Report), Want: fmt.Sprintf("%d to %d runs of a sequential audit, and the SHA-256 of its report", least, r.Plan.Runs)}
		}
		least = c.Runs
	}
	if r.Evidence != nil {
		if err := r.Evidence.check(r.Plan); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	return nil
}

// Verify replays a report, see [report.Verify]. With whole it draws every run again and
// chooses the threshold again; of a fixed audit that was stopped only what follows from its
// counts is checked. file is the user's file, if the audit had one.
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
	if r.Plan.sequential() && r.Evidence != nil {
		return a.replaySequential(v, r, whole)
	}
	again := report.Replay[*Evidence]{Found: r.Evidence}
	if r.Evidence == nil || r.Evidence.Certified.Table == nil {
		return again, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that certified", Remedy: "a run that ended before certification has nothing to replay"}
	}
	complete := r.Termination.Reason == audit.Completed
	if n := r.Evidence.Certified.Table.Runs(); complete && (n != r.Plan.Runs || r.LowerBound == nil) || !complete && r.LowerBound != nil {
		return again, &audit.InputError{Field: "report: evidence", Found: fmt.Sprintf("%d runs of %d in a run that ended as %q", n, r.Plan.Runs, r.Termination.Reason), Want: "all runs and a bound if it completed, and no bound else",
			Remedy: "a bound for a fixed number of runs does not hold for a run that was ended while looking at it"}
	}
	if r.Evidence.ScoreSample == nil {
		return again, &audit.InputError{Field: "report: evidence.portrait", Found: audit.Absent, Want: "scores of explored runs, which a report of this version has", Remedy: "run the audit again"}
	}
	// A replay draws as many runs as the report counts, and no more.
	if t := r.Evidence.Explored.Table; complete && (t == nil || t.Runs() != r.Plan.Explore) {
		return again, &audit.InputError{Field: "report: evidence", Found: "other runs than the plan's", Want: fmt.Sprintf("%d exploration runs", r.Plan.Explore)}
	}
	if whole && complete {
		again.Draw = a.again
		return again, nil
	}
	v.Recomputed, again.Taken = true, []string{"evidence"}
	v.Skip(r.Plan.Trainer.Taken("that runs of this seed give it is shown only by replaying a whole run that completed"), again.Taken...)
	return again, nil
}

// again draws all runs.
func (a *Audit) again(ctx context.Context, on *engine.Runner) (*Evidence, error) {
	s := newState(a, on, nil)
	err := s.do(ctx)
	return s.evidence, err
}

// replaySequential replays a sequential audit: with whole it trains as often as the
// report counts. Without, the events, bets and counts are made again from the scores,
// where the report has them, and the bound from the counts.
func (a *Audit) replaySequential(v *engine.Verification, r Report, whole bool) (report.Replay[*Evidence], error) {
	again := report.Replay[*Evidence]{Found: r.Evidence}
	b := r.Evidence.Sequential
	s, err := b.follow(r.Plan, nil)
	if err != nil {
		return again, err
	}
	reason := r.Termination.Reason
	if complete := s.Runs() == r.Plan.Runs || r.Plan.Mode == UntilRefuted && s.Refuted(); s.Runs() == 0 || complete != (reason == audit.Completed) || reason == audit.Refuted {
		return again, &audit.InputError{Field: "report: termination.reason", Found: fmt.Sprintf("%q after %d trainings of %d", reason, s.Runs(), r.Plan.Runs), Want: "completed if and only if these are all, or refute the claim of an audit until it is refuted; else stopped or failed after some"}
	}
	if whole {
		part := *a
		part.most = s.Runs()
		again.Draw = part.again
		return again, nil
	}
	v.Recomputed, again.Taken = true, []string{"evidence"}
	if b.Scores != nil {
		if _, again.Found, err = replayed(r.Plan, b.Scores, r.Evidence.Certified.Diverged); err != nil {
			return again, err
		}
		again.Taken = []string{"evidence.sequential.scores", "evidence.certified.diverged"}
	} else {
		again.Taken = append(again.Taken, "evidence.certified.diverged")
	}
	v.Skip(r.Plan.Trainer.Taken("that trainings of this seed give it is shown only by replaying the run"), again.Taken...)
	return again, nil
}
