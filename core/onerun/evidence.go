package onerun

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
)

// Evidence is what the bounds of one run are computed from.
type Evidence struct {
	In       int  `json:"in"` // canaries that were in
	Diverged bool `json:"diverged"`
	membership.Guessed
	// Membership is of all scores; absent where all canaries were in, or none.
	Membership *membership.Evidence `json:"membership,omitempty"`
}

// check refuses what no run of this plan gives.
func (e Evidence) check(p Plan) error {
	if err := p.guessing().Check(e.Guessed); err != nil {
		return err
	}
	if e.In < 0 || e.In > p.Canaries {
		return &audit.InputError{Field: "in", Found: fmt.Sprint(e.In), Want: fmt.Sprintf("in [0, %d]", p.Canaries)}
	}
	if e.Membership != nil {
		return e.Membership.Check(e.In, p.Canaries-e.In)
	}
	return nil
}
