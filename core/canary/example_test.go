package canary_test

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
)

// A sum that adds a fifth of the noise it should.
func ExampleRun() {
	claim := audit.DPClaim(1, 1e-5)
	sources := source.Sources()
	report, err := canary.Run{
		Plan:    canary.Plan{Version: canary.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Claim: &claim, Parameters: audit.Params{"noise": {Number: 0.2}}}, Runs: 256, Seed: 1},
		Sources: sources,
		Pool:    engine.LocalPool(1),
	}.Do(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict, report.Plan.K, *report.LowerBound > 1)
	// Output: violation 16 true
}
