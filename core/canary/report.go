package canary

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/report"
)

// ReportKind is the kind of a canary report, SchemaVersion the version of its
// JSON form and SchemaName its schema, which lies in docs/.
const (
	Kind          = "canary"
	SchemaVersion = 1
	SchemaName    = "dpscope-canary-v1.schema.json"
)

// Report is all that came out of a canary audit, and all that is needed to run it
// again, but for the user's file. Bounds are rounded down.
type Report struct {
	Schema        string          `json:"$schema"`
	Kind          string          `json:"kind"`
	SchemaVersion int             `json:"schemaVersion"`
	Generator     audit.Generator `json:"generator"`
	Plan          Plan            `json:"plan"` // every default written out
	Source        source.Note     `json:"source"`
	// Evidence is absent where nothing was drawn.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Single is the evidence with one canary, for equation 10.
	Single *Evidence `json:"single,omitempty"`
	In     *Side     `json:"in,omitempty"`  // canaries that were inside
	Out    *Side     `json:"out,omitempty"` // fresh canaries
	// LowerBound is the bound on epsilon by the plan's interval, at least 0; absent
	// in a run that did not complete.
	LowerBound *float64          `json:"lowerBound,omitempty"`
	Confidence float64           `json:"confidence"`
	PValue     *float64          `json:"pValue,omitempty"` // of the claim, by paired betting
	Intervals  []report.Row      `json:"intervals"`
	Equation10 *Equation10       `json:"equation10,omitempty"`
	Growth     []GrowthStep      `json:"growth,omitempty"` // equation 10 for 1, 2, 4, ... and all of the canaries
	Verdict    audit.Verdict     `json:"verdict"`
	Summary    string            `json:"summary"` // the verdict in words
	Power      Power             `json:"power"`
	Warnings   []string          `json:"warnings"`
	Ended      audit.Termination `json:"termination"`
	Timing     audit.Timing      `json:"timing"`
	Reproduce  audit.Reproduce   `json:"reproduce"`

	Limitations []string `json:"limitations"`
	References  []string `json:"references"`
}

// Bounded says whether the report holds a lower bound.
func (r Report) Bounded() bool { return r.LowerBound != nil }

// Evidence is what the bounds were computed from.
type Evidence struct {
	// Threshold and Stakes were chosen on the explored runs: a canary is in the
	// event if its score exceeds the threshold.
	Threshold float64             `json:"threshold"`
	Ties      bool                `json:"ties,omitempty"` // all explored scores were the same
	Stakes    bounds.CanaryStakes `json:"stakes"`
	Explored  Counted             `json:"explored"`
	Certified Counted             `json:"certified"`
	// Portrait are scores of explored runs, to be looked at. Absent from the evidence
	// with one canary, and where no explored run has enough canaries in and out.
	Portrait *Portrait `json:"portrait,omitempty"`
}

// Counted are runs by how many canaries were in the event.
type Counted struct {
	Table    *bounds.CanaryTable `json:"table,omitempty"`
	Diverged int                 `json:"diverged"` // runs with a side whose scores were no use
}

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

// Power says what this many runs can show.
type Power struct {
	// Largest is the bound by the plan's interval if in every run all canaries
	// inside were in the event and no fresh one was: about log(n/3) at the 95 %
	// level, whatever K is.
	Largest float64 `json:"largest"`
	// RunsForClaim is the number of runs from which on some outcome could refute
	// the claim; 0: more than the plan may have.
	RunsForClaim int `json:"runsForClaim"`
}

// assemble makes the report of evidence. It is a function of its arguments.
func assemble(a *Audit, ev, single *Evidence, end audit.Termination, warnings []string) Report {
	p := a.Plan
	r := Report{Schema: SchemaName, Kind: Kind, SchemaVersion: SchemaVersion, Plan: p, Confidence: 1 - p.Beta,
		Source: source.Note{Title: a.Spec.Title, Score: a.Spec.Score, Facts: []audit.FactRow{}},
		Single: single, Intervals: []report.Row{}, Ended: end, Power: power(p), Reproduce: reproduce(a),
		Limitations: limitations(p), References: References(p)}
	if a.Spec.Facts != nil {
		r.Source.Facts = a.Spec.Facts(a.Setup)
	}
	if ev != nil && ev.Explored.Table != nil {
		r.Evidence = ev
	}
	if r.Evidence != nil && ev.Certified.Table != nil {
		t := *ev.Certified.Table
		r.Ended.SamplesUsed = t.Runs()
		r.In, r.Out = side(t.In()), side(t.Out())
		if end.Reason == audit.Completed {
			r.conclude(t, ev.Stakes)
		}
	}
	r.Verdict = r.verdict()
	r.Warnings = append(append(append([]string{}, a.Notes...), r.cautions()...), warnings...)
	r.Summary = Headline(r)
	return r
}

