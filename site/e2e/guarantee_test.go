package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/gear"
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
	for _, c := range []struct{ guarantee, id, value string }{{"renyi", "alpha", "1"}, {"renyi", "epsilon", "-2"}, {"zcdp", "rho", "0"}, {"gaussian-dp", "mu", "-1"}, {"pure", "through-renyi", "0.5"}} {
		set(t, tab, "guarantee", c.guarantee)
		old := eval[string](t, tab, fmt.Sprintf(`document.querySelector("#%s").value`, c.id))
		set(t, tab, c.id, c.value)
		until(t, tab, fmt.Sprintf(`document.querySelector("#%s").getAttribute("aria-invalid") === "true" && document.querySelector("#%[1]s-error").textContent.includes("above")`, c.id), 5*time.Second)
		set(t, tab, c.id, old)
		until(t, tab, fmt.Sprintf(`!document.querySelector("#%s").hasAttribute("aria-invalid")`, c.id), 5*time.Second)
	}

	if gear.All() {
		short := open(t, "#v=1&mechanism=svt4&guarantee=renyi&samples=3000")
		unfold(t, short, "settings")
		if got := eval[string](t, short, claimFields+` + " " + document.querySelector("#samples").value`); got != "guarantee=renyi epsilon= alpha=2 3000" {
			t.Errorf("from an address without alpha: %s", got)
		}
	}

	bad := open(t, "#v=1&mechanism=svt4&guarantee=total&until-refuted=perhaps&samples=3000")
	unfold(t, bad, "settings")
	until(t, bad, `document.querySelector("#notice").textContent.includes("total") && document.querySelector("#notice").textContent.includes("perhaps")`, 5*time.Second)
	if got := eval[string](t, bad, claimFields+` + " " + document.querySelector("#samples").value + " " + document.querySelector("#until-refuted").checked`); got != "guarantee= epsilon= delta= 3000 false" {
		t.Errorf("after a bad address: %s", got)
	}
}

// overflowing names what reaches beyond a window of 360 px, scrollable regions
// aside.
const overflowing = `[document.documentElement.scrollWidth > 360 && "page", ...[...document.querySelectorAll("main *")].filter(e => e.checkVisibility() && !e.closest(".scroll, .cm-scroller, pre, svg, .unseen, thead") && e.getBoundingClientRect().right > 360.5).map(e => e.tagName + "#" + e.id + "." + e.className)].filter(Boolean).join(" ")`

