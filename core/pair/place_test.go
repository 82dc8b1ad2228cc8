package pair_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/mutate"
)

// Every refusal of a changed plan says where its fault is: at a setting, a parameter
// or a JSON pointer.
func TestRefusalsSayWhere(t *testing.T) {
	pure, approximate := audit.DPClaim(1, 0), audit.DPClaim(1, 1e-5)
	rest := pair.Plan{Version: pair.PlanVersion, Relation: audit.LInfinity, Finder: "patterns", Learner: "histogram", Samples: 1000, Explore: 500, Trials: 3, Beta: 0.05, Seed: 42}
	plans := []pair.Plan{rest, rest, rest}
	plans[0].Mechanism, plans[0].Claim, plans[0].ThroughRenyi, plans[0].Parameters = "svt4", &pure, 2, audit.Params{"c": {Number: 1}}
	plans[1].Mechanism, plans[1].Relation, plans[1].Claim = "gaussian-mean", "", &approximate
	plans[2].Mechanism, plans[2].Claim = "svt4", &audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1}
	spec, err := catalogue.Mechanism("svt4")
	if err != nil {
		t.Fatal(err)
	}
	a, err := plans[0].Resolve(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	known := spec.Pairs(a.Plan.Parameters, a.Plan.Relation)
	plans[0].Pair = &known[0]
	refused := 0
	for _, plan := range plans {
		data, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		changed, err := mutate.All(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range changed {
			p, err := pair.ParsePlan(m.JSON)
			if err == nil {
				_, err = p.Resolve(catalogue)
			}
			var in *audit.InputError
			if !errors.As(err, &in) {
				continue
			}
			refused++
			if at := in.Place(); !strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "p.") && !slices.Contains(settings.Names(pair.Keys()), at) {
				t.Errorf("%s: %q is no place: %v", m, at, in)
			}
		}
	}
	if refused < 100 {
		t.Errorf("%d changed plans were refused", refused)
	}
}
