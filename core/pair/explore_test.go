package pair

import (
	"reflect"
	"testing"
)

// The rounds of successive halving spend what may be explored, never more; where a finder
// has fewer pairs than there may be, all go on as long as that is a round's step more for
// each, so that what the small first round could not see does not decide.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		explore, trials, pairs int
		first                  int
		later                  []round
	}{
		{150_000, 10, 10, 3947, []round{{3, 15790}, {1, 63160}}},
		{75_000, 10, 4, 1973, []round{{4, 8388}, {1, 33552}}},
		{75_000, 10, 2, 1973, []round{{2, 11842}, {1, 47368}}},
		{75_000, 10, 1, 1973, []round{{1, 73027}}},
		{75_000, 4, 4, 9375, []round{{1, 37500}}},
		{75_000, 1, 1, 75_000, nil},
	} {
		p := Plan{Version: PlanVersion, Samples: 100_000, Explore: c.explore, Trials: c.trials}
		first, _ := p.firstRound()
		if later := p.laterRounds(c.pairs); first != c.first || !reflect.DeepEqual(later, c.later) {
			t.Errorf("%d pairs of %d: %d, then %v; want %d, %v", c.pairs, c.trials, first, later, c.first, c.later)
		}
	}
	for explore := MinSamples; explore < 3_000_000; explore = explore*5/4 + 1 {
		for trials := 1; trials <= 40; trials++ {
			p := Plan{Version: PlanVersion, Samples: 100_000, Explore: explore, Trials: trials}
			each, most := p.firstRound()
			for pairs := 1; pairs <= most; pairs++ {
				drawn, before, outputs := pairs*each, pairs, each
				for i, r := range p.laterRounds(pairs) {
					drawn += r.pairs * r.outputs
					if r.pairs > before || r.pairs == before && (i > 0 || pairs > 1 && r.outputs < halving*each) || r.outputs < MinSamples || i > 0 && r.outputs < outputs {
						t.Fatalf("%d outputs, %d pairs of %d: round %d of %v", explore, pairs, trials, i+1, p.laterRounds(pairs))
					}
					before, outputs = r.pairs, r.outputs
				}
				if last := p.lastRound(pairs); drawn > explore || last != outputs || before != 1 && len(p.laterRounds(pairs)) > 0 {
					t.Fatalf("%d outputs, %d pairs of %d: drawn %d, last round %d of %d pairs", explore, pairs, trials, drawn, last, before)
				}
			}
		}
	}
}
