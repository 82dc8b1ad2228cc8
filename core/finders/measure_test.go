package finders_test

import (
	"context"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/nativetest"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms"
)

var catalogue = audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.All, Finders: finders.Registry()}

// trialsToFind explores with a finder that is told no pairs until a trial's value exceeds the claim and an audit of its pair on other
// outputs refutes the claim: the k-th such audit with an error of
// 0.05/(k(k+1)). It returns that trial's number; most+1 if none of the first
// most does.
func trialsToFind(finderName string, plan pair.Plan) (int, error) {
	a, err := plan.Resolve(catalogue)
	if err != nil {
		return 0, err
	}
	p, most := a.Plan, a.Plan.Trials
	spec, err := catalogue.Finder(finderName)
	if err != nil {
		return 0, err
	}
	problem := audit.FinderProblem{Relation: p.Relation, Domain: a.Domain, Trials: most, Stream: stream.New(stream.Key{Seed: p.Seed, Purpose: "find"})}
	f, err := spec.New(problem)
	if err != nil {
		return 0, err
	}
	var history []audit.Trial
	tries := 0
	for len(history) < most {
		pairs := f.Propose(history, most-len(history))
		if len(pairs) == 0 {
			break
		}
		for _, neighbours := range pairs {
			explored, err := engine.Result[pair.Explored](a.Explore(len(history), neighbours, p.Explore), nil)
			if err != nil {
				return 0, err
			}
			history = append(history, audit.Trial{Index: len(history), Pair: neighbours, Value: explored.Value})
			if explored.Value <= a.Claim.Limit() {
				continue
			}
			tries++
			again := plan
			again.Pair, again.Seed = &neighbours, (p.Seed+1)*4096+uint64(tries)
			again.Beta = 0.05 / float64(tries*(tries+1))
			report, err := pair.Run{Plan: again, Catalogue: catalogue, Pool: engine.LocalPool(1)}.Do(context.Background())
			if err != nil {
				return 0, err
			}
			if report.Verdict == audit.Violation {
				return len(history), nil
			}
		}
	}
	return most + 1, nil
}

// A search that is not told the pair refutes the clip of micro-batches within 10
// trials on average (published: 5, RényiTester, table 6). Of a mechanism that
// keeps its claim a search refutes it with probability 5 % at most, so that
// by chance all eight searches would succeed with probability 4e-11.
func TestMicrobatchIsFoundSoon(t *testing.T) {
	nativetest.Only(t)
	for i, name := range testsize.Of([]string{"gp-ucb"}, []string{"gp-ucb", "nsga2"}) {
		sum := 0
		for k := range 4 {
			seed := uint64(10*i + k)
			n := must.Get(trialsToFind(name, pair.Plan{Version: pair.PlanVersion, Mode: pair.Fixed, Mechanism: "dp-sgd-microbatch", Explore: 10_000, Samples: 50_000, Trials: 25, Seed: seed}))(t)
			if n > 25 {
				t.Errorf("%s, seed %d: not found", name, seed)
			}
			sum += n
		}
		if mean := float64(sum) / 4; mean > 10 {
			t.Errorf("%s: %.1f trials on average, want at most 10", name, mean)
		}
	}
}
