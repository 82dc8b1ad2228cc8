package pair

import (
	"fmt"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/finders"
	"github.com/dpscope/dpscope/mechanisms"
)

func TestDebugRace(t *testing.T) {
	cat := audit.Catalogue{Mechanisms: mechanisms.All(), Finders: finders.All, Learners: estimators.Registry()}
	p := Plan{Version: 2, Mechanism: "svt5", UntilRefuted: true, Samples: 5000, Claim: new(audit.DPClaim(1, 0)), Seed: 5003}
	a, err := p.Resolve(cat)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Race{Plan: a.Plan}.execute(cat, func(int) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(len(r.Epochs), len(r.Pairs))
	for i, e := range r.Epochs {
		if i > 25 {
			break
		}
		fmt.Println(e.Pair, e.Outputs, e.Candidates, len(e.Witness), e.Bets[:min(3, len(e.Bets))])
	}
}
