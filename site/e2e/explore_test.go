package e2e

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// windows are those of a laptop and of a small phone.
var windows = [][2]int64{{1280, 800}, {360, 740}}

// settled is whether the page shows the result of its own run.
const settled = `document.body.dataset.state === "done" && ["run", "before"].includes(document.querySelector("#origin").dataset.kind) && !document.querySelector("#result").classList.contains("old")`

// noted keeps what happens from the start: when the page could run, and each verdict
// that it showed.
const noted = `window.noted = [], addEventListener("DOMContentLoaded", () => {
	const note = () => noted.push([performance.now(), document.body.dataset.state, document.querySelector("#verdict").dataset.verdict, document.querySelector("#origin").dataset.kind ?? "", document.querySelector("#result").classList.contains("old") ? "grey" : ""].map(String));
	for (const [e, attributes] of [[document.body, "data-state"], [document.querySelector("#verdict"), "data-verdict"], [document.querySelector("#origin"), "data-kind"]]) new MutationObserver(note).observe(e, { attributes: true, attributeFilter: [attributes] });
})`

// arriving opens the page as a visitor does, in a window of a size, and waits for the
// first audit's result.
func arriving(t *testing.T, size [2]int64, fragment string) *browser.Tab {
	t.Helper()
	tab := must.Get(browser.OpenLive(profile(t), "about:blank"))(t)
	t.Cleanup(func() {
		quiet(t, tab)
		tab.Close()
	})
	before(t, tab, noted)
	must.Do(t, resize(tab, size[0], size[1]))
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site+fragment)))
	until(t, tab, settled)
	return tab
}

// verdictNow is what the verdict is, and its headline.
func verdictNow(t *testing.T, tab *browser.Tab) (string, string) {
	t.Helper()
	v := eval[[2]string](t, tab, `[document.querySelector("#verdict").dataset.verdict, document.querySelector("#verdict .headline").textContent]`)
	return v[0], v[1]
}

// point is the middle of an element; the test fails where it is not in the window, or
// something else is over it.
func point(t *testing.T, tab *browser.Tab, selector string) (x, y float64) {
	t.Helper()
	p := eval[[]any](t, tab, fmt.Sprintf(`((e) => {
		const b = e.getBoundingClientRect(), x = b.left + b.width / 2, y = b.top + b.height / 2, over = document.elementFromPoint(x, y);
		return [x, y, over && (e.contains(over) || over.contains(e)) ? "" : "over it is " + (over?.outerHTML.slice(0, 80) ?? "nothing: it is outside of the window")];
	})(document.querySelector(%q))`, selector))
	if p[2] != "" {
		t.Fatalf("%s cannot be pointed at: %s", selector, p[2])
	}
	return p[0].(float64), p[1].(float64)
}

// pressMouse presses the mouse's button over an element.
func pressMouse(t *testing.T, tab *browser.Tab, selector string) {
	t.Helper()
	x, y := point(t, tab, selector)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.MouseClickXY(x, y)))
}

// drag takes a slider's knob to a value, in steps as a hand does.
func drag(t *testing.T, tab *browser.Tab, slider string, to float64) {
	t.Helper()
	const knob = 16.0 // px
	_, y := point(t, tab, "#"+slider)
	at := eval[[4]float64](t, tab, fmt.Sprintf(`((e, b) => [b.left, b.width, Number(e.value), Number(e.max)])(document.querySelector("#%s"), document.querySelector("#%[1]s").getBoundingClientRect())`, slider))
	place := func(value float64) float64 {
		return at[0] + knob/2 + (value+at[3])/(2*at[3])*(at[1]-knob)
	}
	pull(t, tab, [2]float64{place(at[2]), y}, [2]float64{place(to), y})
}

