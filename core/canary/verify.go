package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/core"
)

// boundTolerance is what bounds of the same counts may differ by between
// platforms: they are rounded down to 1e-6, and the last bits may cross one such
// step.
const boundTolerance = 1.5e-6

// Verify replays a report. With whole it draws every run again, chooses the
// threshold again, and the counts must be the same; of a run that was stopped only
// the numbers that follow from its counts are checked. Without, the bounds are
// computed again from the report's own evidence. file is the user's file, if the
// audit had one.
func Verify(ctx context.Context, sources []SourceSpec, pool *core.Pool, r Report, file []byte, whole bool) (core.Verification, error) {
	var v verification
	if err := r.check(); err != nil {
		return v.Verification, err
	}
	if r.Evidence == nil || r.Evidence.Certified.Table == nil {
		return v.Verification, &core.InputError{Field: "report", Found: "without counts", Want: "a report of a run that certified", Remedy: "a run that ended before certification has nothing to replay"}
	}
	complete := r.Ended.Reason == core.Completed
	if n := r.Evidence.Certified.Table.Runs(); complete && (n != r.Plan.Runs || r.LowerBound == nil) || !complete && r.LowerBound != nil {
		return v.Verification, &core.InputError{Field: "report: evidence", Found: fmt.Sprintf("%d runs of %d in a run that ended as %q", n, r.Plan.Runs, r.Ended.Reason), Want: "all runs and a bound if it completed, and no bound else",
			Remedy: "a bound for a fixed number of runs does not hold for a run that was ended while looking at it"}
	}
	var want Report
	if whole && complete {
		var err error
		if want, err = (Run{Plan: r.Plan, File: file, Sources: sources, Pool: pool}).Do(ctx); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return v.Verification, err
		}
		v.same(r.Evidence.Threshold == want.Evidence.Threshold && r.Evidence.Ties == want.Evidence.Ties, "threshold", "replayed %v, the report says %v", want.Evidence.Threshold, r.Evidence.Threshold)
		v.same(equalJSON(r.Evidence.Explored, want.Evidence.Explored), "exploration", "the replayed exploration runs fall into other cells than the report's")
		v.same(equalJSON(r.Evidence.Certified, want.Evidence.Certified), "counts", "replayed %d runs, and they fall into other cells than the report's", want.Evidence.Certified.Table.Runs())
		v.same(nearJSON(r.Evidence.Stakes, want.Evidence.Stakes), "stakes", "they do not follow from the exploration runs")
		v.same(nearJSON(r.Single, want.Single), "single canary", "the replayed runs with one canary differ from the report's")
	} else {
		a, err := r.Plan.Resolve(sources, file)
		if err != nil {
			return v.Verification, err
		}
		end := core.Termination{Reason: r.Ended.Reason, Message: map[core.TerminationReason]string{core.Stopped: stoppedMessage, core.Failed: r.Ended.Message}[r.Ended.Reason]}
		want = assemble(a, r.Evidence, r.Single, end, nil)
		v.Notes = append(v.Notes, "threshold, stakes and counts are taken from the report; that runs of this seed give them is shown only by replaying a whole run that completed")
	}
	v.compare(r, want)
	return v.Verification, nil
}

type verification struct{ core.Verification }

func (v *verification) same(ok bool, what, format string, args ...any) {
	if ok {
		v.Checked = append(v.Checked, what)
		return
	}
	v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
}

