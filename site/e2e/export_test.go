package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// catchFiles keeps what a tab saves: name and blob of each file. savedFile returns
// the last one, of which base64 is asked since it may be a picture.
const catchFiles = `(() => {
	globalThis.saved = [];
	const make = URL.createObjectURL;
	globalThis.blobs = new Map();
	URL.createObjectURL = (blob) => { const url = make(blob); blobs.set(url, blob); return url; };
	HTMLAnchorElement.prototype.click = function () { saved.push({name: this.download, blob: blobs.get(this.href)}); };
	return true;
})()`

type savedFile struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// saving presses a button and returns the file that it saves.
func saving(t *testing.T, tab *browser.Tab, button string) savedFile {
	t.Helper()
	eval[bool](t, tab, `(saved.length = 0, document.querySelector('`+button+`').click(), true)`)
	until(t, tab, `saved.length === 1`)
	return eval[savedFile](t, tab, `(async () => {
		const {name, blob} = saved[0], bytes = new Uint8Array(await blob.arrayBuffer());
		let text = "";
		for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
		return {name, type: blob.type, data: btoa(text)};
	})()`)
}

// TestResult: a result has all that was certified as a table, and each chart with its
// numbers. A chart comes as SVG that needs no styles, as a picture with pixels in it, and as
// the numbers of the report, unrounded. The report as a page stands alone: read with scripts
// off, from a server that has nothing else, on a small dark phone, it has what the result
// shows.
func TestResult(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	eval[bool](t, tab, catchFiles)
	click(t, tab, "#run")
	report := finish(t, tab)
	unfold(t, tab, "fold-bounds", "fold-curves")
	until(t, tab, `document.querySelectorAll("#tradeoff .picture > svg, #renyi .picture > svg").length === 2`)
	rows := eval[[][]string](t, tab, `[...document.querySelectorAll("#certified > .carded tbody tr")].map(r => [...r.children].map(c => c.textContent.trim()))`)
	if len(rows) != len(report.Tables[0].Rows) || len(rows) < 2 || !strings.HasPrefix(rows[0][0], "* ") || !strings.Contains(strings.Join(rows[0], " "), "exceeds the claim") || slices.ContainsFunc(rows, func(row []string) bool { return slices.Contains(row, "") }) {
		t.Errorf("what was certified reads %q", rows)
	}
	for _, c := range []struct{ id, list string }{{"tradeoff", "tradeoff"}, {"renyi", "tables.find(t => t.name === 'renyi').rows"}} {
		if n := eval[[3]int](t, tab, fmt.Sprintf(`[window.dpscope.report.%s.length, document.querySelectorAll("#%s .picture .target title").length, document.querySelectorAll("#%[2]s details tbody tr").length]`, c.list, c.id)); n[0] == 0 || n[1] != n[0] || n[2] != n[0] {
			t.Errorf("%s: %d points in the report, %d can be read in the picture, %d lines are in the table", c.id, n[0], n[1], n[2])
		}
	}
	click(t, tab, "#tradeoff input[value=logarithmic]")
	until(t, tab, `document.querySelector("#tradeoff .picture > svg").getAttribute("aria-label").includes("logarithmic") && !/NaN|Infinity|undefined/.test(["tradeoff", "renyi", "certified"].map((id) => document.getElementById(id).innerHTML).join())`)

	until(t, tab, `document.querySelectorAll("#more-files button").length === 3`)
	file := func(n int, ending string) []byte {
		t.Helper()
		f := saving(t, tab, `#more-files button:nth-child(`+strconv.Itoa(n)+`)`)
		if f.Name != "dpscope-svt4-eps1-seed7-outputs"+ending {
			t.Errorf("saved as %q of type %q", f.Name, f.Type)
		}
		return f.Data
	}
	vector := file(1, ".svg")
	if err := xml.Unmarshal(vector, new(any)); err != nil || bytes.Count(vector, []byte("<path")) < 10 || bytes.Contains(vector, []byte("var(")) || bytes.Contains(vector, []byte(`class="`)) {
		t.Errorf("the SVG is no XML, has few marks or needs styles: %v %.300s", err, vector)
	}
	decoded := must.Get(png.Decode(bytes.NewReader(file(2, ".png"))))(t)
	colours := map[color.Color]bool{}
	for y := range decoded.Bounds().Dy() {
		for x := range decoded.Bounds().Dx() {
			colours[decoded.At(x, y)] = true
		}
	}
	if decoded.Bounds().Dx() != 2*(760+32) || len(colours) < 20 {
		t.Errorf("%v, %d colours", decoded.Bounds(), len(colours))
	}
	first, want := 0, 0
	for _, row := range must.Get(csv.NewReader(bytes.NewReader(file(3, ".csv"))).ReadAll())(t)[1:] {
		if !strings.HasPrefix(row[0], "event: ") { // of outputs that are in the rows above
			first += must.Get(strconv.Atoi(row[1]))(t)
		}
	}
	for _, n := range report.Evidence.Chart.First {
		want += int(n)
	}
	if first != want || want == 0 {
		t.Errorf("%d outputs on the first dataset, the report has %d", first, want)
	}
	if digits := string(saving(t, tab, `#tradeoff .files button:nth-child(3)`).Data); !regexp.MustCompile(`0\.\d{12}`).MatchString(digits) {
		t.Errorf("the table is rounded: %.300s", digits)
	}

	saved := saving(t, tab, "#save-html")
	if saved.Name != "dpscope-svt4-eps1-seed7.html" || saved.Type != "text/html" || bytes.Contains(saved.Data, []byte("<script")) {
		t.Errorf("the page is %q of type %q, or has a script", saved.Name, saved.Type)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Errorf("the page asks for %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(saved.Data)
	}))
	defer server.Close()
	alone := visit(t, "about:blank")
	must.Get(chromedp.Call(alone.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))(t)
	dress(t, alone, 360, 900, "dark")
	must.Do(t, chromedp.Do(alone.Ctx, chromedp.Navigate(server.URL)))
	words := eval[string](t, alone, `document.body.innerText`)
	banner, _ := report.Banner()
	for _, want := range []string{banner, "What does this mean?", "Trade-off curve"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := eval[string](t, alone, `[document.querySelectorAll(".picture svg").length > 1, [...document.querySelectorAll("main section")].filter((s) => !s.textContent.trim()).length, getComputedStyle(document.body).backgroundColor, document.documentElement.scrollWidth, document.querySelector(".raw pre").textContent.includes('"schemaVersion"')].join("; ")`); got != "true; 0; rgb(14, 18, 20); 360; true" {
		t.Errorf("charts, empty sections, paper, width and the report itself: %s", got)
	}
	quiet(t, alone)
}

