package scene

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

func border(v float64) *float64 { return &v }

// divergenceOf is the view of a chart.
func divergenceOf(c chart.Chart, claim audit.Claim) *plot.View {
	return newOutputs(outputsOf{Live: pair.Live{Chart: c, Claim: claim, Beta: 0.05}}).divergence("")
}

// planeChart is a chart of a score with a plane of two bins between edges, and those
// beyond, either way.
func planeChart(p *chart.Plane) chart.Chart {
	p.Terms = []chart.PlaneTerm{{Deviation: 1, Weight: 1}}
	n := 0
	for _, k := range p.First {
		n += k
	}
	return chart.Chart{Kind: "score", Axis: "score", Edges: []float64{0, 1}, First: []int{0, 3 * n, 0}, Second: []int{0, 2 * n, n}, Plane: p}
}

// A plane whose figures are worked by hand: of 100 outputs on either side, 60 and 20
// in one cell, 36 and 75 in another, 4 and 5 beyond.
func TestPlaneByHand(t *testing.T) {
	p := &chart.Plane{Words: "0.8 a - 0.6 b", ScoreEdges: []float64{0, 1, 2}, Edges: []float64{-1, 0, 1}, Border: border(1), Above: true,
		First:  []int{0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 60, 0, 0, 0, 4, 0},
		Second: []int{0, 0, 0, 0, 0, 75, 0, 0, 0, 0, 20, 0, 0, 0, 5, 0}}
	claim := audit.Claim{Kind: "pure", Epsilon: 0.5}
	flat, v := newPlane(planeChart(p), claim), divergenceOf(planeChart(p), claim)
	if label, choices := v.ChoiceLabel, v.Choices; label != "Show" || choices[len(choices)-1].ID != "plane" || choices[0].ID != "claim" {
		t.Errorf("%s: %v", label, choices)
	}
	if x, y := v.Zooms(); !x || y {
		t.Error("without being chosen the plane zooms")
	}
	var hand plot.Viewer // what pans and zooms otherwise begins anew
	hand.Resize(700)
	hand.Take([]*plot.View{v}, false)
	hand.Step(1)
	if hand.ZoomRead(0.5); hand.Whole() {
		t.Fatal("it does not zoom")
	}
	hand.Choose("plane")
	if i, _ := hand.Read(); i != -1 || !hand.Whole() {
		t.Error("the plane is looked at as the bins were")
	}
	if x, y := v.Zooms(); !x || !y {
		t.Error("the plane does not zoom both ways")
	}
	if len(flat.cells) != 3 || v.Name(0) != "score 0 to 1, direction −1 to 0" || v.Name(1) != "score 1 to 2, direction 0 to 1" || v.Name(2) != "score 1 to 2, direction 1 and above" {
		t.Fatalf("%+v", flat.cells)
	}
	if got, want := v.Tooltip(1), "1 to 2: direction: 0.8 a - 0.6 b 0 to 1, on A 60, share 60\u00a0%, on B 20, share 20\u00a0%, ln(A/B) 1.099, ± 0.4234, in the event yes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	facts := v.Table(plot.Rounded)
	if want := []string{"0 to 1", "−1 to 0", "36", "0.36", "75", "0.75", "-0.733969", "0.284776", "no"}; !slices.Equal(facts.Rows[0], want) || len(facts.Rows) != 3 || len(facts.Head) != len(want) {
		t.Errorf("%v, want %v", facts.Rows[0], want)
	}
	// 60 of 80 and 75 of 111 are no even halves; 60 of 80 at odds of e^0.5 has a
	// chance of 0.011, more than a third of 0.025.
	if looks := []int{flat.cells[0].look, flat.cells[1].look, flat.cells[2].look}; !slices.Equal(looks, []int{clear, clear, unclear}) {
		t.Errorf("the cells look %v", looks)
	}
	if w := v.Caption; !strings.HasPrefix(w, "100 certification outputs a side") || !strings.Contains(w, "0.8 a - 0.6 b") || !strings.Contains(w, "Of 3 cells, 2 are likelier") || !strings.Contains(w, "0 by more than e^0.5, at 95 % for all together") {
		t.Errorf("%q", w)
	}
	// The border cuts a cell; below it lies the event.
	p.Border, p.Above = border(0.5), false
	cut := newPlane(planeChart(p), claim)
	for i, want := range []float64{0.5, 0, 0} {
		if got := cut.inEvent(cut.cells[i]); got != want {
			t.Errorf("cell %d lies in the event by %v, want %v", i, got, want)
		}
	}
	v.Choose("kl")
	if v.Name(0) != "below 0" || strings.Contains(v.Caption, "direction") {
		t.Error("another choice keeps the plane")
	}
}

