package canary

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
)

// Evidence is what the bounds are computed from.
type Evidence struct {
	membership.Gathered
	// Sequential is what a sequential audit bet, and came to: of it Certified counts the
	// trainings that were bet on, each by the event of its epoch, and Threshold is the
	// last; nothing is explored, and the portrait is of the first trainings.
	Sequential *Bets `json:"sequential,omitempty"`
	// Membership is of all explored scores; of a sequential audit, of all trainings.
	Membership *membership.Evidence `json:"membership,omitempty"`
}

// check refuses what no audit of this plan gathers.
func (e Evidence) check(p Plan) error {
	if p.sequential() != (e.Sequential != nil) {
		return &audit.InputError{Field: "sequential", Found: fmt.Sprint(e.Sequential != nil), Want: fmt.Sprintf("there in a sequential audit and in no other; the mode is %q", p.Mode)}
	}
	if e.Sequential != nil {
		if e.ScoreSample == nil {
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
	if e.ScoreSample != nil {
		if err := e.ScoreSample.Check(p.Explore, p.K, p.M); err != nil {
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
