package engine

import "github.com/dpscope/dpscope/audit"

// Runner is what an audit runs on, and what its run notes.
type Runner struct {
	Pool *Pool
	Now  func() float64 // seconds of a clock; nil: no timing

	Timing   audit.Timing
	Warnings []string // for the report
}

// Clock is the time, 0 without a clock.
func (r *Runner) Clock() float64 {
	if r.Now == nil {
		return 0
	}
	return r.Now()
}

// Timed does something, and adds to spent how long it took.
func (r *Runner) Timed(spent *float64, do func() error) error {
	start := r.Clock()
	err := do()
	*spent += r.Clock() - start
	return err
}
