package pair_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/report"
)

// A glimpse says what its report says, and refuses to be that of other settings.
func TestGlimpse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan    string
		verdict audit.Verdict
	}{
		{`{"mechanism": "svt4", "claim": {"epsilon": 1}, "samples": 5000, "trials": 2, "seed": 7, "version": 2}`, audit.Violation},
		{`{"mechanism": "laplace-mean", "claim": {"epsilon": 1}, "samples": 2000, "trials": 2, "seed": 7, "version": 2}`, audit.NoViolation},
		{`{"mechanism": "svt5", "claim": {"epsilon": 1}, "samples": 50000, "trials": 2, "seed": 7, "version": 2, "mode": "until-refuted"}`, audit.Violation},
	} {
		plan, err := pair.ParsePlan([]byte(c.plan))
		if err != nil {
			t.Fatal(err)
		}
		r := runAudit(t, plan, 2)
		data, err := json.Marshal(r.Glimpse())
		if err != nil {
			t.Fatal(err)
		}
		var g pair.Glimpse
		if err := json.Unmarshal(data, &g); err != nil {
			t.Fatal(err)
		}
		a, err := plan.Resolve(catalogue)
		if err != nil {
			t.Fatal(err)
		}
		head, err := g.Head(a)
		if err != nil || r.Verdict != c.verdict {
			t.Fatalf("%s: %s, %v", plan.Mechanism, r.Verdict, err)
		}
		title, detail := head.Banner()
		if wantTitle, wantDetail := r.Banner(); title != wantTitle || detail != wantDetail {
			t.Errorf("%s: %q, %q, the report says %q, %q", plan.Mechanism, title, detail, wantTitle, wantDetail)
		}
		if p := g.Progress(a); (p == nil) != (r.Evidence == nil) || p != nil && (strings.Join(p.Live.Chart.Labels, ",") != strings.Join(r.Evidence.Chart.Labels, ",") || (p.Refuted > 0) != (c.verdict == audit.Violation)) {
			t.Errorf("%s: to be drawn: %+v", plan.Mechanism, p)
		}
		for what, change := range map[string]func(*pair.Glimpse){
			"verdict": func(g *pair.Glimpse) {
				g.Verdict = map[bool]audit.Verdict{true: audit.NoViolation, false: audit.Violation}[g.Verdict == audit.Violation]
			},
			"no verdict": func(g *pair.Glimpse) { g.Verdict = "private" },
			"confidence": func(g *pair.Glimpse) { g.Confidence = 0.999 },
			"bound":      func(g *pair.Glimpse) { g.Bound = new(-1.0) },
			"outputs":    func(g *pair.Glimpse) { g.Outputs = -1 },
			"chart":      func(g *pair.Glimpse) { g.Chart = &pair.Chart{Kind: pair.HistogramChart, Edges: []float64{1, 0}} },
		} {
			changed := g
			change(&changed)
			if _, err := changed.Head(a); !audit.IsInput(err) {
				t.Errorf("%s with another %s: %v", plan.Mechanism, what, err)
			}
		}
	}
	var none report.Report
	if title, _ := none.Banner(); title == "" {
		t.Error("a report of nothing has no banner")
	}
}
