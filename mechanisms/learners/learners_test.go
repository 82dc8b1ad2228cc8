package learners

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// loud are the audits of faults that the contract's own audit does not show.
var loud = map[string]pair.Plan{
	"logistic-output-half-noise": {Samples: 30_000, Explore: 5_000}, // the truth is 1.3 of its claim
}

// TestEveryLearner holds every line of the registry to the contract of mechanisms,
// with one audit each: what is broken is refuted, and what is not is not.
func TestEveryLearner(t *testing.T) {
	nativetest.Only(t)
	for _, spec := range All() {
		t.Run(spec.Name, func(t *testing.T) {
			plan, ok := loud[spec.Name]
			plan.Seed = 3
			plan.Finder = "candidates"
			if !ok {
				plan.Samples, plan.Explore = 2000, 1000
			}
			dptest.TestMechanism(t, spec, plan)
		})
	}
}

func resolved(t testing.TB, spec audit.MechanismSpec, given audit.Params) audit.Params {
	t.Helper()
	p, err := audit.ResolveParams(spec.Params, given, audit.Claim{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
