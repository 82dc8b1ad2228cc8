package canary

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/report"
)

// Verify replays a report. With whole it draws every run again, chooses the
// threshold again, and the counts must be the same; of a run that was stopped only
// the numbers that follow from its counts are checked. Without, the bounds are
// computed again from the report's own evidence. file is the user's file, if the
// audit had one.
func Verify(ctx context.Context, sources []source.Spec, pool *engine.Pool, r Report, file []byte, whole bool) (engine.Verification, error) {
	var v engine.Verification
	if err := r.check(); err != nil {
		return v, err
	}
	if r.Evidence == nil || r.Evidence.Certified.Table == nil {
		return v, &audit.InputError{Field: "report", Found: "without counts", Want: "a report of a run that certified", Remedy: "a run that ended before certification has nothing to replay"}
	}
	complete := r.Ended.Reason == audit.Completed
	if n := r.Evidence.Certified.Table.Runs(); complete && (n != r.Plan.Runs || r.LowerBound == nil) || !complete && r.LowerBound != nil {
		return v, &audit.InputError{Field: "report: evidence", Found: fmt.Sprintf("%d runs of %d in a run that ended as %q", n, r.Plan.Runs, r.Ended.Reason), Want: "all runs and a bound if it completed, and no bound else",
			Remedy: "a bound for a fixed number of runs does not hold for a run that was ended while looking at it"}
	}
	if r.Evidence.Portrait == nil {
		return v, &audit.InputError{Field: "report: evidence.portrait", Found: "absent", Want: "scores of explored runs, which a report of this version has", Remedy: "run the audit again"}
	}
	// A replay draws as many runs as the report counts, and no more.
	if t := r.Evidence.Explored.Table; complete && (t == nil || t.Runs() != r.Plan.Explore || *r.Plan.Single != (r.Single != nil)) {
		return v, &audit.InputError{Field: "report: evidence", Found: "other runs than the plan's", Want: fmt.Sprintf("%d exploration runs, and those with a single canary where the plan has them", r.Plan.Explore)}
	}
	var want Report
	if whole && complete {
		var err error
		if want, err = (Run{Plan: r.Plan, File: file, Sources: sources, Pool: pool}).Do(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, err
		}
		v.Same(r.Evidence.Threshold == want.Evidence.Threshold && r.Evidence.Ties == want.Evidence.Ties, "threshold", "replayed %v, the report says %v", want.Evidence.Threshold, r.Evidence.Threshold)
		v.Same(audit.EqualJSON(r.Evidence.Explored, want.Evidence.Explored), "exploration", "the replayed exploration runs fall into other cells than the report's")
		v.Same(audit.EqualJSON(r.Evidence.Certified, want.Evidence.Certified), "counts", "replayed %d runs, and they fall into other cells than the report's", want.Evidence.Certified.Table.Runs())
		v.Same(audit.NearJSON(r.Evidence.Stakes, want.Evidence.Stakes), "stakes", "they do not follow from the exploration runs")
		v.Same(audit.EqualJSON(r.Evidence.Portrait, want.Evidence.Portrait), "portrait", "the replayed exploration runs have other scores than the report's")
		v.Same(audit.NearJSON(r.Single, want.Single), "single canary", "the replayed runs with one canary differ from the report's")
	} else {
		a, err := r.Plan.Resolve(sources, file)
		if err != nil {
			return v, err
		}
		end := audit.Termination{Reason: r.Ended.Reason, Message: map[audit.TerminationReason]string{audit.Stopped: report.StoppedMessage, audit.Failed: r.Ended.Message}[r.Ended.Reason]}
		want = assemble(a, r.Evidence, r.Single, end, nil)
		v.Recomputed = true
		v.Notes = append(v.Notes, "threshold, stakes and counts are taken from the report, like the rest of its evidence; that runs of this seed give them is shown only by replaying a whole run that completed")
	}
	compare(&v, r, want)
	want.Evidence, want.Single = r.Evidence, r.Single // compared above, or taken
	want.Generator, want.Timing = r.Generator, r.Timing
	want.Ended.Message, want.Warnings = r.Ended.Message, report.WithLost(want.Warnings, r.Warnings) // compared, but for what notes say
	report.SameWhole(&v, r.Generator, r, want)
	return v, nil
}

// compare holds the report against the one that follows.
func compare(v *engine.Verification, r, want Report) {
	v.Same(audit.EqualJSON(r.Plan, want.Plan), "plan", "it is not what its own settings resolve to")
	v.Same(audit.NearJSON([]any{r.In, r.Out}, []any{want.In, want.Out}), "rates and moments", "they do not follow from the counts")
	v.Same(audit.NearJSON(r.LowerBound, want.LowerBound), "lower bound", "it does not follow from the counts")
	v.Same(audit.Near(r.Confidence, want.Confidence), "confidence", "it is not that of the plan")
	v.Same(audit.SamePValue(r.PValue, want.PValue), "p-value", "it does not follow from the counts")
	v.Same(audit.NearJSON(report.Bare(r.Intervals), report.Bare(want.Intervals)), "intervals", "they do not follow from the counts")
	v.Same(audit.NearJSON(r.Equation10, want.Equation10), "equation 10", "it does not follow from the counts")
	v.Same(audit.NearJSON(r.Growth, want.Growth), "growth", "it does not follow from the counts")
	v.Same(audit.NearJSON(r.Power, want.Power), "power", "it does not follow from the plan")
	v.Same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	v.Same(audit.EqualJSON(r.Ended, want.Ended), "termination", "it does not follow from the counts")
	// What differs by less than platforms do is the report's, in words too.
	if x, y := r.LowerBound, want.LowerBound; x != nil && y != nil && audit.Near(*x, *y) {
		want.LowerBound = x
	}
	if audit.Near(r.Power.Largest, want.Power.Largest) {
		want.Power.Largest = r.Power.Largest
	}
	want.Summary = Headline(want)
	v.Summary = want.Summary
	if r.Ended.Reason == audit.Failed {
		v.Summary = "Invalid: the run failed."
		v.Notes = append(v.Notes, "why the run failed is not replayed")
	}
	v.SameWarnings(r.Warnings, want.Warnings)
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"source in words", r.Source, want.Source}, {"intervals in words", report.Worded(r.Intervals), report.Worded(want.Intervals)},
		{"command to run again", r.Reproduce, want.Reproduce}, {"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		v.SameWords(r.Generator, x.what, x.a, x.b)
	}
}
