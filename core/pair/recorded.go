package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// splitRecorded fills in and checks the budget of an audit of recorded outputs.
func (a *Audit) splitRecorded() error {
	p, r := &a.Plan, a.Spec.Recording
	n := min(r.Rows[0], r.Rows[1])
	if n < 2*MinSamples {
		return &audit.InputError{Field: "rows of a dataset", Path: "mechanism", Found: fmt.Sprint(n), Want: fmt.Sprintf("at least %d: %d to explore and %d to certify", 2*MinSamples, MinSamples, MinSamples)}
	}
	if p.Finder != audit.Auto || p.Pair != nil {
		return &audit.InputError{Field: "finder or pair", Path: "finder", Found: "given", Want: "absent for recorded outputs, which are of one pair of datasets"}
	}
	if p.Trials == 0 {
		p.Trials = 1
	}
	if p.Trials != 1 {
		return &audit.InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: "1 for recorded outputs, which are of one pair of datasets"}
	}
	most := min(n-MinSamples, usualExploreCells/(2*audit.Width(a.Columns)))
	switch {
	case p.Samples == 0 && p.Explore == 0:
		p.Explore = min(n/2, most)
		p.Samples = n - p.Explore
	case p.Samples == 0:
		p.Samples = max(n-p.Explore, 0)
	case p.Explore == 0:
		p.Explore = min(max(n-p.Samples, 0), most)
	}
	if p.Explore < MinSamples || p.Samples < MinSamples || p.Explore > n-p.Samples {
		return &audit.InputError{Field: "explore and samples", Path: "explore", Found: fmt.Sprintf("%d and %d", p.Explore, p.Samples),
			Want: fmt.Sprintf("at least %d each and together at most the %d rows of the smaller dataset", MinSamples, n)}
	}
	a.Notes = append(a.Notes, r.Notes...)
	return nil
}

// splitsByDefault reports whether the budget is what recorded outputs get where
// the plan asks for none.
func (a *Audit) splitsByDefault() bool {
	b := *a
	b.Plan.Explore, b.Plan.Samples = 0, 0
	return b.splitRecorded() == nil && b.Plan.Explore == a.Plan.Explore && b.Plan.Samples == a.Plan.Samples
}

// recording is what the report says of recorded outputs; nil for a mechanism
// that draws its own.
func (a *Audit) recording() *audit.Recording {
	if a.Spec.Recording == nil {
		return nil
	}
	r := *a.Spec.Recording
	used := a.Plan.Explore + a.Plan.Samples
	r.Split = &audit.RecordedSplit{Explored: a.Plan.Explore, Certified: a.Plan.Samples, Unused: [2]int{r.Rows[0] - used, r.Rows[1] - used}}
	return &r
}

const recordedSplitWords = "the outputs on each dataset in a random order that the seed fixes: the first explore (half of them train, half validate), those after them certify, none is used twice; " +
	"learner, bins, events, witnesses and stakes are chosen on what explored"
