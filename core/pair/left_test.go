package pair

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/core/engine"
)

// TestTimeLeft: the time left is told at the cost of what is done of the stage that is on:
// not of outputs that were drawn and not yet learnt from, nor of those of a dearer stage.
func TestTimeLeft(t *testing.T) {
	type step struct {
		now              float64
		phase            Phase
		whole0, whole1   int     // outputs of epochs and of pairs that are done
		drawn, certified int     // outputs drawn to explore, and certified
		want             float64 // NaN: not told
		most             bool
	}
	unknown := math.NaN()
	// 1,000 outputs a side bet on at most, 500 explored, 1,000 certified.
	for name, c := range map[string]struct {
		mode  Mode
		steps []step
	}{
		"fixed": {Fixed, []step{
			{0, Exploring, 0, 0, 0, 0, unknown, true},
			{9, Exploring, 0, 0, 1000, 0, unknown, true}, // drawn is not done
			{10, Exploring, 0, 600, 1000, 0, 40, true},   // 2,400 at 600 in ten seconds
			{20, Exploring, 0, 1000, 1000, 0, 40, true},
			{20, Certifying, 0, 1000, 1000, 0, unknown, false},
			{21, Certifying, 0, 1000, 1000, 1000, 1, false}, // far cheaper than exploring
			{22, Certifying, 0, 1000, 1000, 2000, unknown, false},
			{23, Bounding, 0, 1000, 1000, 2000, unknown, false},
		}},
		"until refuted": {UntilRefuted, []step{
			{0, Betting, 0, 0, 0, 0, unknown, true},
			{2, Betting, 400, 0, 0, 0, 8, true},
			{4, Betting, 2000, 0, 0, 0, unknown, true},
		}},
	} {
		now := 0.0
		s := &state{on: &engine.Runner{Now: func() float64 { return now }}, Audit: &Audit{Plan: Plan{Version: PlanVersion, Mode: c.mode, Samples: 1000, Explore: 500, Trials: 1}}}
		for i, x := range c.steps {
			now, s.whole, s.rows = x.now, [2]int{x.whole0, x.whole1}, [3]int{x.whole0, x.drawn, x.certified}
			g := Progress{Phase: x.phase}
			s.estimate(&g)
			if got := g.Left; (got == nil) != math.IsNaN(x.want) || got != nil && math.Abs(*got-x.want) > 1e-9 || g.AtMost != x.most {
				if got == nil {
					got = &unknown
				}
				t.Errorf("%s, step %d: %v s left, at most: %v; want %v, %v", name, i, *got, g.AtMost, x.want, x.most)
			}
		}
	}
}
