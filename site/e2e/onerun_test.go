package e2e

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// TestOneRun: a Gaussian sum is audited in one run in the page as natively, table
// and words are there and the report verifies; a wrong m is named at its field. Seeds are
// fixed: there is no chance in it.
func TestOneRun(t *testing.T) {
	t.Parallel()
	tab := planting(t, "&source=gaussian-sum&design=orthogonal&seed=4&beta=0.1&p.noise=0.5")
	const box = `document.querySelector("#result")`
	if got := eval[string](t, tab, `document.querySelector("#k-one").placeholder`); got != "1000" {
		t.Errorf("by default %q canaries", got)
	}
	until(t, tab, canaryIdle, 30*time.Second)
	set(t, tab, "k-one", "2000000")
	click(t, tab, "#canaries-one")
	until(t, tab, `document.querySelector("#k-one-error").textContent.includes("in [1, 1048576]") && document.activeElement.id === "k-one" && `+canaryIdle, time.Minute)
	set(t, tab, "k-one", "600")
	click(t, tab, "#canaries-one")
	shown := func() canary.Report {
		t.Helper()
		until(t, tab, canaryReport+` && `+canaryIdle, time.Minute)
		return must.Get(canary.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`))))(t)
	}
	got := shown()
	plan := canary.Plan{Version: canary.PlanVersion, Mode: canary.OneRun, Subject: source.Subject{Source: "gaussian-sum", Parameters: audit.Params{"noise": {Number: 0.5}}, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: report.DefaultDelta}, DeltaDefaulted: true, Design: source.Orthogonal}, Runs: 1, K: 600, Beta: 0.1, Seed: 4}
	want := nativeCanaries(t, plan, core.Env{Pool: engine.LocalPool(1), Generator: audit.Generator{Name: "dpscope", Version: audit.Version}})
	if !reflect.DeepEqual(got.Evidence, want.Evidence) || !reflect.DeepEqual(got.Plan, want.Plan) {
		t.Errorf("the page has %+v, natively %+v", got.Evidence, want.Evidence)
	}
	if got.Summary != want.Summary || got.Verdict != want.Verdict || *got.LowerBound <= 0 {
		t.Errorf("%q, natively %q", got.Summary, want.Summary)
	}
	if rows := eval[int](t, tab, `document.querySelectorAll("#planted .carded tbody tr").length`); rows != len(want.Tables[0].Rows)+len(want.Tables[1].Rows) || rows < 2 {
		t.Errorf("%d methods, want %d", rows, len(want.Tables[0].Rows))
	}
	text := eval[string](t, tab, box+`.textContent`)
	for _, words := range []string{"One-run audit of gaussian-sum", "* guesses (Steinke", "if Gaussian", "a fair coin of its own", want.Reproduce.CLI, "What this result does not say", "Save report"} {
		if !strings.Contains(text, words) {
			t.Errorf("the result does not say %q", words)
		}
	}
	if eval[bool](t, tab, `/NaN|Infinity|undefined|null/.test(document.querySelector("#planted").innerHTML)`) {
		t.Error("the result holds what is no number")
	}
	stands(t, tab, box, "")
	click(t, tab, "#verify")
	until(t, tab, fmt.Sprintf(`%s.querySelector(".verification").textContent.includes("is the same as in the report") && %s`, box, canaryIdle), time.Minute)
	stands(t, tab, box, "Verified here")
}
