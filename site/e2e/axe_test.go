package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// axePackage is what looks for what keeps people out.
const axePackage = "axe-core@4.10.3"

// axe returns the script of axe-core, or skips the test where it cannot be had.
func axe(t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm, so no " + axePackage + ": nothing was looked for")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--prefix", dir, axePackage)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s cannot be had, so nothing was looked for: %v\n%s", axePackage, err, out)
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

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
func axeIn(t *testing.T, tab *browser.Tab, script, where, part string) {
	t.Helper()
	eval[bool](t, tab, script+"; true")
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

// TestAxeDoors: axe-core finds nothing in any door, before and after an audit, on a
// laptop and on a phone, light and dark. The first gear looks once, with a result, at those
// doors that [TestAxe] does not enter.
func TestAxeDoors(t *testing.T) {
	t.Parallel()
	script := axe(t)
	for i, r := range rooms {
		if !gear.All() && !slices.Contains([]string{"code", "data", "accounting"}, r.door) {
			continue
		}
		t.Run(r.door, func(t *testing.T) {
			tab := open(t, "")
			if r.door != "explore" {
				enter(t, tab, r.door)
			}
			look := func(name string) {
				t.Helper()
				for j, size := range windows {
					for k, dark := range []bool{false, true} {
						if gear.All() || (j == i%2 && k == i/2%2) {
							dress(t, tab, size[0], size[1], dark)
							axeIn(t, tab, script, fmt.Sprintf("%s, %s, %v, dark %v", r.door, name, size, dark), "document")
						}
					}
				}
			}
			if gear.All() {
				look("empty")
				dress(t, tab, 1280, 800, false)
			}
			r.result(t, tab)
			eval[bool](t, tab, `(document.querySelectorAll("main details").forEach((d) => { d.open = true; }), true)`)
			look("with a result")
			tab.Close()
		})
	}
}

// TestAxe: axe-core finds nothing on the page, before and
// after a run, with all panels open and the help, nor in embeds, nor on a page of
// the museum, light and dark.
func TestAxe(t *testing.T) {
	t.Parallel()
	script := axe(t)
	looked := 0
	look := func(tab *browser.Tab, where, part string) {
		t.Helper()
		looked++
		for _, dark := range gear.Of([]bool{looked%2 == 0}, []bool{false, true}) {
			dress(t, tab, 1100, 1000, dark)
			axeIn(t, tab, script, fmt.Sprintf("%s, dark %v", where, dark), part)
		}
	}
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	if gear.All() { // the result has the page around it
		look(tab, "the page", "document")
	}
	click(t, tab, "#run")
	finish(t, tab, time.Minute)
	eval[bool](t, tab, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
	look(tab, "the result, all open", "document")
	enter(t, tab, "training")
	look(tab, "the door of trainings", `document.querySelector("main")`)
	eval[bool](t, tab, `(document.querySelector("#help").showModal(), true)`)
	look(tab, "the help", gear.Of(`document.querySelector("#help")`, "document"))
	table := open(t, "#v=1&mechanism=svt1")
	enter(t, table, "data")
	tableDialog(t, table, writeTable(t))
	click(t, table, "#table button.primary") // with an error at its field
	until(t, table, `document.querySelector("#table-epsilon-error").textContent !== ""`, 5*time.Second)
	look(table, "the dialog of a table", `document.querySelector("#table")`)
	embed, err := browser.Open(profile(t), site+"embed.html#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&controls=full&autorun=true")
	if err != nil {
		t.Fatal(err)
	}
	defer embed.Close()
	until(t, embed, `document.body.dataset.state === "done"`, time.Minute)
	look(embed, "the embed", "document")
	planted, err := browser.Open(profile(t), site+"embed.html#v=1&view=canaries&n=60&k=3&autorun=true")
	if err != nil {
		t.Fatal(err)
	}
	defer planted.Close()
	until(t, planted, `document.body.dataset.state === "done" && document.querySelector("#planted .background")`, time.Minute)
	eval[bool](t, planted, `(document.querySelectorAll("details").forEach((d) => { d.open = true; }), true)`)
	look(planted, "the embed of a canary audit", "document")
	museum, err := browser.Open(profile(t), site+"docs/museum/svt4.html")
	if err != nil {
		t.Fatal(err)
	}
	defer museum.Close()
	until(t, museum, `document.readyState === "complete"`, 10*time.Second)
	look(museum, "the museum", "document")
}
