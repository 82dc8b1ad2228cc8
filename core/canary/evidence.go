package canary

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// Evidence is what the bounds are computed from.
type Evidence struct {
	Gathered
	// Portrait are scores of explored runs, to be looked at. Absent where no explored
	// run has enough canaries in and out.
	Portrait *Portrait `json:"portrait,omitempty"`
	// Sequential is what a sequential audit bet, and came to: of it Certified counts the
	// trainings that were bet on, each by the event of its epoch, and Threshold is the
	// last; nothing is explored, and the portrait is of the first trainings.
	Sequential *Bets `json:"sequential,omitempty"`
	// Membership is of all explored scores; of a sequential audit, of all trainings.
	Membership *membership.Evidence `json:"membership,omitempty"`
}

// Gathered are the counts of runs with K canaries inside and M fresh ones.
type Gathered struct {
	// Threshold and Stakes were chosen on the explored runs: a canary is in the
	// event if its score exceeds the threshold.
	Threshold float64             `json:"threshold"`
	Ties      bool                `json:"ties,omitempty"` // all explored scores were the same
	Stakes    bounds.CanaryStakes `json:"stakes" same:"near"`
	Explored  Counted             `json:"explored"`
	Certified Counted             `json:"certified"`
}

// Counted are runs by how many canaries were in the event.
type Counted struct {
	Table    *bounds.CanaryTable `json:"table,omitempty"`
	Diverged int                 `json:"diverged"` // runs with a side whose scores were no use
}

// check refuses what no audit of this plan gathers.
func (e Evidence) check(p Plan) error {
	if p.sequential() != (e.Sequential != nil) {
		return &audit.InputError{Field: "sequential", Found: fmt.Sprint(e.Sequential != nil), Want: fmt.Sprintf("there in a sequential audit and in no other; the mode is %q", p.Mode)}
	}
	if e.Sequential != nil {
		if e.Portrait == nil {
			return &audit.InputError{Field: "portrait", Found: audit.Absent, Want: "scores of the first trainings"}
		}
		t, err := e.Sequential.table(p)
		if err != nil {
			return err
		}
		if !audit.EqualJSON(t, e.Certified.Table) {
			return &audit.InputError{Field: "certified.table", Found: "other counts than the epochs'", Want: "their sum"}
		}
		p.Explore = p.Runs // that the portrait is of
	}
	if err := e.Check(p.Explore, p.Runs, p.K, p.M); err != nil {
		return err
	}
	if e.Portrait != nil {
		if err := e.Portrait.Check(p.Explore, p.K, p.M); err != nil {
			return err
		}
	}
	if e.Membership != nil {
		if n := e.Membership.ROC.In / p.K; n > p.Explore {
			return &audit.InputError{Field: "membership", Found: fmt.Sprintf("scores of %d runs", n), Want: fmt.Sprintf("of at most %d", p.Explore)}
		}
		if err := e.Membership.Check(0, e.Membership.ROC.In/p.K*p.M); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses what so many runs, at most, with k canaries inside and m fresh ones do
// not give.
func (g Gathered) Check(explored, certified, k, m int) error {
	if math.IsNaN(g.Threshold) || math.IsInf(g.Threshold, 0) {
		return &audit.InputError{Field: "threshold", Found: fmt.Sprint(g.Threshold), Want: "finite"}
	}
	if err := g.Stakes.Validate(); err != nil {
		return fmt.Errorf("stakes: %w", err)
	}
	for _, x := range []struct {
		name string
		c    Counted
		most int
	}{{"explored", g.Explored, explored}, {"certified", g.Certified, certified}} {
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
