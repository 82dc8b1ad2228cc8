package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
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

// TestAxe: axe-core finds nothing beside the doors, which [TestEveryDoor] looks at: in the
// help, the dialog of a table with an error at its field, embeds and a page of the museum.
func TestAxe(t *testing.T) {
	t.Parallel()
	looked := 0
	look := func(tab *browser.Tab, where, part string) {
		t.Helper()
		looked++
		for _, dark := range gear.Of([]bool{looked%2 == 0}, []bool{false, true}) {
			dress(t, tab, 1100, 1000, dark)
			axeIn(t, tab, fmt.Sprintf("%s, dark %v", where, dark), part)
		}
	}
	tab := open(t, "#v=1&mechanism=svt1")
	eval[bool](t, tab, `(document.querySelector("#help").showModal(), true)`)
	look(tab, "the help", gear.Of(`document.querySelector("#help")`, "document"))
	eval[bool](t, tab, `(document.querySelector("#help").close(), true)`)
	enter(t, tab, "data")
	tableDialog(t, tab, writeTable(t))
	click(t, tab, "#table button.primary")
	until(t, tab, `document.querySelector("#table-epsilon-error").textContent !== ""`, 5*time.Second)
	look(tab, "the dialog of a table", `document.querySelector("#table")`)
	for _, c := range []struct{ address, there string }{
		{"embed.html#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&controls=full&autorun=true", `document.body.dataset.state === "done"`},
		{"embed.html#v=1&view=canaries&n=60&k=3&autorun=true", `document.body.dataset.state === "done" && document.querySelector("#planted .background")`},
		{"docs/museum/svt4.html", `document.readyState === "complete"`},
	} {
		page := must.Get(browser.Open(profile(t), site+c.address))(t)
		until(t, page, c.there, time.Minute)
		eval[bool](t, page, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
		look(page, c.address, "document")
		page.Close()
	}
}
