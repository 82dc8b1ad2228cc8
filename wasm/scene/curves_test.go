package scene

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair"
)

// The claimed curve of Rényi privacy, against a search over all pairs of rates,
// and against the Gaussian mechanism, which keeps the claim: no test of it lies
// below.
func TestRenyiTradeoff(t *testing.T) {
	const sigma = 1.3
	for _, c := range []audit.Claim{{Kind: "renyi", Alpha: 2, Epsilon: 1 / (sigma * sigma)}, {Kind: "renyi", Alpha: 8, Epsilon: 4 / (sigma * sigma)}, {Kind: "zcdp", Rho: 0.5 / (sigma * sigma)}} {
		v := tradeoff{TradeoffCurve: pair.TradeoffCurve{Claimed: renyiTradeoff(c)}}
		last := [2]float64{-1, 2}
		for _, p := range v.Claimed {
			if p[0] < last[0] || p[1] > last[1]+1e-12 || p[0] < 0 || p[0] > 1 || p[1] < 0 || p[1] > 1-p[0]+1e-12 {
				t.Fatalf("%+v: %v after %v", c, p, last)
			}
			last = p
			if c.Kind == "renyi" && p[0] > 0.001 && p[0] < 0.999 && p[1] > 1e-9 {
				at := math.Max(binaryRenyi(c.Alpha, 1-p[1], p[0]), binaryRenyi(c.Alpha, p[0], 1-p[1]))
				if math.Abs(at-c.Epsilon) > 1e-6 {
					t.Errorf("%+v at %v: the divergence is %v", c, p, at)
				}
			}
		}
		for z := -5.0; z < 5; z += 0.1 {
			fpr, fnr := math.Erfc(z/math.Sqrt2)/2, math.Erfc(-(z-1/sigma)/math.Sqrt2)/2
			// Between its points the polyline lies above a convex curve, by less than this.
			if fnr < v.claimedAt(fpr)-2e-3 {
				t.Errorf("%+v: the Gaussian mechanism has (%v, %v), claimed not below %v", c, fpr, fnr, v.claimedAt(fpr))
			}
		}
	}
	// D_2 of coins 3/4 and 1/4: ln(9/4 * 1/4 ... ) by hand: 0.5625/0.25 + 0.0625/0.75.
	if got, want := binaryRenyi(2, 0.75, 0.25), math.Log(0.5625/0.25+0.0625/0.75); math.Abs(got-want) > 1e-12 {
		t.Errorf("D_2 is %v, want %v", got, want)
	}
	if !math.IsInf(binaryRenyi(2, 0.5, 0), 1) || binaryRenyi(2, 0, 0.5) != math.Log(1/0.5) {
		t.Error("the ends of binaryRenyi")
	}
	if renyiTradeoff(audit.Claim{Kind: "pure", Epsilon: 1}) != nil {
		t.Error("a pure claim has a curve of its own")
	}
}

// A claim of epsilon = 0 is refuted at one of three points.
func TestRefutingPoint(t *testing.T) {
	c := &pair.TradeoffCurve{Points: []bounds.TradeoffPoint{{FNR: 1, FNRLower: 1, FNRUpper: 1}, {FPR: 0.2, FPRLower: 0.15, FPRUpper: 0.25, FNR: 0.4, FNRLower: 0.35, FNRUpper: 0.45}, {FPR: 0.5, FPRLower: 0.45, FPRUpper: 0.55, FNR: 0.2, FNRLower: 0.15, FNRUpper: 0.25}, {FPR: 1, FPRLower: 1, FPRUpper: 1}},
		Claimed: [][2]float64{{0, 1}, {0.5, 0.5}, {1, 0}}, ClaimWords: "epsilon = 0", Confidence: "95 %"}
	v := tradeoff{TradeoffCurve: *c}
	if v.refuting() != 1 || math.Abs(v.margin(v.Points[1])-0.3) > 1e-12 || math.Abs(v.margin(v.Points[2])-0.2) > 1e-12 {
		t.Errorf("refutes at %d, margins %v and %v", v.refuting(), v.margin(v.Points[1]), v.margin(v.Points[2]))
	}
	if !strings.Contains(v.caption(), "refuted furthest where at most 25\u00a0%") || !strings.Contains(v.tooltip(1), "by the most") || strings.Contains(v.tooltip(0), "refutes") {
		t.Errorf("%q, %q", v.caption(), v.tooltip(1))
	}
	band := v.plot("").Marks[1].(Band)
	for x, want := range map[float64][2]float64{0.1: {1, 0.35}, 0.3: {0.45, 0.15}, 0.5: {0.45, 0}, 0.9: {0.25, 0}} {
		if lower, upper := band.limits(x); [2]float64{upper, lower} != want {
			t.Errorf("the band at %v is from %v to %v, want %v", x, lower, upper, want)
		}
	}
	v.Claimed = nil
	if v.refuting() != -1 || strings.Contains(v.caption(), "claim") {
		t.Errorf("without a claim: %q", v.caption())
	}
}

