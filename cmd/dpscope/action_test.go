package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
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

// What the last step is given stands in inputs, and nothing else does.
func TestActionInputs(t *testing.T) {
	data := must.Get(os.ReadFile("../../action.yml"))(t)
	text := string(data)
	var declared, used []string
	block := text[strings.Index(text, "inputs:\n"):strings.Index(text, "runs:\n")]
	for _, m := range regexp.MustCompile(`(?m)^  (\w+):$`).FindAllStringSubmatch(block, -1) {
		declared = append(declared, m[1])
	}
	for _, m := range regexp.MustCompile(`inputs\.(\w+)`).FindAllStringSubmatch(text, -1) {
		used = append(used, m[1])
	}
	slices.Sort(declared)
	slices.Sort(used)
	if used = slices.Compact(used); len(declared) == 0 || !slices.Equal(declared, used) {
		t.Errorf("inputs are %v, used are %v", declared, used)
	}
	scripts := actionScripts(t)
	for _, m := range regexp.MustCompile(`(?m)^        ([A-Z]+): \$\{\{ inputs\.\w+ \}\}$`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(scripts[len(scripts)-1], "$"+m[1]) {
			t.Errorf("%s is set and not used", m[1])
		}
	}
	for _, script := range scripts { // an input in a script is code of whoever opens a pull request
		if strings.Contains(script, "${{") {
			t.Errorf("a script is pasted together: %s", script)
		}
	}
}

// The steps of the action build the command, and run a plan: a broken mechanism fails
// the step and stands in the SARIF file, a sound one does neither, and a plan that cannot
// be read is named. What GitHub's own actions do is not run here.
func TestAction(t *testing.T) {
	scripts := actionScripts(t)
	if len(scripts) != 2 {
		t.Fatalf("%d steps with a script, want 2: %q", len(scripts), scripts)
	}
	gear.Long(t)
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
		levels                 []string // of the results
		says                   string
	}{
		{"my plan.json", "laplace-mean-raw-count", "-strict -workers 2", 1, []string{"error"}, "::error"},
		{"sound.json", "laplace-mean", "", 0, nil, "::notice"},
		{"none.json", "", "", 2, nil, "none.json"},
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
		var sarif struct {
			Runs []struct {
				Results []struct{ Level string }
			}
		}
		if err != nil || json.Unmarshal(text, &sarif) != nil || len(sarif.Runs) != 1 {
			t.Fatalf("%s: SARIF of %d runs, %v: %.300s", c.name, len(sarif.Runs), err, text)
		}
		var levels []string
		for _, r := range sarif.Runs[0].Results {
			levels = append(levels, r.Level)
		}
		if !slices.Equal(levels, c.levels) {
			t.Errorf("%s: results are %v, want %v", c.name, levels, c.levels)
		}
	}
}
