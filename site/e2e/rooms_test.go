package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// A room is a door of the page, by its name in the address, and what a visitor does in it
// until it shows a result.
type room struct {
	door   string
	result func(t *testing.T, tab *browser.Tab)
}

// rooms are all doors of the page. An audit in them takes seconds.
var rooms = []room{
	{"explore", func(t *testing.T, tab *browser.Tab) {
		eval[bool](t, tab, `(location.hash = "#v=1&mechanism=svt4&epsilon=1&seed=7&samples=20000&trials=2&workers=2", true)`)
		until(t, tab, `document.querySelector("#mechanism").value === "svt4" && document.querySelector("#samples").value === "20000"`, 10*time.Second)
		if eval[string](t, tab, `String(window.dpscopeOptions?.still)`) == "true" {
			click(t, tab, "#run") // for a visitor it runs by itself
		}
		until(t, tab, settled+` && window.dpscope.report.subject === "svt4"`, time.Minute)
	}},
	{"code", func(t *testing.T, tab *browser.Tab) {
		write(t, tab, ownCode)
		set(t, tab, "own-samples", "5000")
		set(t, tab, "own-seed", "3")
		runOwn(t, tab)
	}},
	{"data", func(t *testing.T, tab *browser.Tab) {
		drop(t, tab, "count.csv", noisyCounts(3000, 0.5, 1))
		until(t, tab, samplesRead, time.Minute)
		fill(t, tab, "epsilon", "1")
		runSamples(t, tab, time.Minute)
	}},
	{"training", func(t *testing.T, tab *browser.Tab) {
		for id, value := range map[string]string{"k-n": "256", "k-k": "16", "k-seed": "3"} {
			set(t, tab, id, value)
		}
		click(t, tab, "#canaries-run")
		planted(t, tab, time.Minute)
	}},
	{"accounting", func(t *testing.T, tab *browser.Tab) {
		for id, value := range map[string]string{"a-sigma": "1.1", "a-rate": "0.01", "a-steps": "1000", "a-delta": "1e-6"} {
			set(t, tab, id, value)
		}
		click(t, tab, "#account")
		until(t, tab, `document.querySelector("#account-result .picture > svg")`, 30*time.Second)
	}},
	{"errors", func(t *testing.T, tab *browser.Tab) {
		set(t, tab, "c-runs", "3")
		set(t, tab, "c-seed", "1")
		click(t, tab, "#calibrate")
		until(t, tab, calibrationDone, 2*time.Minute)
	}},
}

// TestEveryDoor walks through every door: by the keyboard alone Tab comes to what starts an
// audit, past every control and out of the page; with a result axe-core finds nothing, and
// nothing is wider than a small phone. In the first gear each door has one of the windows
// and colours, in the second all, and the keyboard with a result too.
func TestEveryDoor(t *testing.T) {
	t.Parallel()
	for i, r := range rooms {
		t.Run(r.door, func(t *testing.T) {
			tab := open(t, "")
			if r.door != "explore" {
				enter(t, tab, r.door)
			}
			walk := func(size [2]int64) {
				t.Helper()
				dress(t, tab, size[0], size[1], false)
				eval[bool](t, tab, `(document.activeElement.blur(), scrollTo(0, 0), document.querySelector(".logo").focus(), true)`)
				for n := 0; eval[[]any](t, tab, focused)[0] != starts[r.door]; n++ {
					if n == 120 {
						t.Fatalf("%v: Tab does not come to #%s", size, starts[r.door])
					}
					pressKey(t, tab, kb.Tab)
				}
				allTheWay(t, tab, fmt.Sprint(size), 3)
			}
			for _, size := range gear.Of(windows[i%2:i%2+1], windows) {
				walk(size)
			}
			dress(t, tab, 1280, 800, false)
			r.result(t, tab)
			eval[bool](t, tab, `(document.querySelectorAll("main details").forEach((d) => { d.open = true; }), true)`)
			for j, size := range windows {
				for k, dark := range []bool{false, true} {
					if gear.All() || (j == i%2 && k == i/2%2) {
						dress(t, tab, size[0], size[1], dark)
						axeIn(t, tab, fmt.Sprintf("%v, dark %v", size, dark), "document")
					}
				}
			}
			dress(t, tab, 360, 740, false)
			until(t, tab, drawn, 5*time.Second)
			if wide := eval[string](t, tab, overflowing); wide != "" {
				t.Errorf("wider than 360 px: %s", wide)
			}
			if gear.All() {
				walk(windows[0])
			}
		})
	}
}
