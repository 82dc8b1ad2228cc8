package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The panel of the tool's own error rate.
const (
	calibrationSaid  = `document.querySelector("#calibration-result .headline")`
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

// sameRates compares the panel's table with what the panel's own command counts.
func sameRates(t *testing.T, tab *browser.Tab) calibration.Result {
	t.Helper()
	cli := strings.Fields(eval[string](t, tab, calibrationDone+`.textContent`))
	out, err := exec.Command(cli[0], append(cli[1:], "-format", "json")...).Output()
	var want calibration.Result
	if err == nil {
		err = json.Unmarshal(out, &want)
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cli, err, out)
	}
	rows := eval[[][]string](t, tab, calibrationTable)
	if len(rows) != len(want.Rows)+1 || len(rows) < 3 {
		t.Fatalf("%d rows, want one more than %d", len(rows), len(want.Rows))
	}
	all := calibration.Total(want.Rows)
	check := func(got []string, name string, c calibration.Count) {
		t.Helper()
		if line := []string{name, fmt.Sprintf("%d of %d", c.Of, c.Of), fmt.Sprint(c.Alarms), c.RateWords(), c.IntervalWords(), calibration.Percent(want.Plan.Beta)}; strings.Join(got, "|") != strings.Join(line, "|") {
			t.Errorf("the page says %q, the command %q", got, line)
		}
	}
	for i, r := range want.Rows {
		check(rows[i], r.Plan.Mechanism, r.Count)
	}
	check(rows[len(rows)-1], "all together", all)
	if said := eval[string](t, tab, calibrationSaid+`.textContent`); said != all.Sentence(want.Plan.Beta) {
		t.Errorf("the page says %q, want %q", said, all.Sentence(want.Plan.Beta))
	}
	return want
}

// TestCalibration: by the keyboard alone, the panel's counts are those of the
// command line, though a worker was lost; the picture and the words are there.
func TestCalibration(t *testing.T) {
	t.Parallel()
	runs, seed := gear.Of(3, 12), gear.Of("1", "3") // one audit of the fifteen raises an alarm, by the command line
	tab := calibrating(t, fmt.Sprint(runs), seed)
	if words := eval[string](t, tab, `document.querySelector("#calibration-audits").textContent`); words != fmt.Sprint(5*runs, " audits.") {
		t.Errorf("it says %q", words)
	}
	eval[bool](t, tab, `(document.querySelector("#c-seed").focus(), window.states = new Set(), new MutationObserver(() => {
		window.states.add([document.activeElement.id, document.body.dataset.state, document.querySelector("#run").disabled].join());
	}).observe(document.querySelector("#calibration-result"), {subtree: true, childList: true, characterData: true}), true)`)
	pressKey(t, tab, kb.Enter)
	until(t, tab, fmt.Sprintf(`document.querySelector("#calibration-phase").textContent.includes("of %d audits") && document.querySelectorAll("#calibration-result .target").length === 6`, 5*runs), time.Minute)
	eval[bool](t, tab, `(window.dpscope.engine.endWorker(0), true)`)
	if eval[bool](t, tab, `document.querySelector("#calibrate-stop").disabled || !document.querySelector("#calibrate").disabled || !document.querySelector("#verify").disabled`) {
		t.Error("while it runs: Stop must be enabled, Run and Verify disabled")
	}
	until(t, tab, calibrationDone, 2*time.Minute)
	until(t, tab, `document.body.dataset.state === "done" && !document.querySelector("#run").disabled && !document.querySelector("#calibrate").disabled && document.querySelector("#calibrate-stop").disabled`, 5*time.Second)
	want := sameRates(t, tab)
	if all := calibration.Total(want.Rows); all.Alarms == 0 || all.Of != 5*runs {
		t.Errorf("%+v: alarms are needed to see that they are counted", all)
	}
	for _, state := range eval[[]string](t, tab, `[...window.states]`) {
		if !strings.HasSuffix(state, ",running,true") && !strings.HasSuffix(state, ",done,false") && !strings.HasSuffix(state, ",done,true") {
			t.Errorf("shown while the page was at %s", state)
		}
	}
	if live := eval[string](t, tab, `document.querySelector("#live").textContent`); !strings.Contains(live, "audits of mechanisms that keep their claim") || !strings.Contains(live, "significantly above") {
		t.Errorf("said to screen readers: %q", live)
	}
	// A dot and a band a row, the allowed rate over all of them and in the legend.
	picture := `document.querySelector("#calibration-result .picture > svg")`
	if !eval[bool](t, tab, picture+`.querySelectorAll("path[d*='a4 4 ']").length === 6 && `+picture+`.querySelectorAll("path[stroke-opacity='0.6']").length === 6 && `+picture+`.querySelectorAll("path[stroke-dasharray]").length === 2 && !/NaN|Infinity|undefined|null/.test(document.querySelector("#calibration-result").innerHTML)`) {
		t.Error("no picture, or one that holds what is no number")
	}
	if said := eval[string](t, tab, `document.querySelector("#calibration-result").textContent`); !strings.Contains(said, "All together hides") || !strings.Contains(said, "bench calibration -sharp") {
		t.Errorf("nothing says how blind these audits are: %q", said)
	}
}

