package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// The picture's document in its frame.
const (
	viewFrame    = `document.querySelector(".view > iframe")`
	viewDocument = viewFrame + `.contentDocument`
	viewHook     = viewFrame + `.contentWindow.dpscopeView`
)

// viewFacts is the table beside a picture.
type viewFacts struct {
	View, Words, ChoiceLabel, Chosen string
	Views, Choices                   []struct{ ID, Words string }
	Table                            struct {
		Title string
		Head  []string
		Rows  [][]string
	}
}

// openView opens the picture, as a user would, at a view.
func openView(t *testing.T, tab *browser.Tab, view string) viewFacts {
	t.Helper()
	if !eval[bool](t, tab, `Boolean(`+viewFrame+`)`) {
		const opener = `[...document.querySelectorAll(".picture-open")].find((b) => b.checkVisibility())`
		until(t, tab, opener)
		eval[bool](t, tab, `(`+opener+`.click(), true)`)
	}
	until(t, tab, viewFrame+`.contentWindow.dpscopeView?.facts.View`)
	until(t, tab, fmt.Sprintf(`%s.facts.View === %q || %s.facts.Views.some(v => v.id === %[2]q)`, viewHook, view, viewHook))
	if at := eval[string](t, tab, viewHook+`.facts.View`); at != view {
		eval[bool](t, tab, fmt.Sprintf(`(%s.querySelector('#views button[data-id="%s"]').click(), true)`, viewDocument, view))
		until(t, tab, fmt.Sprintf(`%s.facts.View === %q`, viewHook, view))
	}
	return factsOf(t, tab)
}

func factsOf(t *testing.T, tab *browser.Tab) viewFacts {
	t.Helper()
	var f viewFacts
	must.Do(t, json.Unmarshal([]byte(eval[string](t, tab, `JSON.stringify(`+viewHook+`.facts)`)), &f))
	return f
}

// notBlank fails the test where the picture is blank, or not of its document's size, or not
// on the page's own ground, whose colours change with the next message.
func notBlank(t *testing.T, tab *browser.Tab, what string) {
	t.Helper()
	const look = viewHook + `.pixels().then(({width, height, data}) => {
		const seen = new Map(), stage = ` + viewDocument + `.querySelector("#stage"), c = document.createElement("canvas").getContext("2d"), s = document.createElement("i");
		const all = new Uint32Array(data.buffer), step = 7;
		for (let i = 0; i < all.length; i += step) seen.set(all[i], (seen.get(all[i]) ?? 0) + 1);
		s.style.color = "var(--panel)";
		document.body.append(s);
		c.fillStyle = getComputedStyle(s).color;
		s.remove();
		c.fillRect(0, 0, 1, 1);
		const most = Math.max(...seen.values()), share = step * most / (width * height), [is] = [...seen].find(([, n]) => n === most), rgb = [is & 255, (is >> 8) & 255, (is >> 16) & 255].join(), ground = [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).join();
		const sized = [[width, stage.clientWidth], [height, stage.clientHeight]].every(([is, box]) => Math.abs(is - box * devicePixelRatio) <= 1.5);
		return seen.size >= 4 && share >= 0.2 && share <= 0.995 && rgb === ground && sized ? "" : [width + " by " + height, seen.size + " colours", share, "on " + rgb + ", not " + ground].join();
	})`
	fault := eval[string](t, tab, look)
	for deadline := time.Now().Add(browser.Patience); fault != "" && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
		fault = eval[string](t, tab, look)
	}
	if fault != "" {
		t.Errorf("%s: the picture is %s", what, fault)
	}
}

// dressed looks at a view, light and wide or dark and narrow.
func dressed(t *testing.T, tab *browser.Tab, what string, dark bool) {
	t.Helper()
	width := map[bool]int64{true: 360, false: 1000}[dark]
	dress(t, tab, width, 600, map[bool]string{true: "dark", false: "light"}[dark])
	until(t, tab, fmt.Sprintf(`((f, of) => Math.abs(f.clientWidth - of.clientWidth + parseFloat(getComputedStyle(of).paddingLeft) + parseFloat(getComputedStyle(of).paddingRight)) < 2)(%s, %[1]s.parentElement) && document.documentElement.clientWidth === %d && %s.laid.Plot.W > 0`, viewFrame, width, viewHook))
	until(t, tab, `(f => f.clientHeight >= f.contentDocument.querySelector("#all").offsetHeight)(`+viewFrame+`)`)
	name := fmt.Sprintf("%s, %d px, dark: %v", what, width, dark)
	notBlank(t, tab, name)
	if over := eval[string](t, tab, `(d => [...d.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible" && e.clientWidth).map(e => e.id || e.className).join())(`+viewDocument+`)`); over != "" {
		t.Errorf("%s: %s runs over", name, over)
	}
}

