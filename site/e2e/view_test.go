package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"gonum.org/v1/gonum/mat"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
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
		until(t, tab, opener, 5*time.Second)
		eval[bool](t, tab, `(`+opener+`.click(), true)`)
	}
	until(t, tab, viewFrame+`.contentWindow.dpscopeView?.facts.View`, 60*time.Second)
	until(t, tab, fmt.Sprintf(`%s.facts.View === %q || %s.facts.Views.some(v => v.id === %[2]q)`, viewHook, view, viewHook), 10*time.Second)
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
	ground := eval[string](t, tab, `(() => { const c = document.createElement("canvas").getContext("2d"), s = document.createElement("i"); s.style.color = "var(--panel)"; document.body.append(s); c.fillStyle = getComputedStyle(s).color; s.remove(); c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).join() })()`)
	// The colours change with the next message.
	for deadline := time.Now().Add(5 * time.Second); p.Ground != ground && time.Now().Before(deadline); {
		p = paintedIn(t, tab)
	}
	if p.Colours < 8 || p.Most > 0.995 || p.Most < 0.2 {
		t.Errorf("%s: %d colours, one of them on %.1f %% of the picture", what, p.Colours, 100*p.Most)
	}
	box := eval[[2]float64](t, tab, `(b => [b.clientWidth, b.clientHeight])(`+viewDocument+`.querySelector("#stage"))`)
	scale := eval[float64](t, tab, `devicePixelRatio`)
	if math.Abs(float64(p.Width)-box[0]*scale) > 1.5 || math.Abs(float64(p.Height)-box[1]*scale) > 1.5 {
		t.Errorf("%s: %d by %d pixels for a stage of %v at %v pixels each", what, p.Width, p.Height, box, scale)
	}
	if p.Ground != ground {
		t.Errorf("%s: on a ground of %s, the page has %s", what, p.Ground, ground)
	}
	return p
}

// inEveryDress looks at a view narrow and wide, light and dark; in the first gear, where
// software paints all pictures, at every other view light and wide, and at the rest
// dark and narrow.
func inEveryDress(t *testing.T, tab *browser.Tab, what string) {
	t.Helper()
	grounds := map[bool]string{}
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{360, 1400} {
			if *screenshots == "" && (dark != (width == 360) || !gear.All() && dark != (len(what)%2 == 0)) {
				continue
			}
			dress(t, tab, width, 900, dark)
			until(t, tab, fmt.Sprintf(`((f, of) => Math.abs(f.clientWidth - of.clientWidth + parseFloat(getComputedStyle(of).paddingLeft) + parseFloat(getComputedStyle(of).paddingRight)) < 2)(%s, %[1]s.parentElement) && document.documentElement.clientWidth === %d && %s.laid.Plot.W > 0`, viewFrame, width, viewHook), 5*time.Second)
			until(t, tab, `(f => f.clientHeight >= f.contentDocument.querySelector("#all").offsetHeight)(`+viewFrame+`)`, 5*time.Second)
			name := fmt.Sprintf("%s, %d px, dark: %v", what, width, dark)
			p := notBlank(t, tab, name)
			grounds[dark] = p.Ground
			if over := eval[string](t, tab, `(d => [...d.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "visible" && e.clientWidth).map(e => e.id || e.className).join())(`+viewDocument+`)`); over != "" {
				t.Errorf("%s: %s runs over", name, over)
			}
			if *screenshots != "" {
				eval[bool](t, tab, `(`+viewFrame+`.parentElement.scrollIntoView(), true)`)
				develop(t, tab, strings.ReplaceAll(fmt.Sprintf("view-%s-%d-dark-%v", what, width, dark), " ", "-"), chromedp.Screenshot(".view:has(> iframe)"))
			}
		}
	}
	if len(grounds) == 2 && grounds[false] == grounds[true] {
		t.Errorf("%s: light and dark have the same ground %s", what, grounds[false])
	}
}

// inView dispatches an event in the picture's document.
func inView(t *testing.T, tab *browser.Tab, script string) {
	t.Helper()
	eval[bool](t, tab, `(((stage, view) => { `+script+` })(`+viewDocument+`.querySelector("#stage"), `+viewFrame+`.contentWindow), true)`)
}

