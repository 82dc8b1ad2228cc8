package e2e

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

var screenshots = flag.String("screenshots", "", "folder to write screenshots of the page to")

func resize(tab *browser.Tab, width, height int64) error {
	return chromedp.Do(tab.Ctx, chromedp.EmulateViewport(width, height))
}

// TestScreenshots writes the README's picture of the page, page.png, and five of each door
// of the page: wide, on a laptop, on a phone, dark, and with a result; and one of an
// element in a page:
//
//	go test ./site/e2e -run TestScreenshots -screenshots ../screens
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots folder")
	}
	tab := open(t, "#v=1&mechanism=svt4&epsilon=1&seed=7&workers=2")
	dress(t, tab, 1280, 800, false)
	click(t, tab, "#run")
	finish(t, tab, 2*time.Minute)
	eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), true)`)
	until(t, tab, drawn, 20*time.Second)
	develop(t, tab, "page", chromedp.CaptureScreenshot())
	for _, r := range rooms[:4] {
		shootRoom(t, r)
	}
	shootEmbed(t, "embed", 1280, false)
}

// drawn is whether the picture has the width of its place, and is of a run that has ended.
const drawn = `((svg) => !svg || !svg.checkVisibility() || (Math.abs(svg.getBoundingClientRect().width - svg.parentElement.getBoundingClientRect().width) < 2 && !document.querySelector("#say").textContent.startsWith("So far")))(document.querySelector("#chart .picture > svg"))`

// shootRoom writes five pictures of a door, as a visitor finds it and with a result.
func shootRoom(t *testing.T, r room) {
	t.Helper()
	at := func(tab *browser.Tab, name string, width, height int64, dark bool) {
		t.Helper()
		dress(t, tab, width, height, dark)
		eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), new Promise((done) => setTimeout(done, 700, true)))`) // marks have moved
		until(t, tab, drawn, 20*time.Second)
		develop(t, tab, r.door+"-"+name, chromedp.CaptureScreenshot())
	}
	tab := live(t, site+"#door="+r.door)
	arrived := map[string]string{ // what is audited on arrival has ended
		"explore":  `document.querySelector("#verdict").dataset.verdict === "no-violation-found"`,
		"code":     `window.dpscope.report?.inputs?.brought !== undefined`,
		"training": `window.dpscope.canaryReport !== null`,
	}
	if there, ok := arrived[r.door]; ok {
		until(t, tab, there+` && document.body.dataset.state !== "running"`, time.Minute)
	}
	at(tab, "wide", 1600, 900, false)
	at(tab, "laptop", 1280, 800, false)
	at(tab, "phone", 360, 740, false)
	at(tab, "dark", 1280, 800, true)
	dress(t, tab, 1280, 800, false)
	r.result(t, tab)
	at(tab, "result", 1280, 800, false)
	tab.Close()
}

// dress sets a tab's size and its colours.
func dress(t *testing.T, tab *browser.Tab, width, height int64, dark bool) {
	t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	must.Get(chromedp.Call(tab.Ctx, emulation.SetEmulatedMedia, media))(t)
	must.Do(t, resize(tab, width, height))
}

// develop writes a picture.
func develop(t *testing.T, tab *browser.Tab, name string, capture chromedp.Action[[]byte]) {
	t.Helper()
	writeText(t, filepath.Join(*screenshots, name+".png"), string(must.Get(chromedp.Run(tab.Ctx, capture))(t)))
}
