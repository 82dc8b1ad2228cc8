package pair_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// goldenPlans cover each learner, each kind of output and each relation, and a
// search by a model.
var goldenPlans = map[string]pair.Plan{
	"outcomes":  {Mechanism: "svt4", Claim: &audit.Claim{Epsilon: 1}, Samples: 20_000, Explore: 4_000, Trials: 2, Seed: 7},
	"histogram": {Mechanism: "laplace-mean-raw-denominator", Learner: "histogram", Samples: 20_000, Explore: 4_000, Trials: 2, Seed: 8},
	"mixed":     {Mechanism: "svt3", Parameters: audit.Params{"m": {Number: 4}}, Learner: "logistic", Samples: 5_000, Trials: 2, Seed: 9},
	"surrogate": {Mechanism: "laplace-mean-raw-count", Claim: &audit.Claim{Epsilon: 1}, Finder: "gp-ucb", Learner: "histogram", Samples: 5_000, Explore: 2_000, Trials: 24, Seed: 11},
	"random":    {Mechanism: "gaussian-mean", Relation: audit.Replace, Finder: "random", Samples: 5_000, Trials: 3, Seed: 10},
}

// TestSameBitsOfReports replays committed reports, exploration and all. It runs on
// every platform that the tests run on, so that a report written on one gives
// the same counts on the others. With -update it writes them anew.
func TestSameBitsOfReports(t *testing.T) {
	for name, plan := range goldenPlans {
		file := filepath.Join("testdata", "reports", name+".json")
		if *update {
			data, err := audit.Canonical(runAudit(t, plan, 2))
			if err == nil {
				err = os.WriteFile(file, data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, data)
		r, _, err := pair.ParseReport(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		v, err := pair.Verify(context.Background(), catalogue, pair.LocalPool(catalogue, 2), r, true)
		if err != nil || !v.OK() {
			t.Errorf("%s: %v %v", file, err, v.Differences)
		}
	}
}