// Trials sort by value and back; those that showed nothing say so.
func TestSearchOrders(t *testing.T) {
	trials := []pair.TrialNote{{Trial: 0, Value: 0.2, Learner: "a"}, {Trial: 1, Value: -99, Learner: "b"}, {Trial: 2, Value: 1.5, Learner: "a", Chosen: true}}
	trials[2].Pair.First, trials[2].Pair.Second = audit.Records([]float64{1, 0, 4}...), audit.Records([]float64{1, 2}...)
	v := newSearch(trials, "epsilon", 1)
	if v.rows != 3 || v.most != 4 || difference(trials[2], 1) != -2 || difference(trials[2], 2) != 4 {
		t.Errorf("%d rows, differences up to %v", v.rows, v.most)
	}
	v.choose("value")
	if v.trials[0].Trial != 2 || v.trials[2].Trial != 1 || !strings.Contains(v.tooltip(2), "showed nothing") || !strings.Contains(v.tooltip(0), "epsilon 1.5, by a; chosen") {
		t.Errorf("by value: %q, %q", v.tooltip(0), v.tooltip(2))
	}
	v.choose("tried")
	if v.trials[0].Trial != 0 || !strings.Contains(v.caption(), "1 showed more") {
		t.Errorf("%+v, %q", v.trials[0], v.caption())
	}
	drawn := v.plot("")
	s := drawn.Layout(Frame{Width: 600, Camera: Everything})
	for _, sh := range s.Shapes {
		for _, p := range sh.Points {
			if p.Y < 0 || p.Y > s.Height || p.X < 0 || p.X > s.Width {
				t.Errorf("a point at %v of %v by %v", p, s.Width, s.Height)
			}
		}
	}
	if NewSearch(nil, "", 1) != nil || NewOverTime(&Course{}, nil, 0) != nil || NewOverTime(nil, nil, 0) != nil || NewTradeoff(nil, audit.Claim{}) != nil {
		t.Error("nothing is drawn")
	}
}

// The bound over time is rounded down, and says what it is worth.
func TestOverTime(t *testing.T) {
	final := 1.25
	c := Course{Moments: []Moment{{10, 0.55559}, {90, 1.20009}}, Claimed: 1, Quantity: "epsilon"}
	v := NewOverTime(&c, &final, 100)
	if got := v.Tooltip(0); got != "after 10 pairs of outputs: epsilon ≥ 0.5555, not certified" {
		t.Errorf("%q", got)
	}
	if rows := v.Table(Rounded).Rows; len(rows) != 3 || rows[2][1] != "1.25" || rows[2][3] != "certified" || rows[1][1] != "1.20009" {
		t.Errorf("%v", rows)
	}
	if c.first() != 1 || !strings.Contains(v.Caption, "passed at 90 pairs") {
		t.Errorf("%q", v.Caption)
	}
	c.Valid = true
	v = NewOverTime(&c, &final, 100)
	if !strings.Contains(v.Tooltip(1), "valid if stopped there; more than is claimed") || !strings.Contains(v.Caption, "hold together") {
		t.Errorf("%q", v.Tooltip(1))
	}
}

// On logarithmic axes a straight line is bent: the polyline that is drawn lies
// within a pixel of it wherever both rates are on the axes.
func TestCurvedOnLogarithmicAxes(t *testing.T) {
	for _, decades := range []float64{3, 6, 9} {
		x := Scale{Lo: math.Pow(10, -decades), Hi: 1, From: 0, To: 800, Log: true}
		y := x
		y.From, y.To = 460, 0
		for _, line := range [][][2]float64{{{0, 1}, {1, 0}}, {{0.2325, 0.7017}, {1, 0}}, {{0, 1}, {0.0035, 0.98}}} {
			drawn := canvas{x: x, y: y, box: Rect{0, 0, 800, 460}}.bend(line)
			a, b := line[0], line[1]
			for e := -12.0; e <= 0; e += 0.01 {
				for _, f := range []float64{math.Pow(10, e) / 2, 1 - math.Pow(10, e)/2} {
					p := [2]float64{a[0] + f*(b[0]-a[0]), a[1] + f*(b[1]-a[1])}
					if p[0] < x.Lo || p[1] < y.Lo {
						continue
					}
					if d := apart(drawn, Point{x.At(p[0]), y.At(p[1])}); d > 1 {
						t.Fatalf("%v over %v decades: %v is %.1f px from what is drawn", line, decades, p, d)
					}
				}
			}
		}
	}
}

// apart is the distance of a point from a polyline.
func apart(line []Point, p Point) float64 {
	least := math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		dx, dy := b.X-a.X, b.Y-a.Y
		f := 0.0
		if n := dx*dx + dy*dy; n > 0 {
			f = min(1, max(0, ((p.X-a.X)*dx+(p.Y-a.Y)*dy)/n))
		}
		least = min(least, math.Hypot(p.X-a.X-f*dx, p.Y-a.Y-f*dy))
	}
	return least
}
