package canary

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Side describes one side of the certification runs.
type Side struct {
	Canaries int     `json:"canaries"` // a run
	Rate     float64 `json:"rate"`     // of canaries in the event, the first moment
	// Moments mu_1 to mu_4, no more than canaries: the chance that so many given ones are in the event
	// (LiDP proposition 6).
	Moments []float64 `json:"moments"`
	// |mu_2 - mu_1^2| and |mu_4 - mu_2^2|, by which second- and fourth-order intervals are narrow.
	Second *float64 `json:"correlation2,omitempty"`
	Fourth *float64 `json:"correlation4,omitempty"`
}

func (a *Audit) Conclude(ev *Evidence, end audit.Termination) (Report, error) {
	p := a.Plan
	r := Report{Report: report.New(Kind, p.Source, p.StatedClaim(), p.Beta), Plan: p, Source: a.Spec.Note(a.Setup)}
	r.Quantity, r.Termination, r.Power = string(report.Epsilon), end, power(p)
	r.Reproduce, r.Limitations, r.References = a.Reproduce(), limitations(p), references(p)
	basis, method := membership.FixedRuns, bounds.Method(p.Interval)
	switch {
	case ev == nil || ev.Runs != nil && ev.Sequential == nil && ev.Runs.Explored.Table == nil:
		ev = nil
	case ev.OneRun != nil:
		g, made := p.guessing(), ev.OneRun.Guessed
		basis, r.Termination.SamplesUsed, r.PValue = membership.OneTraining, p.K, new(g.PValue(made, r.Claim.Epsilon))
		r.Tables = []report.Table{{Name: report.Bounds, Title: membership.Title(p.Beta), Rows: g.Rows(made, r.Claim.Epsilon)}}
	case ev.Sequential != nil:
		basis = membership.OpenRuns
		r.boundSequential(ev)
	case ev.Runs.Certified.Table != nil:
		r.Termination.SamplesUsed = ev.Runs.Certified.Table.Runs()
		if end.Reason == audit.Completed {
			r.bound(ev.Runs)
		}
	}
	if ev != nil && ev.Runs != nil && ev.Runs.Certified.Table != nil {
		r.In, r.Out = side(ev.Runs.Certified.Table.In()), side(ev.Runs.Certified.Table.Out())
	}
	if r.Evidence = ev; ev != nil && ev.Membership != nil && len(r.Tables) > 0 {
		r.Tables = append(r.Tables, ev.Membership.Table(r.Claim, p.Relation, basis, p.Beta))
	}
	if p.Mode == OneRun {
		method = report.MethodOneRun
	}
	r.Choose(method)
	if p := a.from; p != nil {
		r.Continued = append(slices.Clone(p.report.Continued), Part{p.report.Generator, p.leader.trained(), p.sha})
	}
	r.Warnings = r.cautions()
	r.Reword()
	return r, nil
}

func (r *Report) bound(ev *membership.Gathered) {
	t, eps, delta, beta := *ev.Certified.Table, r.Claim.Epsilon, r.Claim.Delta, r.Plan.Beta
	rows := ev.Rows(eps, delta, beta, func(kind bounds.CanaryInterval) float64 {
		return bounds.CanaryCeiling(kind, t.K, t.M, t.Runs(), delta, beta)
	})
	for i, kind := range bounds.CanaryIntervals() {
		if !kind.Paired() && kind.Check(t.K, t.M, t.Runs(), delta, beta) == nil {
			in, out := bounds.CanaryLimits(kind, t, beta, ev.Stakes)
			rows[i].In, rows[i].Out = audit.Finite(in), audit.Finite(out)
		}
	}
	r.Tables = []report.Table{{Name: report.Bounds, Title: r.Plan.title(), Rows: rows}}
	r.LowerBound = new(float64) // where the plan's interval bounds nothing, too
	r.PValue = new(bounds.CanaryPValue(t, eps, delta, ev.Stakes))
}

// boundSequential computes what the bets came to, which holds however the run ended.
func (r *Report) boundSequential(ev *Evidence) {
	p := r.Plan
	s, err := ev.Sequential.follow(p, nil)
	if err != nil {
		panic("canary: evidence that was not checked: " + err.Error())
	}
	row := membership.NewRow(p.Interval, p.Claim.Epsilon)
	row.Title, row.Assumption = "paired betting, after every training", "none: bets against the mean of each training's X/K - e^epsilon Y/M - delta, with event and stake learnt from the trainings before it"
	row.Largest = audit.Finite(p.ceiling(p.Runs))
	if row.LowerBound = audit.Finite(bounds.RoundDown(s.LowerBound())); row.LowerBound == nil {
		row.Note = "bounds nothing on these counts"
	}
	r.Tables = []report.Table{{Name: report.Bounds, Title: p.title(), Rows: []report.Row{row}}}
	r.LowerBound = new(float64)
	r.PValue = new(s.PValue())
	r.Termination.SamplesUsed = s.Runs()
}