// pull takes what is at a place to another one, in steps as a hand does.
func pull(t *testing.T, tab *browser.Tab, from, to [2]float64) {
	t.Helper()
	left := chromedp.ButtonType(input.MouseButtonLeft)
	held := chromedp.MouseOption(func(p *input.DispatchMouseEventParams) { p.Buttons = 1 })
	moves := []chromedp.Action[chromedp.Void]{chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from[0], from[1]), chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from[0], from[1], left, chromedp.ClickCount(1))}
	for step := range 6 {
		along := float64(step+1) / 6
		moves = append(moves, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from[0]+(to[0]-from[0])*along, from[1]+(to[1]-from[1])*along, left, held))
	}
	for _, move := range append(moves, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to[0], to[1], left, chromedp.ClickCount(1))) {
		must.Do(t, chromedp.Do(tab.Ctx, move))
	}
}

// TestExplore: whoever opens the page sees an audit of a sound mechanism run by itself, its
// verdict in sight without scrolling, the example grey until then. A known fault is one
// press away, and Back shows the mechanism before with the result that it had. With the
// mouse, the knob of the noise changes the verdict, what was shown turns grey as soon as it
// moves, and the knob of the claim leaves the noise where it is. How long the first verdict
// takes is logged; it is no test of speed.
func TestExplore(t *testing.T) {
	t.Parallel()
	for i, size := range windows {
		tab := arriving(t, size, "")
		if verdict, said := verdictNow(t, tab); verdict != "no-violation-found" || said != "No violation found" || !strings.Contains(inSight(t, tab, "#verdict"), "Not a proof of privacy") {
			t.Errorf("%v: of a mechanism that keeps its claim it says %s, %q, or out of sight", size, verdict, said)
		}
		until(t, tab, `document.querySelector("#chart svg")`)
		for _, id := range []string{"#slide-claim", "#slide-noise"} {
			point(t, tab, id)
		}
		if top := eval[float64](t, tab, `scrollY + document.querySelector("#chart svg").getBoundingClientRect().top`); top > float64(size[1])*0.6 {
			t.Errorf("%v: the picture begins at %v px", size, top)
		}
		var shown float64
		for _, n := range eval[[][5]string](t, tab, `noted`) {
			var ms float64
			fmt.Sscan(n[0], &ms)
			switch state, verdict, origin := n[1], n[2], n[3]; {
			case shown == 0 && origin == "run" && verdict == "no-violation-found":
				shown = ms
			case verdict == "violation" || shown > 0 && verdict != "no-violation-found":
				t.Errorf("%v: after %.0f ms the verdict was %q of %q", size, ms, verdict, origin)
			case origin == "example" && (verdict != "going" && verdict != "old" || state == "loading" && n[4] != "grey"):
				t.Errorf("%v: after %.0f ms the example was %s, the verdict beside it %q", size, ms, n[4], verdict)
			}
		}
		t.Logf("%v: the first verdict after %.0f ms", size, shown)
		still(t, tab, fmt.Sprint(size))
		if twice := eval[[]string](t, tab, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(twice) > 0 {
			t.Errorf("%v: ids that are there twice: %v", size, twice)
		}
		pick(t, tab, size)
		findCard(t, tab, size)
		if testsize.All() || i == 0 {
			slide(t, tab, size)
		}
		for j, width := range []int64{size[0], [2]int64{1024, 768}[i]} { // and where most moved once
			for _, door := range rooms[1-j:] {
				tab := must.Get(browser.OpenLive(profile(t), "about:blank"))(t)
				must.Do(t, resize(tab, width, size[1]))
				must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(strings.TrimSuffix(site+"#door="+door.door, "#door=explore"))))
				until(t, tab, `!["loading", "running"].includes(document.body.dataset.state) && (document.body.dataset.door !== "explore" || `+settled+`) && (document.body.dataset.door !== "code" || document.querySelector("#verdict").dataset.verdict === "violation" && document.querySelector("#own-stop").disabled) && (document.body.dataset.door !== "accounting" || document.querySelector("#account-result .curves:not(.awaited)"))`)
				still(t, tab, fmt.Sprint(width, door.door))
				tab.Close()
			}
		}
	}
}