// TestCertifiedAndCurves runs svt4: all that was certified stands in a table,
// and both charts have their numbers as a table and a sentence, on a small
// phone too.
func TestCertifiedAndCurves(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	if err := resize(tab, 360, 740); err != nil {
		t.Fatal(err)
	}
	click(t, tab, "#run")
	finish(t, tab, time.Minute)
	unfold(t, tab, "fold-bounds", "fold-curves")
	until(t, tab, `document.querySelectorAll("#tradeoff .picture > svg, #renyi .picture > svg").length === 2`, 5*time.Second)
	rows := eval[[][]string](t, tab, `[...document.querySelectorAll("#certified > .carded tbody tr")].map(r => [...r.children].map(c => c.textContent))`)
	results := eval[[]string](t, tab, `window.dpscope.report.tables[0].rows.map(r => r.quantity)`)
	if len(rows) != len(results) || len(rows) < 2 {
		t.Fatalf("%d rows of what was certified, %d results in the report", len(rows), len(results))
	}
	for i, row := range rows {
		if strings.TrimPrefix(row[0], "* ") != results[i] || (i == 0) != strings.HasPrefix(row[0], "* ") {
			t.Errorf("row %d is %q, of %q", i, row, results[i])
		}
		for j, cell := range row {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("row %d, cell %d is empty: %q", i, j, row)
			}
		}
	}
	if !strings.Contains(strings.Join(rows[0], " "), "exceeds the claim") || !eval[bool](t, tab, `document.querySelector("#certified > .hint").textContent.startsWith("Certified each with its own confidence (* decides).")`) {
		t.Errorf("the claim's own row reads %q", rows[0])
	}
	for _, c := range []struct{ id, list string }{{"tradeoff", "tradeoff"}, {"renyi", "tables.find(t => t.name === 'renyi').rows"}} {
		if !eval[bool](t, tab, fmt.Sprintf(`[...document.querySelectorAll("#%s .picture > svg path[stroke='var(--first)'][stroke-width='2']")].filter(p => p.getAttribute("d").split("L").length > 3).length === 1 && document.querySelector("#%[1]s .picture > svg").getAttribute("aria-label").includes("table")`, c.id)) {
			t.Errorf("%s: no picture", c.id)
		}
		if read, points := eval[int](t, tab, fmt.Sprintf(`document.querySelectorAll("#%s .picture .target title").length`, c.id)), eval[int](t, tab, fmt.Sprintf(`window.dpscope.report.%s.length`, c.list)); read != points {
			t.Errorf("%s: %d points can be read in the picture, %d are in the report", c.id, read, points)
		}
		points := eval[int](t, tab, fmt.Sprintf(`window.dpscope.report.%s.length`, c.list))
		lines := eval[int](t, tab, fmt.Sprintf(`document.querySelectorAll("#%s details tbody tr").length`, c.id))
		if points == 0 || lines != points {
			t.Errorf("%s: %d lines in the table, %d points in the report", c.id, lines, points)
		}
		if words := eval[string](t, tab, fmt.Sprintf(`document.querySelector("#%s .chart-words").textContent`, c.id)); !strings.Contains(words, "95 %") {
			t.Errorf("%s: the sentence reads %q", c.id, words)
		}
	}
	click(t, tab, "#tradeoff input[value=logarithmic]")
	until(t, tab, `document.querySelector("#tradeoff .picture > svg").getAttribute("aria-label").includes("logarithmic") && [...document.querySelectorAll("#tradeoff .picture text")].some(x => x.textContent === "0.01")`, 5*time.Second)
	if bad := eval[bool](t, tab, `/NaN|Infinity|undefined/.test(document.querySelector("#tradeoff").innerHTML + document.querySelector("#renyi").innerHTML + document.querySelector("#certified").innerHTML)`); bad {
		t.Error("a chart or the table holds what is no number")
	}
	eval[bool](t, tab, `(document.querySelectorAll("#result details").forEach(d => { d.open = true }), true)`)
	if wide := eval[string](t, tab, overflowing); wide != "" {
		t.Errorf("wider than 360 px: %s", wide)
	}
}

// record notes what the progress panel says of a run until the claim is refuted, each time its
// line is drawn anew.
const record = `(window.seen = [], new MutationObserver(() => {
	const p = window.dpscope.progress;
	if (p?.valid && p.provisional !== undefined && document.querySelector("#spark svg path")) window.seen.push([p.provisional, document.querySelector("#progress-facts").textContent]);
}).observe(document.querySelector("#spark"), {childList: true, subtree: true}), true)`

type moment struct {
	Bound float64
	Words string
}

func moments(t *testing.T, tab *browser.Tab) []moment {
	t.Helper()
	var out []moment
	for _, m := range eval[[][2]any](t, tab, `window.seen`) {
		out = append(out, moment{m[0].(float64), m[1].(string)})
	}
	return out
}

