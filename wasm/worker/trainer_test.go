package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Reports of trainings by a program open and are recomputed from their counts, and say
// where they are drawn again; the page does not train.
func TestReportsOfTrainings(t *testing.T) {
	sources := append(source.Sources(), source.TrainerSpec(func(members []bool, seed uint64, scores []float64, _ func() error) (bool, error) {
		stream.New(stream.Key{Seed: seed}).Gaussian(scores, 0.3)
		for i, m := range members {
			if m {
				scores[i]++
			}
		}
		return false, nil
	}))
	claim := audit.DPClaim(1, 1e-5)
	own := &source.Trainer{Command: "python3 train.py", Repeats: source.SameScores}
	g := core.Env{Sources: sources}
	g.Pool = engine.LocalPool(1)
	runs := canary.Plan{Version: canary.PlanVersion, Trainer: own, Claim: &claim, Runs: 60, K: 8, Beta: 0.05, Seed: 3}
	for name, plan := range map[string]any{"runs": runs, "one run": canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Trainer: own, Claim: &claim, K: 300, Seed: 3}} {
		a := must.Get(core.Resolve(plan, g))(t)
		r := must.Get(a.Run(t.Context(), g))(t)
		text := must.Get(audit.Canonical(r))(t)
		p := newPage(t, testCatalogue(), 1)
		opened := answerTo[reported](p, "open", string(text))
		named := slices.ContainsFunc(opened.Facts, func(f audit.FactRow) bool {
			return f.Name == "Program" && strings.Contains(f.Value, "python3 train.py")
		})
		if opened.Text != string(text) || !named || !strings.Contains(opened.Title, "Violation") {
			t.Errorf("%s: %q, facts %v", name, opened.Title, opened.Facts)
		}
		v := answerTo[verified](p, "verify", string(text))
		if !v.OK || !v.Recomputed || !strings.Contains(strings.Join(v.Notes, " "), "dpscope verify -exec draws the trainings again") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
