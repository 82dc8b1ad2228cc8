package pair

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
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
	PrepareTask TaskKind = "prepare" // choose on exploration counts what the bounds need
	CertifyTask TaskKind = "certify" // draw one shard on a pair, return counts of a witness
	BoundTask   TaskKind = "bound"   // turn counts into lower confidence bounds
	CanaryTask  TaskKind = "canary"  // a task of package core/canary
)

// Task is a piece of an audit as a JSON value. Executing it is a pure function
// of the task, wherever that happens.
type Task struct {
	Version int         `json:"version"`
	Kind    TaskKind    `json:"kind"`
	Plan    Plan        `json:"plan"`              // resolved
	Trial   int         `json:"trial,omitempty"`   // explore
	Pair    *audit.Pair `json:"pair,omitempty"`    // explore, certify
	Shard   int         `json:"shard,omitempty"`   // certify
	Witness *Witness    `json:"witness,omitempty"` // certify
	Edges   []float64   `json:"edges,omitempty"`   // certify: of the bins of the score
	Event   *Cut        `json:"event,omitempty"`   // certify: drawn in the chart; prepare
	Chart   *Chart      `json:"chart,omitempty"`   // certify: what to draw, without counts

	Explored *bounds.Table `json:"explored,omitempty"` // prepare, bound: exploration pairs
	Table    *bounds.Table `json:"table,omitempty"`    // bound: certification pairs
	Prepared *Prepared     `json:"prepared,omitempty"` // bound

	Canary json.RawMessage `json:"canary,omitempty"` // canary: the task; it has a plan of its own
}

// ParseTask reads a task from JSON; unknown fields are refused.
func ParseTask(data []byte) (Task, error) {
	var t Task
	if err := audit.DecodeStrict(data, "task", &t); err != nil {
		return Task{}, err
	}
	if t.Version != TaskVersion {
		return Task{}, &audit.InputError{Field: "task version", Found: fmt.Sprint(t.Version), Want: fmt.Sprint(TaskVersion)}
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
		n := t.Plan.shardRows()
		return min(n, t.Plan.Samples-t.Shard*n)
	}
	return 0
}

// shardRows is how many outputs a side one shard of certification draws: an
// anytime run looks after each.
func (p Plan) shardRows() int {
	if p.Anytime {
		return BlockRows
	}
	return ShardRows
}

// shards is how many shards certification has at most.
func (p Plan) shards() int {
	n := p.shardRows()
	return (p.Samples + n - 1) / n
}

// Result is what a task returns. Only the field of its kind is set.
type Result struct {
	Explored  *Explored  `json:"explored,omitempty"`
	Prepared  *Prepared  `json:"prepared,omitempty"`
	Counted   *Counted   `json:"counted,omitempty"`
	Certified *Certified `json:"certified,omitempty"`

	Canary json.RawMessage `json:"canary,omitempty"`
}

// Explored is what exploring one pair found.
type Explored struct {
	Witness Witness   `json:"witness"`
	Edges   []float64 `json:"edges"` // of the bins of its score
	Event   Cut       `json:"event"` // that shows the largest epsilon
	// Value is about the lower bound on the goal that the witness shows on the
	// validation split, for ranking only.
	Value    float64       `json:"value"`
	Table    bounds.Table  `json:"table"` // validation pairs
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
	Rows  int      `json:"rows"`  // outputs drawn a side
	Cells []byte   `json:"cells"` // counts of pairs of bins, packed
	Chart [4][]int `json:"chart"` // counts a bin: first, first in the event, second, second in the event
	// Plane holds the counts of the chart's plane, packed, where the task has one.
	Plane [2][]byte `json:"plane,omitzero"`
}

// tally is the sum of shards.
type tally struct {
	rows  int
	table bounds.Table
	chart [4][]int
	plane [2][]int // nil where the chart has none
}

func newTally(edges []float64, ch Chart) tally {
	return tally{table: bounds.NewTable(len(edges) + 1), plane: ch.Plane.counts()}
}

// add merges another shard.
func (t *tally) add(c Counted) error {
	cells, err := unpackCounts(c.Cells, len(t.table.N))
	if err != nil {
		return err
	}
	for side, packed := range c.Plane {
		if len(packed) == 0 {
			continue
		}
		cells, err := unpackCounts(packed, len(t.plane[side]))
		if err != nil {
			return err
		}
		for i, n := range cells {
			t.plane[side][i] += n
		}
	}
	t.rows += c.Rows
	for i, n := range cells {
		t.table.N[i] += n
	}
	for k := range t.chart {
		if t.chart[k] == nil {
			t.chart[k] = make([]int, len(c.Chart[k]))
		}
		for i, n := range c.Chart[k] {
			t.chart[k][i] += n
		}
	}
	return nil
}
