package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Moment is a bound on the way: from so many pairs of outputs.
type Moment struct {
	Pairs int     `json:"pairs"`
	Bound float64 `json:"bound"`
}

// Course is how a run's bound came about.
type Course struct {
	Moments  []Moment `json:"moments"`
	Valid    bool     `json:"valid"` // each holds if the run was stopped there
	Claimed  float64  `json:"claimed"`
	Quantity string   `json:"quantity"`
}

// most is the largest figure.
func (c Course) most() float64 {
	most := c.Claimed
	for _, m := range c.Moments {
		most = max(most, m.Bound)
	}
	return most
}

// stairs hold a bound from where it was reached, a dot, until the next.
func (c Course) stairs(x, y Scale) (stairs, dots []Point) {
	for i, m := range c.Moments {
		p := Point{x.At(float64(m.Pairs)), y.At(m.Bound)}
		if i > 0 {
			stairs = append(stairs, Point{p.X, stairs[len(stairs)-1].Y})
		}
		stairs, dots = append(stairs, p), append(dots, p)
	}
	return stairs, dots
}

// OverTime shows the bound against the outputs that were counted, and the claim
// as a line.
type OverTime struct {
	still
	course Course
	final  *float64 // the certified bound, nil while there is none
	pairs  int      // that it was computed from
	log    bool
}

// NewOverTime shows a run's course, nil where there is none. The final bound, if
// any, was certified from so many pairs.
func NewOverTime(c *Course, final *float64, pairs int) *OverTime {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	return &OverTime{still: still{"bound", "Bound over time", true, true, "Samples", linearOrLog}, course: *c, final: final, pairs: pairs}
}

func (v *OverTime) Choose(id string) { v.log = id == "log" }

func (v *OverTime) Words() string {
	words := fmt.Sprintf("The lower bound on %s from the first outputs up to each moment of the run; claimed: %s. ", v.course.Quantity, Short(v.course.Claimed))
	if v.course.Valid {
		words += "All of them hold together: the run might have been stopped at any."
	} else {
		words += "Only the one at the end is certified: a moment that is chosen while looking has no confidence."
	}
	if i := v.first(); i >= 0 {
		words += fmt.Sprintf(" The claim is passed at %s pairs of outputs.", Grouped(v.course.Moments[i].Pairs))
	}
	return words
}

// first is the first moment whose bound passes the claim, -1 for none.
func (v *OverTime) first() int {
	return slices.IndexFunc(v.course.Moments, func(m Moment) bool { return m.Bound > v.course.Claimed })
}

func (v *OverTime) Name(i int) string { return fmt.Sprint(v.course.Moments[i].Pairs) }

func (v *OverTime) Reading(i int) string {
	m := v.course.Moments[i]
	words := fmt.Sprintf("after %s pairs of outputs: %s ≥ %s", Grouped(m.Pairs), v.course.Quantity, Short(floor(m.Bound, 4)))
	if v.course.Valid {
		words += ", valid if stopped there"
	} else {
		words += ", not certified"
	}
	if m.Bound > v.course.Claimed {
		words += "; more than is claimed"
	}
	return words
}

// floor rounds a bound down to so many decimals.
func floor(x float64, decimals int) float64 {
	p := math.Pow(10, float64(decimals))
	return math.Floor(x*p) / p
}

func (v *OverTime) Facts(fig Figures) Table {
	f := Table{Title: "The bound at every moment", Head: []string{"pairs of outputs", "lower bound on " + v.course.Quantity, "claimed", "holds"}}
	for _, m := range v.course.Moments {
		f.Rows = append(f.Rows, []string{fmt.Sprint(m.Pairs), fig.of(floor(m.Bound, 6)), fig.of(v.course.Claimed), map[bool]string{true: "if stopped there", false: "not certified"}[v.course.Valid]})
	}
	if v.final != nil {
		f.Rows = append(f.Rows, []string{fmt.Sprint(v.pairs), fig.of(*v.final), fig.of(v.course.Claimed), "certified"})
	}
	return f
}

func (v *OverTime) scales() (x, y Scale) {
	last, most := max(v.pairs, v.course.Moments[len(v.course.Moments)-1].Pairs), v.course.most()
	if v.final != nil {
		most = max(most, *v.final)
	}
	most = cmp.Or(most, 1)
	x = Scale{Lo: 0, Hi: float64(last)}
	if v.log {
		x = Scale{Lo: float64(max(1, v.course.Moments[0].Pairs)) * 0.9, Hi: float64(last) * 1.05, Log: true}
	}
	return x, Scale{Lo: 0, Hi: most * 1.12}
}

func (v *OverTime) Place(i int) (px, py float64) {
	x, y := v.scales()
	x.From, x.To, y.From, y.To = 0, 1, 1, 0
	m := v.course.Moments[i]
	return min(1, x.At(float64(m.Pairs))), max(0, y.At(m.Bound))
}

func (v *OverTime) Layout(f Frame) *Scene {
	s := f.scene(0)
	paint, line := Ink(First), key{words: "bound so far, valid if stopped", paint: Ink(First), form: keyLine}
	if !v.course.Valid {
		paint = Ink(Muted)
		line = key{words: "bound so far, not certified (dots)", paint: paint, form: keyDot, mark: Disc}
	}
	items := []key{line, {words: "claimed (dashed)", paint: Ink(Text), form: keyDash}}
	if v.final != nil {
		items = append(items, key{words: "certified at the end", paint: Ink(Event), form: keyDot, mark: Diamond})
	}
	words := func(v float64) string { return Grouped(int(math.Round(v))) }
	if v.log {
		words = Power
	}
	x, y := v.scales()
	x, y, box := s.curves(f, items, x, y, min(380, max(230, f.Width*0.5)), [2]string{"pairs of outputs that were counted", "lower bound on " + v.course.Quantity}, [2]func(float64) string{words, Short})
	clip := around(box, 6)
	s.dash([]Point{{box.X, y.At(v.course.Claimed)}, {box.Right(), y.At(v.course.Claimed)}}, 1.6, Ink(Text), box)

	stairs, dots := v.course.stairs(x, y)
	for _, p := range dots {
		s.Items = append(s.Items, Item{Box: Rect{p.X - 10, p.Y - 14, 20, 28}, Mark: intersect(Rect{p.X - 5, p.Y - 5, 10, 10}, clip)})
	}
	if v.course.Valid {
		s.add(Shape{Kind: Stroke, Points: stairs, Width: 2, Paint: paint, Clip: box})
	} else {
		s.add(Shape{Kind: Dots, Points: dots, Radius: 2.5, Form: Disc, Paint: paint, Clip: clip})
	}
	if i := v.first(); i >= 0 {
		s.add(Shape{Kind: Dots, Points: dots[i : i+1], Radius: 6, Form: Ring, Paint: Ink(Bad), Clip: clip})
	}
	if v.final != nil {
		p := Point{x.At(float64(v.pairs)), y.At(*v.final)}
		s.add(Shape{Kind: Dots, Points: []Point{p}, Radius: 6, Form: Diamond, Paint: Ink(Event), Clip: clip})
		above := p.Y - 8
		if claim := y.At(v.course.Claimed); claim > above-14 && claim < above+5 {
			above = claim - 5 // else the claim's line strikes the words through
		}
		l := s.label(p.X-12, above, "≥ "+Short(floor(*v.final, 3)), End, Event)
		l.Bold = true
		if !clip.Has(p) {
			s.Labels = s.Labels[:len(s.Labels)-1]
		}
	}
	return s
}
