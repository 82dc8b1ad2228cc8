package pair

import (
	"reflect"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// TestLastStakes: accounts that share what was made for the last claim are those that are
// made anew, whatever was asked for before.
func TestLastStakes(t *testing.T) {
	spec := audit.MechanismSpec{Claim: func(audit.Params) audit.Claim { return audit.DPClaim(0.7, 0.01) }}
	var audits []*Audit
	for _, p := range []Plan{
		{Claim: &audit.Claim{Epsilon: 1}},
		{Claim: &audit.Claim{Epsilon: 1, Delta: 0.01}},
		{Claim: &audit.Claim{Epsilon: 1}, ThroughRenyi: 4},
		{Claim: &audit.Claim{Kind: audit.GaussianDP, Mu: 1}},
		{Claim: &audit.Claim{Kind: audit.ZCDP, Rho: 1}},
		{Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 3, Epsilon: 1}},
		{Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 4, Epsilon: 1}},
		{Claim: &audit.Claim{Epsilon: 1.0000001}},
	} {
		p.Version = PlanVersion
		audits = append(audits, &Audit{Plan: p, Claim: *p.Claim, Spec: spec})
	}
	for i := range 3 * len(audits) {
		a := audits[i*3%len(audits)]
		if i%2 == 0 {
			a.accounts()
		}
		for k, got := range a.accounts() {
			limit := float64(strengths[k] * a.Claim.Limit())
			if got.limit != limit || got.wealth != 0 || got.most != 0 || !reflect.DeepEqual(got.stakes, a.stakes(limit)) {
				t.Fatalf("%s: account %d is another one's", a.Claim, k)
			}
		}
	}
}
