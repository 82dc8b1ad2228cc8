package pair_test

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
)

// TestForgedRenyiReports: a report of a Rényi claim is held to its search and its
// witnesses, also where it calls itself stopped.
func TestForgedRenyiReports(t *testing.T) {
	plan := pair.Plan{Mechanism: "svt4", Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 16}, Mode: pair.Fixed, Samples: 100_000, Explore: 20_000, Trials: 2, Finder: "candidates", Seed: 3}
	good := runAudit(t, plan, 2)
	if good.Verdict != audit.Violation {
		t.Fatal(good.Headline)
	}
	pool := engine.LocalPool(2)
	for name, c := range map[string]struct {
		forge func(*pair.Report)
		quick bool // a quick replay sees it too
	}{
		"other trials, stopped": {func(r *pair.Report) {
			r.Termination.Reason, r.Termination.Message = audit.Stopped, "stopped before the end"
			for i := range r.Trials {
				r.Trials[i].Value = 9.99
			}
		}, false},
		"another witness, stopped": {func(r *pair.Report) {
			r.Termination.Reason, r.Termination.Message = audit.Stopped, "stopped before the end"
			r.Reword()
			r.Evidence.Prepared.Renyi[3].H[1] += 0.25
		}, true},
		"another order":    {func(r *pair.Report) { r.Evidence.Prepared.Goal.Alpha = 24 }, true},
		"no goal":          {func(r *pair.Report) { r.Evidence.Prepared.Goal = nil }, true},
		"orders backwards": {func(r *pair.Report) { p := r.Evidence.Prepared.Renyi; p[0], p[8] = p[8], p[0] }, true},
		"warning":          {func(r *pair.Report) { r.Warnings = []string{"Experts found this mechanism private."} }, true},
		"message":          {func(r *pair.Report) { r.Termination.Message = "proved private" }, true},
		"axis":             {func(r *pair.Report) { r.Evidence.Chart.Axis = "private" }, true},
		"label":            {func(r *pair.Report) { r.Evidence.Chart.Labels[0] = "private" }, true},
		"refuted": {func(r *pair.Report) {
			r.Termination.Reason, r.Termination.Message = audit.Refuted, "the claim was refuted before the end"
			r.Reword()
		}, true},
	} {
		r := copied(t, good)
		c.forge(&r)
		for _, whole := range []bool{true, false} {
			if !whole && !c.quick {
				continue
			}
			if v, err := pair.Verify(context.Background(), catalogue, pool, r, whole); err == nil && v.OK() {
				t.Errorf("%s (whole: %v): the forged report passes", name, whole)
			}
		}
	}
	r := copied(t, good)
	p := r.Evidence.Prepared.Renyi
	p[0], p[8] = p[8], p[0]
	must.Refuse(t, must.Err(pair.Verify(context.Background(), catalogue, pool, r, false)), "prepared.renyi[0].alpha", "orders backwards are computed with")
}
