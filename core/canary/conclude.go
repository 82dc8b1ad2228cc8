package canary

import (
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/report"
)

// Side describes one side of the certification runs.
type Side struct {
	Canaries int     `json:"canaries"` // a run
	Rate     float64 `json:"rate"`     // of canaries in the event, the first moment
	// Moments mu_1, ..., mu_4 of the exchangeable vector: the chance that so many
	// given canaries are all in the event (LiDP proposition 6). As many as there
	// are canaries, four at most.
	Moments []float64 `json:"moments"`
	// Correlations |mu_2 - mu_1^2| and |mu_4 - mu_2^2|, by which second- and
	// fourth-order intervals are narrow; absent where a moment is.
	Second *float64 `json:"correlation2,omitempty"`
	Fourth *float64 `json:"correlation4,omitempty"`
}

// Equation10 separates what more canaries cost from what they bring (LiDP
// equation 10), by Wilson intervals: epsilon(K, l) - epsilon(1, 1) = Bias +
// Variance. The K-canary figures are at the threshold of this audit, the single
// canary's at its own. Differences of bounds, not bounds.
type Equation10 struct {
	Single    *float64 `json:"single,omitempty"` // epsilon(1, 1)
	First     *float64 `json:"first,omitempty"`  // epsilon(K, 1)
	Bias      *float64 `json:"bias,omitempty"`   // First - Single
	Variance2 *float64 `json:"variance2,omitempty"`
	Variance4 *float64 `json:"variance4,omitempty"`
}

// GrowthStep is equation 10 for K of the canaries inside and M of the fresh ones,
// drawn at random in every run, in the mean over the draws: same runs, same
// threshold. Since the other canaries stay inside, the bias is that of all of them.
// Differences of bounds, not bounds.
type GrowthStep struct {
	K int `json:"k"`
	M int `json:"m"`
	Equation10
}

// Conclude is all that follows from what an audit gathered, ev, in a run that ended so.
// warnings are those of the run itself. Generator and timing are left to the caller.
func Conclude(a *Audit, ev *Evidence, end audit.Termination, warnings []string) Report {
	p := a.Plan
	r := Report{Report: report.New(Kind, p.Source, p.Promise(), p.Beta), Plan: p, Source: a.Spec.Note(a.Setup)}
	r.Quantity, r.Termination, r.Power = string(report.Epsilon), end, power(p)
	r.Reproduce, r.Limitations, r.References = a.Reproduce(), limitations(p), References(p)
	if ev != nil && ev.Sequential != nil {
		r.Evidence = ev
		r.boundSequential()
	} else if ev != nil && ev.Explored.Table != nil {
		r.Evidence = ev
		if t := ev.Certified.Table; t != nil {
			r.Termination.SamplesUsed = t.Runs()
			r.In, r.Out = side(t.In()), side(t.Out())
			if end.Reason == audit.Completed {
				r.bound(*t)
			}
		}
	}
	if r.Evidence != nil && ev.Membership != nil && len(r.Tables) > 0 {
		basis := membership.FixedRuns
		if p.sequential() {
			basis = membership.OpenRuns
		}
		r.Tables = append(r.Tables, ev.Membership.Table(r.Claim, p.Relation, basis, p.Beta))
	}
	r.Choose(bounds.Method(p.Interval))
	r.Warnings = append(r.cautions(), warnings...)
	r.Reword()
	return r
}

// bound computes what all intervals make of the counts, and what follows from that.
func (r *Report) bound(t bounds.CanaryTable) {
	ev, eps, delta, beta := r.Evidence, r.Claim.Epsilon, r.Claim.Delta, r.Plan.Beta
	var rows []report.Row
	of := map[bounds.CanaryInterval]*float64{}
	for _, kind := range bounds.CanaryIntervals() {
		row := NewRow(kind)
		row.Claimed = &eps
		if Bound(&row, kind, t, ev.Stakes, delta, beta, func() float64 { return bounds.CanaryCeiling(kind, t.K, t.M, t.Runs(), delta, beta) }) && !kind.Paired() {
			in, out := bounds.CanaryLimits(kind, t, beta, ev.Stakes)
			row.In, row.Out = report.Finite(in), report.Finite(out)
		}
		of[kind] = row.LowerBound
		rows = append(rows, row)
	}
	r.Tables = []report.Table{{Name: report.Bounds, Title: r.Plan.title(), Rows: rows}}
	r.LowerBound = new(float64) // where the plan's interval bounds nothing, too
	pv := bounds.CanaryPValue(t, eps, delta, ev.Stakes)
	r.PValue = &pv
	var single *float64
	if one := ev.Single; one != nil && one.Certified.Table != nil {
		single = report.Finite(bounds.CanaryEpsilon(bounds.CanaryWilson1, *one.Certified.Table, delta, beta, one.Stakes))
		e := separate(single, of[bounds.CanaryWilson1], of[bounds.CanaryWilson2], of[bounds.CanaryWilson4])
		r.Equation10 = &e
	}
	if t.K > 1 {
		r.Growth = Growth(t, single, delta, beta)
	}
}

