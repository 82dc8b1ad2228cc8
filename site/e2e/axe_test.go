package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/site/e2e/browser"
)

// axePackage is what looks for what keeps people out.
const axePackage = "axe-core@4.10.3"

// axe is the script of axe-core, "" where it cannot be had.
var axe = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "dpscope-axe-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, axePackage)
	cmd.Dir = dir
	cmd.Run()
	script, _ := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(script)
})

type axeFound struct {
	Passed []string   `json:"passed"` // rules
	Issues []axeIssue `json:"issues"`
}

type axeIssue struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// axeIn looks for issues in a part of a tab. Any fails the test.
func axeIn(t *testing.T, tab *browser.Tab, where, part string) {
	t.Helper()
	if axe() == "" {
		t.Logf("%s: %s cannot be had by npm, so nothing was looked for", where, axePackage)
		return
	}
	eval[bool](t, tab, axe()+"; true")
	found := eval[axeFound](t, tab, `axe.run(`+part+`, { resultTypes: ["violations"] }).then((found) => ({
		passed: found.passes.map((rule) => rule.id),
		issues: found.violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, nodes: nodes.map((n) => n.target.join(" ") + ": " + (n.any[0] ?? n.all[0] ?? n.none[0])?.message) })),
	}))`)
	if len(found.Passed) < 10 || !slices.Contains(found.Passed, "color-contrast") && !slices.ContainsFunc(found.Issues, func(i axeIssue) bool { return i.ID == "color-contrast" }) {
		t.Errorf("%s: axe looked for little: %v", where, found.Passed)
	}
	for _, issue := range found.Issues {
		t.Errorf("%s: %s: %s (%s): %.6q", where, issue.Impact, issue.ID, issue.Help, issue.Nodes)
	}
}
