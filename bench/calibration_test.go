package main

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/testsize"
)

// The workers decide nothing; the seed does. Some claims that are met are
// refuted, and not significantly too many, which fails with probability .001 at
// most (calibration.JudgeError); the seed is fixed.
func TestBenchCalibration(t *testing.T) {
	testsize.Long(t)
	args := []string{"calibration", "-mechanisms", "randomised-response", "-runs", "16", "-samples", "600", "-explore", "400", "-quick"}
	output := func(more ...string) string {
		var out, errs strings.Builder
		if code := run(append(slices.Clone(args), more...), &out, &errs); code != cli.ExitOK || errs.Len() > 0 {
			t.Fatalf("%v: exit code %d, %s", more, code, errs.String())
		}
		return out.String()
	}
	one := output("-workers", "1", "-format", "json")
	if three := output("-workers", "3", "-format", "json"); three != one {
		t.Errorf("1 worker:\n%s\n3 workers:\n%s", one, three)
	}
	var r calibrationResult
	if err := json.Unmarshal([]byte(one), &r); err != nil {
		t.Fatal(err)
	}
	if r.Bench != "calibration" || r.Plan.Runs != 16 || r.Plan.Samples != 600 || !r.Plan.Cheap || r.Plan.Beta != 0.05 || len(r.Above) != 0 || len(r.Settings) != 1 {
		t.Errorf("%+v, above %v, settings %v", r.Plan, r.Above, r.Settings)
	}
	blocks := map[calibration.Block]int{}
	for _, row := range r.Rows {
		blocks[row.Block]++
		if row.Of != row.Runs || row.Plan.Mechanism != "randomised-response" || !(row.Lower <= row.Rate && row.Rate <= row.Upper) {
			t.Errorf("%+v", row)
		}
	}
	if blocks[calibration.Learners] < 6 || blocks[calibration.Finders] != 8 || blocks[calibration.Guarantees] != 16 {
		t.Errorf("cells %v", blocks)
	}
	if all := calibration.Total(r.Rows); all.Alarms == 0 || all.Alarms > all.Of/20 || len(r.Sharp) > 0 {
		t.Errorf("%+v, %d sharp cells", all, len(r.Sharp))
	}
	for _, g := range r.Groups {
		if g.Cells == len(r.Rows) {
			t.Errorf("%s adds up all cells, with and without slack", g.Name)
		}
	}
	if other := output("-workers", "3", "-format", "json", "-seed", "2"); strings.ReplaceAll(other, `"seed":2`, `"seed":1`) == one {
		t.Error("seeds 1 and 2 give the same")
	}
	chosen := output("-learners", "auto", "-mechanisms", "randomised-response", "-format", "json")
	if n := strings.Count(chosen, `"name":"learner auto on`) + strings.Count(chosen, `"name": "learner auto on`); n != 1 {
		t.Errorf("%d cells of the mechanism that was named", n)
	}
	text := output("-learners", "histogram", "-runs", "5")
	for _, want := range []string{"the answer yes", "learner histogram on randomised-response", "/5 ", "No cell's false-alarm rate is significantly above 0.05 (exact binomial tests of 1 cells"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "finder ") || strings.Contains(text, "Kinds of guarantees") {
		t.Errorf("more than was asked for:\n%s", text)
	}
}

// The sharp cells alone: the workers decide nothing, nothing is accused, and
// they are not of a learner.
func TestBenchCalibrationSharp(t *testing.T) {
	output := func(args ...string) (string, string, int) {
		var out, errs strings.Builder
		code := run(append([]string{"calibration", "-sharp"}, args...), &out, &errs)
		return out.String(), errs.String(), code
	}
	text, errs, code := output("-workers", "2")
	if code != cli.ExitOK || errs != "" || !strings.Contains(text, "No sharp cell is accused.") || strings.Count(text, "/100000") < 7 || strings.Contains(text, "finder") {
		t.Errorf("exit code %d, %s\n%s", code, errs, text)
	}
	if _, errs, code := output("-learners", "auto"); code != cli.ExitUsage || !strings.Contains(errs, "leave the other flags out") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	r := calibrationResult{Result: calibration.Result{Plan: calibration.Plan{Beta: 0.05}}}
	r.addSharp([]sharpRow{{sharp: sharp{Name: "too large", Size: 0.06}, TooLarge: true}})
	var out strings.Builder
	if code, err := (&call{format: "text", stdout: &out}).showCalibration(r); err != nil || code != cli.ExitViolation || !strings.Contains(out.String(), "SIZE ABOVE BETA") || !strings.Contains(out.String(), "Accused: too large") {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}

// A claim that does not hold is accused, the exit code says so, and what
// float-bits refutes is not.
func TestBenchCalibrationAccuses(t *testing.T) {
	p := calibration.Plan{Runs: 20, Samples: 2000, Explore: 1000, Trials: 1, Beta: 0.05, Seed: 1, Mechanisms: []string{"dp-sgd"}, Learners: []string{"histogram", "float-bits"}}
	cells, left, err := p.Cells(catalogue)
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	claim := audit.DPClaim(0.5, 0.001) // the truth is delta = .052 there
	cells[0].Plan.Claim, cells[0].Claim = &claim, claim
	rows, err := calibrate(context.Background(), catalogue, p.Seed, cells, 2, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	r := calibrationResult{Result: p.Judge(rows, left)}
	var out strings.Builder
	if code, err := (&call{format: "text", stdout: &out}).showCalibration(r); err != nil || code != cli.ExitViolation || !slices.Equal(r.Above, []string{"learner histogram on dp-sgd"}) {
		t.Errorf("exit code %d, above %v", code, r.Above)
	}
	bits := r.Rows[1]
	if bits.Subject != leftOut || bits.Alarms <= bits.Most || bits.Above || bits.Unjudged == "" {
		t.Errorf("%+v", bits)
	}
	for _, want := range []string{"ABOVE BETA", "Significantly above 0.05: learner histogram on dp-sgd", " n\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}

	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := calibrate(ctx, catalogue, 1, cells, 2, func(string, ...any) {}); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("stopped at once: %v", err)
	}
	cells[0].Plan.Samples = 5
	if _, err := calibrate(context.Background(), catalogue, 1, cells, 2, func(string, ...any) {}); err == nil || !strings.Contains(err.Error(), "samples is 5") {
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
		words, err := audit.ShellWords("command", p.Command())
		if err != nil {
			t.Fatal(err)
		}
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
