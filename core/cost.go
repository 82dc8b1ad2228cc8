package core

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
)

// Cost is what drawing an audit takes, at most.
type Cost struct {
	Outputs int // drawn, or scores of canaries
	Bytes   int // of outputs that are held at once
}

// CostOf is the cost of replaying a report; none where it cannot be drawn again from what
// is given.
func CostOf(r report.View, g Env) Cost {
	if _, recorded := r.(scores.Report); recorded && g.Scores == nil {
		return Cost{}
	}
	a, err := Resolve(PlanOf(r), g)
	if err != nil {
		return Cost{}
	}
	return a.Cost()
}

// Within refuses what costs more than most.
func (c Cost) Within(most Cost) error {
	if c.Outputs <= most.Outputs && c.Bytes <= most.Bytes {
		return nil
	}
	words := func(c Cost) string {
		return fmt.Sprintf("%d outputs, of which %d MiB are held at once", c.Outputs, c.Bytes>>20)
	}
	return &audit.InputError{Field: "report: plan", Path: "/plan", Found: "an audit of " + words(c), Want: "at most " + words(most),
		Remedy: "send the report as a file: dpscope verify replays it without this limit"}
}
