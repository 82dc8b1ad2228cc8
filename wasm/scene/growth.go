package scene

import (
	"fmt"
	"math"
)

// CanaryGrowth is canary.GrowthStep.
type CanaryGrowth struct {
	K         int      `json:"k"`
	M         int      `json:"m"`
	Single    *float64 `json:"single"`
	First     *float64 `json:"first"`
	Bias      *float64 `json:"bias"`
	Variance2 *float64 `json:"variance2"`
	Variance4 *float64 `json:"variance4"`
}

// Growth shows what the same runs would have given with fewer of the canaries, by
// Wilson intervals of three orders, and apart what a common threshold costs and
// what more canaries bring.
type Growth struct {
	still
	steps  []CanaryGrowth
	single float64 // NaN where there is none
	dots   []growthDot
}

// growthDot is a figure of a step.
type growthDot struct {
	line, panel int // of growthLines; 0: a bound, 1: a difference
	k           int
	value       float64
}

var growthLines = []struct {
	bound, gain string
	paint       Role
	form        Form
}{
	{"first order", "bias: against one canary", Muted, Disc},
	{"second order", "variance saved, second order", First, Square},
	{"fourth order", "variance saved, fourth order", Event, Diamond},
}

// newGrowth is nil where nothing grows.
func newGrowth(steps []CanaryGrowth) *Growth {
	v := &Growth{single: math.NaN()}
	finite := func(x *float64) bool { return x != nil && math.Abs(*x) < 1e6 }
	last := 0
	for _, g := range steps {
		if g.K <= last {
			return nil
		}
		last = g.K
		if !finite(g.First) {
			continue
		}
		v.steps = append(v.steps, g)
		if finite(g.Single) {
			v.single = *g.Single
		}
		v.dots = append(v.dots, growthDot{0, 0, g.K, *g.First})
		for line, by := range []*float64{g.Bias, g.Variance2, g.Variance4} {
			if !finite(by) {
				continue
			}
			if line > 0 {
				v.dots = append(v.dots, growthDot{line, 0, g.K, *g.First + *by})
			}
			v.dots = append(v.dots, growthDot{line, 1, g.K, *by})
		}
	}
	if len(v.steps) < 2 {
		return nil
	}
	return v
}

func (v *Growth) ID() string    { return "growth" }
func (v *Growth) Title() string { return "Growth" }

func (v *Growth) Words() string {
	last := v.steps[len(v.steps)-1]
	words := fmt.Sprintf("What the same certification runs at the same threshold would have given had only some of the %s canaries been counted. Higher orders see that the rate of more canaries varies less; how far depends on how they hang together. ", Grouped(last.K))
	if last.Bias != nil {
		words += "The bias does not move: all of them were inside, whatever part is counted. "
	}
	return words + "Differences of Wilson bounds, which hold asymptotically only; no certificates."
}

func (v *Growth) Reading(i int) string {
	d := v.dots[i]
	of := "1 canary"
	if d.k > 1 {
		of = Grouped(d.k) + " canaries"
	}
	if d.panel == 0 {
		return fmt.Sprintf("%s, Wilson of %s: %s", of, growthLines[d.line].bound, Short(floor(d.value, 4)))
	}
	return fmt.Sprintf("%s, %s: %s", of, growthLines[d.line].gain, signed(d.value))
}

func (v *Growth) Facts(fig Figures) Table {
	t := Table{Title: "Bounds, bias and variance by canaries counted", Head: []string{"inside", "fresh", "first order", "second order", "fourth order", "bias", "variance, second order", "variance, fourth order"}}
	say := func(x *float64, from float64) string {
		if x == nil {
			return "none"
		}
		return fig.of(from + *x)
	}
	for _, g := range v.steps {
		t.Rows = append(t.Rows, []string{fmt.Sprint(g.K), fmt.Sprint(g.M), fig.of(*g.First), say(g.Variance2, *g.First), say(g.Variance4, *g.First), say(g.Bias, 0), say(g.Variance2, 0), say(g.Variance4, 0)})
	}
	return t
}

func (v *Growth) Layout(f Frame) *Scene {
	s := f.scene(0)
	var keys []key
	for _, l := range growthLines {
		keys = append(keys, key{words: l.bound, paint: Ink(l.paint), form: keyDot, mark: l.form})
	}
	if !math.IsNaN(v.single) {
		keys = append(keys, key{words: "a single canary in the data (dashed)", paint: Ink(Text), form: keyDash})
	}
	top := s.legend(keys, 4) + 22
	const height, gap = 210, 78
	boxes := s.two(top, height, gap)
	titles := [2]string{"bound on epsilon by Wilson intervals", "bias (first order) and variance: differences"}
	switch {
	case math.IsNaN(v.single):
		titles[1] = "variance: differences"
	case f.Width < 340:
		titles[1] = "bias (first order) and variance"
	}
	least, most := [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(-1), 0}
	for _, d := range v.dots {
		least[d.panel], most[d.panel] = min(least[d.panel], d.value), max(most[d.panel], d.value)
	}
	var marks []float64
	for _, g := range v.steps {
		marks = append(marks, float64(g.K))
	}
	largest := marks[len(marks)-1]
	if !math.IsNaN(v.single) {
		least[0], most[0] = min(least[0], v.single), max(most[0], v.single)
	}
	var at [2]func(d growthDot) Point
	for k, box := range boxes {
		x := Scale{Lo: 0.9, Hi: largest * 1.1, From: box.X, To: box.Right(), Log: true}
		y := spanOf(least[k], most[k])
		y.From, y.To = box.Bottom(), box.Y
		at[k] = func(d growthDot) Point { return Point{x.At(float64(d.k)), y.At(d.value)} }
		s.label(box.X-50, box.Y-9, titles[k], Start, Muted)
		s.across(y, 5, box, Short)
		s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(Axis), Rect{})
		s.ticksUnder(x, marks, box.Bottom(), Short, box.X-20, box.Right()+14)
		s.label(box.X+box.W/2, box.Bottom()+37, "canaries counted", Middle, Muted)
		if k == 0 && !math.IsNaN(v.single) {
			s.dash([]Point{{box.X, y.At(v.single)}, {box.Right(), y.At(v.single)}}, 1.5, Ink(Text), Rect{})
		}
		lines := make([][]Point, len(growthLines))
		for _, d := range v.dots {
			if d.panel == k {
				lines[d.line] = append(lines[d.line], at[k](d))
			}
		}
		for i, l := range growthLines {
			s.add(Shape{Kind: Stroke, Points: lines[i], Width: 1.6, Paint: Ink(l.paint)})
			s.add(Shape{Kind: Dots, Points: lines[i], Radius: 4, Form: l.form, Paint: Ink(l.paint)})
		}
	}
	for _, d := range v.dots {
		p := at[d.panel](d)
		s.Items = append(s.Items, Item{Box: Rect{p.X - 10, p.Y - 10, 20, 20}, Mark: Rect{p.X - 7, p.Y - 7, 14, 14}})
	}
	return s
}