// TestCalibrationStops: Stop keeps what there is and says so, the focus stays
// at hand, and the page goes on with an audit.
func TestCalibrationStops(t *testing.T) {
	gear.Long(t) // of other panels: TestStop, TestCanariesStop, TestSamplesStop
	t.Parallel()
	tab := calibrating(t, "5000", "1")
	eval[bool](t, tab, `(document.querySelector("#calibrate").focus(), true)`)
	pressKey(t, tab, kb.Enter)
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left")`, time.Minute)
	if at := eval[string](t, tab, `document.activeElement.id`); at != "calibrate-stop" {
		t.Errorf("while it runs the focus is at %q", at)
	}
	pressKey(t, tab, kb.Enter)
	until(t, tab, `document.querySelector("#calibration-status").textContent.includes("Stopped after") && document.body.dataset.state === "done"`, 5*time.Second)
	rows := eval[[][]string](t, tab, calibrationTable)
	if len(rows) != 6 || strings.HasPrefix(rows[0][1], "0 ") || !strings.Contains(eval[string](t, tab, `document.querySelector("#calibration-result").textContent`), "fixed beforehand") {
		t.Errorf("after Stop: %q", rows)
	}
	if at := eval[string](t, tab, `document.activeElement.id`); at != "calibrate" {
		t.Errorf("after it the focus is at %q", at)
	}
	// Escape does so too, from anywhere.
	pressKey(t, tab, kb.Enter)
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left") && document.body.dataset.state === "running"`, time.Minute)
	pressKey(t, tab, kb.Escape)
	until(t, tab, `document.querySelector("#calibration-status").textContent.includes("Stopped after") && document.body.dataset.state === "done"`, 5*time.Second)
	eval[bool](t, tab, `(window.before = window.dpscope.report, scrollTo(0, 0), true)`)
	enter(t, tab, "explore")
	click(t, tab, "#run")
	until(t, tab, `document.body.dataset.state === "done" && window.dpscope.report !== window.before && window.dpscope.report.verdict === "violation"`, time.Minute)
	if now := eval[[][]string](t, tab, calibrationTable); len(now) != 6 {
		t.Error("an audit took the table away")
	}
}

// TestCalibrationCrashes: what was counted before the core crashed stays, and
// the core that is started again measures anew.
func TestCalibrationCrashes(t *testing.T) {
	t.Parallel()
	tab := calibrating(t, "300", "1")
	eval[bool](t, tab, `(window.plain = Worker.prototype.postMessage, Worker.prototype.postMessage = function (m, ...more) {
		if (m.type === "calibrate") window.coordinator = this;
		return window.plain.call(this, m, ...more);
	}, true)`)
	click(t, tab, "#calibrate")
	until(t, tab, `document.querySelector("#calibration-phase").textContent.includes("left")`, time.Minute)
	eval[bool](t, tab, `(window.coordinator.onerror({preventDefault() {}, message: "crashed by the test"}), true)`)
	until(t, tab, `document.body.dataset.state === "failed" && document.querySelector("#notice").textContent.includes("crashed by the test") && /ended after \d+ audits/.test(document.querySelector("#calibration-status").textContent) && document.querySelector("#calibration-progress").hidden && document.querySelector("#calibrate").disabled && document.querySelector("#calibrate-stop").disabled`, 5*time.Second)
	if rows := eval[[][]string](t, tab, calibrationTable); len(rows) != 6 || strings.HasPrefix(rows[5][1], "0 ") {
		t.Errorf("left is %q", rows)
	}
	press(t, tab, "core")
	until(t, tab, `document.body.dataset.state === "ready" && !document.querySelector("#calibrate").disabled`, 30*time.Second)
	set(t, tab, "c-runs", "1")
	click(t, tab, "#calibrate")
	until(t, tab, calibrationDone, time.Minute)
}
