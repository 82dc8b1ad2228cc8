package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// set types a value into a field of the form, as a user would.
func set(t *testing.T, tab *browser.Tab, id, value string) {
	t.Helper()
	eval[bool](t, tab, fmt.Sprintf(`(() => { const e = document.querySelector("#%s"); e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, id, value))
}

// claimFields are the fields of the claim that are shown, with their texts.
const claimFields = `["guarantee", "epsilon", "delta", "alpha", "rho", "mu"].map(id => document.querySelector("#" + id)).filter(e => e.checkVisibility()).map(e => e.id + "=" + e.value).join(" ")`

// TestGuaranteeInForm chooses guarantees: only their fields are shown and go into the address,
// which makes the same form again, and the others keep their texts.
func TestGuaranteeInForm(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1")
	unfold(t, tab, "settings")
	shows := func(want string) {
		t.Helper()
		until(t, tab, fmt.Sprintf(claimFields+` === %q`, want))
	}
	shows("guarantee= epsilon=1 delta=")
	set(t, tab, "guarantee", "renyi")
	set(t, tab, "alpha", "4")
	set(t, tab, "epsilon", "0.7")
	until(t, tab, `["guarantee=renyi", "alpha=4", "epsilon=0.7"].every(x => location.hash.includes(x))`)
	set(t, tab, "guarantee", "zcdp")
	set(t, tab, "rho", "0.3")
	until(t, tab, `location.hash.includes("rho=0.3") && !/alpha=|epsilon=/.test(location.hash.replace(/p\.[^&]*/g, ""))`)
	set(t, tab, "guarantee", "renyi")
	until(t, tab, `location.hash.includes("alpha=4") && location.hash.includes("epsilon=0.7") && !location.hash.includes("rho=")`)
	fragment := eval[string](t, tab, `location.hash`)
	goTo(t, tab, "#v=1&mechanism=svt4&epsilon=1")
	shows("guarantee= epsilon=1 delta=")
	goTo(t, tab, fragment)
	shows("guarantee=renyi epsilon=0.7 alpha=4")
	// An error stands at the field that it is about.
	set(t, tab, "alpha", "1")
	until(t, tab, `document.querySelector("#alpha").getAttribute("aria-invalid") === "true" && document.querySelector("#alpha-error").textContent.includes("above")`)
}

// overflowing names what reaches beyond a window of 360 px, scrollable regions
// aside.
const overflowing = `[document.documentElement.scrollWidth > 360 && "page", ...[...document.querySelectorAll("main *")].filter(e => e.checkVisibility() && !e.closest(".scroll, .cm-scroller, pre, svg, .unseen, thead") && e.getBoundingClientRect().right > 360.5).map(e => e.tagName + "#" + e.id + "." + e.className)].filter(Boolean).join(" ")`

// TestUntilRefuted: on a broken mechanism the run ends by itself; the claim is near the
// truth, so that it takes a while.
func TestUntilRefuted(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1.6&p.epsilon=1&samples=20000000&trials=3&seed=7&workers=2")
	unfold(t, tab, "settings", "more")
	click(t, tab, "#until-refuted")
	until(t, tab, `location.hash.includes("until-refuted=true") && !document.querySelector("#explore").checkVisibility()`)
	click(t, tab, "#run")
	r := finish(t, tab)
	if r.Termination.Reason != "refuted" || r.Verdict != "violation" || r.Termination.Outputs >= 2*r.Plan.Samples || r.Plan.Mode != pair.UntilRefuted || r.Evidence != nil {
		t.Errorf("%s: %+v", r.Verdict, r.Termination)
	}
	// Nothing was counted on a pair: what would show it is not there, and nothing says undefined.
	if shown := eval[string](t, tab, `["chart", "counts", "event", "tradeoff", "renyi"].filter(id => document.querySelector(`+"`#${id}-section`"+`).checkVisibility()).join() + (/NaN|undefined/.exec(document.querySelector("#result").textContent) ?? "")`); shown != "" {
		t.Errorf("of a report without evidence the page shows %s", shown)
	}
	verified(t, tab)
}

type moment struct {
	Bound float64
	Words string
}

// TestUntilRefutedStop: the bound climbs in sight, and what was seen is certified
// when the run is stopped.
func TestUntilRefutedStop(t *testing.T) { // alone: the page waits for the core for a time only
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&samples=100000000&trials=2&seed=3&workers=2&until-refuted=true")
	eval[bool](t, tab, `(window.seen = [], new MutationObserver(() => {
		const p = window.dpscope.progress;
		if (p?.valid && p.provisional !== undefined) window.seen.push({ bound: p.provisional, words: document.querySelector("#progress-facts").textContent });
	}).observe(document.querySelector("#progress-facts"), { childList: true }), true)`)
	click(t, tab, "#run")
	until(t, tab, `window.seen.length > 5 && window.seen.at(-1).bound > Math.max(0.1, window.seen[0].bound) && document.querySelector("#spark svg path")`)
	click(t, tab, "#stop")
	r := finish(t, tab)
	seen := eval[[]moment](t, tab, `window.seen`)
	for i, m := range seen {
		if !strings.Contains(m.Words, "valid if stopped now") || i > 0 && m.Bound < seen[i-1].Bound {
			t.Errorf("moment %d: %+v after %+v", i, m, seen[max(0, i-1)])
		}
	}
	last := seen[len(seen)-1].Bound
	if r.Termination.Reason != "stopped" || r.Tables[0].Rows[0].LowerBound == nil || *r.Tables[0].Rows[0].LowerBound < last-1e-3 {
		t.Fatalf("stopped at %v: %s, %+v, %+v", last, r.Verdict, r.Termination, r.Tables)
	}
	if cell := eval[string](t, tab, `document.querySelector("#certified tbody td.bound").textContent`); !strings.HasPrefix(cell, "0.") && !strings.HasPrefix(cell, "1") || strings.Contains(cell, "exceeds") {
		t.Errorf("the row of what was certified reads %q, the last bound was %v", cell, last)
	}
}
