package canary

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/mechanisms/source"
)

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

// Continue reads the report of a sequential audit, to go on from: more trainings are
// drawn with the same seed, bet on by what all of them showed, and the bound holds as if
// it had been one run. It checks that the report's bets follow from its scores. What is
// refused: a report of a fixed audit, one without scores, and one that does not fit
// itself.
//
// Of two reports that go on from one, only one may be reported: their trainings are the
// same.
func Continue(data []byte) (*Parent, error) {
	r, err := ParseReport(data)
	if err != nil {
		return nil, err
	}
	if !r.Plan.sequential() {
		return nil, &audit.InputError{Field: "continue", Found: "a report of a fixed audit", Want: "one of a sequential audit", Remedy: "a bound for a fixed number of runs does not hold when more are added; run the audit with -sequential"}
	}
	if r.Evidence == nil {
		return nil, &audit.InputError{Field: "continue", Found: "a report without a training", Want: "one of a run with trainings", Remedy: "run the audit again"}
	}
	b := r.Evidence.Sequential
	if b.Scores == nil {
		return nil, &audit.InputError{Field: "continue", Found: "a report without the scores of its trainings", Want: "one with them", Remedy: fmt.Sprintf("a report keeps scores up to %d MiB, K + M numbers a training; beyond that a run cannot be continued, so start with as many runs as you want", mostScores>>20)}
	}
	p := &Parent{report: r, scores: membership.UnpackFloats(b.Scores)}
	sum := sha256.Sum256(data)
	p.sha = hex.EncodeToString(sum[:])
	l, ev, err := replayed(r.Plan, b.Scores, r.Evidence.Runs.Certified.Diverged)
	if err != nil {
		return nil, err
	}
	if !audit.EqualJSON(ev, r.Evidence) {
		return nil, &audit.InputError{Field: "continue", Found: "a report whose bets do not follow from its scores", Want: "a report as it was written", Remedy: "dpscope verify says what differs"}
	}
	p.leader = l
	return p, nil
}

// Plan is that of the report, to be done with more runs in all. An audit that ended
// since its claim was refuted goes on for its bound.
func (p *Parent) Plan() Plan {
	plan := p.report.Plan
	if p.leader.sequence.Refuted() {
		plan.Mode = Sequential
	}
	return plan
}

// parts are the runs so far.
func (p *Parent) parts() []Part {
	return append(slices.Clone(p.report.Continued), Part{p.report.Generator, p.leader.trained(), p.sha})
}

// Resume is [Plan.Resolve] of an audit that goes on from a report; from may be nil.
func (p Plan) Resume(sources []source.Spec, file []byte, from *Parent) (*Audit, error) {
	a, err := p.Resolve(sources, file)
	if err == nil && from != nil {
		a.from, err = from, from.check(a.Plan)
	}
	return a, err
}

// check refuses another plan than the one that goes on.
func (p *Parent) check(is Plan) error {
	was := p.report.Plan
	was.Runs, was.Mode = is.Runs, is.Mode
	if !is.sequential() || !audit.EqualJSON(was, is) {
		return &audit.InputError{Field: "continue", Found: "a plan that differs from the report's", Want: "the same except for -n and -until-refuted", Remedy: "start a new audit for other settings"}
	}
	if n := p.leader.trained(); is.Runs <= n {
		return &audit.InputError{Field: "runs", Path: "n", Found: fmt.Sprint(is.Runs), Want: fmt.Sprintf("more than the %d trainings that the report has: it is their number in all", n)}
	}
	return nil
}
