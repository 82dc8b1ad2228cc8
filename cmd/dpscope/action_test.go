package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/gear"
)

// actionScripts are the shell scripts of the steps of action.yml, in order.
func actionScripts(t *testing.T) (scripts []string) {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^      run: (.*)\n((?:        .*\n)*)`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "|" {
			scripts = append(scripts, m[1])
			continue
		}
		scripts = append(scripts, strings.ReplaceAll(m[2], "        ", ""))
	}
	return scripts
}

// The steps of the action build the command, and run a plan: a broken mechanism fails
// the step and stands in the SARIF file. What GitHub's own actions do is not run here.
func TestAction(t *testing.T) {
	scripts := actionScripts(t)
	if len(scripts) != 2 {
		t.Fatalf("%d steps with a script, want 2: %q", len(scripts), scripts)
	}
	gear.Long(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	temp, work := t.TempDir(), t.TempDir()
	plan := `{"version": 1, "audits": [{"name": "broken", "mechanism": "laplace-mean-raw-count", "location": "mean.py:3", "samples": 5000}]}`
	if err := os.WriteFile(filepath.Join(work, "my plan.json"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, script := range scripts {
		c := exec.Command("bash", "-eo", "pipefail", "-c", script)
		c.Dir = work
		c.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_ACTION_PATH="+root, "PLAN=my plan.json", "SARIF=out.sarif", "FLAGS=-strict -workers 2")
		out, err := c.CombinedOutput()
		if i == 0 && err != nil {
			t.Fatalf("building: %v: %s", err, out)
		}
		if i == 1 && c.ProcessState.ExitCode() != 1 {
			t.Errorf("a violation ends with %d: %s", c.ProcessState.ExitCode(), out)
		}
	}
	var sarif struct {
		Runs []struct {
			Results []struct{ Level string }
		}
	}
	text, err := os.ReadFile(filepath.Join(work, "out.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &sarif); err != nil || len(sarif.Runs) != 1 || len(sarif.Runs[0].Results) != 1 || sarif.Runs[0].Results[0].Level != "error" {
		t.Errorf("SARIF of %d runs, %v: %.300s", len(sarif.Runs), err, text)
	}
}
