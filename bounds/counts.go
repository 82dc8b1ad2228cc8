package bounds

import (
	"errors"
	"fmt"
	"math"
)

// Counts of an event: X of N1 outputs on the first dataset, Y of N0 on the
// second. Counts of disjoint shards of the same experiment add up.
type Counts struct {
	X  int `json:"x"`  // outputs of the first dataset in the event, 0..N1
	N1 int `json:"n1"` // outputs of the first dataset, at least 1
	Y  int `json:"y"`  // outputs of the second dataset in the event, 0..N0
	N0 int `json:"n0"` // outputs of the second dataset, at least 1
}

// Validate reports the first field that is out of range, nil if there is none.
func (c Counts) Validate() error {
	if err := checkSide("X", "N1", c.X, c.N1); err != nil {
		return err
	}
	return checkSide("Y", "N0", c.Y, c.N0)
}

func checkSide(hit, size string, k, n int) error {
	if n < 1 || n > maxTrials {
		return fmt.Errorf("counts: %s is %d, must be 1 to %d: draw at least one output of each dataset", size, n, maxTrials)
	}
	if k < 0 || k > n {
		return fmt.Errorf("counts: %s is %d, must be 0 to %s = %d", hit, k, size, n)
	}
	return nil
}

// maxTrials keeps every count exactly representable, and every index of a
// table inside memory.
const maxTrials = 1 << 40

// Add returns the counts of both experiments together.
func (c Counts) Add(d Counts) Counts {
	return Counts{X: c.X + d.X, N1: c.N1 + d.N1, Y: c.Y + d.Y, N0: c.N0 + d.N0}
}

// CheckDelta reports a delta outside [0, 1).
func CheckDelta(delta float64) error {
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("delta is %v, must be at least 0 and below 1", delta)
	}
	return nil
}

// CheckBeta reports an error probability outside (0, 1). Values below 1e-100
// are refused as well: the tail sums are not carried that far.
func CheckBeta(beta float64) error {
	if !(beta >= minBeta && beta < 1) {
		return fmt.Errorf("beta is %v, must be at least %v and below 1: use 0.05 for 95 %% confidence", beta, minBeta)
	}
	return nil
}

const minBeta = 1e-100

// CheckEpsilon reports an epsilon that is not a finite number.
func CheckEpsilon(eps float64) error {
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return errors.New("epsilon must be a finite number")
	}
	return nil
}

// mustBeSound is the guard of every exported bound.
func mustBeSound(c Counts, delta, beta float64) {
	if c.Validate() != nil {
		panic("bounds: counts out of range; call Counts.Validate first")
	}
	if CheckDelta(delta) != nil {
		panic("bounds: delta outside [0, 1); call CheckDelta first")
	}
	if CheckBeta(beta) != nil {
		panic("bounds: beta outside (0, 1); call CheckBeta first")
	}
}
