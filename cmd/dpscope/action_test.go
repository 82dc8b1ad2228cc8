package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// actionScripts are the shell scripts of the steps of action.yml, in order.
func actionScripts(t *testing.T) (scripts []string) {
	t.Helper()
	text := must.Get(os.ReadFile("../../action.yml"))(t)
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
// the step and stands in the SARIF file, a sound one does neither, and a plan that cannot
// be read is named. What GitHub's own actions do is not run here.
func TestAction(t *testing.T) {
	scripts := actionScripts(t)
	if len(scripts) != 2 || strings.Contains(strings.Join(scripts, ""), "${{") { // an input in a script is code of whoever opens a pull request
		t.Fatalf("%d steps with a script, want 2, and none pasted together: %q", len(scripts), scripts)
	}
	testsize.Long(t)
	root := must.Get(filepath.Abs("../.."))(t)
	temp, work := t.TempDir(), t.TempDir()
	run := func(script string, more ...string) (int, string) {
		c := exec.Command("bash", "-eo", "pipefail", "-c", script)
		c.Dir = work
		c.Env = append(append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_ACTION_PATH="+root), more...)
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), string(out)
	}
	if code, out := run(scripts[0]); code != 0 {
		t.Fatalf("building ends with %d: %s", code, out)
	}
	for _, c := range []struct {
		name, mechanism, flags string
		code                   int
		errors                 int // among the results
		says                   string
	}{
		{"my plan.json", "laplace-mean-raw-count", "-strict -workers 2", 1, 1, "::error"},
		{"sound.json", "laplace-mean", "", 0, 0, "::notice"},
		{"none.json", "", "", 2, 0, "none.json"},
	} {
		if c.mechanism != "" {
			plan := `{"version": 1, "audits": [{"name": "mean", "mechanism": "` + c.mechanism + `", "location": "mean.py:3", "samples": 5000}]}`
			must.Do(t, os.WriteFile(filepath.Join(work, c.name), []byte(plan), 0o644))
		}
		code, out := run(scripts[1], "PLAN="+c.name, "SARIF="+c.name+".sarif", "FLAGS="+c.flags)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s ends with %d, want %d and %q: %s", c.name, code, c.code, c.says, out)
		}
		text, err := os.ReadFile(filepath.Join(work, c.name+".sarif"))
		if c.mechanism == "" {
			if err == nil {
				t.Errorf("%s: there is SARIF of nothing", c.name)
			}
			continue
		}
		if n := strings.Count(string(text), `"level": "error"`); err != nil || n != c.errors {
			t.Errorf("%s: %d errors, want %d, %v", c.name, n, c.errors, err)
		}
	}
}