// inView dispatches an event in the picture's document.
func inView(t *testing.T, tab *browser.Tab, script string) {
	t.Helper()
	eval[bool](t, tab, `(((stage, view) => { `+script+` })(`+viewDocument+`.querySelector("#stage"), `+viewFrame+`.contentWindow), true)`)
}

// TestViewDivergence: the picture is loaded only when asked for, and hand and keys read,
// zoom, move and leave. Picture and table are saved. Another report is another picture, in
// the same frame.
func TestViewDivergence(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=laplace-mean-raw-count&epsilon=1&samples=20000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	r := finish(t, tab)
	if n := asked(tab, "view.wasm"); n != 0 {
		t.Error("the picture is loaded unasked")
	}
	if words := eval[string](t, tab, `document.querySelector(".picture-open").textContent`); !strings.Contains(words, " MB)") {
		t.Errorf("the button says %q", words)
	}
	facts := openView(t, tab, "divergence")
	sameTable(t, tab, scene.Views(pairInput(t, r))[0])
	notBlank(t, tab, "first frame")

	// What the mouse reads is a row of the table.
	read := func() (int, string) {
		t.Helper()
		got := eval[struct {
			Item  int
			Words string
		}](t, tab, viewHook+`.read`)
		if shown := eval[string](t, tab, viewDocument+`.querySelector("#reading").textContent`); shown != got.Words {
			t.Errorf("it shows %q and reads %q", shown, got.Words)
		}
		return got.Item, got.Words
	}
	inView(t, tab, `const p = view.dpscopeView.laid.Plot, b = stage.getBoundingClientRect(); stage.dispatchEvent(new view.PointerEvent("pointermove", {clientX: b.left + p.X + p.W / 2, clientY: b.top + p.Y + 40, bubbles: true}))`)
	at, words := read()
	if at < 0 || !strings.HasPrefix(words, facts.Table.Rows[at][0]+": ") || !strings.Contains(strings.ReplaceAll(words, "\u202f", ""), facts.Table.Rows[at][1]) {
		t.Fatalf("item %d reads %q", at, words)
	}
	// Keys.
	inView(t, tab, `stage.focus()`)
	key := func(k string) {
		t.Helper()
		inView(t, tab, `stage.dispatchEvent(new view.KeyboardEvent("keydown", {key: "`+k+`", bubbles: true, cancelable: true}))`)
	}
	key("ArrowRight")
	if now, _ := read(); now != at+1 {
		t.Errorf("an arrow reads item %d after %d", now, at)
	}
	labelled := func() string {
		return eval[string](t, tab, `JSON.stringify(`+viewHook+`.laid.Labels)`)
	}
	whole := labelled()
	for _, k := range []string{"+", "+", "-", "-"} {
		key(k)
		if k == "+" && labelled() == whole {
			t.Error("+ does not zoom")
		}
	}
	key("+")
	key("0")
	if labelled() != whole {
		t.Error("0 does not show the whole")
	}
	// The wheel zooms while the picture has the focus, and else scrolls the page.
	wheel := func(by int) bool {
		t.Helper()
		return eval[bool](t, tab, fmt.Sprintf(`((stage, view) => !stage.dispatchEvent(new view.WheelEvent("wheel", {deltaY: %d, clientX: 200, clientY: 200, bubbles: true, cancelable: true})))(%s.querySelector("#stage"), `+viewFrame+`.contentWindow)`, by, viewDocument))
	}
	if !wheel(-120) || labelled() == whole {
		t.Error("the wheel does not zoom")
	}
	closer := labelled()
	inView(t, tab, `const at = (type, x) => stage.dispatchEvent(new view.PointerEvent(type, {clientX: x, clientY: 100, button: 0, pointerId: 1, bubbles: true})); stage.setPointerCapture = () => {}; at("pointerdown", 300); at("pointermove", 280); at("pointermove", 260); at("pointerup", 260)`)
	if labelled() == closer {
		t.Error("dragging does not move it")
	}
	if !wheel(10000) || labelled() != whole || wheel(120) {
		t.Error("the wheel is taken, though all is shown")
	}
	key("Escape")
	if i, words := read(); i != -1 || words != "" {
		t.Errorf("after Escape it reads %d, %q", i, words)
	}
	inView(t, tab, `stage.blur()`)
	if wheel(-120) {
		t.Error("the wheel is taken without the focus")
	}
	savedFiles(t, tab, facts)

	// Another report, another picture, in the same frame; then none.
	goTo(t, tab, svt4+"2")
	click(t, tab, "#run")
	until(t, tab, `document.body.dataset.state === "done" && window.dpscope.report.subject === "svt4" && `+viewHook+`.facts.Table.head[0] === "answer"`)
	if n := asked(tab, "view.wasm"); n != 1 {
		t.Errorf("view.wasm was asked for %d times", n)
	}
	key("Escape")
	until(t, tab, `!`+viewFrame+` && document.activeElement.className === "picture-open" && document.querySelector("#chart svg").checkVisibility()`)
}

