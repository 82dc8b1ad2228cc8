package format_test

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report/format"
	"github.com/dpscope/dpscope/core/scores"
)

// A report of any kind, as workflow commands of GitHub Actions.
func ExampleWrite() {
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
	run := format.Run{Audits: []format.Audit{{Name: "attack", Report: report, Location: &format.Location{File: "train.py", Line: 12}}}}
	var b strings.Builder
	if err := format.Write(&b, format.GitHub, run); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.Split(b.String(), "%0A")[:2] { // %0A is an end of line there
		fmt.Println(line)
	}
	// Output:
	// ::error file=train.py,line=12,title=dpscope%3A attack::attack: Violation: epsilon >= 4.499 at delta = 1e-05 under add-remove with 95 %25 confidence, from 400 scores taken as one run, by guesses (Steinke, Nasr and Jagielski); claimed 2.
	// Scores: 200 in, 200 out
}
