package e2e

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// recordedAs is what the command line writes of an audit in a format.
func recordedAs(t *testing.T, format string) string {
	t.Helper()
	out, err := exec.Command(program, append([]string{"audit", "-format", format}, embedFlags...)...).Output()
	if len(out) == 0 { // the exit code tells the verdict
		t.Fatalf("dpscope audit -format %s: %v", format, err)
	}
	return string(out)
}

// TestEmbedRecorded: before anything is loaded an element shows what was recorded of its
// audit, marked as that, in the colours of the page; the instrument takes its place
// without a jump.
func TestEmbedRecorded(t *testing.T) {
	t.Parallel()
	card, text := recordedAs(t, "svg"), recordedAs(t, "json")
	body := `<dp-audit data-name="a" recorded="svt4.svg" ` + embedAttributes + `></dp-audit><p id="below">Below.</p>
		<dp-audit data-name="b" recorded="svt4.json" ` + embedAttributes + `></dp-audit>
		<dp-audit data-name="c" recorded="svt4.svg" mechanism="svt4" epsilon="2.0" seed="42"></dp-audit>
		<dp-audit data-name="d" recorded="nothing.png" mechanism="svt4"></dp-audit>`
	page := `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Host</title><body>` + logScript + body + `<script defer src="` + site + `dp-audit.js"></script></body></html>`
	tab := hostingFiles(t, "127.0.0.1", map[string]string{"/": page, "/svt4.svg": card, "/svt4.json": text})
	root := func(name string) string { return `one("` + name + `").shadowRoot` }
	until(t, tab, root("a")+`.querySelector("img").naturalWidth === 592 && `+root("b")+`.querySelectorAll(".bar").length === 2 && `+root("d")+`.querySelector("figcaption").textContent.startsWith("Nothing recorded")`, 10*time.Second)
	report := runAudit(t, embedFlags...)
	if alt := eval[string](t, tab, root("a")+`.querySelector("img").alt`); alt != "svt4: "+report.Headline {
		t.Errorf("the picture is called %q, must be the verdict %q", alt, report.Headline)
	}
	if said := eval[string](t, tab, root("b")+`.querySelector("figure").innerText`); !strings.Contains(said, report.Headline) || !strings.Contains(said, "Recorded, not run in this browser yet.") || !strings.Contains(said, "Certified: at least "+fmt.Sprint(*report.LowerBound)) {
		t.Errorf("of the report it shows %q", said)
	}
	if wide := eval[[]float64](t, tab, `[...`+root("b")+`.querySelectorAll(".bar")].map((bar) => bar.getBoundingClientRect().width)`); !(wide[1] > 10 && wide[0] > 1.4*wide[1]) {
		t.Errorf("the bars of %v and 1 are %v px long", *report.LowerBound, wide)
	}
	if said := eval[string](t, tab, root("c")+`.querySelector("figcaption").textContent`); said != "Recorded with other settings: epsilon 1." {
		t.Errorf("a record of another epsilon is said to be %q", said)
	}
	for _, url := range tab.Requests() {
		if strings.HasPrefix(url, site) && url != site+"dp-audit.js" {
			t.Errorf("asks for %s before anything was pressed", url)
		}
	}

	// Dark, where the page turns dark: the corner of the picture is its ground.
	ground := root("a") + `.querySelector("img").decode().then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))).then(() => getComputedStyle(` + root("a") + `.querySelector("img")).colorScheme)`
	eval[bool](t, tab, `(document.documentElement.style.colorScheme = "dark", true)`)
	until(t, tab, root("a")+`.querySelector(".box").dataset.theme === "dark"`, 5*time.Second)
	if scheme := eval[string](t, tab, ground); scheme != "dark" {
		t.Errorf("the picture is painted in the scheme %s", scheme)
	}
	if got := cornerOf(t, tab, "a"); got.R > 60 {
		t.Errorf("on a dark page the picture's ground is %v", got)
	}
	eval[bool](t, tab, `(document.documentElement.style.colorScheme = "light", true)`)
	until(t, tab, root("a")+`.querySelector(".box").dataset.theme === "light"`, 5*time.Second)
	if got := cornerOf(t, tab, "a"); got.R < 200 {
		t.Errorf("on a light page the picture's ground is %v", got)
	}

	// What stands below moves neither when the frame is asked for nor when it is there.
	below := `document.querySelector("#below").getBoundingClientRect().top + scrollY`
	before := eval[float64](t, tab, below)
	eval[bool](t, tab, `(one("a").addEventListener("dpaudit-ready", () => { window.swapped = `+below+`; }), `+root("a")+`.querySelector("button").click(), window.clicked = `+below+`, true)`)
	until(t, tab, heard("result", "a")+`.length === 1`, time.Minute)
	if got := eval[[]float64](t, tab, `[clicked, swapped]`); got[0] != before || got[1] != before {
		t.Errorf("what is below stood at %v, then at %v", before, got)
	}
	if eval[bool](t, tab, root("a")+`.querySelector("figure").checkVisibility()`) {
		t.Error("the record is still shown beside the result")
	}
	// Another record, and none.
	eval[bool](t, tab, `(one("b").recorded = "svt4.svg", true)`)
	until(t, tab, root("b")+`.querySelector("img")?.naturalWidth === 592`, 5*time.Second)
	eval[bool](t, tab, `(one("b").recorded = null, true)`)
	until(t, tab, root("b")+`.querySelector("figure").hidden`, 5*time.Second)
}

// cornerOf is the colour of the picture's upper left corner, as painted.
func cornerOf(t *testing.T, tab *browser.Tab, name string) color.RGBA {
	t.Helper()
	at := eval[[]float64](t, tab, `((box) => [box.x, box.y])(one("`+name+`").shadowRoot.querySelector("img").getBoundingClientRect())`)
	shot, err := chromedp.Run(tab.Ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	return color.RGBAModel.Convert(picture.At(int(at[0])+12, int(at[1])+8)).(color.RGBA)
}
