package scene

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
)

// A claim of epsilon = 0 is refuted at one of three points.
func TestRefutingPoint(t *testing.T) {
	c := &pair.TradeoffCurve{Points: []bounds.TradeoffPoint{{FNR: 1, FNRLower: 1, FNRUpper: 1}, {FPR: 0.2, FPRLower: 0.15, FPRUpper: 0.25, FNR: 0.4, FNRLower: 0.35, FNRUpper: 0.45}, {FPR: 0.5, FPRLower: 0.45, FPRUpper: 0.55, FNR: 0.2, FNRLower: 0.15, FNRUpper: 0.25}, {FPR: 1, FPRLower: 1, FPRUpper: 1}},
		Claimed: [][2]float64{{0, 1}, {0.5, 0.5}, {1, 0}}, ClaimWords: "epsilon = 0", Confidence: "95 %"}
	v := tradeoff{TradeoffCurve: *c}
	if v.refuting() != 1 || math.Abs(v.margin(v.Points[1])-0.3) > 1e-12 || math.Abs(v.margin(v.Points[2])-0.2) > 1e-12 {
		t.Errorf("refutes at %d, margins %v and %v", v.refuting(), v.margin(v.Points[1]), v.margin(v.Points[2]))
	}
	if !strings.Contains(v.caption(), "refuted furthest where at most 25\u00a0%") {
		t.Errorf("%q", v.caption())
	}
	band := v.plot("").Marks[1].(plot.Band)
	for x, want := range map[float64][2]float64{0.1: {1, 0.35}, 0.3: {0.45, 0.15}, 0.5: {0.45, 0}, 0.9: {0.25, 0}} {
		if lower, upper := band.Limits(x); [2]float64{upper, lower} != want {
			t.Errorf("the band at %v is from %v to %v, want %v", x, lower, upper, want)
		}
	}
	v.Claimed = nil
	if v.refuting() != -1 || strings.Contains(v.caption(), "claim") {
		t.Errorf("without a claim: %q", v.caption())
	}
}

// Trials that showed nothing say so.
func TestSearch(t *testing.T) {
	trials := []pair.TrialNote{{Trial: 0, Value: 0.2, Learner: "a"}, {Trial: 1, Value: -99, Learner: "b"}, {Trial: 2, Value: 1.5, Learner: "a", Chosen: true}}
	trials[2].Pair.First, trials[2].Pair.Second = audit.Records([]float64{1, 0, 4}...), audit.Records([]float64{1, 2}...)
	v := newSearch(trials, "epsilon", 1)
	if v.rows != 3 || v.most != 4 || difference(trials[2], 1) != -2 || difference(trials[2], 2) != 4 {
		t.Errorf("%d rows, differences up to %v", v.rows, v.most)
	}
	drawn := NewSearch(trials, "epsilon", 1)
	if got, more := drawn.Tooltip(1), drawn.Tooltip(2); got != "pair 2: epsilon as seen none, learner b, chosen no" || more != "pair 3: epsilon as seen 1.5, learner a, chosen yes" || !strings.Contains(v.caption(), "1 showed more") {
		t.Errorf("%q, %q, %q", got, more, v.caption())
	}
	s := drawn.Layout(plot.Frame{Width: 600, Camera: plot.Everything})
	for _, sh := range s.Shapes {
		for _, p := range sh.Points {
			if p.Y < 0 || p.Y > s.Height || p.X < 0 || p.X > s.Width {
				t.Errorf("a point at %v of %v by %v", p, s.Width, s.Height)
			}
		}
	}
	if NewSearch(nil, "", 1) != nil || NewOverTime(&Course{}, nil, 0) != nil || NewOverTime(nil, nil, 0) != nil || NewTradeoff(nil) != nil {
		t.Error("nothing is drawn")
	}
}

// The bound over time is rounded down, and says what it is worth.
func TestOverTime(t *testing.T) {
	final := 1.25
	c := Course{Moments: []Moment{{10, 0.55559}, {90, 1.20009}}, Claimed: 1, Quantity: "epsilon"}
	v := NewOverTime(&c, &final, 100)
	if got := v.Tooltip(0); got != "pairs of outputs 10: lower bound on epsilon 0.5555, claimed 1, holds not certified" {
		t.Errorf("%q", got)
	}
	if rows := v.Table(plot.Rounded).Rows; len(rows) != 3 || rows[2][1] != "1.25" || rows[2][3] != "certified" || rows[1][1] != "1.20009" {
		t.Errorf("%v", rows)
	}
	if c.first() != 1 || !strings.Contains(v.Caption, "exceeded after 90 pairs") {
		t.Errorf("%q", v.Caption)
	}
	c.Valid = true
	v = NewOverTime(&c, &final, 100)
	if !strings.Contains(v.Tooltip(1), "holds if stopped there") || !strings.Contains(v.Caption, "hold together") {
		t.Errorf("%q", v.Tooltip(1))
	}
}
