package pair

import (
	"context"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// StoppedAfterBounds is the report of a run that is stopped when it has its bounds, and its
// sequential stage so many epochs.
func StoppedAfterBounds(run Run, epochs int) (Report, error) {
	a, err := run.Plan.Resolve(run.Catalogue)
	if err != nil {
		return Report{}, err
	}
	a.most = &limits{trials: a.Plan.Trials, epochs: epochs, samples: a.Plan.certifies()}
	s := &state{Audit: a, on: &engine.Runner{Pool: run.Pool}}
	found, _, err := s.ended(context.Background(), s.do(context.Background()))
	if err != nil {
		return Report{}, err
	}
	return a.Conclude(found, audit.Termination{Reason: audit.Stopped, Message: report.EndMessages[audit.Stopped]})
}

// Merged merges what a machine that drew all of the evidence would have told, changed.
func Merged(e Evidence, change func(*Counted)) error {
	c := Counted{Rows: e.Table.Pairs(), Cells: slices.Clone(e.Table.N), Chart: [4][]int{e.Chart.First, e.Chart.FirstIn, e.Chart.Second, e.Chart.SecondIn}}
	change(&c)
	t := newTally(&e)
	return t.add(c)
}