// still holds that what is in the window moved by next to nothing as the page came.
func still(t *testing.T, tab *browser.Tab, where string) {
	t.Helper()
	moved := eval[float64](t, tab, `new Promise((done) => {
		new PerformanceObserver((list) => done(list.getEntries().reduce((all, e) => all + (e.hadRecentInput ? 0 : e.value), 0))).observe({ type: "layout-shift", buffered: true });
		setTimeout(() => done(0), 1000); // none is told of
	})`)
	if t.Logf("%s: layout shift %.4f", where, moved); moved > 0.02 {
		t.Errorf("%s: what was there moved by %.4f as the page came", where, moved)
	}
}

// pick goes to a known fault, and back.
func pick(t *testing.T, tab *browser.Tab, size [2]int64) {
	t.Helper()
	const counted = `JSON.stringify(window.dpscope.report.evidence ?? window.dpscope.report.sequential)`
	before, narrow := eval[string](t, tab, counted), size[0] < 760
	if narrow {
		pressMouse(t, tab, "#pick-open")
	}
	pressMouse(t, tab, `#picks a[data-mechanism="svt4"]`)
	until(t, tab, settled+` && document.querySelector("#verdict").dataset.verdict === "violation" && window.dpscope.report?.subject === "svt4"`)
	if narrow && (eval[bool](t, tab, `document.querySelector("#picks").checkVisibility()`) || eval[string](t, tab, `document.querySelector("#pick-name").textContent`) != "Sparse vector") {
		t.Error("on a phone the list stays, or what was picked is not said")
	}
	if at := eval[string](t, tab, `document.querySelector("#picks [aria-current]")?.dataset.mechanism ?? ""`); at != "svt4" {
		t.Errorf("%v: marked is %q", size, at)
	}
	if said := inSight(t, tab, "#verdict"); !strings.HasPrefix(said, "Violation: ε ") {
		t.Errorf("%v: in sight is %q", size, said)
	}
	until(t, tab, drawn)
	if lit := eval[bool](t, tab, `((b) => b && b.top >= 0 && b.bottom <= innerHeight && b.right <= innerWidth)(document.querySelector("#chart .picture > svg path[fill='var(--lit)']")?.getBoundingClientRect())`); !lit {
		t.Errorf("%v: the outcome that refutes the claim is not lit, or out of sight", size)
	}
	eval[bool](t, tab, `(history.back(), true)`)
	until(t, tab, settled+` && window.dpscope.report?.subject === "laplace-count" && document.querySelector("#mechanism").value === "laplace-count"`)
	if now := eval[string](t, tab, counted); now != before || eval[string](t, tab, `document.querySelector("#origin").dataset.kind`) != "before" {
		t.Errorf("%v: Back shows another result", size)
	}
	noDrift(t, tab)
}

