package estimators

import (
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Two sides alike: nothing is gained on the held-out outputs for long, and
// training ends after as many epochs as there is patience, or never before the
// last one. Steps are counted by the calls of Check.
func TestPatience(t *testing.T) {
	checks := func(o mlpOptions) int {
		ex := exploring(laplaceShift(0).samples("one", 0, 500), laplaceShift(0).samples("two", 1, 500))
		n := 0
		ex.Check = func() error { n++; return nil }
		o.hidden, o.rate = [2]int{8, 8}, 0.02
		must.Get(mlp("x", o).Learn(ex))(t)
		return n
	}
	const epochs = 40
	one, usual, never := checks(mlpOptions{epochs: epochs, patience: 1}), checks(mlpOptions{epochs: epochs}), checks(mlpOptions{epochs: epochs, patience: epochs})
	if three := checks(mlpOptions{epochs: epochs, patience: 3}); three != usual {
		t.Errorf("%d checks by default, %d with a patience of 3", usual, three)
	}
	if !(one < usual && usual < never) || never < epochs*leastSteps {
		t.Errorf("%d checks with a patience of 1, %d with 3, %d with %d; want them to grow, the last to %d or more", one, usual, never, epochs, epochs*leastSteps)
	}
}