// savedFiles saves the picture and its table, as a user would.
func savedFiles(t *testing.T, tab *browser.Tab, facts viewFacts) {
	t.Helper()
	inView(t, tab, `view.saved = []; const make = view.URL.createObjectURL; view.URL.createObjectURL = (blob) => { view.saved.push(blob); return make.call(view.URL, blob) }`)
	inView(t, tab, `view.HTMLAnchorElement.prototype.click = function () { view.names = [...(view.names ?? []), this.download] }; view.document.querySelector("#png").click(); view.document.querySelector("#csv").click()`)
	until(t, tab, viewFrame+`.contentWindow.names?.length === 2`)
	if names := eval[[]string](t, tab, viewFrame+`.contentWindow.names.sort()`); names[0] != "dpscope-divergence.csv" || names[1] != "dpscope-divergence.png" {
		t.Errorf("saved as %v", names)
	}
	csv := eval[string](t, tab, viewFrame+`.contentWindow.saved.find(b => b.type === "text/csv").text()`)
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != len(facts.Table.Rows)+1 || !strings.Contains(lines[1], facts.Table.Rows[0][1]+",") {
		t.Errorf("the table is saved as %q", csv)
	}
	if size := eval[[2]int](t, tab, `createImageBitmap(`+viewFrame+`.contentWindow.saved.find(b => b.type === "image/png")).then(b => [b.width, b.height])`); size[0] < 300 || size[1] < 300 {
		t.Errorf("the picture is saved with %v pixels", size)
	}
}

// pairInput is what the page sends of a report to its picture.
func pairInput(t *testing.T, r pair.Report) scene.Input {
	t.Helper()
	return must.Get(scene.Parse(string(must.Get(json.Marshal(map[string]any{"report": r, "curves": pair.ReportCurves(r)}))(t))))(t)
}

// everyView opens every view by its first choice, or in the full tests by every one. Each is
// painted, with the table of its numbers, which package scene holds against the reports.
func everyView(t *testing.T, tab *browser.Tab, what string, least int) {
	t.Helper()
	views := openView(t, tab, factsOf(t, tab).View).Views
	if len(views) < least {
		t.Errorf("%s: %d views, want %d", what, len(views), least)
	}
	for i, v := range views {
		f := openView(t, tab, v.ID)
		for _, c := range f.Choices[:min(testsize.Of(1, 99), len(f.Choices))] {
			inView(t, tab, fmt.Sprintf(`const c = view.document.querySelector("#choice"); c.value = %q; c.dispatchEvent(new view.Event("change"))`, c.ID))
			until(t, tab, fmt.Sprintf(`%s.facts.Chosen === %q`, viewHook, c.ID))
		}
		if f = factsOf(t, tab); len(f.Table.Rows) == 0 || f.Words == "" {
			t.Errorf("%s, %s: no words, or no table: %+v", what, v.ID, f)
		}
		for _, dark := range testsize.Of([]bool{i%2 == 0}, []bool{false, true}) {
			dressed(t, tab, what+"-"+v.ID, dark)
		}
	}
}

