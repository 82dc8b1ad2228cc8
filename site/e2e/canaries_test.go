package e2e

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/site/e2e/browser"
)

// The panel of canary audits.
const (
	canaryReport = `(window.dpscope.canaryReport)`
	canaryIdle   = `document.body.dataset.state !== "running" && !document.querySelector("#canaries-run").disabled`
)

// planting opens the page at a state of the panel.
func planting(t *testing.T, settings string) *browser.Tab {
	t.Helper()
	tab := open(t, "#v=1&view=canaries"+settings)
	until(t, tab, `!document.querySelector("#canaries").hidden && document.querySelector("#k-n")`)
	return tab
}

// planted is the report that the panel shows, once it has one.
func planted(t *testing.T, tab *browser.Tab) canary.Report {
	t.Helper()
	until(t, tab, canaryReport+` && `+canaryIdle)
	return must.Get(canary.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
}

// natively does the audit of a plan without a browser.
func natively(t *testing.T, p canary.Plan, workers int) canary.Report {
	t.Helper()
	sources := source.Sources()
	return nativeCanaries(t, p, core.Env{Sources: sources, Pool: engine.LocalPool(workers)})
}

func nativeCanaries(t *testing.T, p canary.Plan, g core.Env) canary.Report {
	t.Helper()
	return must.Get(must.Get(core.Resolve(p, g))(t).Run(t.Context(), g))(t).(canary.Report)
}

// sameEvidence compares what was drawn and chosen, bit by bit.
func sameEvidence(t *testing.T, what string, got, want canary.Report) {
	t.Helper()
	if a, b := got.Evidence.Runs, want.Evidence.Runs; a.Threshold != b.Threshold || !reflect.DeepEqual(a.Explored, b.Explored) || !reflect.DeepEqual(a.Certified, b.Certified) {
		t.Errorf("%s: the evidence differs: threshold %v and %v", what, a.Threshold, b.Threshold)
	}
	if got.Verdict != want.Verdict || got.Summary != want.Summary {
		t.Errorf("%s: %q, want %q", what, got.Summary, want.Summary)
	}
}

// TestCanaries: by the keyboard alone, a Gaussian sum is audited in the page as natively;
// chart, tables and words are there; the report verifies, and is saved as a page. So it is in
// one run, whose wrong m is named at its field.
func TestCanaries(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&n=256&k=16&seed=3&quantile=0.1")
	if got := eval[string](t, tab, `["source", "n", "k", "m", "quantile"].map((id) => document.querySelector("#k-" + id).value).join()`); got != "gaussian-sum,256,16,,0.1" {
		t.Errorf("the form holds %s", got)
	}
	const box = `document.querySelector("#planted")`
	checks := func(rows int, cli string, words ...string) {
		t.Helper()
		eval[bool](t, tab, `(`+box+`.querySelectorAll("details").forEach((d) => { d.open = true }), true)`)
		if shown := eval[int](t, tab, box+`.querySelectorAll(".carded tbody tr").length`); shown != rows || rows < 2 {
			t.Errorf("%d intervals, want %d", shown, rows)
		}
		text := strings.ReplaceAll(eval[string](t, tab, `document.querySelector("#result").textContent`), "\u202f", "")
		for _, want := range append(words, cli, "What this result does not say") {
			if !strings.Contains(text, want) {
				t.Errorf("the result does not say %q", want)
			}
		}
		if eval[bool](t, tab, `/NaN|Infinity|undefined|null/.test(`+box+`.innerHTML)`) {
			t.Error("the result holds what is no number")
		}
		eval[bool](t, tab, `(document.querySelector("#verify").focus(), true)`)
		pressKey(t, tab, kb.Enter)
		until(t, tab, `document.querySelector("#verification").textContent.includes("is the same as in the report") && `+canaryIdle)
	}
	eval[bool](t, tab, `(document.querySelector("#k-runs").open = true, document.querySelector("#k-seed").focus(), true)`)
	pressKey(t, tab, kb.Enter)
	r := planted(t, tab)
	if r.Plan.Runs != 256 || r.Plan.K != 16 || r.Plan.Seed != 3 || r.Plan.Claim.Epsilon != 2 || r.Verdict != audit.NoViolation {
		t.Errorf("%+v: %s", r.Plan, r.Summary)
	}
	sameEvidence(t, "in the page and natively", r, natively(t, r.Plan, 1))
	if said := eval[string](t, tab, `document.querySelector("#verdict").textContent`); !strings.HasPrefix(said, "No violation found ε ≥ 0.") || !strings.Contains(said, "Not a proof of privacy") {
		t.Errorf("it says %q", said)
	}
	until(t, tab, `document.querySelector("#live").textContent.startsWith("No violation found")`)
	if said := eval[string](t, tab, `document.querySelector("#say").textContent`); !strings.HasPrefix(said, fmt.Sprintf("In %.0f of 1\u202f000 trainings a canary that was in scores above ", 1000*r.In.Rate)) {
		t.Errorf("the sentence is %q, the rates are %v and %v", said, r.In.Rate, r.Out.Rate)
	}
	checks(len(r.Tables[0].Rows)+len(r.Tables[1].Rows), r.Reproduce.CLI, "asymptotic", "mu2 = ", "No outcome of 256 runs certifies more than 4.4", "* paired betting")
	until(t, tab, box+`.querySelectorAll(".picture > svg .target").length >= 2`) // the course of the bounds
	eval[bool](t, tab, catchFiles)
	if saved := saving(t, tab, "#save-html"); !strings.HasPrefix(saved.Name, "dpscope-canaries-gaussian-sum-") || !strings.Contains(string(saved.Data), "<svg") || !strings.Contains(string(saved.Data), "schemaVersion") {
		t.Errorf("saved as %q, %.300s", saved.Name, saved.Data)
	}

	set(t, tab, "k-design", "orthogonal")
	set(t, tab, "k-one", "2000000")
	eval[bool](t, tab, `(document.querySelector("#k-one-group").open = true)`)
	click(t, tab, "#canaries-one")
	until(t, tab, `document.querySelector("#k-one-error").textContent.includes("in [1, 1048576]") && document.activeElement.id === "k-one" && `+canaryIdle)
	set(t, tab, "k-one", "600")
	set(t, tab, "k-beta", "0.1")
	click(t, tab, "#canaries-one")
	until(t, tab, canaryReport+`.plan.mode === "one-run" && `+canaryIdle)
	one := must.Get(canary.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
	want := nativeCanaries(t, one.Plan, core.Env{Pool: engine.LocalPool(1)})
	if one.Plan.K != 600 || one.Plan.Seed != 3 || one.Plan.Beta != 0.1 || one.Plan.Claim.Epsilon != 2 || one.Plan.Design != source.Orthogonal || !reflect.DeepEqual(one.Evidence, want.Evidence) || one.Summary != want.Summary {
		t.Errorf("the page has %+v, %q, natively %+v, %q", one.Plan, one.Summary, want.Evidence, want.Summary)
	}
	checks(len(one.Tables[0].Rows)+len(one.Tables[1].Rows), one.Reproduce.CLI, "* guesses (Steinke", "if Gaussian", "a separate fair coin")
}

// TestCanariesFile: the user's file is taken by its field and by a drop, and goes
// into the audit; what is wrong with it is said there. A preset sets the form.
func TestCanariesFile(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&source=dp-sgd&p.model=linear&p.steps=3&n=40&k=2&seed=1")
	fails := func(button, says string) {
		t.Helper()
		click(t, tab, button)
		until(t, tab, fmt.Sprintf(`!document.querySelector("#k-file-error").hidden && document.querySelector("#k-file-error").textContent.includes(%q) && document.activeElement.id === "k-file-choose" && %s`, says, canaryIdle))
	}
	dropped := func(name, text string) {
		t.Helper()
		dropOn(t, tab, "#k-file-choose", file{name, text})
		until(t, tab, fmt.Sprintf(`document.querySelector("#k-file-name").textContent.includes(%q)`, name))
	}
	dropped("bad.csv", "1,0,0\n0,x,0\n")
	fails("#canaries-run", "line 2, column 2")
	dropped("good.csv", "1,0,a\n0,2,b\n0,0,a\n1,1,b\n")
	click(t, tab, "#canaries-run")
	if r := planted(t, tab); r.Plan.Data == "" || r.Plan.Runs != 40 {
		t.Errorf("%+v", r.Plan)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#result .verification").textContent.includes("is the same as in the report") && `+canaryIdle)
	click(t, tab, "#k-file-forget")
	fails("#verify", "give the file that the audit was made with")
	eval[bool](t, tab, `([...document.querySelectorAll("#canaries-presets button")].find(b => b.textContent.includes("quarter")).click(), true)`)
	if got := eval[string](t, tab, `["source", "n", "k", "m", "p-fault"].map(x => document.querySelector("#k-" + x).value).join()`); got != "dp-sgd,256,11,64,quarter-noise" {
		t.Errorf("the preset sets %s", got)
	}
}

// TestCanariesStop: Stop keeps what there is and says so, the focus stays at hand.
func TestCanariesStop(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&n=1000000&k=4&explore=100&seed=1&p.d=50")
	eval[bool](t, tab, `(document.querySelector("#canaries-run").focus(), true)`)
	pressKey(t, tab, kb.Enter)
	until(t, tab, `document.querySelector("#verdict").textContent.includes("Nothing is certified before the end") && document.querySelector("#say").textContent.startsWith("So far ") && document.querySelector("#canaries-phase").textContent.includes("left")`)
	if at := eval[string](t, tab, `document.activeElement.id`); at != "canaries-stop" {
		t.Errorf("while it runs the focus is at %q", at)
	}
	pressKey(t, tab, kb.Escape)
	r := planted(t, tab)
	if r.Termination.Reason != audit.Stopped || r.Verdict != audit.Inconclusive || r.LowerBound != nil || r.Evidence.Runs.Certified.Table.Runs() == 0 {
		t.Errorf("%s, %s", r.Termination.Reason, r.Summary)
	}
	if at := eval[string](t, tab, `document.activeElement.id`); at != "canaries-run" {
		t.Errorf("after it the focus is at %q", at)
	}
	if said := eval[string](t, tab, `document.querySelector("#verdict").textContent`); !strings.Contains(said, "stopped") {
		t.Errorf("it says %q", said)
	}
	click(t, tab, "#verify")
	until(t, tab, `document.querySelector("#result .verification").textContent.includes("taken from the report") && `+canaryIdle)
	stands(t, tab, `document.querySelector("#result")`, "Recomputed here")
}
