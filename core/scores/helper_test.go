package scores

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Audits of the other kinds, whose reports have parts in common with those of scores.

func canaryPlan(n, k int) canary.Plan {
	return canary.Plan{Version: canary.PlanVersion, Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}, Runs: n, K: k, Seed: 1}
}

func runCanaries(t *testing.T, p canary.Plan, workers int) canary.Report {
	t.Helper()
	return planted(t, p, source.Sources(), nil, workers)
}

func oneRunPlan(eps float64, m int, params audit.Params) canary.Plan {
	claim := audit.DPClaim(eps, 1e-5)
	return canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Source: "gaussian-sum", Parameters: params, Claim: &claim, K: m, Seed: 1}
}

// planted is the report of an audit with canaries.
func planted(t *testing.T, p canary.Plan, sources []source.Spec, now func() float64, workers int) canary.Report {
	t.Helper()
	a := must.Get(p.Resolve(sources, nil))(t)
	return must.Get(report.Do(t.Context(), a, &engine.Runner{Pool: engine.LocalPool(workers), Now: now}, nil, audit.Generator{Name: "dpscope", Version: audit.Version}))(t)
}

func verifyPlanted(sources []source.Spec, r canary.Report, whole bool) (v engine.Verification, err error) {
	a, err := r.Plan.Resolve(sources, nil)
	if err != nil {
		return v, err
	}
	return report.Verify(context.Background(), a, &engine.Runner{Pool: engine.LocalPool(2)}, r, whole)
}

// rowOf is the row of a method, nil if there is none.
func rowOf(r Report, m report.Method) *report.Row {
	for i, x := range r.Rows(report.Bounds) {
		if x.Method == m {
			return &r.Rows(report.Bounds)[i]
		}
	}
	return nil
}
