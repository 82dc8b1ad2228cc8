package pair

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// Bounds of orders above the claim's say nothing of it, as the divergence grows with the order.
func TestOrdersOfClaims(t *testing.T) {
	p := Plan{Claim: &audit.Claim{Kind: audit.Renyi, Alpha: 2.5, Epsilon: 1}}
	if got := p.orders(); !slices.Equal(got, []float64{2.5, 1.25, 1.5, 2}) {
		t.Errorf("orders %v", got)
	}
}

func TestGaussianPoints(t *testing.T) {
	for _, mu := range []float64{0.1, 0.3, 1, 2.5} {
		for _, p := range gaussianPoints(mu) {
			if least := bounds.GaussianDelta(mu, p.Epsilon); p.Delta < least || p.Delta > least+2e-12 {
				t.Errorf("mu %v, epsilon %v: delta %v, want %v rounded up", mu, p.Epsilon, p.Delta, least)
			}
		}
	}
}

// Learners whose events tell nothing apart are told apart by the area of their scores, and then
// by steadiness; what is harder to read, clearly worse, or the same event never displaces the best.
func TestSurest(t *testing.T) {
	pairs := bounds.Table{Bins: 1, N: []int{10_000}}
	of := func(expected, area float64, steady bool, pieces int) *Explored {
		return &Explored{Evidence: Evidence{Explored: pairs}, expected: expected, area: area, steady: steady, pieces: pieces, variance: 0.01}
	}
	for _, c := range []struct {
		name  string
		best  *Explored
		other *Explored
		takes bool // the other
	}{
		{"a wider area, within the error", of(1, 0.05, false, 1), of(0.9, 0.06, false, 1), true},
		{"a wider area, beyond it", of(1, 0.05, false, 1), of(0.8, 0.06, false, 1), false},
		{"as wide an area", of(1, 0.05, false, 1), of(0.9, 0.051, false, 1), false},
		{"as wide an area, and steady", of(1, 0.05, false, 1), of(0.9, 0.0485, true, 1), true},
		{"steady, and a smaller area", of(1, 0.05, false, 1), of(0.9, 0.045, true, 1), false},
		{"the same event", of(1, 0.05, false, 1), of(1, 0.06, true, 1), false},
		{"harder to read", of(1, 0.05, false, 1), of(0.9, 0.06, true, 2), false},
	} {
		for _, all := range [][]*Explored{{c.best, c.other}, {c.other, c.best}} {
			if takes := surest(c.best, all) == c.other; takes != c.takes {
				t.Errorf("%s: taken %v, want %v", c.name, takes, c.takes)
			}
		}
	}
}

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
