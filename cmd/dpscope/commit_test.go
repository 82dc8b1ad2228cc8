package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// said runs a command, wants its exit code and returns what it printed.
func said(t *testing.T, code int, args ...string) string {
	t.Helper()
	got, out, errs := dpscope(t, args...)
	if got != code {
		t.Fatalf("%s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errs)
	}
	return out + errs
}

// TestCommit: what was committed before a run holds for its report, and for no other.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	committed := func(args ...string) string {
		t.Helper()
		lines, _, _ := strings.Cut(said(t, 0, append([]string{"commit"}, args...)...), "Before the run")
		return lines
	}
	rows := strings.Repeat("0,1\n1,2\n0,2\n1,1\n", 300)
	write("rows.csv", "dataset,x\n"+rows)
	write("other.csv", "dataset,x\n1,1\n0,1\n"+rows)
	for name, settings := range map[string][]string{
		"seeded":   {"-mechanism", "svt5", "-epsilon", "1", "-samples", "500", "-trials", "1", "-seed", "7"},
		"recorded": {"-samples-file", at("rows.csv"), "-epsilon", "1"},
	} {
		text := committed(settings...)
		write(name, text)
		dpscope(t, append([]string{"audit", "-output", "json=" + at(name+".json")}, settings...)...)
		verify := []string{"verify", "-quick", "-commitment"}
		for _, given := range []string{at(name), text} {
			must.Say(t, said(t, 0, append(verify, given, at(name+".json"))...), "The commitment holds")
		}
		if again := committed(settings...); again == text {
			t.Error("no salt")
		}
		other := committed(append(settings[:len(settings):len(settings)], "-seed", "8")...)
		must.Say(t, said(t, 1, append(verify, other, at(name+".json"))...), "does not hold")
	}
	other := committed("-samples-file", at("other.csv"), "-epsilon", "1")
	said(t, 1, "verify", "-quick", "-commitment", other, at("recorded.json"))

	write("plan.json", `{"version": 1, "beta": 0.05, "audits": [
		{"name": "first", "mechanism": "svt5", "claim": {"epsilon": 1}, "samples": 500, "trials": 1},
		{"name": "third", "canaries": {"source": "gaussian-sum", "claim": {"epsilon": 2}, "runs": 64, "k": 5}},
		{"name": "fourth", "canaries": {"mode": "one-run", "source": "gaussian-sum", "claim": {"epsilon": 2}, "k": 64}}]}`)
	text := committed(at("plan.json"))
	said(t, 1, "audit", "-plan", at("plan.json"), "-output", "json="+at("whole"))
	said(t, 0, "verify", "-commitment", text, at("whole"))
	said(t, 1, "verify", "-commitment", text, at("seeded.json"))

	must.Say(t, said(t, 2, "verify", "-commitment", at("whole"), at("whole")), "the two lines that dpscope commit printed")
	for _, args := range [][]string{{"verify", "-receipt", "x", at("whole")}, {"commit", "-host", "x", at("plan.json")}} {
		must.Say(t, said(t, 2, args...), "was removed; use dpscope commit instead", "verify -commitment")
	}
}
