package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// A small run has every part, is the same with other workers, and its bounds of private
// learners lie below the limits that it names.
func TestLearners(t *testing.T) {
	nativetest.Only(t)
	var outs [2]string
	for i, workers := range []string{"1", "2"} {
		var out, errs strings.Builder
		if code := run([]string{"learners", "-quick", "-only", "random-forest", "-samples", "1000", "-audits", "4", "-workers", workers, "-format", "json"}, &out, &errs); code != cli.ExitOK && code != cli.ExitViolation || errs.Len() > 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		outs[i] = out.String()
	}
	if outs[0] != outs[1] {
		t.Error("the result depends on the workers")
	}
	var r learnersResult
	if err := json.Unmarshal([]byte(outs[0]), &r); err != nil {
		t.Fatal(err)
	}
	loud := 0
	for _, c := range r.Cells {
		if c.Exact > r.Detectable || c.Katz > r.Corollary || c.Group < 1 || c.Group > learnersGroup {
			t.Errorf("%+v", c)
		}
		if c.Exact > 0.1*c.Claim {
			loud++
		}
	}
	if len(r.Cells) < 6 || loud < len(r.Cells)/3 || r.FalseAlarms.Audits != 4 || len(r.Twins) == 0 || len(r.HeldTo) < 4 {
		t.Errorf("%d cells, %d loud, %d audits, %d twins", len(r.Cells), loud, r.FalseAlarms.Audits, len(r.Twins))
	}
	for _, s := range r.Sphericity {
		if s.Ratio < 1 || !(s.Influence >= 0.98*s.ClipBKD) || s.Ratio < 2 && s.Influence < 1.5*s.ClipBKD {
			t.Errorf("%+v: ClipBKD moves the coefficients further, or nearly as far where the table is spherical", s)
		}
	}
	var out strings.Builder
	r.print(&out)
	for _, part := range []string{"Figure 2", "Figure 3", "Broken learners", "Held to", "random-forest (depth=1)"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in what is printed", part)
		}
	}
}

// Shares join to what one machine measures, whatever was drawn twice.
func TestLearnersShares(t *testing.T) {
	nativetest.Only(t)
	dir := t.TempDir()
	measured := func(args ...string) string {
		var out, errs strings.Builder
		if code := run(append([]string{"learners", "-format", "json"}, args...), &out, &errs); code != cli.ExitOK && code != cli.ExitViolation || errs.Len() > 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	args := []string{"-quick", "-only", "naive-bayes-counts", "-samples", "1000"}
	one := measured(args...)
	for _, part := range []string{"0/3 0", "1/3 1", "2/3 2", "1/3 again"} {
		share, name, _ := strings.Cut(part, " ")
		if out := measured(append(args[:len(args):len(args)], "-shards", share, "-partial", filepath.Join(dir, name))...); out != "" {
			t.Errorf("a share printed %.100q", out)
		}
	}
	if merged := measured("-merge", dir); merged != one || len(one) < 1000 {
		t.Errorf("the merge is other bytes: %d and %d", len(one), len(merged))
	}
	for name, c := range map[string]struct{ args, says string }{
		"settings":  {"-merge " + dir + " -samples 1000", "-samples"},
		"one share": {"-merge " + filepath.Join(dir, "0"), "1 to 2"},
		"no file":   {"-shards 0/3", "-partial"},
	} {
		var out, errs strings.Builder
		if code := run(append([]string{"learners"}, strings.Fields(c.args)...), &out, &errs); code != cli.ExitUsage || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%s: exit code %d: %s", name, code, errs.String())
		}
	}
}