// TestUntilRefuted: on a broken mechanism the run ends by itself; the claim is near the
// truth, so that it takes a while.
func TestUntilRefuted(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1.6&p.epsilon=1&samples=20000000&trials=3&seed=7&workers=2")
	unfold(t, tab, "settings", "more")
	click(t, tab, "#until-refuted")
	until(t, tab, `location.hash.includes("until-refuted=true") && !document.querySelector("#explore").checkVisibility()`, 5*time.Second)
	eval[bool](t, tab, record)
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	if r.Termination.Reason != "refuted" || r.Verdict != "violation" || r.Termination.Outputs >= 2*r.Plan.Samples || r.Plan.Mode != pair.UntilRefuted || r.Evidence != nil {
		t.Errorf("%s: %+v", r.Verdict, r.Termination)
	}
	// Nothing was counted on a pair: what would show it is not there, and nothing says undefined.
	if shown := eval[string](t, tab, `["chart", "counts", "event", "tradeoff", "renyi"].filter(id => document.querySelector(`+"`#${id}-section`"+`).checkVisibility()).join() + (/NaN|undefined/.exec(document.querySelector("#result").textContent) ?? "")`); shown != "" {
		t.Errorf("of a report without evidence the page shows %s", shown)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#verification").dataset.ok === "true"`, time.Minute)
	seen := moments(t, tab)
	if len(seen) == 0 {
		t.Error("the bound was never drawn")
	}
	t.Logf("%d pictures, stopped at %d of %d outputs", len(seen), r.Termination.Outputs, 2*r.Plan.Samples)
}

// TestRefutedOnTheWay: in a run with the defaults, which goes on for the bound, the
// page says that the claim is refuted long before the end, and the report agrees.
func TestRefutedOnTheWay(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&workers=2&samples=200000")
	eval[bool](t, tab, `(window.seen = [], new MutationObserver(() => {
		const p = window.dpscope.progress;
		if (p) window.seen.push([p.refuted ?? 0, p.rows, p.total, document.querySelector("#progress-facts").textContent]);
	}).observe(document.querySelector("#progress-facts"), {childList: true}), true)`)
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	var first []any
	for _, m := range eval[[][]any](t, tab, `window.seen`) {
		if m[0].(float64) > 0 {
			first = m
			break
		}
		if words := m[3].(string); strings.Contains(words, "Refuted after") {
			t.Errorf("not refuted, but it says %q", words)
		}
	}
	if first == nil || r.Sequential == nil || !r.Sequential.Refuted || r.Verdict != "violation" || r.Termination.Reason != "completed" {
		t.Fatalf("first heard of it: %v; the report: %s, %+v", first, r.Verdict, r.Termination)
	}
	words := strings.ReplaceAll(first[3].(string), "\u202f", "")
	if want := fmt.Sprintf("Refuted after %v outputs; the bound goes on climbing", first[0]); !strings.Contains(words, want) {
		t.Errorf("it says %q, want %q", words, want)
	}
	if rows, total := first[1].(float64), first[2].(float64); rows > total/2 {
		t.Errorf("it was said after %v of %v outputs", rows, total)
	}
	if summary := strings.ReplaceAll(r.Summary, " ", ""); !strings.Contains(summary, fmt.Sprintf("Refutedafter%voutputs", first[0])) {
		t.Errorf("the page said %v outputs, the report: %s", first[0], r.Summary)
	}
}

// TestUntilRefutedStop: the bound climbs in sight, and what was seen is certified
// when the run is stopped.
func TestUntilRefutedStop(t *testing.T) { // alone: the page waits for the core for a time only
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&samples=100000000&trials=2&seed=3&workers=2&until-refuted=true")
	if !eval[bool](t, tab, `document.querySelector("#until-refuted").checked`) {
		t.Error("the switch is off")
	}
	eval[bool](t, tab, record)
	click(t, tab, "#run")
	until(t, tab, `window.seen.length > 5 && window.seen.at(-1)[0] > window.seen[0][0] && window.seen.at(-1)[0] > 0.1`, time.Minute)
	click(t, tab, "#stop")
	r := finish(t, tab, 10*time.Second)
	seen := moments(t, tab)
	last := seen[len(seen)-1].Bound
	for i, m := range seen {
		if !strings.Contains(m.Words, "valid if stopped now") || i > 0 && m.Bound < seen[i-1].Bound {
			t.Errorf("moment %d: %+v after %+v", i, m, seen[max(0, i-1)])
		}
	}
	if r.Termination.Reason != "stopped" || r.Tables[0].Rows[0].LowerBound == nil || *r.Tables[0].Rows[0].LowerBound < last-1e-3 {
		t.Fatalf("stopped at %v: %s, %+v, %+v", last, r.Verdict, r.Termination, r.Tables)
	}
	cell := eval[string](t, tab, `document.querySelector("#certified tbody td.bound").textContent`)
	if !strings.HasPrefix(cell, "0.") && !strings.HasPrefix(cell, "1") || strings.Contains(cell, "exceeds") {
		t.Errorf("the row of what was certified reads %q, the last bound was %v", cell, last)
	}
}

// TestTrainingLeavesThePageFree: while a large network trains, the page's own
// thread does no such work. Training there would be one task of seconds of the
// thread's time; what a busy machine does to a task does not count.
func TestTrainingLeavesThePageFree(t *testing.T) {
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&learner=hockeystick-tester&samples=2000&explore=5000&trials=1&seed=1&workers=2")
	long := traced(t, tab, func() {
		click(t, tab, "#run")
		if r := finish(t, tab, 3*time.Minute); r.Plan.Learner != "hockeystick-tester" {
			t.Errorf("the run trained %s", r.Plan.Learner)
		}
	})
	for _, ms := range long {
		if ms > 200 {
			t.Errorf("a task of the page's thread took %v ms of it", ms)
		}
	}
}