// TestTheme: the choice holds at once, on the pages of docs and at the next visit;
// both colour schemes of the styles are the same, chosen or the system's.
func TestTheme(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	paper := func(tab *browser.Tab) string {
		return eval[string](t, tab, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector("select") ?? document.body).color`)
	}
	choose := func(theme string) {
		eval[bool](t, tab, `(() => { const s = document.querySelector("#theme"); s.value = "`+theme+`"; s.dispatchEvent(new Event("change")); return true })()`)
	}
	dress(t, tab, 1100, 1000, "light")
	light := paper(tab)
	dress(t, tab, 1100, 1000, "dark")
	dark := paper(tab)
	if light == dark {
		t.Fatalf("light and dark are both %s", light)
	}
	choose("light")
	if got := paper(tab); got != light {
		t.Errorf("light chosen on a dark system: %s, want %s", got, light)
	}
	dress(t, tab, 1100, 1000, "light")
	choose("dark")
	if got := paper(tab); got != dark {
		t.Errorf("dark chosen on a light system: %s, want %s", got, dark)
	}
	for _, address := range []string{site, site + "docs/index.html"} {
		again := must.Get(browser.Open(profile(t), address))(t)
		until(t, again, `document.readyState === "complete"`)
		if got := eval[string](t, again, `getComputedStyle(document.body).backgroundColor`); !strings.HasPrefix(dark, got) {
			t.Errorf("%s: %s at the next visit, want %s", address, got, dark)
		}
		again.Close()
	}
	// The user's own colours go before any theme, in the picture's document too.
	picture := visit(t, site+"view.html")
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}, {Name: "prefers-color-scheme", Value: "dark"}}}
	must.Get(chromedp.Call(picture.Ctx, emulation.SetEmulatedMedia, media))(t)
	if panel := eval[string](t, picture, `getComputedStyle(document.documentElement).getPropertyValue("--panel").trim()`); panel != "Canvas" {
		t.Errorf("with forced colours the picture's panel is %s", panel)
	}
	choose("")
	if got := paper(tab); got != light {
		t.Errorf("the system's chosen: %s, want %s", got, light)
	}
}

// before has a script run in a tab ahead of any page's own.
func before(t *testing.T, tab *browser.Tab, script string) {
	t.Helper()
	must.Get(chromedp.Call(tab.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}))(t)
}

// TestStorageDenied: a browser that denies storage runs audits; that it forgets
// the theme is said.
func TestStorageDenied(t *testing.T) {
	t.Parallel()
	tab := visit(t, "about:blank")
	before(t, tab, `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } });
		navigator.serviceWorker.register = () => Promise.reject(new DOMException("storage is denied", "SecurityError"));`)
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.Navigate(site)))
	until(t, tab, `document.body.dataset.state === "ready"`)
	until(t, tab, `document.querySelector("#offline").textContent.includes("not kept for use offline (storage is denied)")`)
	eval[bool](t, tab, `(() => { const s = document.querySelector("#theme"); s.value = "dark"; s.dispatchEvent(new Event("change")); return true })()`)
	until(t, tab, `document.querySelector("#notice").textContent.includes("does not let the page store anything")`)
	if theme := eval[string](t, tab, `document.documentElement.dataset.theme`); theme != "dark" {
		t.Errorf("the theme is %q", theme)
	}
	quiet(t, tab)
}