// TestViewDivergence: the picture is loaded only when asked for, its values are
// the report's, and hand and keys read, zoom, move and leave.
func TestViewDivergence(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=laplace-mean-raw-count&epsilon=1&samples=20000&trials=2&seed=7&workers=2")
	click(t, tab, "#run")
	r := finish(t, tab, time.Minute)
	if n := asked(tab, "view.wasm"); n != 0 {
		t.Error("the picture is loaded unasked")
	}
	if words := eval[string](t, tab, `document.querySelector(".picture-open").textContent`); !strings.Contains(words, " MB)") {
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
	if at := eval[string](t, tab, `document.activeElement.className`); at != "picture-open" {
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
	until(t, tab, `window.dpscope.report.subject === "svt4"`, time.Minute)
	until(t, tab, viewHook+`.facts.Table.head[0] === "outcome"`, 5*time.Second)
	sameChart(t, reportOf(t, tab), factsOf(t, tab))
	inEveryDress(t, tab, "divergence-outcomes")
	if n := asked(tab, "view.wasm"); n != 1 {
		t.Errorf("view.wasm was asked for %d times", n)
	}
	click(t, tab, "#scene-tools > .picture-open")
	until(t, tab, `!`+viewFrame, 5*time.Second)
}

// savedFiles saves the picture and its table, as a user would.
func savedFiles(t *testing.T, tab *browser.Tab, facts viewFacts) {
	t.Helper()
	inView(t, tab, `view.saved = []; const make = view.URL.createObjectURL; view.URL.createObjectURL = (blob) => { view.saved.push(blob); return make.call(view.URL, blob) }`)
	inView(t, tab, `view.HTMLAnchorElement.prototype.click = function () { view.names = [...(view.names ?? []), this.download] }; view.document.querySelector("#png").click(); view.document.querySelector("#csv").click()`)
	until(t, tab, viewFrame+`.contentWindow.names?.length === 2`, 10*time.Second)
	if names := eval[[]string](t, tab, viewFrame+`.contentWindow.names.sort()`); names[0] != "dpscope-divergence.csv" || names[1] != "dpscope-divergence.png" {
		t.Errorf("saved as %v", names)
	}
	csv := eval[string](t, tab, viewFrame+`.contentWindow.saved.find(b => b.type === "text/csv").text()`)
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != len(facts.Table.Rows)+1 || !strings.Contains(lines[1], facts.Table.Rows[0][1]+",") {
		t.Errorf("the table is saved as %q", csv)
	}
	if *screenshots != "" {
		data, err := base64.StdEncoding.DecodeString(eval[string](t, tab, viewFrame+`.contentWindow.saved.find(b => b.type === "image/png").bytes().then(b => b.toBase64())`))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, "view-saved.png"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if size := eval[[2]int](t, tab, `createImageBitmap(`+viewFrame+`.contentWindow.saved.find(b => b.type === "image/png")).then(b => [b.width, b.height])`); size[0] < 300 || size[1] < 300 {
		t.Errorf("the picture is saved with %v pixels", size)
	}
}

// sameChart compares the table beside the picture with the report's chart.
func sameChart(t *testing.T, r pair.Report, facts viewFacts) {
	t.Helper()
	ch := r.Evidence.Chart
	total := func(counts []int) (n int) {
		for _, k := range counts {
			n += k
		}
		return n
	}
	n1, n0 := total(ch.First), total(ch.Second)
	epsilon, reversed, sum, rows := r.Claim.Epsilon, r.Deciding().Direction == report.SecondOverFirst, 0.0, 0
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

// rowsOf are the cells of the table, those of the page as well as the hook's.
func rowsOf(t *testing.T, tab *browser.Tab, facts viewFacts, head ...string) [][]string {
	t.Helper()
	if !slices.Equal(facts.Table.Head, head) {
		t.Fatalf("%s: heads %q, want %q", facts.View, facts.Table.Head, head)
	}
	inView(t, tab, `view.document.querySelector("#facts").open = true`)
	until(t, tab, viewDocument+`.querySelector("#table tbody")`, 5*time.Second)
	shown := eval[[][]string](t, tab, `[...`+viewDocument+`.querySelectorAll("#table tbody tr")].map(r => [...r.children].map(c => c.textContent))`)
	if !slices.EqualFunc(shown, facts.Table.Rows, slices.Equal[[]string]) {
		t.Errorf("%s: the table shows %q, the program says %q", facts.View, shown, facts.Table.Rows)
	}
	return facts.Table.Rows
}

// TestViewPlane: outputs of several numbers have a plane, which holds the report's
// counts and follows a run on its way; outputs of one have none.
func TestViewPlane(t *testing.T) {
	gear.Long(t) // its values, as above; a run on its way is followed in TestViewLive
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt3&epsilon=1&samples=70000&explore=5000&trials=2&seed=3&workers=2&p.m=4")
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)
	if facts := openView(t, tab, "divergence"); facts.ChoiceLabel != "Show" || facts.Choices[len(facts.Choices)-1].ID != "plane" {
		t.Fatalf("%s: %v", facts.ChoiceLabel, facts.Choices)
	}
	inView(t, tab, `const c = view.document.querySelector("#choice"); c.value = "plane"; c.dispatchEvent(new view.Event("change"))`)
	until(t, tab, viewHook+`.facts.Chosen === "plane"`, 5*time.Second)
	samePlane(t, tab, r)
	if words := factsOf(t, tab).Words; !strings.HasPrefix(words, "65\u202f536 of 70\u202f000 certification outputs a side") || !strings.Contains(words, r.Evidence.Chart.Plane.Words) {
		t.Errorf("it says %q", words)
	}
	// Keys read cell after cell and zoom both ways.
	inView(t, tab, `stage.focus()`)
	key := func(k string) string {
		t.Helper()
		inView(t, tab, `stage.dispatchEvent(new view.KeyboardEvent("keydown", {key: "`+k+`", bubbles: true, cancelable: true}))`)
		return eval[string](t, tab, `JSON.stringify(`+viewHook+`.laid.Labels)`)
	}
	whole := key("ArrowRight")
	row := factsOf(t, tab).Table.Rows[0]
	if words := eval[string](t, tab, viewHook+`.read.Words`); !strings.HasPrefix(words, fmt.Sprintf("score %s, direction %s: first dataset %s (", row[0], row[1], row[2])) {
		t.Errorf("the first cell reads %q, the table has %q", words, row)
	}
	if key("+") == whole || key("0") != whole {
		t.Error("the plane does not zoom there and back")
	}
	inEveryDress(t, tab, "plane")
	savedFiles(t, tab, factsOf(t, tab))

	// On its way.
	set(t, tab, "samples", "1200000")
	until(t, tab, `location.hash.includes("samples=1200000")`, 5*time.Second)
	eval[bool](t, tab, `(window.seen = [], setInterval(() => { const w = `+viewHook+`.facts.Words; if (w !== window.seen.at(-1)) window.seen.push(w) }, 30), true)`)
	click(t, tab, "#run")
	r = finish(t, tab, 2*time.Minute)
	until(t, tab, viewHook+`.facts.Words.startsWith("65\u202f536 of 1\u202f200\u202f000")`, 5*time.Second)
	samePlane(t, tab, r)
	live := 0
	for _, words := range eval[[]string](t, tab, `window.seen`) {
		if strings.HasPrefix(words, "So far, ") && strings.Contains(words, "by the witness's score") {
			live++
		}
	}
	if live < 2 {
		t.Errorf("%d planes on the way", live)
	}

	other, err := audit.Canonical(runAudit(t, "-mechanism", "laplace-mean", "-samples", "2000", "-seed", "1"))
	if err != nil {
		t.Fatal(err)
	}
	drop(t, tab, "other.json", string(other))
	until(t, tab, viewHook+`.facts.ChoiceLabel === "Divergence" && `+viewHook+`.facts.Chosen === "" && `+viewHook+`.facts.Table.title.includes("bin")`, 5*time.Second)
}

// samePlane compares the table beside the plane with the report's.
func samePlane(t *testing.T, tab *browser.Tab, r pair.Report) {
	t.Helper()
	p := r.Evidence.Chart.Plane
	rows := rowsOf(t, tab, factsOf(t, tab), "score of the witness", "direction: "+p.Words, "first dataset", "share", "second dataset", "share", "ln ratio", "±", "in the event")
	n := min(r.Termination.SamplesUsed, 1<<16)
	var of [2]int
	for i := range p.First {
		a, b := p.First[i], p.Second[i]
		of[0], of[1] = of[0]+a, of[1]+b
		if a+b == 0 {
			continue
		}
		if len(rows) == 0 {
			t.Fatal("too few rows")
		}
		ratio := "infinite"
		switch {
		case a == 0:
			ratio = "-infinite"
		case b > 0:
			ratio = six(math.Log(float64(a) / float64(b)))
		}
		row := rows[0]
		want := []string{row[0], row[1], fmt.Sprint(a), six(float64(a) / float64(n)), fmt.Sprint(b), six(float64(b) / float64(n)), ratio, row[7], "partly"}
		switch e, j := p.ScoreEdges, i%(len(p.ScoreEdges)+1); {
		case j > 0 && e[j-1] >= *p.Border:
			want[8] = map[bool]string{true: "yes", false: "no"}[p.Above]
		case j < len(e) && e[j] <= *p.Border:
			want[8] = map[bool]string{true: "no", false: "yes"}[p.Above]
		}
		if !slices.Equal(row, want) {
			t.Errorf("cell %d is %q, want %q", i, row, want)
		}
		rows = rows[1:]
	}
	if len(rows) > 0 || of != [2]int{n, n} {
		t.Errorf("%d rows too many; the plane holds %v outputs, want %d", len(rows), of, n)
	}
}

func six(x float64) string { return fmt.Sprintf("%.6g", x) }

// TestViewCurves: trade-off, search and bound over time hold the report's values,
// and what the page heard on its way; so does the bound of a run until the claim is refuted.
func TestViewCurves(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&samples=200000&trials=4&explore=10000&seed=7&workers=2")
	until(t, tab, `window.dpscope.report`, 10*time.Second) // the example, from a file
	if views := openView(t, tab, "divergence").Views; slices.ContainsFunc(views, func(v struct{ ID, Words string }) bool { return v.ID == "bound" }) {
		t.Error("a report from a file has a course")
	}
	click(t, tab, "#run")
	r := finish(t, tab, 2*time.Minute)

	rows := rowsOf(t, tab, openView(t, tab, "tradeoff"), "false positive rate", "at least", "at most", "false negative rate", "at least", "at most", "claimed: not below", "refutes")
	curve := pair.ReportCurves(r).Tradeoff
	if len(rows) != len(curve.Points) {
		t.Fatalf("%d points, want %d", len(rows), len(curve.Points))
	}
	refuting := 0
	for i, p := range curve.Points {
		claimed := max(0, 1-math.E*p.FPRUpper, (1-p.FPRUpper)/math.E) // of epsilon = 1
		want := []string{six(p.FPR), six(p.FPRLower), six(p.FPRUpper), six(p.FNR), six(p.FNRLower), six(p.FNRUpper), six(claimed), "no"}
		if claimed > p.FNRUpper {
			want[7] = "yes"
			refuting++
		}
		if got, err := strconv.ParseFloat(rows[i][6], 64); err == nil && math.Abs(got-claimed) < 1e-5 {
			want[6] = rows[i][6]
		}
		// The ends of the band are rounded outwards, by less than a unit of the sixth digit.
		for k, exact := range map[int]float64{1: p.FPRLower, 2: p.FPRUpper, 4: p.FNRLower, 5: p.FNRUpper} {
			got, err := strconv.ParseFloat(rows[i][k], 64)
			outward := got - exact
			if k == 1 || k == 4 {
				outward = exact - got
			}
			if err == nil && outward >= -1e-12 && outward <= 1e-5*exact {
				want[k] = rows[i][k]
			}
		}
		if !slices.Equal(rows[i], want) {
			t.Errorf("point %d is %q, want %q", i, rows[i], want)
		}
	}
	if refuting == 0 || !strings.Contains(factsOf(t, tab).Words, "refuted furthest where") {
		t.Errorf("%d points refute the claim; it says %q", refuting, factsOf(t, tab).Words)
	}
	inEveryDress(t, tab, "tradeoff")
	inView(t, tab, `const c = view.document.querySelector("#choice"); c.value = "log"; c.dispatchEvent(new view.Event("change"))`)
	inEveryDress(t, tab, "tradeoff-log")

	rows = rowsOf(t, tab, openView(t, tab, "search"), "pair", "number", "value", "learner", "chosen")
	for i, trial := range r.Trials {
		want := []string{trial.Pair.Label, fmt.Sprint(trial.Trial + 1), six(trial.Value), trial.Learner, map[bool]string{true: "yes", false: "no"}[trial.Chosen]}
		if !slices.Equal(rows[i], want) {
			t.Errorf("pair %d is %q, want %q", i, rows[i], want)
		}
	}
	if len(rows) != len(r.Trials) {
		t.Errorf("%d pairs, want %d", len(rows), len(r.Trials))
	}
	inEveryDress(t, tab, "search")

	sameCourse(t, tab, r, "not certified")
	inEveryDress(t, tab, "bound")
	set(t, tab, "samples", "2000000")
	eval[bool](t, tab, `(document.querySelector("#until-refuted").click(), true)`)
	until(t, tab, `location.hash.includes("until-refuted=true") && location.hash.includes("samples=2000000")`, 5*time.Second)
	click(t, tab, "#run")
	r = finish(t, tab, 2*time.Minute)
	if r.Termination.Reason != audit.Refuted || len(r.Tradeoff) > 0 {
		t.Fatalf("the run ended %+v with %d points", r.Termination, len(r.Tradeoff))
	}
	until(t, tab, viewHook+`.facts.Words.includes("All of them hold together") && `+viewHook+`.facts.Table.rows.at(-1)[3] === "certified"`, 5*time.Second)
	sameCourse(t, tab, r, "if stopped there")

	// A report from elsewhere has none of that run's course.
	other, err := audit.Canonical(runAudit(t, "-mechanism", "noisy-max-laplace", "-samples", "2000", "-seed", "1"))
	if err != nil {
		t.Fatal(err)
	}
	drop(t, tab, "other.json", string(other))
	until(t, tab, viewHook+`.facts.Table.title.includes("outcome") && !`+viewHook+`.facts.Views.some(v => v.id === "bound")`, 5*time.Second)
}

// sameCourse compares the end of the course with the report, and looks that it
// is one.
func sameCourse(t *testing.T, tab *browser.Tab, r pair.Report, holds string) {
	t.Helper()
	rows := rowsOf(t, tab, openView(t, tab, "bound"), "pairs of outputs", "lower bound on "+r.Tables[0].Rows[0].Quantity, "claimed", "holds")
	end := len(rows) - 1
	used := r.Termination.SamplesUsed
	if r.Plan.Mode == pair.UntilRefuted {
		used = r.Termination.Outputs / 2
	}
	if want := []string{fmt.Sprint(used), six(*r.Tables[0].Rows[0].LowerBound), "1", "certified"}; !slices.Equal(rows[end], want) {
		t.Errorf("the end is %q, want %q", rows[end], want)
	}
	before := 0
	for _, row := range rows[:end] {
		pairs, err := strconv.Atoi(row[0])
		if err != nil || pairs <= before || pairs > used || row[3] != holds {
			t.Errorf("%q after %d pairs, should hold %q", row, before, holds)
		}
		before = pairs
	}
	if end < 1 {
		t.Error("no moment on the way")
	}
}

// TestViewCanaries: the pictures of a canary audit hold its report's values.
func TestViewCanaries(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&n=512&k=16&seed=3&quantile=0.1")
	if !eval[bool](t, tab, `document.querySelector("#picture").hidden`) {
		t.Error("a picture is offered before there is a report")
	}
	click(t, tab, "#canaries-run")
	r := planted(t, tab, 2*time.Minute)

	rows := rowsOf(t, tab, openView(t, tab, "runs"), "inside", "of", "fresh", "of", "runs")
	cells := r.Evidence.Certified.Table.Cells
	if len(rows) != len(cells) {
		t.Fatalf("%d rows, want %d", len(rows), len(cells))
	}
	for i, c := range cells {
		if want := []string{fmt.Sprint(c.X), fmt.Sprint(r.In.Canaries), fmt.Sprint(c.Y), fmt.Sprint(r.Out.Canaries), fmt.Sprint(c.Runs)}; !slices.Equal(rows[i], want) {
			t.Errorf("cell %d is %q, want %q", i, rows[i], want)
		}
	}
	inEveryDress(t, tab, "canaries")

	canarySpace(t, tab, r)

	rows = rowsOf(t, tab, openView(t, tab, "moments"), "canaries", "figure", "observed", "were they independent")
	n := len(r.In.Moments)
	for l := range n {
		for i, s := range []*canary.Side{r.In, r.Out} {
			if got := rows[i*n+l]; got[2] != six(s.Moments[l]) || got[3] != six(math.Pow(s.Rate, float64(l+1))) {
				t.Errorf("moment %d is %q, want %v", l+1, got, s.Moments[l])
			}
		}
	}
	if n != 4 || len(rows) != 2*4+2*5 { // of 1, 2, 4, 8, 16 canaries
		t.Errorf("%d moments, %d rows", n, len(rows))
	}
	inEveryDress(t, tab, "moments")

	rows = rowsOf(t, tab, openView(t, tab, "intervals"), "interval", "bound", "kind")
	i := 0
	for _, b := range r.Tables[0].Rows {
		if b.LowerBound == nil {
			continue
		}
		kind := map[bool]string{true: "valid", false: "asymptotic, or by an assumption"}[b.Valid]
		if b.Chosen {
			kind += ", the audit's own"
		}
		if want := []string{string(b.Method), six(*b.LowerBound), kind}; !slices.Equal(rows[i], want) {
			t.Errorf("%q, want %q", rows[i], want)
		}
		i++
	}
	if i < 5 || len(rows) != i {
		t.Errorf("%d bounds, %d rows", i, len(rows))
	}
	inEveryDress(t, tab, "intervals")
}

// canarySpace looks at the explored scores of a report of 16 canaries a side.
func canarySpace(t *testing.T, tab *browser.Tab, r canary.Report) {
	t.Helper()
	p := r.Evidence.Portrait
	if p == nil || len(p.In) != 64 || len(p.In[0]) != 16 || len(p.Out[63]) != 16 || p.Correlated != 512 {
		t.Fatalf("portrait: %+v", p)
	}
	choose := func(id string) viewFacts {
		t.Helper()
		inView(t, tab, fmt.Sprintf(`const c = view.document.querySelector("#choice"); c.value = %q; c.dispatchEvent(new view.Event("change"))`, id))
		until(t, tab, fmt.Sprintf(`%s.facts.Chosen === %q`, viewHook, id), 5*time.Second)
		return factsOf(t, tab)
	}
	score := func(run, i int) float64 { return *slices.Concat(p.In[run], p.Out[run])[i] }
	names := make([]string, 32)
	for i := range names {
		names[i] = fmt.Sprintf("%s %d", []string{"inside", "fresh"}[i/16], i%16+1)
	}

	f := openView(t, tab, "space")
	head := []string{"canary", "scores", "above the threshold", "mean", "least", "largest", "first component", "second component"}
	rows := rowsOf(t, tab, f, head...)
	centred := mat.NewDense(32, 64, nil)
	var squares [2]float64
	for i, row := range rows {
		above, sum, least, most := 0, 0.0, math.Inf(1), math.Inf(-1)
		for run := range 64 {
			x := score(run, i)
			sum, least, most = sum+x, min(least, x), max(most, x)
			if x > r.Evidence.Threshold {
				above++
			}
			mean := 0.0
			for k := range 32 {
				mean += score(run, k) / 32
			}
			centred.Set(i, run, x-mean)
		}
		if want := []string{names[i], "64", fmt.Sprint(above), six(sum / 64), six(least), six(most)}; !slices.Equal(row[:6], want) {
			t.Errorf("%q, want %q", row, want)
		}
		for c := range squares {
			x, err := strconv.ParseFloat(row[6+c], 64)
			if err != nil {
				t.Fatal(err)
			}
			squares[c] += x * x
		}
	}
	var svd mat.SVD
	svd.Factorize(centred, mat.SVDNone)
	for c, s := range svd.Values(nil)[:2] {
		if math.Abs(squares[c]-s*s) > 1e-3*s*s {
			t.Errorf("component %d has a variance of %v, want %v", c, squares[c], s*s)
		}
	}
	if !strings.Contains(f.Words, "no certificate") || len(rows) != 32 || len(f.Choices) != 3 {
		t.Errorf("%d canaries, %q, %q", len(rows), f.Words, f.Choices)
	}
	inEveryDress(t, tab, "canary-space-plane")

	choose("scores")
	rowsOf(t, tab, factsOf(t, tab), head...)
	if words := read(t, tab); !strings.HasPrefix(words, "inside 1: ") || !strings.Contains(words, " of 64 scores above the threshold") {
		t.Errorf("it reads %q", words)
	}
	inEveryDress(t, tab, "canary-space-scores")

	rows = rowsOf(t, tab, choose("matrix"), "canary", "with", "correlation", "block")
	at := 0
	for i, row := range p.Correlations {
		for k, c := range row {
			block := []string{"inside", "across", "fresh"}[i/16+k/16]
			if want := []string{names[k], names[i], six(*c), block}; !slices.Equal(rows[at], want) {
				t.Fatalf("%q, want %q", rows[at], want)
			}
			at++
		}
	}
	if at != 496 || len(rows) != at {
		t.Errorf("%d correlations, %d rows", at, len(rows))
	}
	if words := read(t, tab); !strings.HasPrefix(words, "inside 1 and inside 2: correlation ") {
		t.Errorf("it reads %q", words)
	}
	inEveryDress(t, tab, "canary-space-matrix")

	openView(t, tab, "pair")
	for _, two := range [][2]int{{1, 2}, {5, 16}} {
		f := choose(fmt.Sprintf("%d-%d", two[0], two[1]))
		rows := rowsOf(t, tab, f, "run", "side", fmt.Sprintf("canary %d", two[0]), fmt.Sprintf("canary %d", two[1]), "in the event")
		for i, row := range rows {
			run, side := i%64, i/64
			x, y := score(run, 16*side+two[0]-1), score(run, 16*side+two[1]-1)
			n := 0
			for _, s := range []float64{x, y} {
				if s > r.Evidence.Threshold {
					n++
				}
			}
			if want := []string{fmt.Sprint(run + 1), []string{"inside", "fresh"}[side], six(x), six(y), fmt.Sprint(n)}; !slices.Equal(row, want) {
				t.Errorf("%q, want %q", row, want)
			}
		}
		if len(rows) != 128 || len(f.Choices) != 120 {
			t.Errorf("%d dots, %d pairs", len(rows), len(f.Choices))
		}
	}
	inEveryDress(t, tab, "canary-pair")
}

// read is what the picture's first item reads.
func read(t *testing.T, tab *browser.Tab) string {
	t.Helper()
	inView(t, tab, `stage.focus(); stage.dispatchEvent(new view.KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
	until(t, tab, viewHook+`.read.Words`, 5*time.Second)
	return eval[string](t, tab, viewHook+`.read.Words`)
}

// TestViewLive: the picture follows a run on its way, until it is stopped.
func TestViewLive(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	openView(t, tab, "divergence")
	eval[bool](t, tab, `(window.seen = new Set(), setInterval(() => { const w = `+viewHook+`.facts.Words; if (w.startsWith("So far, ")) window.seen.add(w) }, 30), true)`)
	click(t, tab, "#run")
	until(t, tab, `window.seen.size >= 5`, time.Minute)
	eval[bool](t, tab, `(document.querySelector("#stop").click(), true)`)
	r := finish(t, tab, time.Minute)
	until(t, tab, `!`+viewHook+`.facts.Words.startsWith("So far")`, 5*time.Second)
	sameChart(t, r, factsOf(t, tab))
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
		size := 600 * 2 / scale
		if i == 2 {
			size = 600 * 2 / 1.5
		}
		if err := chromedp.Do(tab.Ctx, chromedp.EmulateViewport(int64(size), 900, chromedp.EmulateScale(scale))); err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			openView(t, tab, "divergence")
		case 2:
			eval[bool](t, tab, `(`+viewFrame+`.scrollIntoView(), true)`)
			box := eval[[2]float64](t, tab, `(b => [b.left + b.width / 2, b.top + 60])(`+viewFrame+`.getBoundingClientRect())`)
			if err := chromedp.Do(tab.Ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0], box[1])); err != nil {
				t.Fatal(err)
			}
		}
		until(t, tab, fmt.Sprintf(`%s.contentWindow.dpscopeView?.facts.View && %[1]s.contentWindow.dpscopeViewShell.scale === %v`, viewFrame, scale), 30*time.Second)
		p := notBlank(t, tab, fmt.Sprintf("at %v pixels", scale))
		if box := eval[float64](t, tab, viewDocument+`.querySelector("#stage").clientWidth`); math.Abs(float64(p.Width)-scale*box) > 1.5 {
			t.Errorf("%d pixels over %v at %v each", p.Width, box, scale)
		}
		if *screenshots != "" {
			develop(t, tab, fmt.Sprintf("view-sharp-%v", scale), chromedp.Screenshot(".view:has(> iframe)"))
		}
	}
}

// TestViewWithoutWebGL: the picture says that it cannot be, and its table is
// there.
func TestViewWithoutWebGL(t *testing.T) {
	t.Parallel()
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

// TestViewLost: WebGL is taken away while the picture is dragged. The picture says so,
// comes back where it was, with its table, and can be dragged again; one that is taken
// again and again leaves the table.
func TestViewLost(t *testing.T) {
	t.Parallel()
	tab := open(t, svt4+"2")
	click(t, tab, "#run")
	finish(t, tab, time.Minute)
	openView(t, tab, "tradeoff")
	eval[bool](t, tab, fmt.Sprintf(`((d) => { const c = d.querySelector("#choice"); c.value = "log"; c.dispatchEvent(new Event("change")); d.querySelector("#in").click(); d.querySelector("#in").click(); return true; })(%s)`, viewDocument))
	until(t, tab, viewHook+`.facts.Chosen === "log" && !`+viewHook+`.laid.Whole`, 5*time.Second)
	const drag = `const box = stage.getBoundingClientRect(), at = (kind, x) => stage.dispatchEvent(new view.PointerEvent(kind, {clientX: box.left + x, clientY: box.top + 150, pointerId: 1, button: 0, bubbles: true, pointerType: "mouse"}));
		stage.setPointerCapture = () => {};
		at("pointerdown", 300); at("pointermove", 260); at("pointermove", 240);`
	const lose = `stage.querySelector("canvas:not(#labels)").getContext("webgl2").getExtension("WEBGL_lose_context").loseContext();`
	lost := func() (place string) {
		t.Helper()
		inView(t, tab, drag)
		place = eval[string](t, tab, `JSON.stringify(`+viewHook+`.read.Place)`) // before the frame is made anew
		inView(t, tab, lose+`view.before = true;`)
		return place
	}
	place := lost()
	until(t, tab, viewDocument+`?.querySelector("#status")?.textContent.includes("being painted anew") || !`+viewFrame+`.contentWindow.before`, 10*time.Second)
	again := `!` + viewFrame + `.contentWindow.before && ` + viewHook + `?.read.Place?.View === "tradeoff"`
	until(t, tab, again, 60*time.Second)
	if got := eval[string](t, tab, `JSON.stringify(`+viewHook+`.read.Place)`); got != place {
		t.Errorf("it is at %s, was at %s", got, place)
	}
	if said := eval[string](t, tab, viewDocument+`.querySelector("#status:not([hidden])")?.textContent ?? ""`); !strings.Contains(said, "painted anew, where you were") {
		t.Errorf("it says %q", said)
	}
	notBlank(t, tab, "after WebGL was lost")
	if facts := factsOf(t, tab); facts.View != "tradeoff" || facts.Chosen != "log" || len(facts.Table.Rows) < 3 {
		t.Errorf("it shows %+v", facts)
	}
	inView(t, tab, drag+`at("pointerup", 240);`)
	until(t, tab, `JSON.stringify(`+viewHook+`.read.Place) !== `+fmt.Sprintf("%q", place), 5*time.Second)
	if !eval[bool](t, tab, viewDocument+`.querySelector("#status").hidden`) {
		t.Error("it goes on saying so when the hand goes on")
	}
	for range 2 {
		lost()
		until(t, tab, again, 60*time.Second)
	}
	inView(t, tab, lose)
	until(t, tab, viewDocument+`.querySelector("#status").textContent.includes("again and again")`, 10*time.Second)
	if !eval[bool](t, tab, `(d => d.querySelector("#stage").hidden && !d.querySelector("#facts").hidden && d.querySelectorAll("#views button").length > 1)(`+viewDocument+`)`) {
		t.Error("the table is hidden, or an empty stage is not")
	}
}

// TestViewIdle: a picture that nobody touches costs next to nothing.
func TestViewIdle(t *testing.T) {
	gear.Long(t)
	tab := open(t, svt4+"2")
	if err := resize(tab, 1234, 900); err != nil {
		t.Fatal(err)
	}
	openView(t, tab, "divergence")
	if _, err := chromedp.Call(tab.Ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		t.Fatal(err)
	}
	spent := func() map[string]float64 {
		m, err := chromedp.Call(tab.Ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
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
