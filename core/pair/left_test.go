package pair

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/core/engine"
)

// TestTimeLeft: the time left is that of the longer strand, at the cost of what is done of
// the stage that is on: not of outputs that were drawn and not yet learnt from, nor of
// those of a dearer stage. Nothing is told while one of the strands is not known.
func TestTimeLeft(t *testing.T) {
	type step struct {
		now              float64
		phase            Phase
		whole0, whole1   int // outputs of epochs and of pairs that are done
		drawn, certified int // outputs drawn to explore, and certified
		betting          bool
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
			{0, Exploring, 0, 0, 0, 0, false, unknown, true},
			{9, Exploring, 0, 0, 1000, 0, false, unknown, true}, // drawn is not done
			{10, Exploring, 0, 600, 1000, 0, false, 40, true},   // 2,400 at 600 in ten seconds
			{20, Exploring, 0, 1000, 1000, 0, false, 40, true},
			{20, Certifying, 0, 1000, 1000, 0, false, unknown, false},
			{21, Certifying, 0, 1000, 1000, 1000, false, 1, false}, // far cheaper than exploring
			{22, Certifying, 0, 1000, 1000, 2000, false, unknown, false},
			{23, Bounding, 0, 1000, 1000, 2000, false, unknown, false},
		}},
		"verdict and bound": {VerdictAndBound, []step{
			{0, Exploring, 0, 0, 0, 0, true, unknown, true},
			{5, Exploring, 100, 600, 600, 0, true, unknown, true}, // who bets is not known yet
			{10, Exploring, 500, 1000, 1000, 0, true, 30, true},   // 1,500 of 500 in ten: longer than the 20 of exploring
			{10, Certifying, 500, 1000, 1000, 0, true, unknown, true},
			{11, Certifying, 550, 1000, 1000, 1000, true, 29, true},
			{12, Certifying, 550, 1000, 1000, 1500, false, 2. / 3, false}, // refuted
		}},
		"until refuted": {UntilRefuted, []step{
			{0, Betting, 0, 0, 0, 0, true, unknown, true},
			{2, Betting, 400, 0, 0, 0, true, 8, true},
			{4, Betting, 2000, 0, 0, 0, false, unknown, false},
		}},
	} {
		now := 0.0
		s := &state{on: &engine.Runner{Now: func() float64 { return now }}, Audit: &Audit{Plan: Plan{Version: PlanVersion, Mode: c.mode, Samples: 1000, Explore: 500, Trials: 1}}}
		for i, x := range c.steps {
			now, s.betting, s.whole, s.rows = x.now, x.betting, [2]int{x.whole0, x.whole1}, [3]int{x.whole0, x.drawn, x.certified}
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
