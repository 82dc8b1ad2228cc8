package e2e

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
)

// TestOneRun: a Gaussian sum is audited in one run in the page as natively, table
// and words are there and the report verifies; a wrong m is named at its field. A
// dropped report opens in the panel and verifies, a forged one does not. Seeds are
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
	shown := func() onerun.Report {
		t.Helper()
		until(t, tab, canaryReport+` && `+canaryIdle, time.Minute)
		r, err := onerun.ParseReport([]byte(eval[string](t, tab, `JSON.stringify(`+canaryReport+`)`)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	got := shown()
	plan := onerun.Plan{Version: onerun.PlanVersion, Subject: source.Subject{Source: "gaussian-sum", Parameters: audit.Params{"noise": {Number: 0.5}}, Claim: &audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: report.DefaultDelta}, DeltaDefaulted: true, Design: source.Orthogonal}, Canaries: 600, Beta: 0.1, Seed: 4}
	sources := source.Sources()
	want, err := onerun.Run{Plan: plan, Sources: sources, Pool: engine.LocalPool(1),
		Generator: audit.Generator{Name: "dpscope", Version: audit.Version}}.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
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
	verifies := func(says string) {
		t.Helper()
		click(t, tab, "#verify")
		until(t, tab, fmt.Sprintf(`%s.querySelector(".verification").textContent.includes(%q) && %s`, box, says, canaryIdle), time.Minute)
	}
	stands(t, tab, box, "")
	verifies("is the same as in the report")
	stands(t, tab, box, "Verified here")

	forged := want
	more := *want.LowerBound + 0.1
	forged.LowerBound = &more
	for _, c := range []struct {
		report       onerun.Report
		says, stands string
	}{{want, "is the same as in the report", "Verified here"}, {forged, "lowerBound", "Failed verification here"}} {
		data, err := audit.Canonical(c.report)
		if err != nil {
			t.Fatal(err)
		}
		drop(t, tab, "one.json", string(data))
		until(t, tab, fmt.Sprintf(`%s?.lowerBound === %v && %s.textContent.includes("Opened: one.json") && %s`, canaryReport, *c.report.LowerBound, box, canaryIdle), 30*time.Second)
		stands(t, tab, box, "Not verified here")
		verifies(c.says)
		stands(t, tab, box, c.stands)
	}

	given := scores.Scores{In: make([]float64, 60), Out: make([]float64, 60), Files: []scores.ScoreFile{{Name: "s.csv", SHA256: strings.Repeat("0", 64)}}}
	for i := range given.In {
		given.In[i], given.Out[i] = float64(i)+20.5, float64(i)
	}
	of, err := scores.Run(scores.Plan{Version: scores.PlanVersion, Claim: plan.Claim, Relation: audit.Replace, Method: report.MethodExact, Seed: 1}, given, want.Generator)
	if err != nil {
		t.Fatal(err)
	}
	data, err := audit.Canonical(of)
	if err != nil {
		t.Fatal(err)
	}
	drop(t, tab, "scores.json", string(data))
	until(t, tab, canaryReport+`?.kind === "scores" && `+canaryIdle, 30*time.Second)
	stands(t, tab, box, "Not verified here")
	verifies("Recomputed in this browser")
	stands(t, tab, box, "Recomputed here")
	less := 0.01
	of.LowerBound = &less
	if data, err = audit.Canonical(of); err != nil {
		t.Fatal(err)
	}
	drop(t, tab, "forged.json", string(data))
	until(t, tab, box+`.textContent.includes("Opened: forged.json") && `+canaryIdle, 30*time.Second)
	verifies("lowerBound")
	stands(t, tab, box, "Failed verification here")
}