// boundSequential computes what the bets came to, which holds however the run ended.
func (r *Report) boundSequential() {
	p, ev := r.Plan, r.Evidence
	s, err := ev.Sequential.follow(p, nil)
	if err != nil {
		panic("canary: evidence that was not checked: " + err.Error())
	}
	if t := ev.Certified.Table; t != nil {
		r.In, r.Out = side(t.In()), side(t.Out())
	}
	row := NewRow(p.Interval)
	row.Title, row.Assumption = "paired betting, after every training", "none: the mean of each training's X/K - e^epsilon Y/M - delta is bet against, with an event and a stake that those before it showed"
	row.Claimed = &p.Claim.Epsilon
	row.Largest = report.Finite(p.ceiling(p.Runs))
	if row.LowerBound = report.Finite(bounds.RoundDown(s.LowerBound())); row.LowerBound == nil {
		row.Note = "bounds nothing on these counts"
	}
	r.Tables = []report.Table{{Name: report.Bounds, Title: p.title(), Rows: []report.Row{row}}}
	r.LowerBound = new(float64)
	pv := s.PValue()
	r.PValue = &pv
	r.Termination.SamplesUsed = s.Runs()
}

// NewRow is the row of an interval, without bounds.
func NewRow(kind bounds.CanaryInterval) report.Row {
	w := intervalWords[kind]
	return report.Row{ID: report.Epsilon, Method: bounds.Method(kind), Title: w.title, Valid: kind.Valid(), Assumption: w.assumption}
}

// Bound fills in what an interval makes of a table, or why it makes nothing of it, and
// whether it can be used on such tables at all. largest is the bound that any outcome
// can give.
func Bound(row *report.Row, kind bounds.CanaryInterval, t bounds.CanaryTable, stakes bounds.CanaryStakes, delta, beta float64, largest func() float64) bool {
	if err := kind.Check(t.K, t.M, t.Runs(), delta, beta); err != nil {
		row.Note = err.Error()
		return false
	}
	row.LowerBound = report.Finite(bounds.CanaryEpsilon(kind, t, delta, beta, stakes))
	row.Largest = report.Finite(largest())
	if row.LowerBound == nil {
		row.Note = "bounds nothing on these counts"
	}
	return true
}

// Growth are the steps for 1, 2, 4, ... and all canaries inside, with the same
// share of the fresh ones, rounded up. single is epsilon(1, 1), where it is known.
func Growth(t bounds.CanaryTable, single *float64, delta, beta float64) []GrowthStep {
	var steps []GrowthStep
	for k := 1; ; k = min(2*k, t.K) {
		m := (k*t.M + t.K - 1) / t.K
		at := func(kind bounds.CanaryInterval) *float64 {
			if min(k, m) < kind.Order() {
				return nil
			}
			return report.Finite(bounds.CanaryThinned(kind, t, k, m, delta, beta))
		}
		steps = append(steps, GrowthStep{k, m, separate(single, at(bounds.CanaryWilson1), at(bounds.CanaryWilson2), at(bounds.CanaryWilson4))})
		if k == t.K {
			return steps
		}
	}
}

// separate makes equation 10 of Wilson bounds of one canary and of orders 1, 2 and
// 4 of several.
func separate(single, first, second, fourth *float64) Equation10 {
	return Equation10{Single: single, First: first, Bias: minus(first, single), Variance2: minus(second, first), Variance4: minus(fourth, first)}
}

func minus(x, y *float64) *float64 {
	if x == nil || y == nil {
		return nil
	}
	d := math.Round(float64((*x-*y)*1e6)) / 1e6
	return &d
}

// side describes one margin of the table.
func side(e bounds.Exchangeable) *Side {
	s := &Side{Canaries: e.K, Rate: e.Mean()}
	for l := 1; l <= min(4, e.K); l++ {
		s.Moments = append(s.Moments, e.Moment(l))
	}
	if e.K >= 2 {
		s.Second = report.Finite(math.Abs(e.Correlation(1)))
	}
	if e.K >= 4 {
		s.Fourth = report.Finite(math.Abs(e.Correlation(2)))
	}
	return s
}

// power is what the plan can show: the bound by its interval if in every run all
// canaries inside were in the event and no fresh one was is about log(n/3) at the 95 %
// level, whatever K is.
func power(p Plan) *report.Power {
	return &report.Power{Largest: math.Max(0, p.ceiling(p.Runs)), Unit: unit, Needed: report.Least(1, source.MaxRuns, func(n int) bool {
		return (p.sequential() || p.Interval.Check(p.K, p.M, n, p.Claim.Delta, p.Beta) == nil) && p.ceiling(n) > p.Claim.Epsilon
	})}
}
