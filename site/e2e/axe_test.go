package e2e

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/dpscope/dpscope/site/e2e/browser"
)

// axe is the script of axe-core, which looks for what keeps people out.
var axe = sync.OnceValues(func() ([]byte, error) { return os.ReadFile("../types/node_modules/axe-core/axe.min.js") })

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
	script, err := axe()
	if err != nil {
		t.Fatalf("%v: run npm ci --ignore-scripts in site/types", err)
	}
	eval[bool](t, tab, string(script)+"; true")
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
