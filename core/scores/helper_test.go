package scores

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/report"
)

// Audits of the other kinds, whose reports have parts in common with those of scores.

func canaryPlan(n, k int) canary.Plan {
	return canary.Plan{Version: canary.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}}, Runs: n, K: k, Seed: 1}
}

func runCanaries(t *testing.T, p canary.Plan, workers int) canary.Report {
	t.Helper()
	r, err := canary.Run{Plan: p, Sources: source.Sources(), Pool: engine.LocalPool(workers), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func oneRunPlan(eps float64, m int, params audit.Params) onerun.Plan {
	claim := audit.DPClaim(eps, 1e-5)
	return onerun.Plan{Version: onerun.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Parameters: params, Claim: &claim}, Canaries: m, Seed: 1}
}

func auditOnce(t *testing.T, p onerun.Plan, sources []source.Spec) onerun.Report {
	t.Helper()
	r, err := onerun.Run{Plan: p, Sources: sources, Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
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
