package main

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
)

// One audit of a case: now is far above what was before where the attack is one-sided, and
// the whole table has a row for each case.
func TestBenchScores(t *testing.T) {
	table := lab{t.Context(), 2, t.Logf}.scores(1, 1, 2000)
	if len(table.rows) != len(scoreCases()) {
		t.Fatalf("%d rows", len(table.rows))
	}
	mixture := table.rows[len(table.rows)-1].cells
	if before, now := mixture[0].(figure).mean, mixture[3].(figure).mean; now < before+1 {
		t.Errorf("mixture: %v before, %v now", before, now)
	}
}

// The reference against every threshold, one by one.
func TestJaxPrivacyReference(t *testing.T) {
	drawn := scoreCases()[5].draw(1, 0, 300)
	scores, in := append(append([]float64{}, drawn.In...), drawn.Out...), make([]bool, 300)
	for i := range drawn.In {
		in[i] = true
	}
	a := newJaxPrivacy(scores, in)
	pure, mu, _, _ := a.best(canaryBeta)
	wantPure, wantMu := 0.0, 0.0
	for _, x := range scores {
		made, right := a.at(x)
		wantPure = math.Max(wantPure, published.SteinkeEpsilon(300, made, right, canaryDelta, canaryBeta))
		wantMu = math.Max(wantMu, bounds.OneRunGDPMu(300, made, right, 2, canaryBeta))
	}
	if math.Abs(pure-wantPure) > 1e-5 || math.Abs(mu-wantMu) > 1e-5 || pure < 1 || mu < 0.5 {
		t.Errorf("%v and %v, every threshold gives %v and %v", pure, mu, wantPure, wantMu)
	}
	if p, _ := a.split(stream.New(stream.Key{Seed: 1, Purpose: "test"})); !(p > 0) {
		t.Errorf("split: %v", p)
	}
}

// The frontier against its definition: what it leaves out lies on or below a line between
// two thresholds around it, and what it keeps does not.
func TestJaxPrivacyFrontier(t *testing.T) {
	st := stream.New(stream.Key{Seed: 3, Purpose: "test"})
	for range 50 {
		scores, in := make([]float64, 40), make([]bool, 40)
		for i := range scores {
			scores[i], in[i] = math.Floor(30*st.Float64()), st.Float64() < .5 // ties
		}
		a := newJaxPrivacy(scores, in)
		all, kept := []guesses{{}}, map[guesses]bool{}
		for k, x := range a.scores {
			if k+1 == len(scores) || a.scores[k+1] != x {
				made, right := a.at(x)
				all = append(all, guesses{made, right})
			}
		}
		for _, g := range a.thresholds {
			kept[g] = true
		}
		for i, g := range all {
			below := false
			for _, before := range all[:i] {
				for _, after := range all[i+1:] {
					share := float64(g.made-before.made) / float64(after.made-before.made)
					line := float64(before.right) + share*float64(after.right-before.right)
					below = below || float64(g.right) <= line+1e-9
				}
			}
			if kept[g] == below {
				t.Fatalf("threshold %v of %v: kept %v, below a line %v", g, all, kept[g], below)
			}
		}
	}
}

// The note on its level: of scores that tell nothing it refutes epsilon = 0 more often than
// beta.
func TestJaxPrivacyLevel(t *testing.T) {
	const m, draws = 1000, 4000
	st, refuted := stream.New(stream.Key{Seed: 4, Purpose: "test"}), 0
	scores, in := make([]float64, m), make([]bool, m)
	for range draws {
		for i := range scores {
			scores[i], in[i] = float64(i), st.Float64() < .5
		}
		a := newJaxPrivacy(scores, in)
		for _, g := range a.thresholds {
			if 2*g.right > g.made && published.SteinkePValue(m, g.made, g.right, 0, 0) <= canaryBeta/float64(len(a.thresholds)) {
				refuted++
				break
			}
		}
	}
	if share := float64(refuted) / draws; math.Round(100*share) != 7 {
		t.Errorf("refuted in %v of draws, the note says 7 per cent", share)
	}
}
