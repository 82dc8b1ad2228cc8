package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestGuaranteeInForm chooses guarantees: only their fields are shown and go
// into the address, the others keep their texts, and the address makes the same
// form again.
func TestGuaranteeInForm(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1")
	unfold(t, tab, "settings")
	if got := eval[string](t, tab, claimFields); got != "guarantee= epsilon=1 delta=" {
		t.Errorf("at first: %s", got)
	}
	set(t, tab, "guarantee", "renyi")
	set(t, tab, "alpha", "4")
	set(t, tab, "epsilon", "0.7")
	until(t, tab, `["guarantee=renyi", "alpha=4", "epsilon=0.7"].every(x => location.hash.includes(x))`, 5*time.Second)
	fragment := eval[string](t, tab, `location.hash`)
	again := open(t, fragment)
	unfold(t, again, "settings")
	for name, tab := range map[string]*browser.Tab{"typed": tab, "from its address": again} {
		if got, want := eval[string](t, tab, claimFields), "guarantee=renyi epsilon=0.7 alpha=4"; got != want {
			t.Errorf("%s: the claim reads %q, want %q", name, got, want)
		}
	}
	if now := eval[string](t, again, `location.hash`); now != fragment {
		t.Errorf("the address %s became %s", fragment, now)
	}

	set(t, tab, "guarantee", "zcdp")
	set(t, tab, "rho", "0.3")
	until(t, tab, `location.hash.includes("rho=0.3") && !/alpha=|epsilon=/.test(location.hash.replace(/p\.[^&]*/g, ""))`, 5*time.Second)
	set(t, tab, "guarantee", "renyi")
	until(t, tab, `location.hash.includes("alpha=4") && location.hash.includes("epsilon=0.7") && !location.hash.includes("rho=")`, 5*time.Second)

	// Errors stand at the field that they are about.
	for _, c := range []struct{ guarantee, id, value string }{{"renyi", "alpha", "1"}, {"zcdp", "rho", "0"}, {"gaussian-dp", "mu", "-1"}, {"pure", "through-renyi", "0.5"}} {
		set(t, tab, "guarantee", c.guarantee)
		old := eval[string](t, tab, fmt.Sprintf(`document.querySelector("#%s").value`, c.id))
		set(t, tab, c.id, c.value)
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s").getAttribute("aria-invalid") === "true" && document.querySelector("#%[1]s-error").textContent.includes("above")`, c.id), 5*time.Second)
		set(t, tab, c.id, old)
		until(t, tab, fmt.Sprintf(`!document.querySelector("#%s").hasAttribute("aria-invalid")`, c.id), 5*time.Second)
	}
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
	until(t, tab, `location.hash.includes("until-refuted=true") && !document.querySelector("#explore").checkVisibility()`, 5*time.Second)
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	if r.Termination.Reason != "refuted" || r.Verdict != "violation" || r.Termination.Outputs >= 2*r.Plan.Samples || r.Plan.Mode != pair.UntilRefuted || r.Evidence != nil {
		t.Errorf("%s: %+v", r.Verdict, r.Termination)
	}
	// Nothing was counted on a pair: what would show it is not there, and nothing says undefined.
	if shown := eval[string](t, tab, `["chart", "counts", "event", "tradeoff", "renyi"].filter(id => document.querySelector(`+"`#${id}-section`"+`).checkVisibility()).join() + (/NaN|undefined/.exec(document.querySelector("#result").textContent) ?? "")`); shown != "" {
		t.Errorf("of a report without evidence the page shows %s", shown)
	}
	verified(t, tab)
}

// watchFacts keeps, each time the progress panel's facts are drawn anew, the bound so far,
// after how many outputs the claim was refuted, rows, their total, and what the panel says.
const watchFacts = `(window.seen = [], new MutationObserver(() => {
	const p = window.dpscope.progress;
	if (p) window.seen.push({ bound: p.valid ? p.provisional ?? -1 : -1, refuted: p.refuted ?? 0, rows: p.rows, total: p.total, words: document.querySelector("#progress-facts").textContent.replaceAll("\u202f", "") });
}).observe(document.querySelector("#progress-facts"), { childList: true }), true)`

type moment struct {
	Bound, Refuted, Rows, Total float64
	Words                       string
}

// TestRefutedOnTheWay: in a run with the defaults, which goes on for the bound, the
// page says that the claim is refuted long before the end, and the report agrees.
func TestRefutedOnTheWay(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&workers=2&samples=200000")
	eval[bool](t, tab, watchFacts)
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	seen := eval[[]moment](t, tab, `window.seen`)
	at := slices.IndexFunc(seen, func(m moment) bool { return m.Refuted > 0 })
	if at < 0 || r.Sequential == nil || !r.Sequential.Refuted || r.Verdict != "violation" || r.Termination.Reason != "completed" {
		t.Fatalf("first heard of it: %v; the report: %s, %+v", at, r.Verdict, r.Termination)
	}
	first := seen[at]
	if want := fmt.Sprintf("Refuted after %v outputs; the bound goes on climbing", first.Refuted); !strings.Contains(first.Words, want) || slices.ContainsFunc(seen[:at], func(m moment) bool { return strings.Contains(m.Words, "Refuted after") }) {
		t.Errorf("it says %q, want %q, and not before", first.Words, want)
	}
	if first.Rows > first.Total/2 || !strings.Contains(strings.ReplaceAll(r.Summary, " ", ""), fmt.Sprintf("Refutedafter%voutputs", first.Refuted)) {
		t.Errorf("the page said it after %+v, the report: %s", first, r.Summary)
	}
}

// TestUntilRefutedStop: the bound climbs in sight, and what was seen is certified
// when the run is stopped.
func TestUntilRefutedStop(t *testing.T) { // alone: the page waits for the core for a time only
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&samples=100000000&trials=2&seed=3&workers=2&until-refuted=true")
	eval[bool](t, tab, watchFacts)
	const bounds = `window.seen.filter((m) => m.bound >= 0)`
	click(t, tab, "#run")
	until(t, tab, bounds+`.length > 5 && `+bounds+`.at(-1).bound > Math.max(0.1, `+bounds+`[0].bound) && document.querySelector("#spark svg path")`, time.Minute)
	click(t, tab, "#stop")
	r := finish(t, tab, 10*time.Second)
	seen := eval[[]moment](t, tab, bounds)
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

// TestTrainingLeavesThePageFree: while a large network trains, the page's own thread does no
// such work. Training there would be one task of seconds; a busy machine holds a task up for
// less.
func TestTrainingLeavesThePageFree(t *testing.T) {
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&learner=hockeystick-tester&samples=2000&explore=5000&trials=1&seed=1&workers=2")
	long := longTasks(t, tab, func() {
		click(t, tab, "#run")
		if r := finish(t, tab, 3*time.Minute); r.Plan.Learner != "hockeystick-tester" {
			t.Errorf("the run trained %s", r.Plan.Learner)
		}
	})
	if len(long) > 0 && slices.Max(long) > 1000 {
		t.Errorf("tasks of the page's thread took %v ms", long)
	}
}
