package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The panel of the tool's own error rate.
const (
	calibrationDone  = `document.querySelector("#calibration-result code")`
	calibrationTable = `[...document.querySelectorAll("#calibration-result tbody tr")].map(r => [...r.children].map(c => c.textContent))`
)

// calibrating opens the page, and the panel's form.
func calibrating(t *testing.T, runs, seed string) *browser.Tab {
	t.Helper()
	tab := open(t, svt4+"2")
	enter(t, tab, "errors")
	set(t, tab, "c-runs", runs)
	set(t, tab, "c-seed", seed)
	return tab
}

func pressKey(t *testing.T, tab *browser.Tab, key string) {
	t.Helper()
	must.Do(t, chromedp.Do(tab.Ctx, chromedp.KeyEvent(key)))
}

// TestCalibration: by the keyboard alone, the panel's counts come though a worker was lost,
// as table and words. Stop, or Escape, keeps what there is and says so, with the
// focus at hand, and so does a core that crashes; the page goes on.
func TestCalibration(t *testing.T) {
	t.Parallel()
	tab := calibrating(t, "3", "1") // one audit of the fifteen raises an alarm, by the command line
	eval[bool](t, tab, `(document.querySelector("#c-seed").focus(), window.plain = Worker.prototype.postMessage, Worker.prototype.postMessage = function (m, ...more) {
		if (m.type === "calibrate") window.coordinator = this;
		return window.plain.call(this, m, ...more);
	}, true)`)
	pressKey(t, tab, kb.Enter)
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("of 15 audits") && document.querySelectorAll("#calibration-result tbody tr").length === 6`)
	eval[bool](t, tab, `(window.dpscope.engine.endWorker(0), true)`)
	if eval[bool](t, tab, `document.body.dataset.state !== "running" || document.querySelector("#calibrate-stop").disabled || !["calibrate", "verify", "run"].every((id) => document.getElementById(id).disabled)`) {
		t.Error("while it runs: Stop must be enabled, Run and Verify disabled")
	}
	until(t, tab, calibrationDone)
	until(t, tab, `document.body.dataset.state === "done" && !document.querySelector("#run").disabled && !document.querySelector("#calibrate").disabled && document.querySelector("#calibrate-stop").disabled`)
	rows := eval[[][]string](t, tab, calibrationTable)
	plan := calibration.Small()
	if last := rows[len(rows)-1]; len(rows) != len(plan.Mechanisms)+1 || last[0] != "all together" || last[1] != "15 of 15" || last[2] != "1" || last[5] != calibration.Percent(plan.Beta) {
		t.Errorf("the table is %q", rows)
	}
	until(t, tab, `((said) => said.includes("audits of mechanisms that keep their claim") && said.includes("significantly above"))(document.querySelector("#live").textContent)`)
	if said := eval[string](t, tab, `document.querySelector("#calibration-result").textContent`); !strings.Contains(said, "The overall rate hides") || !strings.Contains(said, "bench calibration -sharp") || eval[bool](t, tab, `/NaN|Infinity|undefined|null/.test(document.querySelector("#calibration-result").innerHTML)`) {
		t.Errorf("nothing says how blind these audits are, or what is shown is no number: %q", said)
	}

	set(t, tab, "c-runs", "5000")
	for _, key := range testsize.Of([]string{kb.Escape}, []string{kb.Escape, kb.Enter}) { // from anywhere, and on the button that stops
		until(t, tab, `!document.querySelector("#calibrate").disabled`)
		eval[bool](t, tab, `(document.querySelector("#calibrate").focus(), true)`)
		pressKey(t, tab, kb.Enter)
		until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left") && document.activeElement.id === "calibrate-stop"`)
		pressKey(t, tab, key)
		until(t, tab, `document.querySelector("#calibration-status").textContent.includes("Stopped after") && document.body.dataset.state === "done" && document.activeElement.id === "calibrate" && document.querySelector("#calibration-result").textContent.includes("fixed beforehand")`)
	}
	click(t, tab, "#calibrate")
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left")`)
	eval[bool](t, tab, `(window.coordinator.onerror({preventDefault() {}, message: "crashed by the test"}), true)`)
	until(t, tab, `document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes("crashed by the test") && /ended after \d+ audits/.test(document.querySelector("#calibration-status").textContent) && document.querySelector("#calibration-progress").hidden && document.querySelector("#calibrate").disabled && document.querySelector("#calibrate-stop").disabled`)
	if rows := eval[[][]string](t, tab, calibrationTable); len(rows) != 6 || strings.HasPrefix(rows[5][1], "0 ") {
		t.Errorf("left is %q", rows)
	}
	press(t, tab, "core")
	until(t, tab, `document.body.dataset.state === "ready" && !document.querySelector("#calibrate").disabled`)
	set(t, tab, "c-runs", "1")
	click(t, tab, "#calibrate")
	until(t, tab, calibrationDone)
}