// findCard finds a fault among the cards of all mechanisms by words and keys, with its mended
// twin beside it; without the switch it is alone.
func findCard(t *testing.T, tab *browser.Tab, size [2]int64) {
	t.Helper()
	if size[0] < 760 {
		pressMouse(t, tab, "#pick-open")
	}
	pressMouse(t, tab, "#picks button")
	axeIn(t, tab, "the cards", `"#all"`)
	typeInto := func(keys ...string) {
		for _, key := range keys {
			must.Do(t, chromedp.Do(tab.Ctx, chromedp.KeyEvent(key)))
		}
	}
	typeInto("histogram wrong-scale")
	until(t, tab, `document.querySelector("#all-found").textContent.startsWith("1 of ")`)
	typeInto(kb.ArrowDown, kb.Tab, kb.Enter)
	const beside = settled + ` && document.querySelector("#verdict").dataset.verdict === "violation" && document.querySelector("#mended .verdict")?.dataset.verdict === "no-violation-found" && document.querySelector("#mended .picture > svg") && !document.querySelector("#mended").innerText.includes("So far")`
	until(t, tab, beside)
	if said := eval[string](t, tab, `document.querySelector("#mended").innerText`); !strings.Contains(said, "Mended: Histogram with Laplace noise on each count") || !strings.Contains(said, "const scale = epsilon;\nconst scale = 1 / epsilon;") {
		t.Errorf("%v: beside it stands %s", size, said)
	}
	axeIn(t, tab, "beside its twin", `"#result"`)
	// The fault has a slider in its own unit, of which keys go from number to number; both audits follow.
	eval[bool](t, tab, `(document.querySelector("#mend").click(), location.hash = "#v=1&mechanism=svt4&epsilon=1&samples=20000", true)`)
	until(t, tab, settled+` && window.dpscope.report?.subject === "svt4"`)
	eval[bool](t, tab, `(document.querySelector("#mend").click(), document.querySelector("#slide-fault").focus(), true)`)
	typeInto(kb.ArrowRight, kb.ArrowRight)
	until(t, tab, settled+` && window.dpscope.report?.plan.parameters.c === 3 && document.querySelector("#slide-fault").closest(".slider").querySelector("output").textContent === "c = 3" && document.querySelector("#mended .verdict")?.dataset.verdict === "no-violation-found"`)
	eval[bool](t, tab, `(document.querySelector("#mend").click(), history.back(), true)`)
	until(t, tab, `!document.querySelector("#mended").checkVisibility()`)
	eval[bool](t, tab, `(history.back(), true)`)
	until(t, tab, settled+` && window.dpscope.report?.subject === "laplace-count" && document.querySelector("#mechanism").value === "laplace-count"`)
}

// slide moves the knobs of noise and claim.
func slide(t *testing.T, tab *browser.Tab, size [2]int64) {
	t.Helper()
	const says = `[...document.querySelectorAll("#sliders output")].map((o) => o.textContent).join()`
	eval[bool](t, tab, `(window.moves = [], ["input", "keydown"].forEach((kind) => document.querySelector("#sliders").addEventListener(kind, () => moves.push("moved"), true)), new MutationObserver(() => moves.push(document.querySelector("#verdict").dataset.verdict + (document.querySelector("#result").classList.contains("old") ? " grey" : ""))).observe(document.querySelector("#verdict"), { attributes: true }), true)`)
	// The verdict of a knob's move, and that it went grey at once.
	moved := func(verdict string) {
		t.Helper()
		until(t, tab, settled+` && document.querySelector("#verdict").dataset.verdict === "`+verdict+`"`)
		if moves := eval[[]string](t, tab, `moves.splice(0)`); len(moves) < 3 || moves[0] != "moved" || moves[1] != "old grey" || moves[len(moves)-1] != verdict {
			t.Fatalf("%v: %v", size, moves)
		}
	}
	drag(t, tab, "slide-noise", -math.Log10(3))
	moved("violation")
	noise := eval[string](t, tab, `document.querySelector("#p-epsilon").value`)
	if got := eval[string](t, tab, says); !strings.HasPrefix(got, "ε = 1,× 0.3") {
		t.Errorf("%v: the sliders say %s, the form %s", size, got, noise)
	}
	if at := eval[float64](t, tab, `scrollY`); at != 0 || inSight(t, tab, "#verdict") == "" {
		t.Errorf("%v: scrolled to %v, or the verdict is out of sight", size, at)
	}
	drag(t, tab, "slide-claim", math.Log10(6))
	moved("no-violation-found")
	var claim, added float64
	got := eval[string](t, tab, says)
	if _, err := fmt.Sscanf(got, "ε = %g,× %g", &claim, &added); err != nil || math.Abs(claim-6) > 0.35 || math.Abs(added-1/3.) > 0.02 { // a pixel is 5 % on a phone
		t.Errorf("%v: after the claim's move the sliders say %s", size, got)
	}
	if now := eval[string](t, tab, `document.querySelector("#p-epsilon").value`); now != noise {
		t.Errorf("%v: the noise was %s and is %s", size, noise, now)
	}
	// Arrow keys do so too, by a tenth.
	eval[bool](t, tab, `(document.querySelector("#slide-noise").focus(), true)`)
	pressKey(t, tab, kb.ArrowRight)
	moved("no-violation-found")
	if now := eval[float64](t, tab, `Number(document.querySelector("#p-epsilon").value)`); math.Abs(now-3/1.1) > 0.25 {
		t.Errorf("%v: an arrow takes the noise's epsilon from %s to %v", size, noise, now)
	}
}

