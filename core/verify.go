package core

import (
	"context"
	"fmt"
	"math"
)

// Verification is what replaying a report found.
type Verification struct {
	Checked     []string // what was replayed and is the same, in words
	Differences []string // what is not
}

// OK reports whether the replay gave the same.
func (v Verification) OK() bool { return len(v.Differences) == 0 && len(v.Checked) > 0 }

// boundTolerance is how far a bound computed from the same counts on another
// platform may lie: bounds are rounded down to 1e-6, and a difference in the
// last bits may cross one such step.
const boundTolerance = 1.5e-6

// Verify certifies the report's witness again on the report's seed: counts
// must be equal, and the bound and the verdict that follow from them. With
// whole, the exploration runs again too, and must come to the same pair,
// direction and counts.
func Verify(ctx context.Context, cat Catalogue, pool *Pool, r Report, whole bool) (Verification, error) {
	var v Verification
	if r.SchemaVersion > SchemaVersion {
		return v, &InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(r.SchemaVersion), Want: fmt.Sprintf("at most %d", SchemaVersion),
			Remedy: "verify it with the version of dpscope that wrote it"}
	}
	a, err := r.Plan().Resolve(cat)
	if err != nil {
		return v, err
	}
	if len(r.Results) == 0 || r.Results[0].Counts == nil {
		return v, &InputError{Field: "report", Found: "without counts: the run ended before certification", Want: "a report that certified something"}
	}
	f := r.Results[0]
	if err := a.Plan.Relation.Check(f.Pair, a.Domain); err != nil {
		return v, fmt.Errorf("the report's pair: %w", err)
	}
	same := func(ok bool, what, format string, args ...any) {
		if ok {
			v.Checked = append(v.Checked, what)
			return
		}
		v.Differences = append(v.Differences, what+": "+fmt.Sprintf(format, args...))
	}
	plan := a.Plan
	plan.Samples = f.Counts.N1 // less than planned in a run that was stopped
	results, err := pool.Do(ctx, certifyTasks(plan, f.Pair, f.Witness, f.Chart), Events{})
	if err != nil {
		return v, err
	}
	sum := mergeShards(results)
	c := sum.counts(f.Direction == SecondOverFirst)
	same(c == *f.Counts, "counts", "replayed %+v, the report says %+v", c, *f.Counts)
	chart := f.Chart.with(sum.Chart)
	same(fmt.Sprint(chart) == fmt.Sprint(f.Chart), "chart", "the replayed bins differ from the report's")
	if f.LowerBound != nil {
		b, err := certifyCounts(ctx, pool, plan, c, f.Explored)
		if err != nil {
			return v, err
		}
		lower := b.Epsilon
		same(math.Abs(lower-*f.LowerBound) <= boundTolerance, "lower bound", "from the replayed counts %v, the report says %v", lower, *f.LowerBound)
		same(b.Method == f.Method, "method", "%s, the report says %s", b.Method, f.Method)
		same((lower > r.Claim.Epsilon) == (r.Verdict == Violation), "verdict", "the bound %v against the claim %v does not make %q", lower, r.Claim.Epsilon, r.Verdict)
	} else {
		same(r.Verdict == Inconclusive || r.Verdict == Invalid, "verdict", "no bound, but %q", r.Verdict)
	}
	if whole {
		return v, verifyExploration(ctx, cat, pool, r, same)
	}
	return v, nil
}

// verifyExploration runs the whole audit again.
func verifyExploration(ctx context.Context, cat Catalogue, pool *Pool, r Report, same func(bool, string, string, ...any)) error {
	again, err := Run{Plan: r.Plan(), Catalogue: cat, Pool: pool}.Do(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f, g := r.Results[0], again.Results[0]
	same(fmt.Sprint(f.Pair) == fmt.Sprint(g.Pair), "explored pair", "%s, the report says %s", g.Pair.Label, f.Pair.Label)
	same(f.Direction == g.Direction, "explored direction", "%s, the report says %s", g.Direction, f.Direction)
	same(f.Explored == g.Explored, "exploration counts", "%+v, the report says %+v", g.Explored, f.Explored)
	same(f.Counts != nil && g.Counts != nil && *f.Counts == *g.Counts, "counts of the whole run", "%+v, the report says %+v", g.Counts, f.Counts)
	return nil
}