// sameTable compares the picture's table, the program's and the page's, with a view's.
func sameTable(t *testing.T, tab *browser.Tab, v *plot.View) {
	t.Helper()
	f, want := factsOf(t, tab), v.Table(plot.Rounded)
	if f.Table.Title != want.Title || !slices.Equal(f.Table.Head, want.Head) || !slices.EqualFunc(f.Table.Rows, want.Rows, slices.Equal[[]string]) {
		t.Errorf("%s %s: the picture has %+v, want %+v", v.ID, f.Chosen, f.Table, want)
	}
	inView(t, tab, `view.document.querySelector("#facts").open = true`)
	until(t, tab, viewDocument+`.querySelector("#table tbody")`)
	shown := eval[[][]string](t, tab, `[...`+viewDocument+`.querySelectorAll("#table tbody tr")].map(r => [...r.children].map(c => c.textContent))`)
	if !slices.EqualFunc(shown, f.Table.Rows, slices.Equal[[]string]) {
		t.Errorf("%s: the table shows %q, the program says %q", v.ID, shown, f.Table.Rows)
	}
}

// TestViews: whatever a report has a picture of is painted: all of a pair and of canaries,
// and the bound over time, which is what the page heard of its own run, ends at the report's
// bound, and is not there of a report from elsewhere.
func TestViews(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=20000&trials=4&explore=10000&fixed=true&seed=7&workers=2")
	const bound = viewHook + `.facts.Views.some(v => v.id === "bound")`
	until(t, tab, `window.dpscope.report`) // the example, from a file
	openView(t, tab, "divergence")
	if eval[bool](t, tab, bound) {
		t.Error("a report from a file has a course")
	}
	click(t, tab, "#run")
	r := finish(t, tab)
	until(t, tab, bound)
	everyView(t, tab, "svt4", 4)
	rows := openView(t, tab, "bound").Table.Rows
	if last := rows[len(rows)-1]; len(rows) < 2 || !strings.HasPrefix(fmt.Sprintf("%.9f", *r.Tables[0].Rows[0].LowerBound), last[1]) || last[3] != "certified" {
		t.Errorf("the course is %q, the bound %v", rows, *r.Tables[0].Rows[0].LowerBound)
	}
	drop(t, tab, "other.json", string(must.Get(audit.Canonical(runAudit(t, "-mechanism", "noisy-max-laplace", "-samples", "2000", "-seed", "1")))(t)))
	until(t, tab, viewHook+`.facts.Table.title.includes("outcome") && !`+bound)
	tab.Close()

	// Canary space opens by itself in its door, where a still of a recorded run stands first, and
	// nothing moves for it. Trainings come into it as they are.
	tab = open(t, "")
	const shifts = `(window.moved = [], new PerformanceObserver((list) => window.moved.push(...list.getEntries().filter((e) => !e.hadRecentInput).map((e) => e.value))).observe({ type: "layout-shift", buffered: false }), true)`
	eval[bool](t, tab, `(document.querySelector('#doors a[href="#door=training"]').click(), true)`)
	if asked(tab, "view.wasm") != 0 {
		t.Error("the picture is loaded in another door")
	}
	eval[bool](t, tab, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(`+shifts+`))))`)
	until(t, tab, `document.querySelector("#chart svg[aria-label^='Canary space']") && document.querySelector("#say").textContent.startsWith("In ")`)
	until(t, tab, `document.querySelector("iframe.waiting")?.contentWindow.dpscopeView`)
	set(t, tab, "k-seed", "3")
	set(t, tab, "k-n", "4096") // seconds, in which frames are painted
	eval[bool](t, tab, `(window.seen = [], setInterval(() => { const f = document.querySelector("iframe:not(.waiting)")?.contentWindow.dpscopeView?.facts; if (f && f.Words !== window.seen.at(-1)) window.seen.push(f.Words) }, 20), true)`)
	eval[bool](t, tab, `(document.querySelector("#canaries-run").click(), true)`)
	planted(t, tab)
	until(t, tab, viewHook+`.facts.Views?.length === 5`)
	if seen := eval[[]string](t, tab, `window.seen`); len(seen) < 2 || !strings.HasPrefix(seen[len(seen)-1], "99\u202f968 canaries of 781 runs") || !strings.HasSuffix(seen[len(seen)-1], "on these runs; nothing here is certified.") || !strings.HasSuffix(seen[0], "Nothing here is certified.") {
		t.Errorf("it showed %q", seen)
	}
	if moved := eval[[]float64](t, tab, `window.moved`); slices.Max(append(moved, 0)) > 0.005 {
		t.Errorf("it moved: %v", moved)
	}
	inView(t, tab, `stage.focus(); stage.dispatchEvent(new view.KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true, cancelable: true}))`)
	if words := eval[string](t, tab, viewHook+`.read.Words`); !strings.HasPrefix(words, "inside 1 of run ") || !strings.Contains(words, ": score ") {
		t.Errorf("the first point is %q", words)
	}
	everyView(t, tab, "canaries", 3)
}

// TestViewLive: the picture follows a run on its way, until it is stopped.
func TestViewLive(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=laplace-mean&epsilon=1&samples=100000000&trials=2&seed=3&workers=2")
	openView(t, tab, "divergence")
	eval[bool](t, tab, `(window.seen = new Set(), setInterval(() => { const w = `+viewHook+`.facts.Words; if (w.startsWith("So far, ")) window.seen.add(w) }, 30), true)`)
	click(t, tab, "#run")
	until(t, tab, `window.seen.size >= 2`)
	eval[bool](t, tab, `(document.querySelector("#stop").click(), true)`)
	finish(t, tab)
	until(t, tab, `!`+viewHook+`.facts.Words.startsWith("So far")`)
	notBlank(t, tab, "after a run")
}

// TestViewSharp: the picture has the pixels of the screen, and takes on others: when
// the user zooms, which gives the page another size too, and at the latest when he
// points at it. Chromium tells nobody of an emulated scale that comes without another
// size.
func TestViewSharp(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	for i, scale := range []float64{2, 1.5, 1} {
		size := []int64{400, 533, 533}[i]
		must.Do(t, chromedp.Do(tab.Ctx, chromedp.EmulateViewport(size, 600, chromedp.EmulateScale(scale))))
		switch i {
		case 0:
			openView(t, tab, "divergence")
		case 2:
			eval[bool](t, tab, `(`+viewFrame+`.scrollIntoView(), true)`)
			box := eval[[2]float64](t, tab, `(b => [b.left + b.width / 2, b.top + 300])(`+viewFrame+`.getBoundingClientRect())`)
			must.Do(t, chromedp.Do(tab.Ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0], box[1])))
		}
		until(t, tab, fmt.Sprintf(`%s.contentWindow.dpscopeView?.facts.View && %[1]s.contentWindow.dpscopeViewShell.scale === %v`, viewFrame, scale))
		notBlank(t, tab, fmt.Sprintf("at %v pixels", scale))
	}
}

// TestViewWithoutWebGL: the picture says that it cannot be, and its table is there. In the
// door of training it is not loaded, and the still follows the run.
func TestViewWithoutWebGL(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	must.Get(chromedp.Call(tab.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const get = HTMLCanvasElement.prototype.getContext;
		HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return /webgl/.test(kind) ? null : get.call(this, kind, ...rest) };`}))(t)
	facts := openView(t, tab, "divergence")
	if len(facts.Table.Rows) < 3 {
		t.Errorf("the table has %d rows", len(facts.Table.Rows))
	}
	if said := eval[string](t, tab, viewDocument+`.querySelector("#status").textContent`); !strings.Contains(said, "WebGL") {
		t.Errorf("it says %q", said)
	}
	if eval[bool](t, tab, `(d => d.querySelector("#facts").hidden || !d.querySelector("#stage").hidden)(`+viewDocument+`)`) {
		t.Error("the table is hidden, or an empty stage is not")
	}
	eval[bool](t, tab, `(location.hash = "#door=training", true)`)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Reload()))
	until(t, tab, `document.querySelector("#chart svg[aria-label^='Canary space']") && `+canaryIdle)
	eval[bool](t, tab, `(window.drawn = new Set(), new MutationObserver(() => window.drawn.add(document.querySelector("#chart svg path:last-of-type")?.getAttribute("d"))).observe(document.querySelector("#chart"), { childList: true, subtree: true }), document.querySelector("#canaries-run").click(), true)`)
	planted(t, tab)
	until(t, tab, `window.drawn.size > 1 && document.querySelector("#say").textContent.startsWith("In ") && document.querySelector("#chart svg").checkVisibility()`)
	if n := asked(tab, "view.wasm"); n != 1 || eval[bool](t, tab, `Boolean(document.querySelector("iframe"))`) {
		t.Errorf("without WebGL the picture is loaded: %d", n)
	}
}