// conclude computes the bounds.
func (r *Report) conclude(t bounds.CanaryTable, stakes bounds.CanaryStakes) {
	p := r.Plan
	delta := p.Claim.Delta
	of := map[bounds.CanaryInterval]*float64{}
	for _, kind := range bounds.CanaryIntervals() {
		row := report.Row{Interval: kind, Title: IntervalWords[kind].Title, Valid: kind.Valid(), Assumption: IntervalWords[kind].Assumption}
		if err := kind.Check(t.K, t.M, t.Runs(), delta, p.Beta); err != nil {
			row.Note = err.Error()
		} else {
			row.LowerBound = report.Finite(bounds.CanaryEpsilon(kind, t, delta, p.Beta, stakes))
			row.Largest = report.Finite(bounds.CanaryCeiling(kind, t.K, t.M, t.Runs(), delta, p.Beta))
			if row.LowerBound == nil {
				row.Note = "bounds nothing on these counts"
			}
			if !kind.Paired() {
				in, out := bounds.CanaryLimits(kind, t, p.Beta, stakes)
				row.In, row.Out = report.Finite(in), report.Finite(out)
			}
		}
		of[kind] = row.LowerBound
		r.Intervals = append(r.Intervals, row)
	}
	lower := 0.0
	if b := of[p.Interval]; b != nil {
		lower = math.Max(0, *b)
	}
	r.LowerBound = &lower
	pv := bounds.CanaryPValue(t, p.Claim.Epsilon, delta, stakes)
	r.PValue = &pv
	var single *float64
	if r.Single != nil && r.Single.Certified.Table != nil {
		single = report.Finite(bounds.CanaryEpsilon(bounds.CanaryWilson1, *r.Single.Certified.Table, delta, p.Beta, r.Single.Stakes))
		e := separate(single, of[bounds.CanaryWilson1], of[bounds.CanaryWilson2], of[bounds.CanaryWilson4])
		r.Equation10 = &e
	}
	if t.K > 1 {
		r.Growth = Growth(t, single, delta, p.Beta)
	}
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

// power computes what the plan can show.
func power(p Plan) Power {
	ceiling := func(n int) float64 {
		return bounds.CanaryCeiling(p.Interval, p.K, p.M, n, p.Claim.Delta, p.Beta)
	}
	w := Power{Largest: math.Max(0, ceiling(p.Runs))}
	enough := func(n int) bool {
		return p.Interval.Check(p.K, p.M, n, p.Claim.Delta, p.Beta) == nil && ceiling(n) > p.Claim.Epsilon
	}
	hi := 1
	for hi < source.MaxRuns && !enough(hi) {
		hi *= 2
	}
	if !enough(hi) {
		return w
	}
	lo := hi / 2 // not enough
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	w.RunsForClaim = hi
	return w
}

func (r Report) verdict() audit.Verdict {
	switch eps := r.Plan.Claim.Epsilon; {
	case r.Ended.Reason == audit.Failed:
		return audit.Invalid
	case r.LowerBound == nil:
		return audit.Inconclusive
	case *r.LowerBound > eps && r.Plan.Interval.Valid():
		return audit.Violation
	case *r.LowerBound > eps, r.Power.Largest <= eps:
		return audit.Inconclusive
	}
	return audit.NoViolation
}

// ParseReport reads a report of this version; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.ParseReport(data, Kind, SchemaVersion, &r); err != nil {
		return Report{}, err
	}
	return r, r.check()
}

// check refuses a report whose parts do not fit together.
func (r Report) check() error {
	verdicts := []string{string(audit.Violation), string(audit.NoViolation), string(audit.Inconclusive), string(audit.Invalid)}
	if !slices.Contains(verdicts, string(r.Verdict)) {
		return audit.UnknownName("report: field verdict", string(r.Verdict), verdicts)
	}
	p := r.Plan
	if p.Claim == nil || p.Single == nil {
		return &audit.InputError{Field: "report: plan", Found: "incomplete", Want: "the whole plan, with its claim"}
	}
	if err := p.Claim.Validate(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, x := range []struct {
		name string
		ev   *Evidence
		k, m int
	}{{"evidence", r.Evidence, p.K, p.M}, {"single", r.Single, 1, 1}} {
		if x.ev == nil {
			continue
		}
		if err := x.ev.Check(p, x.k, x.m); err != nil {
			return fmt.Errorf("report: %s: %w", x.name, err)
		}
	}
	if r.Verdict == audit.Violation || r.Verdict == audit.NoViolation {
		if r.LowerBound == nil || (*r.LowerBound > p.Claim.Epsilon) != (r.Verdict == audit.Violation) {
			return &audit.InputError{Field: "report: verdict", Found: fmt.Sprintf("%q, which its own bound contradicts", r.Verdict), Want: "what the bound says of the claim " + p.Claim.String()}
		}
	}
	return nil
}

func (e Evidence) Check(p Plan, k, m int) error {
	if math.IsNaN(e.Threshold) || math.IsInf(e.Threshold, 0) {
		return &audit.InputError{Field: "threshold", Found: fmt.Sprint(e.Threshold), Want: "finite"}
	}
	if err := e.Stakes.Validate(); err != nil {
		return fmt.Errorf("stakes: %w", err)
	}
	if e.Portrait != nil {
		if err := e.Portrait.Check(p.Explore, k, m); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		name string
		c    Counted
		most int
	}{{"explored", e.Explored, p.Explore}, {"certified", e.Certified, p.Runs}} {
		t := x.c.Table
		if t == nil {
			continue
		}
		if err := t.Validate(); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		if t.K != k || t.M != m || t.Runs() > x.most || x.c.Diverged < 0 || x.c.Diverged > x.most {
			return &audit.InputError{Field: x.name, Found: fmt.Sprintf("%d runs with k = %d, m = %d", t.Runs(), t.K, t.M), Want: fmt.Sprintf("at most %d with k = %d, m = %d, as the plan says", x.most, k, m)}
		}
	}
	return nil
}
