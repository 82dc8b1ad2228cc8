package main

import (
	"encoding/json"
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
