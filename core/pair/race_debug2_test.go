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
	p := Plan{Version: 2, Mechanism: "laplace-mean-raw-denominator", UntilRefuted: true, Samples: 50000, Trials: 1, Claim: new(audit.DPClaim(1, 0)), Seed: 5002}
	a, err := p.Resolve(cat)
	if err != nil {
		t.Fatal(err)
	}
	debugRace = func(x *racer, at int) {
		fmt.Printf("arm %d drawn %d growth %.2f wealth %.2f\n", at, x.arms[at].drawn, x.arms[at].growth, x.accounts[0].wealth)
	}
	r, err := Race{Plan: a.Plan}.execute(cat, func(int) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range r.Epochs {
		if i > 45 {
			break
		}
		fmt.Println(e.Pair, e.Outputs, e.Candidates, len(e.Witness), e.Bets[:min(3, len(e.Bets))])
	}
}
