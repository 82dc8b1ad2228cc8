package pair

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
)

// Outputs are drawn in blocks of BlockRows and streams in shards of ShardRows
// outputs. Both are part of what makes a report replay: changing one changes
// which random numbers an output is made of.
const (
	BlockRows = audit.BlockRows
	ShardRows = 4 * BlockRows
)

// Explore is the task of drawing outputs on both datasets of a pair and learning
// what tells them apart. It returns an [Explored].
type Explore struct {
	Plan  Plan       `json:"plan"` // resolved, as in all tasks
	Trial int        `json:"trial"`
	Pair  audit.Pair `json:"pair"`
}

// Prepare is the task of choosing, on exploration counts, what the bounds need. It
// returns a [Prepared].
type Prepare struct {
	Plan     Plan         `json:"plan"`
	Explored bounds.Table `json:"explored"` // validation pairs
	Event    Cut          `json:"event"`
}

// Certify is the task of drawing one shard of outputs on both datasets and counting
// how a witness sees them. It returns a [Counted].
type Certify struct {
	Plan    Plan       `json:"plan"`
	Pair    audit.Pair `json:"pair"`
	Shard   int        `json:"shard"`
	Witness Witness    `json:"witness"`
	Edges   []float64  `json:"edges"` // of the bins of the score
	Event   Cut        `json:"event"` // drawn in the chart
	Chart   Chart      `json:"chart"` // what to draw, without counts
}

// Bound is the task of turning counts into lower confidence bounds. It returns a
// [Certified].
type Bound struct {
	Plan     Plan         `json:"plan"`
	Explored bounds.Table `json:"explored"` // exploration pairs
	Table    bounds.Table `json:"table"`    // certification pairs
	Prepared Prepared     `json:"prepared"`
}

// Kind and Name implement [engine.Task].
func (Explore) Kind() string { return "pair/explore" }
func (Prepare) Kind() string { return "pair/prepare" }
func (Certify) Kind() string { return "pair/certify" }
func (Bound) Kind() string   { return "pair/bound" }

func (t Explore) Name() string {
	return fmt.Sprintf("explore, trial %d of mechanism %s", t.Trial, t.Plan.Mechanism)
}
func (t Prepare) Name() string { return "prepare the bounds of mechanism " + t.Plan.Mechanism }
func (t Certify) Name() string {
	return fmt.Sprintf("certify, shard %d of mechanism %s", t.Shard, t.Plan.Mechanism)
}
func (t Bound) Name() string { return "bound mechanism " + t.Plan.Mechanism }

// Unwatched implements [engine.Unwatched].
func (Prepare) Unwatched() {}
func (Bound) Unwatched()   {}

// Executors execute the tasks of audits of the catalogue's mechanisms.
func Executors(cat audit.Catalogue) engine.Executors {
	return engine.Executors{
		engine.NewExecutor(func(t Explore, hook engine.Hook) (*Explored, error) { return t.execute(cat, hook) }),
		engine.NewExecutor(func(t Prepare, _ engine.Hook) (*Prepared, error) { return t.execute(cat) }),
		engine.NewExecutor(func(t Certify, hook engine.Hook) (*Counted, error) { return t.execute(cat, hook) }),
		engine.NewExecutor(func(t Bound, _ engine.Hook) (*Certified, error) { return t.execute(cat) }),
	}
}

// LocalPool is a pool of n goroutines for audits of the catalogue's mechanisms.
func LocalPool(cat audit.Catalogue, n int) *engine.Pool { return engine.LocalPool(Executors(cat), n) }

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
