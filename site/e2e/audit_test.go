package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

const svt4 = "#v=1&mechanism=svt4&epsilon=1&samples=40000&trials=4&seed=7&workers="

// TestViolation runs svt4 as a user would, in the full tests with one worker too, to the
// counts of the command line, on the one core that is loaded, once; then saves the report
// and replays it.
func TestViolation(t *testing.T) {
	t.Parallel()
	samples := testsize.Of("10000", "40000")
	native := runAudit(t, "-mechanism", "svt4", "-epsilon", "1", "-samples", samples, "-trials", "4", "-seed", "7")
	for _, workers := range testsize.Of([]int{2}, []int{2, 1}) {
		tab := open(t, strings.Replace(svt4, "40000", samples, 1)+fmt.Sprint(workers))
		click(t, tab, "#run")
		r := finish(t, tab)
		sameCounts(t, fmt.Sprintf("%d workers in the browser against the command line", workers), r, native)
		if n := asked(tab, coreFile); r.Verdict != audit.Violation || r.Timing.Workers != workers || r.Generator.CoreSHA256 != shaOf(t, coreFile) || n != 1 {
			t.Errorf("%s with %d workers on core %s, which was asked for %d times", r.Verdict, r.Timing.Workers, r.Generator.CoreSHA256, n)
		}
		verdict := eval[string](t, tab, `document.querySelector("#verdict").textContent`)
		if !strings.HasPrefix(verdict, "Violation: ε > 1.") || !strings.Contains(verdict, "ε = 1 claimed. 95 % confidence.") {
			t.Errorf("the verdict reads %q", verdict)
		}
		if text := eval[string](t, tab, `document.querySelector("#counts").textContent`); !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "\u202f", "")), ""), fmt.Sprint(r.Pictured().Counts.X)) {
			t.Errorf("the counts table does not hold %d: %q", r.Pictured().Counts.X, text)
		}
		file := filepath.Join(t.TempDir(), "report.json")
		must.Do(t, os.WriteFile(file, []byte(eval[string](t, tab, `JSON.stringify(window.dpscope.report)`)), 0o644))
		out, err := exec.Command(program, "verify", file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "Replayed: same counts, bound and verdict.") {
			t.Errorf("dpscope verify: %v\n%s", err, out)
		}
	}
}

// long starts a run that takes far longer than its test.
const long = "#v=1&mechanism=laplace-mean-raw-denominator&epsilon=1&samples=50000&explore=16000000&trials=2&seed=3&workers=2"

const exploring = `window.dpscope.progress?.phase === "explore"`

// TestStop: a run says when the claim is refuted, long before its end; Stop ends it at once,
// and the verdict stands.
func TestStop(t *testing.T) {
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, exploring+` && window.dpscope.progress.refuted > 0 && document.querySelector("#progress-facts").textContent.replaceAll("\u202f", "").includes("Refuted after " + window.dpscope.progress.refuted + " outputs")`)
	click(t, tab, "#stop")
	until(t, tab, `document.body.dataset.state === "done"`)
	r := reportOf(t, tab)
	// The event is not there, and the verdict that the bets had given stands.
	rows := r.Tables[0].Rows
	if r.Verdict != audit.Violation || r.Sequential.Refuted == 0 || r.Termination.Reason != audit.Stopped || len(rows) != 1 || !rows[0].Chosen || !rows[0].Strict {
		t.Errorf("after Stop: %s, %+v, %+v", r.Verdict, r.Termination, rows)
	}
	// The page runs on.
	goTo(t, tab, svt4+"2")
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report.verdict === "violation"`)
}

// TestStopAgain: a core that answers no stop can be ended by a second one, and the page runs on.
func TestStopAgain(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress`)
	eval[bool](t, tab, silenced)
	click(t, tab, "#stop")
	until(t, tab, `document.querySelector("#run-progress").innerText.includes("Stop again ends it")`)
	click(t, tab, "#stop")
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#notice").innerText.includes("The core did not answer")`)
	goTo(t, tab, svt4+"2")
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.report?.verdict === "violation"`)
}

// silenced has no stop reach the core.
const silenced = `(window.post = Worker.prototype.postMessage, Worker.prototype.postMessage = function(m, ...more) { m.type === "stop" ? setTimeout(() => window.silenced?.()) : post.call(this, m, ...more); }, true)`

// TestMoveUnanswered: what a moved setting asks for runs on a new core, where the one that runs
// answers no stop; and does not run when the user stops meanwhile.
func TestMoveUnanswered(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress`)
	eval[bool](t, tab, silenced)
	eval[bool](t, tab, `(document.querySelector("#slide-claim").focus(), true)`)
	pressKey(t, tab, kb.ArrowRight)
	until(t, tab, `window.dpscope.progress?.claimed > 1`)
	eval[bool](t, tab, `(window.silenced = () => document.querySelector("#stop").click(), true)`) // within the time that a move waits
	pressKey(t, tab, kb.ArrowRight)
	until(t, tab, `document.body.dataset.state === "ready" && document.querySelector("#notice").innerText.includes("The core did not answer")`)
}