// compare holds the report against the one that follows.
func (v *verification) compare(r, want Report) {
	v.same(equalJSON(r.Plan, want.Plan), "plan", "it is not what its own settings resolve to")
	v.same(nearJSON([]any{r.In, r.Out}, []any{want.In, want.Out}), "rates and moments", "they do not follow from the counts")
	v.same(nearJSON(r.LowerBound, want.LowerBound), "lower bound", "it does not follow from the counts")
	v.same(samePValue(r.PValue, want.PValue), "p-value", "it does not follow from the counts")
	v.same(nearJSON(bare(r.Intervals), bare(want.Intervals)), "intervals", "they do not follow from the counts")
	v.same(nearJSON(r.Equation10, want.Equation10), "equation 10", "it does not follow from the counts")
	v.same(nearJSON(r.Power, want.Power), "power", "it does not follow from the plan")
	v.same(r.Verdict == want.Verdict, "verdict", "replayed %q, the report says %q", want.Verdict, r.Verdict)
	v.same(equalJSON(r.Ended, want.Ended), "termination", "it does not follow from the counts")
	// What differs by less than platforms do is the report's, in words too.
	if x, y := r.LowerBound, want.LowerBound; x != nil && y != nil && near(*x, *y) {
		want.LowerBound = x
	}
	if near(r.Power.Largest, want.Power.Largest) {
		want.Power.Largest = r.Power.Largest
	}
	want.Summary = Headline(want)
	v.Summary = want.Summary
	if r.Ended.Reason == core.Failed {
		v.Summary = "Invalid: the run failed."
		v.Notes = append(v.Notes, "why the run failed is not replayed")
	}
	lost := func(s string) bool { return strings.HasPrefix(s, lostWorker) }
	own, others := slices.DeleteFunc(slices.Clone(r.Warnings), lost), slices.DeleteFunc(slices.Clone(want.Warnings), lost)
	v.same(slices.Equal(own, others), "warnings", "the replay warns of %q", others)
	if len(own) < len(r.Warnings) {
		v.Notes = append(v.Notes, "warnings about workers are the report's own word")
	}
	for _, x := range []struct {
		what string
		a, b any
	}{
		{"summary", r.Summary, want.Summary}, {"source in words", r.Source, want.Source}, {"intervals in words", worded(r.Intervals), worded(want.Intervals)},
		{"command to run again", r.Reproduce, want.Reproduce}, {"limitations", r.Limitations, want.Limitations}, {"references", r.References, want.References},
	} {
		version, _, _ := strings.Cut(r.Generator.Version, "+")
		if !equalJSON(x.a, x.b) && version != core.Version {
			v.Notes = append(v.Notes, fmt.Sprintf("%s: version %s put it otherwise than this one", x.what, version))
			continue
		}
		v.same(equalJSON(x.a, x.b), x.what, "the report does not say what its numbers say")
	}
}

// bare are the intervals without their words, worded only those.
func bare(rows []IntervalBound) []IntervalBound {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Title, out[i].Assumption, out[i].Note = "", "", ""
	}
	return out
}

func worded(rows []IntervalBound) [][3]string {
	out := make([][3]string, len(rows))
	for i, x := range rows {
		out[i] = [3]string{x.Title, x.Assumption, x.Note}
	}
	return out
}

func near(x, y float64) bool {
	d := math.Abs(x - y)
	return d <= boundTolerance || d <= 1e-9*math.Abs(x)
}

func samePValue(x, y *float64) bool {
	if x == nil || y == nil {
		return x == y
	}
	return *x == *y || *x > 0 && *y > 0 && math.Abs(math.Log(*x)-math.Log(*y)) < 1e-4
}

// nearJSON compares two values by their JSON, numbers up to what platforms differ
// by.
func nearJSON(a, b any) bool {
	var x, y any
	for _, p := range []struct {
		from any
		to   *any
	}{{a, &x}, {b, &y}} {
		data, err := json.Marshal(p.from)
		if err != nil || json.Unmarshal(data, p.to) != nil {
			return false
		}
	}
	return nearValue(x, y)
}

func nearValue(x, y any) bool {
	switch x := x.(type) {
	case float64:
		z, ok := y.(float64)
		return ok && near(x, z)
	case []any:
		z, ok := y.([]any)
		return ok && slices.EqualFunc(x, z, nearValue)
	case map[string]any:
		z, ok := y.(map[string]any)
		if !ok || len(x) != len(z) {
			return false
		}
		for k := range x {
			if w, ok := z[k]; !ok || !nearValue(x[k], w) {
				return false
			}
		}
		return true
	}
	return x == y
}

func equalJSON(a, b any) bool {
	x, errX := core.Canonical(a)
	y, errY := core.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
