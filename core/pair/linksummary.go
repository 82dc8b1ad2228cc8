package pair

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// LinkSummary is what a link holds of a report's result, to see before anything was run again.
type LinkSummary struct {
	Verdict    audit.Verdict           `json:"verdict"`
	Bound      *float64                `json:"bound,omitempty"`
	Confidence float64                 `json:"confidence"`
	Reason     audit.TerminationReason `json:"reason,omitempty"`
	Outputs    int                     `json:"outputs"` // drawn in all
	Rows       int                     `json:"rows"`    // counted a side
	// Table has the rows that verdict and picture are of, with what is shown of them.
	Table []report.Row `json:"table,omitempty"`
	// Pair is what the outputs are from; absent where it is large or recorded elsewhere.
	Pair *audit.Pair `json:"pair,omitempty"`
	// Chart is the report's, without its words and its plane; Share is a sequential stage's.
	Chart *chart.Chart `json:"chart,omitempty"`
	Share float64      `json:"share,omitempty"`
}

const (
	summaryValues = 2048 // of a dataset in a link, at most
	summaryRows   = 3    // the one that decides, that of the event and that of the bets
	summaryWords  = 2000 // letters of an event
)

// Shown is the pair whose outputs the page shows: that of the chart, else that was drawn from last.
func Shown(e *Evidence, s *SequentialResult) *audit.Pair {
	if e != nil {
		return &e.Pair
	}
	i := -1
	switch {
	case s == nil:
	case s.Chart != nil:
		i = s.Chart.Pair
	case len(s.Epochs) > 0:
		i = s.Epochs[len(s.Epochs)-1].Pair
	}
	if i >= 0 && i < len(s.Pairs) {
		return &s.Pairs[i]
	}
	return nil
}

// LinkSummary is what a link holds of the report.
func (r Report) LinkSummary() LinkSummary {
	g := LinkSummary{Verdict: r.Verdict, Bound: r.LowerBound, Confidence: r.Confidence, Reason: r.Termination.Reason,
		Outputs: r.Termination.Outputs, Rows: r.Termination.SamplesUsed}
	if e := r.Evidence; e != nil {
		g.Chart = new(e.Chart)
	} else if s := r.Sequential; s != nil && s.Chart != nil {
		g.Chart, g.Share = new(s.Chart.Chart), s.Chart.Share
	}
	if g.Chart != nil {
		g.Chart.Axis, g.Chart.Labels, g.Chart.Plane = "", nil, nil
	}
	if p := Shown(r.Evidence, r.Sequential); p != nil && r.Inputs.Samples == nil && max(len(p.First.Values), len(p.Second.Values)) <= summaryValues {
		g.Pair = &audit.Pair{First: p.First, Second: p.Second}
	}
	pictured := r.Pictured()
	rows := r.Rows(report.Bounds)
	for i, row := range rows {
		if row.Chosen || &rows[i] == pictured || row.Method == MethodSequential {
			if row.Chosen {
				row.LowerBound = nil // Bound
			}
			g.Table = append(g.Table, report.Row{ID: row.ID, Method: row.Method, Delta: row.Delta, Alpha: row.Alpha, LowerBound: row.LowerBound, Strict: row.Strict,
				Chosen: row.Chosen, Direction: row.Direction, Event: row.Event, Counts: row.Counts})
		}
	}
	if e := r.Evidence; pictured != nil && e != nil && (pictured.Event.Edge != e.Prepared.Event.Edge || pictured.Event.Above != e.Prepared.Event.Above) {
		g.Chart.FirstIn, g.Chart.SecondIn = nil, nil // of another event
	}
	return g
}

// Report is what the link has of the report; an error where the link was changed, or is of another version.
func (g LinkSummary) Report(a *Audit) (Report, error) {
	r := Report{Plan: a.Plan, Report: report.Report{Kind: "pair", Subject: a.Spec.Name, Claim: a.Claim, Verdict: g.Verdict, LowerBound: g.Bound, Confidence: g.Confidence,
		Termination: audit.Termination{Reason: g.Reason, Outputs: g.Outputs, SamplesUsed: g.Rows}}}
	if len(g.Table) > 0 {
		r.Tables = []report.Table{{Name: report.Bounds, Rows: slices.Clone(g.Table)}}
	}
	row, strict := r.Deciding(), false
	if row != nil {
		strict, row.LowerBound = row.Strict, g.Bound
	}
	wrong := func(field, found, want string) (Report, error) {
		return r, &audit.InputError{Field: "the link’s result: " + field, Path: "/result/" + field, Found: found, Want: want, Remedy: "run the audit to see its own result"}
	}
	switch limit := a.Claim.Limit(); {
	case g.Verdict != audit.Violation && g.Verdict != audit.NoViolation && g.Verdict != audit.Inconclusive && g.Verdict != audit.Invalid:
		return wrong("verdict", fmt.Sprintf("%q", g.Verdict), "one of this version")
	case math.Abs(g.Confidence-(1-a.Plan.Beta)) > 1e-9:
		return wrong("confidence", audit.Number(g.Confidence), audit.Number(1-a.Plan.Beta)+", as its settings say")
	case g.Bound != nil && !(*g.Bound >= 0):
		return wrong("bound", audit.Number(*g.Bound), "at least 0")
	case g.Bound != nil && (*g.Bound > limit || strict && *g.Bound >= limit) != (g.Verdict == audit.Violation):
		return wrong("bound", audit.Number(*g.Bound), fmt.Sprintf("one that agrees with the verdict %q at a claim of %s", g.Verdict, audit.Number(limit)))
	case g.Outputs < 0 || g.Rows < 0:
		return wrong("outputs", fmt.Sprint(min(g.Outputs, g.Rows)), "at least 0")
	case len(g.Table) > summaryRows:
		return wrong("table", fmt.Sprintf("%d rows", len(g.Table)), fmt.Sprintf("at most %d", summaryRows))
	}
	for _, row := range g.Table {
		switch e, c := row.Event, row.Counts; {
		case e != nil && len(e.Words) > summaryWords || e != nil && e.Where != nil && len(e.Where.Words) > summaryWords:
			return wrong("table", "an event in more letters", fmt.Sprintf("at most %d", summaryWords))
		case c != nil && (c.X < 0 || c.Y < 0 || c.X > c.N1 || c.Y > c.N0):
			return wrong("table", fmt.Sprintf("%d of %d outputs and %d of %d", c.X, c.N1, c.Y, c.N0), "counts of an event")
		}
	}
	var pair audit.Pair
	if g.Pair != nil {
		pair = *g.Pair
		if _, err := a.steps(pair); err != nil {
			return r, fmt.Errorf("the link’s result: %w", audit.At("/result/pair", err))
		}
	}
	if g.Chart != nil {
		if _, err := g.Chart.Binner(a.Columns); err != nil {
			return r, fmt.Errorf("the link’s result: %w", audit.At("/result", err))
		}
		if chart := g.Chart.Named(a.Columns); g.Share > 0 {
			r.Sequential = &SequentialResult{Pairs: []audit.Pair{pair}, Chart: &SequentialChart{Share: g.Share, Chart: chart}}
		} else {
			r.Evidence = &Evidence{Pair: pair, Chart: chart}
			if row := r.Pictured(); row != nil {
				r.Evidence.Prepared.Event = threshold.Event{Edge: row.Event.Edge, Above: row.Event.Above}
			}
		}
	}
	r.Reword()
	return r, nil
}
