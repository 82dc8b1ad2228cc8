package main

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/stream"
)

// One audit of a case: now is far above what was before where the attack is one-sided, and
// the whole table has a row for each case.
func TestBenchScores(t *testing.T) {
	table, err := scoreTable(t.Context(), 1, 1, 2000)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != len(scoreCases()) || len(table.Checks) != 2*len(table.Rows) {
		t.Fatalf("%d rows and %d checks", len(table.Rows), len(table.Checks))
	}
	mixture := table.Rows[len(table.Rows)-1].Figures
	if before, now := *mixture[0].Mean, *mixture[3].Mean; now < before+1 {
		t.Errorf("mixture: %v before, %v now", before, now)
	}
	for _, c := range table.Checks {
		if math.IsNaN(c.Got) {
			t.Errorf("%s: no figure", c.What)
		}
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
		wantMu = math.Max(wantMu, bounds.OneRunGDPMu(300, made, right, canaryBeta))
	}
	if math.Abs(pure-wantPure) > 1e-5 || math.Abs(mu-wantMu) > 1e-5 || pure < 1 || mu < 0.5 {
		t.Errorf("%v and %v, every threshold gives %v and %v", pure, mu, wantPure, wantMu)
	}
	if p, _ := a.split(stream.New(stream.Key{Seed: 1, Purpose: "test"})); !(p > 0) {
		t.Errorf("split: %v", p)
	}
}