// TestStopThenMove: a setting that changes while a stop takes its time is no second stop; what it
// asks for runs once the stop is answered.
func TestStopThenMove(t *testing.T) {
	t.Parallel()
	tab := open(t, long)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress`)
	eval[bool](t, tab, `(window.ended = 0, new MutationObserver(() => { window.ended += document.querySelector("#notice").innerText.includes("did not answer"); }).observe(document.querySelector("#notice"), { childList: true, subtree: true }), window.post = Worker.prototype.postMessage, Worker.prototype.postMessage = function(m, ...more) { setTimeout(() => post.call(this, m, ...more), m.type === "stop" ? 1500 : 0); }, document.querySelector("#stop").click(), true)`)
	until(t, tab, `document.querySelector("#run-progress").innerText.includes("Stop again ends it")`)
	eval[bool](t, tab, `(document.querySelector("#slide-claim").focus(), true)`)
	pressKey(t, tab, kb.ArrowRight)
	until(t, tab, `window.dpscope.progress?.claimed > 1 || window.ended`)
	if eval[int](t, tab, `window.ended`) > 0 {
		t.Error("a slider's move ended the core")
	}
}

// TestWorkerEnds ends a worker in mid-run: its task runs again elsewhere and
// the counts are what they would have been.
func TestWorkerEnds(t *testing.T) {
	t.Parallel()
	const state = "#v=1&mechanism=svt4&epsilon=1&samples=600000&explore=5000&trials=2&fixed=true&seed=3&workers=2"
	native := runAudit(t, "-mechanism", "svt4", "-epsilon", "1", "-samples", "600000", "-explore", "5000", "-trials", "2", "-fixed", "-seed", "3")
	tab := open(t, state)
	click(t, tab, "#run")
	until(t, tab, `window.dpscope.progress?.phase === "certify" && window.dpscope.progress.provisional !== undefined`)
	eval[bool](t, tab, `(window.dpscope.engine.endWorker(0), true)`)
	r := finish(t, tab)
	sameCounts(t, "a run that lost a worker against the command line", r, native)
	if len(r.Warnings) == 0 || !strings.Contains(strings.Join(r.Warnings, " "), "worker was lost") {
		t.Errorf("the report does not say that a worker was lost: %v", r.Warnings)
	}
}

// file is one that a user drops.
type file struct{ name, content string }

// drop drops a file on the page.
func drop(t *testing.T, tab *browser.Tab, name, content string) {
	t.Helper()
	dropOn(t, tab, "body", file{name, content})
}

// dropOn drops files on an element.
func dropOn(t *testing.T, tab *browser.Tab, selector string, files ...file) {
	t.Helper()
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "data.items.add(new File([Uint8Array.from(atob(%q), c => c.charCodeAt(0))], %q));", base64.StdEncoding.EncodeToString([]byte(f.content)), f.name)
	}
	eval[bool](t, tab, fmt.Sprintf(`((data) => { %s document.querySelector(%q).dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})); return true; })(new DataTransfer())`, &list, selector))
}
