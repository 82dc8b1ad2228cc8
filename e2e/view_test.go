package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/e2e/browser"
)

// The picture's document in its frame.
const (
	viewDocument = `document.querySelector("#picture-frame").contentDocument`
	viewHook     = `document.querySelector("#picture-frame").contentWindow.dpscopeView`
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
	if !eval[bool](t, tab, `Boolean(document.querySelector("#picture-frame"))`) {
		until(t, tab, `document.querySelector("#picture-open")`, 5*time.Second)
		click(t, tab, "#picture-open")
	}
	until(t, tab, `document.querySelector("#picture-frame").contentWindow.dpscopeView?.facts.View`, 60*time.Second)
	if at := eval[string](t, tab, viewHook+`.facts.View`); at != view {
		eval[bool](t, tab, fmt.Sprintf(`(%s.querySelector('#views button[data-id="%s"]').click(), true)`, viewDocument, view))
		until(t, tab, fmt.Sprintf(`%s.facts.View === %q`, viewHook, view), 5*time.Second)
	}
	return factsOf(t, tab)
}

func factsOf(t *testing.T, tab *browser.Tab) viewFacts {
	t.Helper()
	var f viewFacts
	if err := json.Unmarshal([]byte(eval[string](t, tab, `JSON.stringify(`+viewHook+`.facts)`)), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// painted is what the picture's pixels are: how many colours, and the share of
// the commonest.
type painted struct {
	Width, Height, Colours int
	Most                   float64
	Ground                 string
}

func paintedIn(t *testing.T, tab *browser.Tab) painted {
	t.Helper()
	return eval[painted](t, tab, viewHook+`.pixels().then(({width, height, data}) => {
		const seen = new Map();
		for (const c of new Uint32Array(data.buffer)) seen.set(c, (seen.get(c) ?? 0) + 1);
		const most = Math.max(...seen.values()), ground = [...seen].find(([, n]) => n === most)[0];
		return {Width: width, Height: height, Colours: seen.size, Most: most / (width * height), Ground: [ground & 255, (ground >> 8) & 255, (ground >> 16) & 255].join()};
	})`)
}

// notBlank fails the test where the picture is blank, or not of its document's
// size, or not on the page's own ground.
func notBlank(t *testing.T, tab *browser.Tab, what string) painted {
	t.Helper()
	p := paintedIn(t, tab)
	if p.Colours < 8 || p.Most > 0.985 || p.Most < 0.2 {
		t.Errorf("%s: %d colours, one of them on %.1f %% of the picture", what, p.Colours, 100*p.Most)
	}
	box := eval[[2]float64](t, tab, `(b => [b.clientWidth, b.clientHeight])(`+viewDocument+`.querySelector("#stage"))`)
	scale := eval[float64](t, tab, `devicePixelRatio`)
	if math.Abs(float64(p.Width)-box[0]*scale) > 1.5 || math.Abs(float64(p.Height)-box[1]*scale) > 1.5 {
		t.Errorf("%s: %d by %d pixels for a stage of %v at %v pixels each", what, p.Width, p.Height, box, scale)
	}
	ground := eval[string](t, tab, `(() => { const c = document.createElement("canvas").getContext("2d"); c.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel"); c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).join() })()`)
	if p.Ground != ground {
		t.Errorf("%s: on a ground of %s, the page has %s", what, p.Ground, ground)
	}
	return p
}

// inEveryDress looks at a view narrow and wide, light and dark.
func inEveryDress(t *testing.T, tab *browser.Tab, what string) {
	t.Helper()
	var grounds []string
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{360, 1400} {
			dress(t, tab, width, 900, dark)
			until(t, tab, fmt.Sprintf(`Math.abs(document.querySelector("#picture-frame").clientWidth - document.querySelector("#picture").clientWidth) < 2 && document.documentElement.clientWidth === %d && %s.laid.Plot.W > 0`, width, viewHook), 5*time.Second)
			until(t, tab, fmt.Sprintf(`(f => f.clientHeight >= f.contentDocument.querySelector("#all").offsetHeight)(document.querySelector("#picture-frame"))`), 5*time.Second)
			time.Sleep(100 * time.Millisecond) // the colours change with the next message
			name := fmt.Sprintf("%s, %d px, dark: %v", what, width, dark)
			p := notBlank(t, tab, name)
			grounds = append(grounds, p.Ground)
			if over := eval[string](t, tab, `(d => [...d.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible" && e.clientWidth).map(e => e.id || e.className).join())(`+viewDocument+`)`); over != "" {
				t.Errorf("%s: %s runs over", name, over)
			}
			if *screenshots != "" {
				eval[bool](t, tab, `(document.querySelector("#picture").scrollIntoView(), true)`)
				develop(t, tab, strings.ReplaceAll(fmt.Sprintf("view-%s-%d-dark-%v", what, width, dark), " ", "-"), chromedp.Screenshot("#picture"))
			}
		}
	}
	if grounds[0] == grounds[2] {
		t.Errorf("%s: light and dark have the same ground %s", what, grounds[0])
	}
}

// inView dispatches an event in the picture's document.
func inView(t *testing.T, tab *browser.Tab, script string) {
	t.Helper()
	eval[bool](t, tab, `(((stage, view) => { `+script+` })(`+viewDocument+`.querySelector("#stage"), document.querySelector("#picture-frame").contentWindow), true)`)
}

// TestViewDivergence: the picture is loaded only when asked for, its values are
// the report's, and hand and keys read, zoom, move and leave.
func TestViewDivergence(t *testing.T) {
	tab := open(t, "#v=1&mechanism=laplace-mean-raw-count&epsilon=1&samples=20000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	if n := asked(tab, "view.wasm"); n != 0 {
		t.Error("the picture is loaded unasked")
	}
	if words := eval[string](t, tab, `document.querySelector("#picture-open").textContent`); !strings.Contains(words, " MB)") {
		t.Errorf("the button says %q", words)
	}
	facts := openView(t, tab, "divergence")
	sameChart(t, r, facts)
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
		return eval[bool](t, tab, fmt.Sprintf(`((stage, view) => !stage.dispatchEvent(new view.WheelEvent("wheel", {deltaY: %d, clientX: 200, clientY: 200, bubbles: true, cancelable: true})))(%s.querySelector("#stage"), document.querySelector("#picture-frame").contentWindow)`, by, viewDocument))
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
	if at := eval[string](t, tab, `document.activeElement.id`); at != "picture-open" {
		t.Errorf("after Escape the focus is at %q", at)
	}
	if wheel(-120) {
		t.Error("the wheel is taken without the focus")
	}
	if i, words := read(); i != -1 || words != "" {
		t.Errorf("after Escape it reads %d, %q", i, words)
	}
	inEveryDress(t, tab, "divergence-histogram")

	// Another divergence, by its choice.
	inView(t, tab, `const c = view.document.querySelector("#choice"); c.value = "tv"; c.dispatchEvent(new view.Event("change"))`)
	if f := factsOf(t, tab); f.Chosen != "tv" || !strings.HasPrefix(f.Words, "The observed total variation") || f.Table.Rows[3][9] == facts.Table.Rows[3][9] {
		t.Errorf("after a choice: %q, %q", f.Chosen, f.Words)
	}
	inView(t, tab, `const c = view.document.querySelector("#choice"); c.value = "claim"; c.dispatchEvent(new view.Event("change"))`)
	savedFiles(t, tab, facts)

	// Another report, another picture, in the same frame; then none.
	eval[bool](t, tab, `(location.hash = "`+svt4+`2", true)`)
	until(t, tab, `document.querySelector("#samples").value === "40000"`, 5*time.Second)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report.inputs.mechanism === "svt4"`, time.Minute)
	until(t, tab, viewHook+`.facts.Table.head[0] === "outcome"`, 5*time.Second)
	sameChart(t, reportOf(t, tab), factsOf(t, tab))
	inEveryDress(t, tab, "divergence-outcomes")
	if n := asked(tab, "view.wasm"); n != 1 {
		t.Errorf("view.wasm was asked for %d times", n)
	}
	click(t, tab, "#picture-open")
	until(t, tab, `!document.querySelector("#picture-frame")`, 5*time.Second)
}

// savedFiles saves the picture and its table, as a user would.
func savedFiles(t *testing.T, tab *browser.Tab, facts viewFacts) {
	t.Helper()
	inView(t, tab, `view.saved = []; const make = view.URL.createObjectURL; view.URL.createObjectURL = (blob) => { view.saved.push(blob); return make.call(view.URL, blob) }`)
	inView(t, tab, `view.HTMLAnchorElement.prototype.click = function () { view.names = [...(view.names ?? []), this.download] }; view.document.querySelector("#png").click(); view.document.querySelector("#csv").click()`)
	until(t, tab, `document.querySelector("#picture-frame").contentWindow.names?.length === 2`, 10*time.Second)
	if names := eval[[]string](t, tab, `document.querySelector("#picture-frame").contentWindow.names.sort()`); names[0] != "dpscope-divergence.csv" || names[1] != "dpscope-divergence.png" {
		t.Errorf("saved as %v", names)
	}
	csv := eval[string](t, tab, `document.querySelector("#picture-frame").contentWindow.saved.find(b => b.type === "text/csv").text()`)
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != len(facts.Table.Rows)+1 || !strings.Contains(lines[1], facts.Table.Rows[0][1]+",") {
		t.Errorf("the table is saved as %q", csv)
	}
	if size := eval[[2]int](t, tab, `createImageBitmap(document.querySelector("#picture-frame").contentWindow.saved.find(b => b.type === "image/png")).then(b => [b.width, b.height])`); size[0] < 300 || size[1] < 300 {
		t.Errorf("the picture is saved with %v pixels", size)
	}
}

// sameChart compares the table beside the picture with the report's chart.
func sameChart(t *testing.T, r core.Report, facts viewFacts) {
	t.Helper()
	ch := r.Evidence.Chart
	total := func(counts []int) (n int) {
		for _, k := range counts {
			n += k
		}
		return n
	}
	n1, n0 := total(ch.First), total(ch.Second)
	epsilon, reversed, sum, rows := r.Claim.Epsilon, r.Results[0].Direction == core.SecondOverFirst, 0.0, 0
	for i := range ch.First {
		a, b := ch.First[i], ch.Second[i]
		if a+b == 0 {
			continue
		}
		rows++
		p, q := float64(a)/float64(n1), float64(b)/float64(n0)
		part := max(0, p-math.Exp(epsilon)*q)
		if reversed {
			part = max(0, q-math.Exp(epsilon)*p)
		}
		sum += part
		ratio := "infinite"
		switch {
		case a == 0:
			ratio = "-infinite"
		case b > 0:
			ratio = fmt.Sprintf("%.6g", math.Log(p/q))
		}
		want := []string{fmt.Sprint(a), fmt.Sprintf("%.6g", p), fmt.Sprint(ch.FirstIn[i]), fmt.Sprint(b), fmt.Sprintf("%.6g", q), fmt.Sprint(ch.SecondIn[i]), ratio}
		if !slices.ContainsFunc(facts.Table.Rows, func(row []string) bool {
			return slices.Equal(row[1:8], want) && row[9] == fmt.Sprintf("%.6g", part)
		}) {
			t.Errorf("bin %d: no row with %v and part %.6g", i, want, part)
		}
	}
	if len(facts.Table.Rows) < rows {
		t.Errorf("%d rows, want %d", len(facts.Table.Rows), rows)
	}
	got := 0.0
	for _, row := range facts.Table.Rows {
		v, err := strconv.ParseFloat(row[9], 64)
		if err != nil {
			t.Fatal(err)
		}
		got += v
	}
	if math.Abs(got-sum) > 1e-4 {
		t.Errorf("the parts add up to %v, want %v", got, sum)
	}
}

// TestViewLive: the picture follows a run on its way.
func TestViewLive(t *testing.T) {
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=3000000&explore=20000&trials=2&seed=3&workers=2")
	openView(t, tab, "divergence")
	eval[bool](t, tab, `(window.seen = [], setInterval(() => { const w = `+viewHook+`.facts.Words; if (w !== window.seen.at(-1)) window.seen.push(w) }, 30), true)`)
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	until(t, tab, `!`+viewHook+`.facts.Words.startsWith("So far")`, 5*time.Second)
	live := 0
	for _, words := range eval[[]string](t, tab, `window.seen`) {
		if strings.HasPrefix(words, "So far, ") {
			live++
		}
	}
	if live < 5 {
		t.Errorf("%d pictures on the way", live)
	}
	sameChart(t, r, factsOf(t, tab))
	notBlank(t, tab, "after a run")
}

// TestViewWithoutWebGL: the picture says that it cannot be, and its table is
// there.
func TestViewWithoutWebGL(t *testing.T) {
	tab := open(t, svt4+"2")
	if _, err := chromedp.Call(tab.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const get = HTMLCanvasElement.prototype.getContext;
		HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return /webgl/.test(kind) ? null : get.call(this, kind, ...rest) };`}); err != nil {
		t.Fatal(err)
	}
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
}

// TestViewCrowd prints how many frames a second there are with 10^5 marks.
func TestViewCrowd(t *testing.T) {
	tab := open(t, svt4+"2")
	if err := resize(tab, 1234, 900); err != nil {
		t.Fatal(err)
	}
	openView(t, tab, "divergence")
	for _, side := range []string{`width = "800px"`, `height = "500px"`} {
		inView(t, tab, `stage.style.`+side)
		time.Sleep(300 * time.Millisecond)
	}
	rates := eval[[3]float64](t, tab, viewHook+`.crowd(100000)`)
	size := eval[[2]int](t, tab, `(c => [c.width, c.height])(`+viewDocument+`.querySelector("#stage canvas:not(#labels)"))`)
	t.Logf("frames a second at %v while what is read changes: %.1f without marks, %.1f with 10^5; %.1f while all is painted anew", size, rates[0], rates[1], rates[2])
	// What is still is painted once: the marks cost next to nothing. A busy machine
	// slows both.
	if size != [2]int{800, 500} || !(rates[1] > 0.5*rates[0]) {
		t.Errorf("at %v, 10^5 marks bring %.1f frames a second down to %.1f", size, rates[0], rates[1])
	}
}
