package pair_test

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
)

// A sparse vector technique that gives away more than the epsilon of 1 that it claims.
// The report does not depend on the number of workers, and replays.
func ExampleRun() {
	claim := audit.DPClaim(1, 0)
	catalogue := audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}
	pool := engine.LocalPool(2)
	report, err := pair.Run{
		Plan:      pair.Plan{Version: pair.PlanVersion, Mechanism: "svt4", Claim: &claim, Samples: 20_000, Trials: 3, Seed: 42},
		Catalogue: catalogue,
		Pool:      pool,
	}.Do(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict, *report.LowerBound > 1)

	replay, err := pair.Verify(context.Background(), catalogue, pool, report, true)
	fmt.Println(replay.OK(), err)
	// Output:
	// violation true
	// true <nil>
}
