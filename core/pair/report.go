package pair

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Report is all that came out of an audit, and all that is needed to run it
// again, see [report.Report].
type Report struct {
	report.Report
	Plan   Plan        `json:"plan"` // every default written out
	Inputs Inputs      `json:"inputs"`
	Trials []TrialNote `json:"trials"`
	// Sequential is the sequential stage, where the plan has one.
	Sequential *SequentialResult `json:"sequential,omitempty"`
	// Evidence is absent where exploration did not finish.
	Evidence *Evidence `json:"evidence,omitempty"`
	// Tradeoff is the trade-off curve of the score, with a band that holds
	// everywhere with the report's confidence.
	Tradeoff []bounds.TradeoffPoint `json:"tradeoff" same:"share"`
}

// Inputs says what was audited, beyond the plan.
type Inputs struct {
	PrivacyUnit string `json:"privacyUnit"`
	// Samples is there where outputs were recorded elsewhere.
	Samples *audit.Recording `json:"samples,omitempty"`
	// UserProgram is there where the user brought the mechanism.
	User *audit.UserMechanism `json:"brought,omitempty"`
	// Labelled is there where the user brought the table of a learner.
	Labelled *audit.Labelled `json:"labelled,omitempty"`
	// Unseeded says why the counts cannot be drawn again.
	Unseeded string `json:"unseeded,omitempty"`
	// Examples is there where the mechanism is a learner.
	Examples *Examples `json:"examples,omitempty"`
}

// Examples says what the rows of a learner's datasets are: the features in declared
// bounds, then the label, 0 or 1.
type Examples struct {
	Features []string  `json:"features"` // names
	Classes  [2]string `json:"classes"`  // names of the labels 0 and 1
	Lower    []float64 `json:"lower"`    // of each feature
	Upper    []float64 `json:"upper"`
}

// examples are those of a learner, nil of another mechanism.
func examples(spec audit.MechanismSpec, p Plan) *Examples {
	if spec.Table == nil {
		return nil
	}
	t, d := spec.Table(p.Parameters), spec.Domain(p.Parameters, p.Relation)
	n := min(len(t.Features), len(d.Lower), len(d.Upper))
	return &Examples{t.Features, t.Classes, d.Lower[:n], d.Upper[:n]}
}

// ParseReport reads a report; unknown fields are refused.
func ParseReport(data []byte) (Report, error) {
	var r Report
	if err := report.Parse(data, report.Pair, &r); err != nil {
		return Report{}, err
	}
	return r, r.check()
}

// check refuses a report whose parts do not fit together, so that nothing
// downstream has to.
func (r Report) check() error {
	if err := r.Report.Check(); err != nil {
		return err
	}
	if r.Plan.Claim == nil {
		return &audit.InputError{Field: "report: plan.claim", Found: audit.Absent, Want: "the claim that was audited"}
	}
	for _, row := range r.Rows(report.Bounds) {
		if !slices.Contains(report.Quantities(), row.ID) {
			return &audit.InputError{Field: "report: tables: bounds: id", Found: fmt.Sprintf("%q", row.ID), Want: "a known quantity"}
		}
	}
	for _, row := range r.Rows(report.Renyi) {
		if row.LowerBound == nil {
			return &audit.InputError{Field: "report: tables: renyi", Found: "a row without a bound", Want: "one in every row"}
		}
	}
	if e := r.Evidence; e != nil {
		if err := e.check(r.Plan); err != nil {
			return fmt.Errorf("report: evidence: %w", err)
		}
	}
	if r.Sequential != nil {
		return r.Sequential.check(r.Plan)
	}
	return nil
}

// Certified reports whether the run came to certification.
func (r Report) Certified() bool {
	return len(r.Rows(report.Bounds)) > 0 && r.Evidence != nil && r.Evidence.Table != nil
}

// Chance implements [report.View].
func (r Report) Chance() (beta float64, seed uint64) { return r.Plan.Beta, r.Plan.Seed }
