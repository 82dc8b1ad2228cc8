package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// catchFiles keeps what a tab saves: name and blob of each file. savedFile returns
// the last one, of which base64 is asked since it may be a picture.
const catchFiles = `(() => {
	globalThis.saved = [];
	HTMLAnchorElement.prototype.click = function () {
		saved.push({name: this.download, blob: fetch(this.href).then((answer) => answer.blob()) });
	};
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
	until(t, tab, `saved.length === 1`, 10*time.Second)
	return eval[savedFile](t, tab, `(async () => {
		const {name, blob} = saved[0], bytes = new Uint8Array(await blob.arrayBuffer());
		let text = "";
		for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
		return {name, type: blob.type, data: btoa(text)};
	})()`)
}

// TestSaveCharts: a chart comes as SVG that needs no styles, as a picture with
// pixels in it, and as the numbers of the report, unrounded.
func TestSaveCharts(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	eval[bool](t, tab, catchFiles)
	click(t, tab, "#run")
	report := finish(t, tab, 2*time.Minute)

	for _, chart := range []struct{ at, name string }{{"#chart", "outputs"}, {"#tradeoff", "tradeoff"}} {
		until(t, tab, `document.querySelectorAll("`+chart.at+` .files button").length === 3`, 10*time.Second)
		stem := "dpscope-svt4-eps1-seed7-" + chart.name
		button := func(n int) string { return chart.at + ` .files button:nth-child(` + strconv.Itoa(n) + `)` }

		vector := saving(t, tab, button(1))
		if vector.Name != stem+".svg" || vector.Type != "image/svg+xml" {
			t.Errorf("the SVG is %q of type %q", vector.Name, vector.Type)
		}
		marks := 0
		for d := xml.NewDecoder(bytes.NewReader(vector.Data)); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s is not XML: %v", vector.Name, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				marks++
				for _, a := range e.Attr {
					if a.Name.Local == "class" || strings.Contains(a.Value, "var(") || strings.HasPrefix(a.Value, "http") && a.Name.Local == "href" {
						t.Errorf("%s: <%s %s=%q> needs something else", vector.Name, e.Name.Local, a.Name.Local, a.Value)
					}
				}
			}
		}
		if marks < 40 || !bytes.Contains(vector.Data, []byte("Share")) && chart.name == "outputs" {
			t.Errorf("%s has %d elements", vector.Name, marks)
		}

		picture := saving(t, tab, button(2))
		decoded, err := png.Decode(bytes.NewReader(picture.Data))
		if err != nil || picture.Name != stem+".png" {
			t.Fatalf("%s: %v", picture.Name, err)
		}
		colours := map[[3]uint32]bool{}
		for y := range decoded.Bounds().Dy() {
			for x := range decoded.Bounds().Dx() {
				r, g, b, _ := decoded.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		if decoded.Bounds().Dx() != 2*(760+32) || len(colours) < 20 {
			t.Errorf("%s: %v, %d colours", picture.Name, decoded.Bounds(), len(colours))
		}
		if *screenshots != "" {
			if err := os.WriteFile(filepath.Join(*screenshots, picture.Name), picture.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}

		table := saving(t, tab, button(3))
		rows, err := csv.NewReader(bytes.NewReader(table.Data)).ReadAll()
		if err != nil || len(rows) < 3 || table.Name != stem+".csv" {
			t.Fatalf("%s: %d rows, %v", table.Name, len(rows), err)
		}
		if chart.name == "outputs" {
			var first int
			for _, row := range rows[1:] {
				if strings.HasPrefix(row[0], "event: ") {
					continue // of outputs that are in the rows above
				}
				n, err := strconv.Atoi(row[1])
				if err != nil {
					t.Fatal(err)
				}
				first += n
			}
			want := 0
			for _, n := range report.Evidence.Chart.First {
				want += int(n)
			}
			if first != want || want == 0 {
				t.Errorf("%s: %d outputs on the first dataset, the report has %d", table.Name, first, want)
			}
		} else if digits := strings.Join(rows[len(rows)/2], ","); len(digits) < 60 {
			t.Errorf("%s is rounded: %s", table.Name, digits)
		}
	}
}

// TestSavePage: the report as a page stands alone. It is read with scripts off,
// from a server that has nothing else, and holds what the result shows.
func TestSavePage(t *testing.T) {
	t.Parallel()
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2")
	eval[bool](t, tab, catchFiles)
	click(t, tab, "#run")
	report := finish(t, tab, 2*time.Minute)
	banner, _ := report.Banner()
	saved := saving(t, tab, "#save-html")
	if saved.Name != "dpscope-svt4-eps1-seed7.html" || saved.Type != "text/html" {
		t.Errorf("the page is %q of type %q", saved.Name, saved.Type)
	}
	for _, bad := range []string{"<script", "<button", "<input", "<link", "<iframe", "javascript:"} {
		if bytes.Contains(bytes.ToLower(saved.Data), []byte(bad)) {
			t.Errorf("the page has %s", bad)
		}
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Errorf("the page asks for %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(saved.Data)
	}))
	defer server.Close()
	for _, dark := range []bool{false, true} {
		alone, err := browser.Open(profile(t), "about:blank")
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		if _, err := chromedp.Call(alone.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
			t.Fatal(err)
		}
		dress(t, alone, 360, 900, dark)
		if err := chromedp.Do(alone.Ctx, chromedp.Navigate(server.URL)); err != nil {
			t.Fatal(err)
		}
		facts := eval[struct {
			Words  string   `json:"words"`
			Charts int      `json:"charts"`
			Paper  string   `json:"paper"`
			Wide   float64  `json:"wide"`
			Raw    string   `json:"raw"`
			Blank  []string `json:"blank"`
		}](t, alone, `({
			words: document.body.innerText, charts: document.querySelectorAll(".picture svg").length,
			paper: getComputedStyle(document.body).backgroundColor, wide: document.documentElement.scrollWidth,
			raw: document.querySelector(".raw pre").textContent,
			blank: [...document.querySelectorAll("main section")].filter((s) => !s.textContent.trim()).map((s) => s.id),
		})`)
		for _, want := range []string{banner, "What does this mean?", "Trade-off curve", "no-violation" /* never said of this one */} {
			if strings.Contains(facts.Words, want) == (want == "no-violation") {
				t.Errorf("dark %v: the page's words and %q", dark, want)
			}
		}
		if facts.Charts < 2 || len(facts.Blank) > 0 || facts.Wide > 360 {
			t.Errorf("dark %v: %d charts, blank sections %v, %v px wide on 360", dark, facts.Charts, facts.Blank, facts.Wide)
		}
		if (facts.Paper == "rgb(14, 18, 20)") != dark {
			t.Errorf("dark %v: the paper is %s", dark, facts.Paper)
		}
		if !strings.Contains(facts.Raw, `"schemaVersion"`) {
			t.Error("the report itself is not in the page")
		}
		if *screenshots != "" {
			develop(t, alone, "saved-"+strconv.FormatBool(dark), chromedp.FullScreenshot(100))
			dress(t, alone, 1200, 900, dark)
			develop(t, alone, "saved-wide-"+strconv.FormatBool(dark), chromedp.FullScreenshot(100))
		}
		for _, e := range alone.Errors() {
			t.Errorf("the saved page complains: %s", e)
		}
	}
}

// TestSaveCanaries: a canary report is saved as a page too, and its chart as files
// with the report's name.
func TestSaveCanaries(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&source=gaussian-sum&n=60&k=8&m=32")
	eval[bool](t, tab, catchFiles)
	click(t, tab, "#canaries-run")
	report := planted(t, tab, 2*time.Minute)
	saved := saving(t, tab, "#save-html")
	stem := strings.TrimSuffix(saved.Name, ".html")
	if !strings.HasPrefix(stem, "dpscope-canaries-gaussian-sum-") {
		t.Errorf("the page is %q", saved.Name)
	}
	for _, want := range []string{"<svg", "What does this mean?", "&quot;schemaVersion&quot;", strings.SplitN(report.Summary, ":", 2)[0]} {
		if !bytes.Contains(saved.Data, []byte(want)) && !bytes.Contains(saved.Data, []byte(strings.ReplaceAll(want, "&quot;", `"`))) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<button", "<script", "<select"} {
		if bytes.Contains(saved.Data, []byte(bad)) {
			t.Errorf("the page has %s", bad)
		}
	}
	table := saving(t, tab, "#planted .files button:nth-child(3)")
	rows, err := csv.NewReader(bytes.NewReader(table.Data)).ReadAll()
	if err != nil || len(rows) < 5 || table.Name != stem+"-bounds.csv" {
		t.Errorf("%s: %d rows, %v", table.Name, len(rows), err)
	}
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
	dress(t, tab, 1100, 1000, false)
	light := paper(tab)
	dress(t, tab, 1100, 1000, true)
	dark := paper(tab)
	if light == dark {
		t.Fatalf("light and dark are both %s", light)
	}
	choose("light")
	if got := paper(tab); got != light {
		t.Errorf("light chosen on a dark system: %s, want %s", got, light)
	}
	dress(t, tab, 1100, 1000, false)
	choose("dark")
	if got := paper(tab); got != dark {
		t.Errorf("dark chosen on a light system: %s, want %s", got, dark)
	}
	for _, address := range []string{site, site + "docs/index.html"} {
		again, err := browser.Open(profile(t), address)
		if err != nil {
			t.Fatal(err)
		}
		until(t, again, `document.readyState === "complete"`, 10*time.Second)
		if got := eval[string](t, again, `getComputedStyle(document.body).backgroundColor`); !strings.HasPrefix(dark, got) {
			t.Errorf("%s: %s at the next visit, want %s", address, got, dark)
		}
		again.Close()
	}
	// The user's own colours go before any theme, in the picture's document too.
	picture, err := browser.Open(profile(t), "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}, {Name: "prefers-color-scheme", Value: "dark"}}}
	if _, err := chromedp.Call(picture.Ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(picture.Ctx, chromedp.Navigate(site+"view.html")); err != nil {
		t.Fatal(err)
	}
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
	if _, err := chromedp.Call(tab.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		t.Fatal(err)
	}
}

// TestStorageDenied: a browser that denies storage runs audits; that it forgets
// the theme is said.
func TestStorageDenied(t *testing.T) {
	t.Parallel()
	tab, err := browser.Open(profile(t), "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	before(t, tab, `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("denied", "SecurityError"); } });
		navigator.serviceWorker.register = () => Promise.reject(new DOMException("storage is denied", "SecurityError"));`)
	if err := chromedp.Do(tab.Ctx, chromedp.Navigate(site)); err != nil {
		t.Fatal(err)
	}
	until(t, tab, `document.body.dataset.state === "ready"`, 30*time.Second)
	until(t, tab, `document.querySelector("#offline").textContent.includes("not kept for use offline (storage is denied)")`, 10*time.Second)
	eval[bool](t, tab, `(() => { const s = document.querySelector("#theme"); s.value = "dark"; s.dispatchEvent(new Event("change")); return true })()`)
	until(t, tab, `document.querySelector("#notice").textContent.includes("does not let the page store anything")`, 5*time.Second)
	if theme := eval[string](t, tab, `document.documentElement.dataset.theme`); theme != "dark" {
		t.Errorf("the theme is %q", theme)
	}
	for _, e := range tab.Errors() {
		t.Errorf("the page complains: %s", e)
	}
}

// TestHelp: the dialog opens by key and by button, says what epsilon means and
// what the verdict does not, and its keys are those that the page knows.
func TestHelp(t *testing.T) {
	t.Parallel()
	tab := open(t, "")
	pressKey(t, tab, "?")
	until(t, tab, `document.querySelector("#help").open`, 5*time.Second)
	words := eval[string](t, tab, `document.querySelector("#help").innerText`)
	for _, want := range []string{"epsilon", "is no proof of privacy and does not certify the claim", "run the audit", "Esc", "Page Up"} {
		if !strings.Contains(words, want) {
			t.Errorf("the help lacks %q: %s", want, words)
		}
	}
	eval[bool](t, tab, `(document.querySelector("#help form button").click(), true)`)
	until(t, tab, `!document.querySelector("#help").open`, 5*time.Second)
	click(t, tab, "#help-open")
	until(t, tab, `document.querySelector("#help").open`, 5*time.Second)
	click(t, tab, "#help-terms")
	until(t, tab, `!document.querySelector("#help").open && document.querySelector("#meaning").getBoundingClientRect().top < innerHeight`, 5*time.Second)
}

// TestAddressVersion: an address of a version to come, or of none that can be, is
// named, and what is understood of it is used.
func TestAddressVersion(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"7": "The address is of version 7, newer than the version 1 that is known here", "x": `The version in the address is "x", must be a whole number from 1`, "0": `"0", must be`,
	} {
		if !gear.All() && version == "0" {
			continue
		}
		tab := open(t, "#v="+version+"&mechanism=svt3&epsilon=0.5&to-come=1")
		until(t, tab, `document.querySelector('#notice [data-key="address"]')?.textContent.includes(`+strconv.Quote(want)+`)`, 10*time.Second)
		if got := eval[string](t, tab, `document.querySelector("#mechanism").value + document.querySelector("#epsilon").value`); got != "svt30.5" {
			t.Errorf("version %s: the form has %q", version, got)
		}
	}
}
