package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/internal/must"
)

// TestContinue: a canary audit goes on from its report; what the report says cannot be
// said otherwise.
func TestContinue(t *testing.T) {
	dir := t.TempDir()
	audited := func(name string, args ...string) (canary.Report, string) {
		t.Helper()
		var out, errs bytes.Buffer
		canaries(append(args, "-format", "json", "-workers", "2"), strings.NewReader(""), &out, &errs)
		if out.Len() == 0 {
			return canary.Report{}, errs.String()
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o666))
		r := must.Get(canary.ParseReport(out.Bytes()))(t)
		return r, errs.String()
	}
	first := filepath.Join(dir, "first.json")
	r, errs := audited("first.json", "-source", "gaussian-sum", "-epsilon", "2", "-n", "200", "-k", "8", "-param", "noise=0.2", "-until-refuted")
	n := r.Termination.SamplesUsed
	if r.Plan.Mode != canary.UntilRefuted || n == 0 || n > 150 {
		t.Fatalf("%d trainings: %s", n, errs)
	}
	if r, errs = audited("more.json", "-continue", first, "-n", "170"); r.Termination.SamplesUsed != 170 || r.Plan.Mode != canary.Sequential || len(r.Continued) != 1 || r.Continued[0].Runs != n {
		t.Errorf("%+v, %s", r.Continued, errs)
	}
	more := filepath.Join(dir, "more.json")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-continue", more}, "more than the 170 trainings"},
		{[]string{"-continue", more, "-n", "180", "-seed", "3"}, "-seed is given beside -continue"},
		{[]string{"-continue", more, "-n", "180", "-d", "30"}, "-d is given beside -continue"},
		{[]string{"-continue", more, "-n", "180", "-param", "noise=1"}, "-param is given beside -continue"},
		{[]string{"-continue", filepath.Join(dir, "none.json")}, "none.json"},
	} {
		if _, errs := audited("bad.json", c.args...); !strings.Contains(errs, c.want) {
			t.Errorf("%q: %q, want %q in it", c.args, errs, c.want)
		}
	}
}