// TestViewLost: WebGL is taken away while the picture is dragged. The picture says so,
// comes back with its table, and can be dragged again; one that is taken again and again
// leaves the table.
func TestViewLost(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	click(t, tab, "#run")
	finish(t, tab)
	openView(t, tab, "tradeoff")
	const drag = `const box = stage.getBoundingClientRect(), at = (kind, x) => stage.dispatchEvent(new view.PointerEvent(kind, {clientX: box.left + x, clientY: box.top + 150, pointerId: 1, button: 0, bubbles: true, pointerType: "mouse"}));
		stage.setPointerCapture = () => {};
		at("pointerdown", 300); at("pointermove", 260); at("pointermove", 240);`
	const lose = `view.Date.now = () => 0; stage.querySelector("canvas:not(#labels)").getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();`
	lost := func() {
		t.Helper()
		inView(t, tab, drag)
		inView(t, tab, lose+`view.before = true;`)
	}
	lost()
	until(t, tab, viewDocument+`?.querySelector("#status")?.textContent.includes("picture is redrawn") || !`+viewFrame+`.contentWindow.before`)
	again := `!` + viewFrame + `.contentWindow.before && ` + viewHook + `?.laid.Items > 3`
	until(t, tab, again)
	if said := eval[string](t, tab, viewDocument+`.querySelector("#status:not([hidden])")?.textContent ?? ""`); !strings.Contains(said, "picture is redrawn") {
		t.Errorf("it says %q", said)
	}
	notBlank(t, tab, "after WebGL was lost")
	if facts := factsOf(t, tab); len(facts.Table.Rows) < 3 {
		t.Errorf("it shows %+v", facts)
	}
	inView(t, tab, drag+`at("pointerup", 240);`)
	if !eval[bool](t, tab, viewDocument+`.querySelector("#status").hidden`) {
		t.Error("it goes on saying so when the hand goes on")
	}
	for range 2 {
		lost()
		until(t, tab, again)
	}
	inView(t, tab, lose)
	until(t, tab, viewDocument+`.querySelector("#status")?.textContent.includes("again and again")`)
	if !eval[bool](t, tab, `(d => d.querySelector("#stage").hidden && !d.querySelector("#facts").hidden && d.querySelectorAll("#views button").length > 1)(`+viewDocument+`)`) {
		t.Error("the table is hidden, or an empty stage is not")
	}
}

// TestViewIdle: a picture that nobody touches costs next to nothing.
func TestViewIdle(t *testing.T) {
	testsize.Long(t)
	tab := open(t, svt4+"2")
	must.Do(t, resize(tab, 1234, 900))
	openView(t, tab, "divergence")
	must.Get(chromedp.Call(tab.Ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}))(t)
	spent := func() map[string]float64 {
		m := must.Get(chromedp.Call(tab.Ctx, performance.GetMetrics, cdp.Empty{}))(t)
		out := map[string]float64{}
		for _, x := range m.Metrics {
			out[x.Name] = x.Value
		}
		return out
	}
	before := spent()
	eval[bool](t, tab, `new Promise((done) => setTimeout(done, 3000, true))`) // what is measured: the page's own three seconds
	after := spent()
	idle := 1000 * (after["TaskDuration"] - before["TaskDuration"]) / 3
	t.Logf("idle, page and picture take %.1f ms of processor time a second", idle)
	if idle > 25 {
		t.Errorf("idle, page and picture take %.1f ms of processor time a second", idle)
	}
}
