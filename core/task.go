package core

import (
	"fmt"

	"github.com/dpscope/dpscope/core/bound"
)

// TaskVersion is the version of the task's JSON form.
const TaskVersion = 1

// Outputs are drawn in blocks of BlockRows and streams in shards of ShardRows
// outputs. Both are part of what makes a report replay: changing one changes
// which random numbers an output is made of.
const (
	BlockRows = 4096
	ShardRows = 4 * BlockRows
)

// TaskKind says what a task does.
type TaskKind string

const (
	ExploreTask TaskKind = "explore" // draw on a pair, learn, return the best witness
	CertifyTask TaskKind = "certify" // draw one shard on a pair, return counts of a witness
	BoundTask   TaskKind = "bound"   // turn counts into a lower confidence bound
)

// Task is a piece of an audit as a JSON value. Executing it is a pure function
// of the task, wherever that happens.
type Task struct {
	Version int      `json:"version"`
	Kind    TaskKind `json:"kind"`
	Plan    Plan     `json:"plan"`              // resolved
	Trial   int      `json:"trial,omitempty"`   // explore
	Pair    *Pair    `json:"pair,omitempty"`    // explore, certify
	Shard   int      `json:"shard,omitempty"`   // certify
	Witness *Witness `json:"witness,omitempty"` // certify
	Chart   *Chart   `json:"chart,omitempty"`   // certify: what to draw, without counts

	Counts   *bound.Counts `json:"counts,omitempty"`   // bound: certification counts, numerator first
	Explored *bound.Counts `json:"explored,omitempty"` // bound: exploration counts, numerator first
}

// ParseTask reads a task from JSON; unknown fields are refused.
func ParseTask(data []byte) (Task, error) {
	var t Task
	if err := decodeStrict(data, "task", &t); err != nil {
		return Task{}, err
	}
	if t.Version != TaskVersion {
		return Task{}, &InputError{Field: "task version", Found: fmt.Sprint(t.Version), Want: fmt.Sprint(TaskVersion)}
	}
	return t, nil
}

// Name is what messages call the task.
func (t Task) Name() string {
	switch t.Kind {
	case ExploreTask:
		return fmt.Sprintf("explore, trial %d", t.Trial)
	case CertifyTask:
		return fmt.Sprintf("certify, shard %d", t.Shard)
	}
	return string(t.Kind)
}

// rows is how many outputs a side the task draws.
func (t Task) rows() int {
	switch t.Kind {
	case ExploreTask:
		return t.Plan.Explore
	case CertifyTask:
		return min(ShardRows, t.Plan.Samples-t.Shard*ShardRows)
	}
	return 0
}

// Result is what a task returns. Only the fields of its kind are set.
type Result struct {
	Explored *Explored     `json:"explored,omitempty"`
	Counted  *Counted      `json:"counted,omitempty"`
	Bound    *bound.Result `json:"bound,omitempty"`
	Power    *Power        `json:"power,omitempty"`
}

// Explored is what exploring one pair found.
type Explored struct {
	Witness Witness `json:"witness"`
	// Reversed: the event is likelier on the second dataset than on the first.
	Reversed bool `json:"reversed,omitempty"`
	// Value is the lower bound on epsilon that the witness shows on the
	// validation split, for ranking only.
	Value float64 `json:"value"`
	// Counts of the event on the validation split, the likelier side first.
	Counts   bound.Counts  `json:"counts"`
	Chart    Chart         `json:"chart"`
	Learners []LearnerNote `json:"learners"`
}

// LearnerNote says how one learner of a portfolio did.
type LearnerNote struct {
	Learner string  `json:"learner"`
	Value   float64 `json:"value"`
	Note    string  `json:"note,omitempty"` // why it dropped out
}

// Counted is what one shard of certification adds.
type Counted struct {
	First  int      `json:"first"`  // outputs in the event, of Rows drawn on the first dataset
	Second int      `json:"second"` // and on the second
	Rows   int      `json:"rows"`   // outputs drawn a side
	Chart  [4][]int `json:"chart"`  // counts a bin: first, first in the event, second, second in the event
}

// add merges another shard.
func (c *Counted) add(o Counted) {
	c.First += o.First
	c.Second += o.Second
	c.Rows += o.Rows
	for k := range c.Chart {
		if c.Chart[k] == nil {
			c.Chart[k] = make([]int, len(o.Chart[k]))
		}
		for i, n := range o.Chart[k] {
			c.Chart[k][i] += n
		}
	}
}

// counts orients the counts so that the side in the numerator comes first.
func (c Counted) counts(reversed bool) bound.Counts {
	if reversed {
		return bound.Counts{X: c.Second, N1: c.Rows, Y: c.First, N0: c.Rows}
	}
	return bound.Counts{X: c.First, N1: c.Rows, Y: c.Second, N0: c.Rows}
}
