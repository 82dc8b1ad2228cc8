package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// TestScaleExamples runs the examples of docs/scale.md that need no cluster, and holds
// that they give the report of one machine; a share that is lost is drawn again.
func TestScaleExamples(t *testing.T) {
	examples := must.Get(filepath.Abs("../../docs/examples/scale"))(t)
	dir := t.TempDir()
	sh := func(t *testing.T, env []string, args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	read := func(name string) []byte {
		data := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		return timing.ReplaceAll(data, nil)
	}
	audit := []string{"dpscope", "audit", "-mechanism", "laplace-mean", "-epsilon", "1", "-samples", "50000", "-trials", "2", "-fixed"}
	sh(t, nil, append(audit, "-output", "one.json")...)
	want := read("one.json")
	for _, shell := range []string{"sh", "bash", "parallel"} {
		t.Run(shell, func(t *testing.T) {
			must.Have(t, shell)
			switch shell {
			case "sh":
				loop := append([]string{"sh", filepath.Join(examples, "loop.sh"), "loop", "4"}, audit...)
				sh(t, nil, loop...)
				must.Do(t, os.Remove(filepath.Join(dir, "loop", "2")))
				sh(t, nil, loop...)
				if !bytes.Equal(want, read("loop.json")) {
					t.Error("the loop gives another report")
				}
			case "bash": // Slurm's part is played by its variables
				sh(t, nil, append(audit, "-search-only", "-partial", "search")...)
				must.Do(t, os.MkdirAll(filepath.Join(dir, "array"), 0o755))
				sh(t, nil, "cp", "search", "array/search")
				for _, i := range []string{"0", "1", "2"} {
					sh(t, []string{"SLURM_ARRAY_TASK_ID=" + i, "SLURM_ARRAY_TASK_COUNT=3"}, append([]string{"bash", filepath.Join(examples, "slurm.sh"), "array"}, audit...)...)
				}
				sh(t, nil, "dpscope", "merge", "array", "-o", "array.json")
				if !bytes.Equal(want, read("array.json")) {
					t.Error("the array gives another report")
				}
			case "parallel":
				sh(t, nil, append([]string{"sh", filepath.Join(examples, "parallel.sh"), "jobs", "3"}, audit...)...)
				if !bytes.Equal(want, read("jobs.json")) {
					t.Error("GNU parallel gives another report")
				}
			}
		})
	}
}
