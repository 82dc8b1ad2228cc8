package canary_test

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// A sum that adds a fifth of the noise it should, in many runs and in one.
func ExamplePlan() {
	many := canary.Plan{Version: canary.PlanVersion, Runs: 256, Seed: 1, Source: "gaussian-sum", Claim: new(audit.DPClaim(1, 1e-5)), Parameters: audit.Params{"noise": {Number: 0.2}}}
	one := many
	one.Mode, one.Runs, one.K = canary.OneRun, 0, 1000
	for _, plan := range []canary.Plan{many, one} {
		a, err := plan.Resolve(source.Sources(), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := report.Do(context.Background(), a, &engine.Runner{Pool: engine.LocalPool(1)}, nil, audit.Generator{})
		fmt.Println(err, r.Verdict, r.Plan.K, *r.LowerBound > 1)
	}
	// Output:
	// <nil> violation 16 true
	// <nil> violation 1000 true
}
