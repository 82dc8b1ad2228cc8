package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// A room is a door of the page, by its name in the address, with an element that is its own,
// the button by which an audit starts, and what a visitor does in it until it shows a result.
type room struct {
	door, own, start string
	result           func(t *testing.T, tab *browser.Tab)
}

// rooms are all doors of the page, in the order of the navigation. An audit in them takes seconds.
var rooms = []room{
	{"explore", "#sliders", "run", func(t *testing.T, tab *browser.Tab) {
		goTo(t, tab, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&workers=2")
		click(t, tab, "#run")
		until(t, tab, settled+` && window.dpscope.report.subject === "svt4"`)
	}},
	{"code", "#own", "own-run", func(t *testing.T, tab *browser.Tab) {
		write(t, tab, ownCode)
		set(t, tab, "own-samples", "1000")
		set(t, tab, "own-seed", "3")
		runOwn(t, tab)
	}},
	{"data", "#yours", "yours-choose", func(t *testing.T, tab *browser.Tab) {
		drop(t, tab, "count.csv", noisyCounts(1000, 0.3, 1))
		until(t, tab, samplesRead)
		set(t, tab, "epsilon", "1")
		runSamples(t, tab)
	}},
	{"training", "#canaries", "canaries-run", func(t *testing.T, tab *browser.Tab) {
		for id, value := range map[string]string{"k-n": "256", "k-k": "16", "k-seed": "3"} {
			set(t, tab, id, value)
		}
		click(t, tab, "#canaries-run")
		planted(t, tab)
	}},
	{"accounting", "#accounting", "account", func(t *testing.T, tab *browser.Tab) {
		for id, value := range map[string]string{"a-sigma": "1.1", "a-rate": "0.01", "a-steps": "1000", "a-delta": "1e-6"} {
			set(t, tab, id, value)
		}
		click(t, tab, "#account")
		until(t, tab, `document.querySelector("#account-result .picture > svg")`)
	}},
	{"errors", "#calibration", "calibrate", func(t *testing.T, tab *browser.Tab) {
		set(t, tab, "c-runs", "1")
		set(t, tab, "c-seed", "1")
		click(t, tab, "#calibrate")
		until(t, tab, calibrationDone)
	}},
}

// TestEveryDoor walks through every door, in one page: by the keyboard its link opens it,
// shows what is its own, and leads by Tab to what starts an audit, past every control and out
// of the page; with a result axe-core finds nothing, nothing is wider than a small phone, and
// the verdict stays in sight. In the short tests each door has one of the windows and colours,
// in the second all. Back goes through the doors, which keep their results.
func TestEveryDoor(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	const headline = `document.querySelector("#result:not([hidden]) #verdict .headline")?.textContent ?? ""`
	said := map[string]string{}
	for i, r := range rooms {
		walk := func(size [2]int64) {
			t.Helper()
			dress(t, tab, size[0], size[1], "light")
			eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), document.querySelector(".logo").focus(), true)`)
			for n := 0; eval[[]any](t, tab, focused)[0] != r.start; n++ {
				if n == 120 {
					t.Fatalf("%s, %v: Tab does not come to #%s", r.door, size, r.start)
				}
				pressKey(t, tab, kb.Tab)
			}
			allTheWay(t, tab, fmt.Sprint(r.door, size), 3)
		}
		dress(t, tab, 1280, 800, "light")
		eval[bool](t, tab, `(document.activeElement.blur(), document.querySelector(".logo").focus(), true)`)
		for range i + 1 {
			pressKey(t, tab, kb.Tab)
		}
		pressKey(t, tab, kb.Enter)
		until(t, tab, fmt.Sprintf(`document.body.dataset.door === %q && document.querySelector("#doors [aria-current]").hash === "#door=%[1]s"`, r.door))
		for _, other := range rooms {
			if shown := eval[bool](t, tab, fmt.Sprintf(`document.querySelector(%q).checkVisibility()`, other.own)); shown != (other.door == r.door) {
				t.Errorf("in the door %s, %s is shown: %v", r.door, other.own, shown)
			}
		}
		until(t, tab, `document.body.dataset.door !== "accounting" || document.querySelectorAll("#account-result .curves svg").length === 2`) // an account is asked for at once
		for _, size := range testsize.Of(windows[i%2:i%2+1], windows) {
			walk(size)
		}
		dress(t, tab, 1280, 800, "light")
		r.result(t, tab)
		said[r.door] = eval[string](t, tab, headline)
		eval[bool](t, tab, `(document.querySelectorAll("main details").forEach((d) => { d.open = true; }), true)`)
		for j, size := range windows {
			for k, look := range []string{"light", "dark", "forced"} {
				if testsize.All() || (j == i%2 && k == i%3) {
					dress(t, tab, size[0], size[1], look)
					axeIn(t, tab, fmt.Sprintf("%s, %v, %s", r.door, size, look), "document")
				}
			}
		}
		dress(t, tab, 1280, 800, "large")
		if wide := eval[int64](t, tab, `document.documentElement.scrollWidth`); wide > 1280 {
			t.Errorf("%s: with large text the page is %d px wide in a window of 1280", r.door, wide)
		}
		dress(t, tab, 360, 740, "light")
		until(t, tab, drawn)
		if wide := eval[string](t, tab, overflowing); wide != "" {
			t.Errorf("%s: wider than 360 px: %s", r.door, wide)
		}
		for _, at := range []string{"#chart", "#certified", "#planted"} {
			if eval[bool](t, tab, fmt.Sprintf(`document.querySelector(%q).checkVisibility() && (document.querySelector(%[1]q).scrollIntoView(), true)`, at)) {
				if _, y := point(t, tab, "#verdict"); y > 740 || inSight(t, tab, "#verdict") == "" {
					t.Errorf("%s: at %s the verdict is out of sight", r.door, at)
				}
			}
		}
		if testsize.All() {
			walk(windows[0])
		}
		eval[bool](t, tab, `(document.querySelectorAll("main details").forEach((d) => { d.open = false; }), true)`)
	}
	for i := len(rooms) - 2; i >= 0; i-- {
		eval[bool](t, tab, `(history.back(), true)`)
		until(t, tab, fmt.Sprintf(`document.body.dataset.door === %q && (%s) === %q`, rooms[i].door, headline, said[rooms[i].door]))
	}
	for _, width := range []int64{1241, 900, 761} {
		must.Do(t, resize(tab, width, 800))
		for _, r := range rooms {
			point(t, tab, fmt.Sprintf(`#doors a[href="#door=%s"]`, r.door))
		}
		if wide := eval[int64](t, tab, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("the page is %d px wide in a window of %d", wide, width)
		}
	}
}

// focused is an expression: what has the focus, in a frame too, [id or tag, name, outlined and in
// the window].
const focused = `(() => {
	let e = document.activeElement, x = 0, y = 0;
	for (let inner; (inner = e.contentDocument?.activeElement) && inner.tagName !== "BODY"; e = inner) {
		const frame = e.getBoundingClientRect();
		[x, y] = [x + frame.left, y + frame.top];
	}
	const s = getComputedStyle(e);
	const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent || e.title || "";
	const b = e.getBoundingClientRect(), seen = b.bottom + y > 0 && b.top + y < innerHeight && b.right + x > 0 && b.left + x < innerWidth;
	return [e.id || (e.tagName === "SUMMARY" && e.parentElement.id) || e.tagName, name.trim(), seen && (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none")];
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
		if at[2] == false {
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