func side(e bounds.Exchangeable) *Side {
	s := &Side{Canaries: e.K, Rate: e.Mean()}
	for l := 1; l <= min(4, e.K); l++ {
		s.Moments = append(s.Moments, e.Moment(l))
	}
	if e.K >= 2 {
		s.Second = audit.Finite(math.Abs(e.Correlation(1)))
	}
	if e.K >= 4 {
		s.Fourth = audit.Finite(math.Abs(e.Correlation(2)))
	}
	return s
}

// power is what the plan can show: of many trainings about log(n/3) at the 95 % level, whatever K is.
func power(p Plan) *report.Power {
	if p.Mode == OneRun {
		return &report.Power{Largest: p.guessing().Largest(report.MethodOneRun), Needed: membership.Needed(report.MethodOneRun, p.rule(), p.Claim.Epsilon), Unit: "canaries"}
	}
	return &report.Power{Largest: math.Max(0, p.ceiling(p.Runs)), Unit: "runs", Needed: report.Least(1, source.MaxRuns, func(n int) bool {
		return (p.sequential() || p.Interval.Check(p.K, p.M, n, p.Claim.Delta, p.Beta) == nil) && p.ceiling(n) > p.Claim.Epsilon
	})}
}

// Part is a run that a report goes on from.
type Part struct {
	Generator audit.Generator `json:"generator"`
	Runs      int             `json:"runs"`   // trainings in its report, those of the parts before included
	Report    string          `json:"report"` // SHA-256 of the report's file, in hexadecimal
}

// Parent is a report that a run goes on from.
type Parent struct {
	report Report
	sha    string
	leader *leader
	scores []float64
}

// Continue reads the report of a sequential audit, to go on from: more trainings are drawn with the
// same seed, and the bound holds as if it had been one run. It refuses bets that do not follow from
// their scores. Of reports that go on from one, one only may be told: their trainings are the same.
func Continue(data []byte) (*Parent, error) {
	r, err := ParseReport(data)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.Plan.sequential():
		return nil, audit.Fault("continue", "a report of a fixed audit", "one of a sequential audit", "a bound for a fixed number of runs does not hold when more are added; run the audit with -sequential")
	case r.Evidence == nil:
		return nil, audit.Fault("continue", "a report without a training", "one of a run with trainings",
			"run the audit again")
	case r.Evidence.Sequential.Scores == nil:
		return nil, audit.Fault("continue", "a report without the scores of its trainings", "one with them", fmt.Sprintf("a report keeps scores up to %d MiB, K + M numbers a training; beyond that a run cannot be continued, so start with as many runs as you want", mostScores>>20))
	}
	scores := r.Evidence.Sequential.Scores
	l, ev, err := replayed(r.Plan, scores, r.Evidence.Runs.Certified.Diverged)
	if err != nil {
		return nil, err
	}
	p := &Parent{r, fmt.Sprintf("%x", sha256.Sum256(data)), l, membership.UnpackFloats(scores)}
	return p, audit.Remedy("dpscope verify says what differs",
		audit.Require(audit.EqualJSON(ev, r.Evidence), "continue", "a report whose bets do not follow from its scores", "a report as it was written"))
}

// Plan is the report's. An audit that ended since its claim was refuted goes on for its bound.
func (p *Parent) Plan() Plan {
	plan := p.report.Plan
	if p.leader.sequence.Refuted() {
		plan.Mode = Sequential
	}
	return plan
}

// Resume is [Plan.Resolve] of an audit that goes on from a report; from may be nil.
func (p Plan) Resume(sources []source.Spec, file []byte, from *Parent) (*Audit, error) {
	a, err := p.Resolve(sources, file)
	if err != nil || from == nil {
		return a, err
	}
	is, was, n := a.Plan, from.report.Plan, from.leader.trained()
	was.Runs, was.Mode, a.from = is.Runs, is.Mode, from
	return a, audit.First(
		audit.Remedy("start a new audit for other settings",
			audit.Require(is.sequential() && audit.EqualJSON(was, is), "continue", "a plan that differs from the report's", "the same except for -n and -until-refuted")),
		audit.At("n", audit.Require(is.Runs > n, "runs", is.Runs, "more than the %d trainings that the report has: it is their number in all", n)),
	)
}
