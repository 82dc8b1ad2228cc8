package e2e

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

var screenshots = flag.String("screenshots", "", "folder to write screenshots of the page to")

func resize(tab *browser.Tab, width, height int64) error {
	return chromedp.Do(tab.Ctx, chromedp.EmulateViewport(width, height))
}

// TestScreenshots writes the README's picture of the page, page.png, and of each door of the
// page with a result what a wide window, a phone, a dark screen, forced colours and large text
// show:
//
//	go test ./site/e2e -run TestScreenshots -screenshots ../screens
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("no -screenshots folder")
	}
	tab := open(t, "")
	shoot := func(name string, width, height int64, look string) {
		t.Helper()
		dress(t, tab, width, height, look)
		eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), new Promise((done) => setTimeout(done, 700, true)))`) // marks have moved
		until(t, tab, drawn)
		writeText(t, filepath.Join(*screenshots, name+".png"), string(must.Get(chromedp.Run(tab.Ctx, chromedp.CaptureScreenshot()))(t)))
	}
	for _, r := range rooms {
		dress(t, tab, 1280, 800, "light")
		enter(t, tab, r.door)
		r.result(t, tab)
		shoot(r.door+"-wide", 1600, 900, "light")
		shoot(r.door+"-phone", 360, 740, "light")
		shoot(r.door+"-dark", 1280, 800, "dark")
		shoot(r.door+"-forced", 1280, 800, "forced")
		shoot(r.door+"-large", 1280, 800, "large")
		if r.door == "explore" {
			shoot("page", 1280, 800, "light")
		}
	}
}

// drawn is whether the picture has the width of its place, and is of a run that has ended.
const drawn = `((svg) => !svg || !svg.checkVisibility() || (Math.abs(svg.getBoundingClientRect().width - svg.parentElement.getBoundingClientRect().width) < 2 && !document.querySelector("#say").textContent.startsWith("So far")))(document.querySelector("#chart .picture > svg"))`

// dress sets a tab's size and how it looks: light, dark, by forced colours, or large, with
// text of twice the size.
func dress(t *testing.T, tab *browser.Tab, width, height int64, look string) {
	t.Helper()
	scheme, forced, text := "light", "none", int64(16)
	switch look {
	case "dark":
		scheme = "dark"
	case "forced":
		forced = "active"
	case "large":
		text = 32
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "forced-colors", Value: forced}}}
	must.Get(chromedp.Call(tab.Ctx, emulation.SetEmulatedMedia, media))(t)
	must.Do(t, resize(tab, width, height))
	must.Get(chromedp.Call(tab.Ctx, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: text}}))(t)
}