// TestRunInAnotherDoor: what runs while another door is open is shown in its own.
func TestRunInAnotherDoor(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress`)
	enter(t, tab, "data")
	if _, said := verdictNow(t, tab); said != "Nothing was audited yet" {
		t.Errorf("the door of the user's data says %q", said)
	}
	enter(t, tab, "explore")
	until(t, tab, `document.body.dataset.state === "running" && document.querySelector("#verdict").dataset.verdict === "violation"`)
	click(t, tab, "#stop")
	until(t, tab, `document.body.dataset.state === "done"`)
	if verdict, _ := verdictNow(t, tab); verdict != "violation" || !eval[bool](t, tab, `document.querySelector("#chart svg")?.checkVisibility()`) {
		t.Errorf("after Stop: %s, or no picture", verdict)
	}
}

// TestHelp: the dialog opens by key and by button, and says what epsilon means and what the
// verdict does not. On a phone the doors are in a menu, which opens and closes by hand and keys.
func TestHelp(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	pressKey(t, tab, "?")
	until(t, tab, `document.querySelector("#help").open`)
	axeIn(t, tab, "the help", `document.querySelector("#help")`)
	words := eval[string](t, tab, `document.querySelector("#help").innerText`)
	for _, want := range []string{"epsilon", "is no proof of privacy and does not certify the claim", "run the audit", "Esc", "Page Up"} {
		if !strings.Contains(words, want) {
			t.Errorf("the help lacks %q: %s", want, words)
		}
	}
	eval[bool](t, tab, `(document.querySelector("#help form button").click(), true)`)
	until(t, tab, `!document.querySelector("#help").open`)
	click(t, tab, "#help-open")
	click(t, tab, "#help-terms")
	until(t, tab, `!document.querySelector("#help").open && document.querySelector("#meaning").getBoundingClientRect().top < innerHeight`)

	must.Do(t, resize(tab, 360, 740))
	const opened = `document.querySelector("#doors").checkVisibility() && document.querySelector("#menu").getAttribute("aria-expanded") === "true"`
	const shut = `!document.querySelector("#doors").checkVisibility() && document.querySelector("#menu").getAttribute("aria-expanded") === "false"`
	until(t, tab, shut)
	pressMouse(t, tab, "#menu")
	until(t, tab, opened)
	if low := eval[string](t, tab, `[...document.querySelectorAll("#doors a")].filter((a) => a.getBoundingClientRect().height < 44).map((a) => a.hash).join()`); low != "" {
		t.Errorf("too low for a finger: %s", low)
	}
	pressMouse(t, tab, `#doors a[href="#door=data"]`)
	until(t, tab, `document.body.dataset.door === "data" && `+shut+` && document.querySelector("#menu-door").textContent === "Your data or scores"`)
	eval[bool](t, tab, `(document.querySelector("#menu").focus(), true)`)
	pressKey(t, tab, kb.Enter)
	until(t, tab, opened)
	pressKey(t, tab, kb.Tab)
	if at := eval[string](t, tab, `document.activeElement.getAttribute("href")`); at != "#door=explore" {
		t.Errorf("from the menu Tab leads to %q", at)
	}
	pressKey(t, tab, kb.Escape)
	until(t, tab, shut+` && document.activeElement.id === "menu"`)

	pressKey(t, tab, "t") // a tour
	until(t, tab, `document.querySelector("#mended .headline")?.textContent === "No violation found" && document.querySelector("#verdict .headline").textContent.startsWith("Violation") && document.querySelector("#notice").textContent.includes("3 of 3")`)
}
