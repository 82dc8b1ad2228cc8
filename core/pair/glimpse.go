package pair

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/report"
)

// Glimpse is what a link holds of a report's result: enough to show it before anything
// was run again. It proves nothing; whoever gets it runs the plan that comes with it.
type Glimpse struct {
	Verdict    audit.Verdict   `json:"verdict"`
	Quantity   report.Quantity `json:"quantity,omitempty"` // of the row that decides; empty where there is none
	Alpha      float64         `json:"alpha,omitempty"`
	Bound      *float64        `json:"bound,omitempty"`
	Strict     bool            `json:"strict,omitempty"`    // the quantity is above the bound
	Direction  string          `json:"direction,omitempty"` // of the event, as in a [report.Row]
	Confidence float64         `json:"confidence"`
	Outputs    int             `json:"outputs"` // drawn in all
	Rows       int             `json:"rows"`    // counted a side
	// Chart is that of the report, without its words and its plane; absent where there is
	// none.
	Chart *Chart `json:"chart,omitempty"`
}

// Glimpse is what a link holds of the report.
func (r Report) Glimpse() Glimpse {
	g := Glimpse{Verdict: r.Verdict, Bound: r.LowerBound, Confidence: r.Confidence, Outputs: r.Termination.Outputs, Rows: r.Termination.SamplesUsed}
	if row := r.Deciding(); row != nil {
		g.Quantity, g.Alpha, g.Strict = row.ID, row.Alpha, row.Strict
		g.Direction = row.Direction
	}
	if r.Evidence != nil {
		ch := r.Evidence.Chart
		ch.Axis, ch.Labels, ch.Plane = "", nil, nil
		g.Chart = &ch
	}
	return g
}

// Head is the verdict of the glimpse as that of a report of the audit, and an error
// where it cannot be one: then the link was changed, or is of another version.
func (g Glimpse) Head(a *Audit) (report.Report, error) {
	r := report.Report{Kind: "pair", Subject: a.Spec.Name, Claim: a.Claim, Verdict: g.Verdict, LowerBound: g.Bound, Confidence: g.Confidence,
		Termination: audit.Termination{Reason: audit.Completed, Outputs: g.Outputs, SamplesUsed: g.Rows}}
	if g.Quantity != "" {
		r.Tables = []report.Table{{Name: report.Bounds, Rows: []report.Row{{ID: g.Quantity, Alpha: g.Alpha, Strict: g.Strict, LowerBound: g.Bound, Direction: g.Direction, Chosen: true}}}}
	}
	wrong := func(field, found, want string) (report.Report, error) {
		return r, &audit.InputError{Field: "the link’s result: " + field, Path: "/result/" + field, Found: found, Want: want, Remedy: "run the audit to see its own result"}
	}
	switch limit := a.Claim.Limit(); {
	case g.Verdict != audit.Violation && g.Verdict != audit.NoViolation && g.Verdict != audit.Inconclusive && g.Verdict != audit.Invalid:
		return wrong("verdict", fmt.Sprintf("%q", g.Verdict), "one of this version")
	case math.Abs(g.Confidence-(1-a.Plan.Beta)) > 1e-9:
		return wrong("confidence", audit.Number(g.Confidence), audit.Number(1-a.Plan.Beta)+", as its settings say")
	case g.Bound != nil && !(*g.Bound >= 0):
		return wrong("bound", audit.Number(*g.Bound), "at least 0")
	case g.Bound != nil && (*g.Bound > limit || g.Strict && *g.Bound >= limit) != (g.Verdict == audit.Violation):
		return wrong("bound", audit.Number(*g.Bound), fmt.Sprintf("one that agrees with the verdict %q at a claim of %s", g.Verdict, audit.Number(limit)))
	case g.Outputs < 0 || g.Rows < 0:
		return wrong("outputs", fmt.Sprint(min(g.Outputs, g.Rows)), "at least 0")
	}
	if g.Chart != nil {
		if _, err := g.Chart.binner(a.Columns); err != nil {
			return r, fmt.Errorf("the link’s result: %w", audit.At("/result", err))
		}
	}
	return r, nil
}

// Progress is the glimpse as what a run would tell at its end, to be drawn; nil where it
// has nothing to draw.
func (g Glimpse) Progress(a *Audit) *Progress {
	if g.Chart == nil {
		return nil
	}
	p := &Progress{Phase: Certifying, Provisional: g.Bound, Claimed: a.Claim.Limit(), Pairs: g.Rows,
		Live: &Live{Chart: g.Chart.named(a.Columns), Claim: a.Claim, Direction: g.Direction, Rows: g.Rows, Samples: g.Rows}}
	if p.Quantity, p.Letter = g.Quantity.Symbol(), g.Quantity.Letter(); g.Verdict == audit.Violation {
		p.Refuted = max(1, g.Outputs)
	}
	return p
}
