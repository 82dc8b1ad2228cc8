package e2e

import (
	"testing"
	"time"

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
		set(t, tab, "c-runs", "40")
		set(t, tab, "c-seed", "1")
		click(t, tab, "#calibrate")
		until(t, tab, calibrationDone, 2*time.Minute)
	}},
}
