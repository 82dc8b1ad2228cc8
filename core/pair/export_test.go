package pair

import (
	"context"

	"github.com/dpscope/dpscope/audit"
)

// StoppedAfterBounds is the report of a run that is stopped when it has its bounds, and its
// sequential stage so many epochs.
func StoppedAfterBounds(run Run, epochs int) (Report, error) {
	a, err := run.Plan.Resolve(run.Catalogue)
	if err != nil {
		return Report{}, err
	}
	s := &state{Run: run, audit: a, pool: run.Pool, searchers: run.Pool, epochs: epochs}
	if err := s.do(context.Background()); err != nil {
		return Report{}, err
	}
	return s.report(audit.Termination{Reason: audit.Stopped, Message: endMessages[audit.Stopped]})
}

// Merged merges what a machine that drew all of the evidence would have told, changed.
func Merged(e Evidence, change func(*Counted)) error {
	c := Counted{Rows: e.Table.Pairs(), Cells: packCounts(e.Table.N), Chart: [4][]int{e.Chart.First, e.Chart.FirstIn, e.Chart.Second, e.Chart.SecondIn}}
	change(&c)
	t := newTally(e.Edges, e.Chart, e.Prepared.Event)
	return t.add(c)
}

var RankMMD = rankMMD
