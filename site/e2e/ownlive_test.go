package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The editor, and what is written there.
const (
	editor  = `document.querySelector("#own-editor")`
	written = `(document.querySelector("#own-code")?.value ?? "")`
)

// overwrite selects a text in the editor, as a mouse does, and types another in its place.
func overwrite(t *testing.T, tab *browser.Tab, from, to string) {
	t.Helper()
	if !eval[bool](t, tab, fmt.Sprintf(`((editor, wanted) => {
		const texts = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT), parts = [];
		for (let node; (node = texts.nextNode());) for (let i = 0; i < node.length; i++) parts.push([node, i]);
		const at = parts.map(([node, i]) => node.data[i]).join("").indexOf(wanted);
		if (at < 0) return false;
		editor.focus();
		const [first, from] = parts[at], [last, to] = parts[at + wanted.length - 1];
		document.getSelection().setBaseAndExtent(first, from, last, to + 1);
		return true;
	})(`+editor+`, %q)`, from)) {
		t.Fatalf("%q is not in the editor: %s", from, eval[string](t, tab, editor+`.innerText`))
	}
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.KeyEvent(to)))
	until(t, tab, fmt.Sprintf(`%s.includes(%q)`, written, to))
}

// TestCodeAsYouType: the code is audited when its door opens and again after the last key;
// an error names its line and leaves what was there; a link holds the code, of which
// nothing runs by itself, and the browser keeps it.
func TestCodeAsYouType(t *testing.T) {
	t.Parallel()
	tab := live(t, site+"#door=code")
	until(t, tab, headline+`.startsWith("Violation") && `+editor+` !== null && `+ownIdle)
	write := func(from, to string) { t.Helper(); overwrite(t, tab, from, to) }
	write("0.6 / epsilon", "1 / epsilon")
	until(t, tab, headline+`.startsWith("No violation found") && `+ownIdle)
	if !eval[bool](t, tab, `document.querySelector("#own-told").textContent.startsWith("You found it.")`) {
		t.Error("who mends a template is not told so")
	}
	write("1 / epsilon", "0.5 / epsilon")
	until(t, tab, headline+`.startsWith("Violation")`)
	if at := eval[string](t, tab, `document.activeElement.id`); at != "own-editor" {
		t.Errorf("whoever writes is taken to %q", at)
	}
	until(t, tab, `window.dpscope.report?.verdict === "violation" && window.dpscope.report.inputs.brought.code.includes("0.5 / epsilon")`)
	said, _, _ := strings.Cut(eval[string](t, tab, headline), "\n")
	link := eval[string](t, tab, shareLink)
	pressKey(t, tab, "\x1b")

	write("random.laplace", "random.laplce")
	until(t, tab, headline+`.startsWith("The code failed in line 10") && document.querySelector("#verdict").innerText.includes("laplace") && document.querySelector(".cm-said").textContent.startsWith('Line 10: random has no "laplce"') && document.querySelector(".cm-fault").textContent.includes("laplce(") && document.querySelector(".cm-gutter-lint .cm-lint-marker-error") !== null`)
	if !eval[bool](t, tab, editor+`.getAttribute("aria-invalid") === "true" && `+editor+`.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id).textContent).join().includes("laplce") && getComputedStyle(document.querySelector(".cm-fault")).backgroundColor !== getComputedStyle(document.querySelector(".cm-editor")).backgroundColor`) {
		t.Error("the error is not marked for all who read")
	}
	other := live(t, link)
	until(t, other, written+`.includes("0.5 / epsilon") && `+headline+`.includes("not verified here yet")`)
	if got := eval[string](t, other, headline); !strings.HasPrefix(got, said) {
		t.Errorf("the link shows %q, its sender saw %q", got, said)
	}
	until(t, other, `document.querySelector("#chart .picture > svg") !== null`)
	if eval[bool](t, other, `window.dpscope.report !== null`) {
		t.Error("the code of a link runs by itself")
	}
	click(t, other, "#verify")
	until(t, other, `document.querySelector("#verification").dataset.ok === "true"`)
	if got := eval[string](t, other, headline); !strings.HasPrefix(got, said) {
		t.Errorf("verified stands %q, the sender saw %q", got, said)
	}
	cut := live(t, link[:len(link)-20])
	until(t, cut, `document.querySelector("#notice").innerText.includes("incomplete")`)
	if !strings.Contains(eval[string](t, cut, written), "function mechanism") {
		t.Error("a link that was cut took the code away")
	}

	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
	until(t, tab, written+`.includes("0.5 / epsilon") && `+editor+`?.textContent.includes("0.5 / epsilon") && document.querySelector("#own-template").value === "noisy count"`)
}
