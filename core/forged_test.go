package core_test

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/core"
)

// TestForgedAnytimeReports: an anytime report that calls itself stopped is held to
// its search like any other, and cannot end where no run looks.
func TestForgedAnytimeReports(t *testing.T) {
	plan := core.Plan{Mechanism: "svt4", Claim: &core.Claim{Kind: core.Renyi, Alpha: 16}, Anytime: true, Samples: 100_000, Explore: 20_000, Trials: 2, Finder: "candidates", Seed: 3}
	good := runAudit(t, plan, 2)
	if good.Termination.Reason != core.Refuted {
		t.Fatalf("the run ended as %s", good.Termination.Reason)
	}
	pool := core.LocalPool(catalogue, 2)
	for name, c := range map[string]struct {
		forge func(*core.Report)
		quick bool // a quick replay sees it too
	}{
		"other trials, stopped": {func(r *core.Report) {
			r.Termination.Reason, r.Termination.Message = core.Stopped, "stopped before the end"
			for i := range r.Trials {
				r.Trials[i].Value = 9.99
			}
		}, false},
		"another witness, stopped": {func(r *core.Report) {
			r.Termination.Reason, r.Termination.Message = core.Stopped, "stopped before the end"
			r.Summary = core.Headline(*r)
			r.Evidence.Prepared.Renyi[3].H[1] += 0.25
		}, true},
		"another order":    {func(r *core.Report) { r.Evidence.Prepared.Goal.Alpha = 24 }, true},
		"no goal":          {func(r *core.Report) { r.Evidence.Prepared.Goal = nil }, true},
		"orders backwards": {func(r *core.Report) { p := r.Evidence.Prepared.Renyi; p[0], p[8] = p[8], p[0] }, true},
		"warning":          {func(r *core.Report) { r.Warnings = []string{"Experts found this mechanism private."} }, true},
		"message":          {func(r *core.Report) { r.Termination.Message = "proved private" }, true},
		"axis":             {func(r *core.Report) { r.Evidence.Chart.Axis = "private" }, true},
		"label":            {func(r *core.Report) { r.Evidence.Chart.Labels[0] = "private" }, true},
		"explored": {func(r *core.Report) {
			r.Termination.Reason, r.Termination.Message = core.Stopped, "stopped before the end"
			r.Summary = core.Headline(*r)
			r.Evidence.Prepared.MuEpsilon += 0.25
		}, false},
	} {
		r := copied(t, good)
		c.forge(&r)
		for _, whole := range []bool{true, false} {
			if !whole && !c.quick {
				continue
			}
			if v, err := core.Verify(context.Background(), catalogue, pool, r, whole); err == nil && v.OK() {
				t.Errorf("%s (whole: %v): the forged report passes", name, whole)
			}
		}
	}
}
