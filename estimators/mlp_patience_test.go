package estimators

import (
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// Two sides alike: nothing is gained on the held-out outputs for long, and
// training ends after as many epochs as there is patience, or never before the
// last one. Steps are counted by the calls of Check.
func TestPatience(t *testing.T) {
	checks := func(o MLPOptions) int {
		ex := exploring(laplaceShift(0).samples("one", 0, 500), laplaceShift(0).samples("two", 1, 500))
		n := 0
		ex.Check = func() error { n++; return nil }
		o.Hidden, o.Rate = [2]int{8, 8}, 0.02
		spec := must.Get(MLP("x", o))(t)
		must.Get(spec.Learn(ex))(t)
		return n
	}
	const epochs = 40
	one, usual, never := checks(MLPOptions{Epochs: epochs, Patience: 1}), checks(MLPOptions{Epochs: epochs}), checks(MLPOptions{Epochs: epochs, Patience: epochs})
	if three := checks(MLPOptions{Epochs: epochs, Patience: 3}); three != usual {
		t.Errorf("%d checks by default, %d with a patience of 3", usual, three)
	}
	if !(one < usual && usual < never) || never < epochs*leastSteps {
		t.Errorf("%d checks with a patience of 1, %d with 3, %d with %d; want them to grow, the last to %d or more", one, usual, never, epochs, epochs*leastSteps)
	}
	for _, p := range []int{-1, epochsMost + 1} {
		if _, err := MLP("x", MLPOptions{Patience: p}); err == nil {
			t.Errorf("a patience of %d is taken", p)
		}
	}
}
