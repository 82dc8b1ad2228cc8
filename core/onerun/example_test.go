package onerun_test

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
)

// One run of a sum that adds a fifth of the noise it should, with a thousand canaries
// each of which a coin puts in or leaves out.
func ExampleRun() {
	claim := audit.DPClaim(1, 1e-5)
	sources := source.Sources()
	report, err := onerun.Run{
		Plan:    onerun.Plan{Version: onerun.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Claim: &claim, Parameters: audit.Params{"noise": {Number: 0.2}, "d": {Number: 100_000}}}, Canaries: 1000, Seed: 1},
		Sources: sources,
		Pool:    engine.LocalPool(1),
	}.Do(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict, *report.LowerBound > 1)
	// Output: violation true
}
