package pair_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/wasm/scene"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// A glimpse says what its report says, and refuses to be that of other settings.
func TestGlimpse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan    string
		verdict audit.Verdict
	}{
		{`{"mechanism": "svt4", "claim": {"epsilon": 1}, "samples": 5000, "trials": 2, "seed": 7, "version": 1}`, audit.Violation},
		{`{"mechanism": "laplace-mean", "claim": {"epsilon": 1}, "samples": 2000, "trials": 2, "seed": 7, "version": 1}`, audit.NoViolation},
		{`{"mechanism": "svt5", "claim": {"epsilon": 1}, "samples": 50000, "trials": 2, "seed": 7, "version": 1, "mode": "until-refuted"}`, audit.Violation},
		{`{"mechanism": "laplace-count", "claim": {"epsilon": 1}, "samples": 5000, "trials": 2, "seed": 7, "beta": 0.001, "version": 1}`, audit.NoViolation},
		{`{"mechanism": "laplace-mean-raw-count", "claim": {"epsilon": 1}, "samples": 5000, "trials": 3, "seed": 7, "beta": 0.001, "version": 1}`, audit.Violation},
	} {
		plan := must.Get(pair.ParsePlan([]byte(c.plan)))(t)
		r := runAudit(t, plan, 2)
		data := must.Get(json.Marshal(r.LinkSummary()))(t)
		var g pair.LinkSummary
		must.Do(t, json.Unmarshal(data, &g))
		a := must.Get(plan.Resolve(catalogue))(t)
		head, err := g.Report(a)
		if err != nil || r.Verdict != c.verdict {
			t.Fatalf("%s: %s, %v", plan.Mechanism, r.Verdict, err)
		}
		title, detail := head.Banner()
		if wantTitle, wantDetail := r.Banner(); title != wantTitle || detail != wantDetail {
			t.Errorf("%s: %q, %q, the report says %q, %q", plan.Mechanism, title, detail, wantTitle, wantDetail)
		}
		pictured := func(r pair.Report) plot.Picture {
			return plot.Draw(scene.NewOutputs(scene.InputOf(r).Report), plot.Request{Width: 600})
		}
		if got, want := pictured(head), pictured(r); got.Said != want.Said || !reflect.DeepEqual(got.SVG, want.SVG) {
			t.Errorf("%s: the link shows %+v, the report %+v", plan.Mechanism, got.Said, want.Said)
		}
		for what, change := range map[string]func(*pair.LinkSummary){
			"verdict": func(g *pair.LinkSummary) {
				g.Verdict = map[bool]audit.Verdict{true: audit.NoViolation, false: audit.Violation}[g.Verdict == audit.Violation]
			},
			"no verdict": func(g *pair.LinkSummary) { g.Verdict = "private" },
			"confidence": func(g *pair.LinkSummary) { g.Confidence = 0.5 },
			"bound":      func(g *pair.LinkSummary) { g.Bound = new(-1.0) },
			"outputs":    func(g *pair.LinkSummary) { g.Outputs = -1 },
			"pair":       func(g *pair.LinkSummary) { g.Pair = new(audit.Pair) },
			"rows":       func(g *pair.LinkSummary) { g.Table = make([]report.Row, 4) },
			"event": func(g *pair.LinkSummary) {
				g.Table = []report.Row{{Event: &report.Event{Words: strings.Repeat("long ", 1000)}}}
			},
			"counts": func(g *pair.LinkSummary) { g.Table = []report.Row{{Counts: &bounds.Counts{X: 2, N1: 1}}} },
			"chart":  func(g *pair.LinkSummary) { g.Chart = &chart.Chart{Kind: chart.Histogram, Edges: []float64{1, 0}} },
		} {
			changed := g
			change(&changed)
			must.Input(t, must.Err(changed.Report(a)), "", plan.Mechanism, what)
		}
	}
	var none report.Report
	if title, _ := none.Banner(); title == "" {
		t.Error("a report of nothing has no banner")
	}
}

// TestPeople: Ada is in the dataset that has a row more, or else larger answers; Bob stands
// for a row that is replaced.
func TestPeople(t *testing.T) {
	for _, c := range []struct {
		first, second audit.Dataset
		relation      audit.Relation
		names, words  string
	}{
		{audit.Records(3), audit.Records(3, 1), audit.AddRemove, "without Ada, with Ada", "1 other without Ada: {3}, Ada and 1 other: {3, [1]}"},
		{audit.Records(2), audit.Records(), audit.AddRemove, "with Ada, without Ada", "Ada alone: {[2]}, nobody"},
		{audit.Records(0, 0), audit.Records(0, 5), audit.Replace, "with Ada, with Bob", "Ada and 1 other: {0, [0]}, Bob and 1 other: {0, [5]}"},
		{audit.Records(4), audit.Records(4, 1, 2), audit.AddRemove, "without the group, with the group", "1 other without the group: {4}, The group of 2 and 1 other: {4, 1, 2}"},
		{audit.Records(0, 0), audit.Records(3, 5), audit.Replace, "with the group, with others", "The group of 2 alone: {0, 0}, Others alone: {3, 5}"},
		{audit.Records(1, 0), audit.Records(1, 1), audit.LInfinity, "without Ada, with Ada", "2 true answers without Ada: {1, 0}, 2 true answers with Ada: {1, 1}"},
	} {
		p := pair.PeopleOf(&audit.Pair{First: c.first, Second: c.second}, c.relation, nil)
		if strings.Join(p.Names[:], ", ") != c.names || strings.Join(p.Words[:], ", ") != c.words {
			t.Errorf("%v against %v: %q, %q", c.first, c.second, p.Names, p.Words)
		}
	}
}