// Of distributions whose ratio is nowhere above e^epsilon, and is that in half of the
// cells, at most one plane in twenty shows a cell beyond it; of 400 planes more than
// 38 would with probability below 1e-4. Of equal distributions at most one cell in
// twenty looks unequal: more than 5.3 % of 40,000 with probability below 1e-2, for
// counts are discrete and the test is far below its level in thin cells.
func TestPlaneFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const epsilon, cells, outputs = 1.0, 100, 4000
	draw := func(weights []float64) []int {
		sum, total := 0.0, make([]float64, len(weights))
		for i, w := range weights {
			sum += w
			total[i] = sum
		}
		out := make([]int, len(weights))
		for range outputs {
			at, _ := slices.BinarySearch(total, r.Float64()*sum)
			out[at]++
		}
		return out
	}
	first, second := make([]float64, cells), make([]float64, cells)
	for i := range first { // sums are alike, so weights are shares
		second[i] = float64(1 + i/2%10)
		first[i] = second[i] * math.E
		if i%2 == 1 {
			first[i], second[i] = second[i], first[i]
		}
	}
	alarms, unequal := 0, 0
	for range 400 {
		x, y, same := draw(first), draw(second), draw(second)
		beyond := false
		for i := range x {
			beyond = beyond || Bin{n: [2]int{x[i], y[i]}, of: [2]int{outputs, outputs}}.look(epsilon, cells) == beyondAll
			if (Bin{n: [2]int{same[i], y[i]}, of: [2]int{outputs, outputs}}).look(0, cells) != unclear {
				unequal++
			}
		}
		if beyond {
			alarms++
		}
	}
	if alarms > 38 || unequal > 2120 {
		t.Errorf("%d of 400 planes show a cell beyond epsilon, %d of 40000 cells look unequal", alarms, unequal)
	}
	if (Bin{n: [2]int{400, 40}, of: [2]int{4000, 4000}}).look(1, 100) != beyondAll || (Bin{n: [2]int{0, 30}, of: [2]int{4000, 4000}}).look(1, 100) != beyondAll {
		t.Error("ten to one is not beyond e")
	}
}

// What does not fit together is not offered; what is vast or odd is drawn.
func TestOddPlanes(t *testing.T) {
	good := func() *chart.Plane {
		return &chart.Plane{Terms: []chart.PlaneTerm{{Deviation: 1, Weight: 1}}, Words: "w", ScoreEdges: []float64{0, 1}, Edges: []float64{0, 1}, First: []int{1, 2, 0, 0, 5, 0, 0, 0, 0}, Second: []int{0, 0, 0, 0, 4, 4, 0, 0, 0}}
	}
	for name, spoil := range map[string]func(*chart.Plane){
		"no counts":      func(p *chart.Plane) { p.First, p.Second = nil, nil },
		"one side":       func(p *chart.Plane) { p.Second = nil },
		"too few":        func(p *chart.Plane) { p.First = p.First[:8] },
		"nothing":        func(p *chart.Plane) { p.First, p.Second = make([]int, 9), make([]int, 9) },
		"below nothing":  func(p *chart.Plane) { p.First[0] = -1 },
		"too many":       func(p *chart.Plane) { p.First[0] = math.MaxInt },
		"one edge":       func(p *chart.Plane) { p.Edges = []float64{0} },
		"no span":        func(p *chart.Plane) { p.Edges = []float64{1, 1} },
		"downwards":      func(p *chart.Plane) { p.ScoreEdges = []float64{1, 0} },
		"endless":        func(p *chart.Plane) { p.ScoreEdges = []float64{-1.7e308, 1.7e308} },
		"a crowd":        func(p *chart.Plane) { p.Edges = make([]float64, 1_000_000); p.Edges[999_999] = 1 },
		"nothing at all": func(p *chart.Plane) { *p = chart.Plane{} },
	} {
		p := good()
		spoil(p)
		chart := planeChart(good())
		chart.Plane = p
		v := divergenceOf(chart, audit.Claim{Kind: "pure", Epsilon: 1})
		if v.Choose("plane"); v.ChoiceLabel == "Show" || v.Panels[0].Height == plot.Px(74) {
			t.Errorf("%s: a plane is offered", name)
		}
	}
	outcomes := planeChart(good())
	outcomes.Kind, outcomes.Outcomes = "outcomes", [][]float64{{0}, {1}}
	if divergenceOf(outcomes, audit.Claim{}).ChoiceLabel == "Show" {
		t.Error("outcomes have a plane")
	}
	rapid.Check(t, func(r *rapid.T) {
		edges := func(name string) []float64 {
			e := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64Range(-1e300, 1e300)), 2, 12).Draw(r, name)
			slices.Sort(e)
			return e
		}
		p := &chart.Plane{Terms: good().Terms, Words: rapid.String().Draw(r, "words"), ScoreEdges: edges("score edges"), Edges: edges("edges"), Above: rapid.Bool().Draw(r, "above")}
		if rapid.Bool().Draw(r, "has border") {
			p.Border = border(rapid.Float64().Draw(r, "border"))
		}
		n := (len(p.ScoreEdges) + 1) * (len(p.Edges) + 1)
		counts := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 2), rapid.IntRange(0, 1_000_000_000)), n, n)
		p.First, p.Second = counts.Draw(r, "first"), counts.Draw(r, "second")
		chart := planeChart(good())
		chart.Plane = p
		claim := audit.Claim{Kind: "pure", Epsilon: rapid.Float64Range(0, 700).Draw(r, "epsilon")}
		flat, v := newPlane(chart, claim), divergenceOf(chart, claim)
		if v.Choose("plane"); flat == nil {
			r.Skip()
		}
		for _, width := range []float64{280, 1400} {
			for _, cam := range []plot.Camera{plot.Everything, {X: plot.Window{Lo: 0.3, Hi: 0.5}, Y: plot.Window{Lo: 0.4, Hi: 0.7}}, {X: plot.Window{Lo: 0, Hi: plot.Narrowest}, Y: plot.Window{Lo: 1 - plot.Narrowest, Hi: 1}}} {
				s := v.Layout(plot.Frame{Width: width, Camera: cam})
				if len(s.Items) != len(flat.cells) || len(v.Table(plot.Rounded).Rows) != len(s.Items) {
					r.Fatalf("%d items, %d rows", len(s.Items), len(v.Table(plot.Rounded).Rows))
				}
				finite(r, "plane", v, s, math.MaxFloat64)
			}
		}
	})
}
