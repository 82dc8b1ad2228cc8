package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// labelledPeople is a CSV of so many people, of whom some are tall.
func labelledPeople(rows int) string {
	var b strings.Builder
	b.WriteString("age,height,kind\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,%.2f,%s\n", 20+(i*7)%50, 1.5+float64(i%20)/40, map[bool]string{true: "tall", false: "short"}[i%20 > 9])
	}
	return b.String()
}

// chooseTable chooses a file by the button of the door.
func chooseTable(t *testing.T, tab *browser.Tab, file string) {
	t.Helper()
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.SetUploadFiles(`input[aria-label="File of a table with labels"]`, []string{file}, chromedp.NodeReady)))
}

// TestTable: a table with labels is audited by what its dialog is told; its bounds are never
// filled from the data; the report verifies elsewhere, with the same file only.
func TestTable(t *testing.T) {
	t.Parallel()
	text, file := labelledPeople(100), filepath.Join(t.TempDir(), "people.csv")
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	tab := open(t, "#v=1&mechanism=svt1&workers=2")
	drop(t, tab, "people.csv", text)
	until(t, tab, samplesSaid+`.includes("A private learner")`)
	click(t, tab, "#yours-table")
	until(t, tab, `document.querySelector("#table").open && document.querySelector("#table-label").value === "kind"`)
	pressKey(t, tab, kb.Escape)
	until(t, tab, `!document.querySelector("#table").open`)
	click(t, tab, "#yours-table")
	until(t, tab, `document.querySelector("#table").open`)
	if filled := eval[string](t, tab, `[...document.querySelectorAll("#table .bounds input")].map((e) => e.value + "," + e.placeholder).join(";")`); filled != ",;,;,;," {
		t.Errorf("the bounds are filled: %q", filled)
	}
	if words := eval[string](t, tab, `document.querySelector("#table").innerText`); !strings.Contains(words, "bounds computed from them leak them") || !strings.Contains(words, "Here: short, tall") {
		t.Errorf("the dialog says %q", words)
	}
	audited := func() { click(t, tab, "#table button.primary") }
	failed := func(id, says string) {
		t.Helper()
		audited()
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s-error").textContent.includes(%q) && document.activeElement.id === %q`, id, says, id))
	}
	fill := func(of ...[2]string) {
		for _, f := range of {
			set(t, tab, "table-"+f[0], f[1])
		}
	}
	fill([2]string{"mechanism", "naive-bayes-counts"}, [2]string{"samples", "2000"})
	failed("table-epsilon", "claims")
	axeIn(t, tab, "the dialog of a table", `document.querySelector("#table")`)
	fill([2]string{"epsilon", "1"}, [2]string{"lower-0", "0"}, [2]string{"upper-0", "120"})
	failed("table-lower-1", "known without the data")
	fill([2]string{"lower-1", "2.2"}, [2]string{"upper-1", "1"})
	failed("table-lower-1", "2.2 to 1, must be a lower bound below")
	// Another label asks for other bounds, and keeps those that were typed.
	fill([2]string{"label", "age"})
	until(t, tab, `document.querySelector("label[for=table-lower-0]").textContent.startsWith("height")`)
	fill([2]string{"label", "kind"})
	until(t, tab, `document.querySelector("#table-upper-0").value === "120"`)
	fill([2]string{"lower-1", "1"}, [2]string{"upper-1", "2.2"})
	audited()
	until(t, tab, `!document.querySelector("#table").open`)
	r := finish(t, tab)
	if r.Inputs.Labelled == nil || !strings.HasPrefix(r.Reproduce.CLI, "dpscope audit -table people.csv -label kind -bounds age=0:120,height=1:2.2 ") {
		t.Errorf("%s; %s", r.Summary, r.Reproduce.CLI)
	}

	// Elsewhere the report names the file that it needs. Another one of that size is refused.
	other := filepath.Join(t.TempDir(), "people.csv")
	must.Do(t, os.WriteFile(other, []byte(strings.Replace(text, "1.50", "1.60", 1)), 0o644))
	for path, then := range map[string]string{
		other: noticed + `.includes("another file, with SHA-256")`,
		file:  `document.querySelector("#verification").textContent.includes("is the same as in the report")`,
	} {
		tab = open(t, "")
		drop(t, tab, "report.json", string(must.Get(audit.Canonical(r))(t)))
		until(t, tab, `document.body.dataset.door === "data" && document.querySelector("#needs-file:not([hidden])")?.textContent.includes("people.csv (SHA-256 ")`)
		click(t, tab, "#verify")
		until(t, tab, noticed+`.includes("The table is needed")`)
		click(t, tab, "#notice .primary")
		chooseTable(t, tab, path)
		until(t, tab, then)
	}
}
