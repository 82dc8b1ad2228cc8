package scores_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/scores"
)

// Scores of canaries that were in a training and of others that were not, as any
// program may have made them. Here they tell all of them apart.
func ExampleRun() {
	s := scores.Scores{In: make([]float64, 200), Out: make([]float64, 200)}
	for i := range s.In {
		s.In[i], s.Out[i] = 1+float64(i)/1000, float64(i)/1000
	}
	claim := audit.DPClaim(2, 1e-5)
	report, err := scores.Run(scores.Plan{Version: scores.PlanVersion, Claim: &claim, Relation: audit.AddRemove, Seed: 1}, s, audit.Generator{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict)
	fmt.Println(report.Plan.Method, *report.LowerBound > 2)
	// Output:
	// violation
	// one-run true
}
