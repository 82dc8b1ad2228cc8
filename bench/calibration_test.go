package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// The seed decides, the workers do not. What is asked for is printed, and no more.
func TestBenchCalibration(t *testing.T) {
	args := []string{"calibration", "-mechanisms", "randomised-response", "-runs", "5", "-samples", "600", "-explore", "400", "-quick", "-learners", "histogram"}
	text := printedBy(t, args...)
	must.Say(t, text, "the answer yes", "learner histogram on randomised-response", "/5 ", "No cell is accused.")
	if strings.Contains(text, "finder ") || strings.Contains(text, "Kinds of guarantees") {
		t.Errorf("more than was asked for:\n%s", text)
	}
	if other := printedBy(t, append(args, "-seed", "2")...); strings.ReplaceAll(other, "seed 2", "seed 1") == text {
		t.Error("seeds 1 and 2 give the same")
	}
}

// Every learner, finder and kind of guarantee has a cell, none of which is accused: with
// probability .001 at most one would be (calibration.JudgeError); the seed is fixed.
func TestBenchCalibrationWhole(t *testing.T) {
	testsize.Long(t)
	text := printedBy(t, "calibration", "-mechanisms", "randomised-response", "-runs", "16", "-samples", "600", "-explore", "400", "-quick")
	for part, least := range map[string]int{"\nlearner ": 6, "\nfinder ": len(finders.All) + len(finders.Named()), "Kinds of guarantees": 1} {
		if n := strings.Count(text, part); n < least {
			t.Errorf("%d cells of %q", n, part)
		}
	}
}

// A claim that does not hold is accused, and what float-bits refutes is not.
func TestBenchCalibrationAccuses(t *testing.T) {
	p := calibration.Plan{Runs: 20, Samples: 2000, Explore: 1000, Trials: 1, Beta: 0.05, Seed: 1, Mechanisms: []string{"dp-sgd"}, Learners: []string{"histogram", "float-bits"}}
	cells, left, err := p.Cells(catalogue)
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	claim := audit.DPClaim(0.5, 0.001) // the truth is delta = .052 there
	cells[0].Plan.Claim, cells[0].Claim = &claim, claim
	l := lab{t.Context(), 2, t.Logf}
	tables, accused := l.calibrate(p, cells, left)
	if !slices.Equal(accused, []string{"learner histogram on dp-sgd"}) {
		t.Fatalf("accused %v", accused)
	}
	rows := tables[len(tables)-1].rows
	if mark := rows[0].cells[5]; mark != "ABOVE BETA" && mark != "~ ABOVE BETA" {
		t.Errorf("marks %v", mark)
	}
	if bits := rows[1]; bits.cells[0] == "0/20" || !strings.HasSuffix(bits.cells[5].(string), "n") {
		t.Errorf("%+v", bits)
	}
	cells[0].Plan.Samples = 5
	if err := caught(func() { l.calibrate(p, cells, left) }); err == nil || !strings.Contains(err.Error(), "samples is 5") {
		t.Errorf("a plan that is refused: %v", err)
	}
}

// The command that counts the same asks for the same plan.
func TestReproduceCalibration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9-]{1,9}`), 0, 3)
		p := calibration.Plan{Runs: rapid.IntRange(1, 1_000_000).Draw(t, "runs"), Samples: rapid.IntRange(pair.MinSamples, pair.MaxSamples).Draw(t, "samples"), Explore: rapid.IntRange(0, pair.MaxSamples).Draw(t, "explore"),
			Trials: rapid.IntRange(1, pair.MaxTrials).Draw(t, "trials"), Beta: rapid.Float64Range(1e-9, 0.5).Draw(t, "beta"), Seed: rapid.Uint64Max(audit.MaxSeed).Draw(t, "seed"),
			Mechanisms: names.Draw(t, "mechanisms"), Learners: names.Draw(t, "learners"), Finders: names.Draw(t, "finders")}
		words := must.Get(audit.ShellWords("command", p.Command()))(t)
		set := cli.NewFlags("bench calibration", io.Discard)
		asked := cli.Settings(set, calibration.Keys())
		var again calibration.Plan
		if _, ok := set.Parse(words[4:], 0); !ok {
			t.Fatalf("%q is not understood", words)
		}
		if err := asked.Read(&again); err != nil || !audit.EqualJSON(again, p) {
			t.Fatalf("%q: %v\n%+v\nwant\n%+v", words, err, again, p)
		}
	})
}
