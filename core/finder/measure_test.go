package finder_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/finder"
	"github.com/dpscope/dpscope/core/stream"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
)

var catalogue = core.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.All, Finders: finder.Registry()}

// trialsToFind explores with a finder until a trial's value exceeds the claim,
// and returns that trial's number; most+1 if none of the first most does.
func trialsToFind(t testing.TB, finderName, mechanism string, claim float64, explore, most int, seed uint64) int {
	t.Helper()
	plan := core.Plan{Version: core.PlanVersion, Mechanism: mechanism, Claim: &core.Claim{Epsilon: claim}, Explore: explore, Trials: most, Seed: seed}
	a, err := plan.Resolve(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	f, err := named(t, finderName).New(core.FinderProblem{Relation: a.Plan.Relation, Domain: a.Domain, Trials: most,
		Stream: stream.New(stream.Key{Seed: seed, Purpose: "find"})})
	if err != nil {
		t.Fatal(err)
	}
	var history []core.Trial
	for len(history) < most {
		pairs := f.Propose(history, most-len(history))
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			res, err := core.Execute(catalogue, core.Task{Version: core.TaskVersion, Kind: core.ExploreTask, Plan: a.Plan, Trial: len(history), Pair: &p}, nil)
			if err != nil {
				t.Fatal(err)
			}
			history = append(history, core.Trial{Index: len(history), Pair: p, Value: res.Explored.Value})
			if res.Explored.Value > claim {
				return len(history)
			}
		}
	}
	return most + 1
}

// TestMeasureTrials prints how many trials each finder takes, without the
// mechanism's own pairs, until a value exceeds the claim. Private mechanisms
// show how often that happens by chance: values are no certificates. It runs
// where DPSCOPE_MEASURE is set, to "finders;mechanisms;claim;explore;most;seeds", each
// list separated by commas.
func TestMeasureTrials(t *testing.T) {
	setting := os.Getenv("DPSCOPE_MEASURE")
	if setting == "" {
		t.Skip("DPSCOPE_MEASURE is not set")
	}
	part := strings.Split(setting, ";")
	number := func(i int) int {
		n, err := strconv.Atoi(part[i])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	claim, err := strconv.ParseFloat(part[2], 64)
	if err != nil {
		t.Fatal(err)
	}
	most, seeds := number(4), number(5)
	for _, m := range strings.Split(part[1], ",") {
		for _, name := range strings.Split(part[0], ",") {
			var all []int
			sum, found := 0, 0
			for seed := range seeds {
				n := trialsToFind(t, name, m, claim, number(3), most, uint64(seed+1))
				all = append(all, n)
				if n <= most {
					found++
				}
				sum += min(n, most)
			}
			fmt.Printf("%-30s %-9s found %d of %d, mean %.1f trials %v\n", m, name, found, seeds, float64(sum)/float64(seeds), all)
		}
	}
}
