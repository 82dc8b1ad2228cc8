package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// focused is an expression: what has the focus, [id or tag, name, outlined].
const focused = `(() => {
	const e = document.activeElement, s = getComputedStyle(e);
	const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent || e.title || "";
	return [e.id || (e.tagName === "SUMMARY" && e.parentElement.id) || e.tagName, name.trim(), e === document.body || (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none"];
})()`

// allTheWay presses Tab until the focus leaves the page: it passes so many controls at
// least, each has a name, shows that it has the focus, and is in the window.
func allTheWay(t *testing.T, tab *browser.Tab, where string, least int) {
	t.Helper()
	seen, nameless, unseen := 0, []any{}, []any{}
	for ; seen < 300; seen++ {
		pressKey(t, tab, kb.Tab)
		at := eval[[]any](t, tab, focused)
		if at[0] == "BODY" {
			break
		}
		if at[1] == "" {
			nameless = append(nameless, at[0])
		}
		if at[2] == false || !eval[bool](t, tab, `((b) => b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth)(document.activeElement.getBoundingClientRect())`) {
			unseen = append(unseen, at[0])
		}
	}
	if seen < least || seen == 300 {
		t.Errorf("%s: Tab passed %d controls and was to leave the page", where, seen)
	}
	if len(nameless) > 0 || len(unseen) > 0 {
		t.Errorf("%s: controls without a name: %v; without a sign of the focus: %v", where, nameless, unseen)
	}
}

// TestKeyboard: an audit by the keyboard alone, from the top of the page to the verdict.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt3&epsilon=1&samples=20000&trials=2&seed=3")
	visited := map[string]bool{}
	tabTo := func(id string) {
		t.Helper()
		for range 200 {
			pressKey(t, tab, kb.Tab)
			at := eval[[]any](t, tab, focused)
			if visited[at[0].(string)] = true; at[0] == id {
				return
			}
		}
		t.Fatalf("Tab does not come to %s, only to %v", id, visited)
	}
	tabTo("settings") // its summary
	pressKey(t, tab, kb.Enter)
	tabTo("mechanism")
	pressKey(t, tab, kb.ArrowDown) // svt4, the next of the list
	until(t, tab, `document.querySelector("#mechanism").value === "svt4"`, 5*time.Second)
	tabTo("epsilon")
	eval[bool](t, tab, `(document.activeElement.select(), true)`)
	for _, key := range "1.25r" { // r belongs to the field
		pressKey(t, tab, string(key))
	}
	if state := eval[string](t, tab, `document.body.dataset.state + " " + document.querySelector("#epsilon").value`); state != "ready 1.25" {
		t.Fatalf("after typing: %s", state)
	}
	tabTo("run")
	pressKey(t, tab, kb.Enter)
	r := finish(t, tab, time.Minute)
	if r.Verdict != audit.Violation || r.Subject != "svt4" || r.Claim.Epsilon != 1.25 {
		t.Errorf("%s of %s at %v", r.Verdict, r.Subject, r.Claim)
	}
	if at := eval[[]any](t, tab, focused); at[0] == "BODY" {
		t.Error("the focus is lost when the run ends")
	}

	// The page's own keys.
	eval[bool](t, tab, `(window.earlier = window.dpscope.report, document.activeElement.blur(), true)`)
	pressKey(t, tab, "r")
	until(t, tab, `window.dpscope.report !== window.earlier`, time.Minute)
	sameCounts(t, "Enter and r", finish(t, tab, time.Minute), r)
}
