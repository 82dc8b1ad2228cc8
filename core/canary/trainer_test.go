package canary

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// TestTrainerCoverage: where the canaries of a trainer are a fixed list, the bound exceeds
// the truth no more often than it may. The first half of the list scores whether it is a
// member or not; of the others a bit is released by randomised response, which is exactly
// epsilon. Were the first K always the members, all of them would score, and the bound
// would be near 1.3.
func TestTrainerCoverage(t *testing.T) {
	const k, m, eps = 4, 4, 1.0
	sources := []source.Spec{source.TrainerSpec(func(members []bool, seed uint64, scores []float64, _ func() error) (bool, error) {
		st := stream.New(stream.Key{Seed: seed})
		u := make([]float64, len(members))
		st.Uniform(u, 0, 1)
		for i, in := range members {
			if i < k || (u[i] < 1/(1+math.Exp(-eps))) == in {
				scores[i] = 1
			}
		}
		return false, nil
	})}
	claim := audit.DPClaim(eps, 1e-9)
	for _, relation := range []audit.Relation{audit.AddRemove, audit.Replace} {
		for _, mode := range []Mode{Sequential, Fixed} {
			n := testsize.Of(60, 600)
			wrong, most := 0, 0.0
			for seed := range n {
				r := must.Get(testRun{Plan: Plan{Version: PlanVersion, Trainer: &source.Trainer{Command: "a test"}, Claim: &claim, Relation: relation, Mode: mode, Runs: 100, K: k, M: m, Seed: uint64(seed)},
					Sources: sources, Pool: engine.LocalPool(1)}.Do(context.Background()))(t)
				most = max(most, *r.LowerBound)
				if *r.LowerBound > eps {
					wrong++
				}
			}
			testsize.Chance(t, fmt.Sprintf("%s, %s", relation, mode), wrong, n, 0.05, 4e-6)
			t.Logf("%s, %s: %d of %d bounds are above %v, the largest is %.3f", relation, mode, wrong, n, eps, most)
		}
	}
}

// TestNamed: a plan with a trainer has its source, and no other; what is only named draws
// nothing.
func TestNamed(t *testing.T) {
	own := &source.Trainer{Command: "python3 train.py"}
	u := Plan{Trainer: own}
	if s, err := u.spec(source.Sources()); err != nil || u.Source != source.TrainerName || s.New != nil {
		t.Errorf("%v %q %v", s.Name, u.Source, err)
	}
	train := func([]bool, uint64, []float64, func() error) (bool, error) { return false, nil }
	if s, err := u.spec(append(source.Sources(), source.TrainerSpec(train))); err != nil || s.New == nil {
		t.Errorf("a trainer among the sources is not found: %v", err)
	}
	for _, c := range []struct {
		u    Plan
		says string
	}{
		{Plan{Source: "dp-sgd", Trainer: own}, `source is "dp-sgd" with a trainer`},
		{Plan{Source: source.TrainerName}, "trainer is missing"},
		{Plan{Trainer: &source.Trainer{}}, "trainer.command is"},
		{Plan{Trainer: &source.Trainer{Command: "x", Repeats: "perhaps"}}, `trainer.repeats is "perhaps"`},
	} {
		must.Input(t, must.Err(c.u.spec(source.Sources())), c.says, c.u.Trainer)
	}
	must.Refuse(t, own.Undrawn(), "python3 train.py")
	if !(*source.Trainer)(nil).DrawnAgain() || !own.DrawnAgain() || (&source.Trainer{Repeats: source.OtherScores}).DrawnAgain() {
		t.Error("which trainings can be drawn again")
	}
}
