package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/report"
)

// Renyi shows lower bounds on the Rényi divergence against its order, and what the
// claim allows at each.
type Renyi struct {
	still
	pair.RenyiCurve
}

// NewRenyi shows a report's curve, nil where there is none.
func NewRenyi(c *pair.RenyiCurve) *Renyi {
	if c == nil || len(c.Points) == 0 {
		return nil
	}
	return &Renyi{still{id: "renyi", title: "Rényi divergence by order"}, *c}
}

// allowed is what the claim allows at an order: anything beyond its ends.
func (v *Renyi) allowed(alpha float64) float64 {
	for i, b := range v.Claimed {
		a := v.Claimed[max(0, i-1)]
		switch {
		case math.Abs(alpha-b[0]) <= 1e-9*b[0]:
			return b[1]
		case alpha > a[0] && alpha < b[0]:
			return a[1] + (b[1]-a[1])*(alpha-a[0])/(b[0]-a[0])
		}
	}
	return math.Inf(1)
}

// most is the largest bound, and over how many bounds exceed the claim.
func (v *Renyi) most() (most report.Row, over int) {
	for i, p := range v.Points {
		if i == 0 || *p.LowerBound > *most.LowerBound {
			most = p
		}
		if *p.LowerBound > v.allowed(p.Alpha) {
			over++
		}
	}
	return most, over
}

func (v *Renyi) Words() string {
	most, over := v.most()
	words := fmt.Sprintf("The largest bound: Rényi divergence ≥ %s at alpha = %s. All %s bounds hold together with %s confidence.", ShortDown(*most.LowerBound), Short(most.Alpha), Grouped(len(v.Points)), v.Confidence)
	switch {
	case len(v.Claimed) == 0:
		return words
	case over > 0:
		return words + fmt.Sprintf(" Claimed: %s. At %s of %s orders the bound exceeds what the claim allows: there it is refuted.", v.ClaimWords, Grouped(over), Grouped(len(v.Points)))
	}
	return words + fmt.Sprintf(" Claimed: %s. At no order does the bound exceed what the claim allows.", v.ClaimWords)
}

func (v *Renyi) Reading(i int) string {
	p := v.Points[i]
	words := fmt.Sprintf("alpha = %s: divergence ≥ %s", Short(p.Alpha), ShortDown(*p.LowerBound))
	if a := v.allowed(p.Alpha); !math.IsInf(a, 1) {
		words += ", the claim allows " + Short(a)
	}
	return words
}

func (v *Renyi) Facts(fig Figures) Table {
	t := Table{Title: "The Rényi bounds", Head: []string{"alpha", "divergence at least"}}
	if len(v.Claimed) > 0 {
		t.Head = append(t.Head, "claim allows", "refutes")
	}
	for _, p := range v.Points {
		row := []string{fig.of(p.Alpha), fig.down(*p.LowerBound)}
		if len(v.Claimed) > 0 {
			row = append(row, fig.of(v.allowed(p.Alpha)), yesNo(*p.LowerBound > v.allowed(p.Alpha)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (v *Renyi) Layout(f Frame) *Scene {
	s := f.scene(0)
	most, over := v.most()
	items := []key{{words: "lower bound, for every larger alpha too", paint: Ink(First), form: keyLine}}
	claim := 0.0
	for _, c := range v.Claimed {
		claim = max(claim, c[1])
	}
	if len(v.Claimed) > 0 {
		items = append(items, key{words: "claimed (dashed)", paint: Ink(Text), form: keyDash})
	}
	if over > 0 {
		items = append(items, key{words: "refuted (barred)", paint: Ink(Bad), form: keyBarred})
	}
	// A claim far above the bounds is cut off, so that the bounds can be seen.
	end := claim * 1.08
	if *most.LowerBound > 0 {
		end = max(*most.LowerBound*1.12, min(end, *most.LowerBound*2.5))
	}
	if !(end > 0) {
		end = 1
	}
	first := v.Points[0].Alpha
	last := max(v.Points[len(v.Points)-1].Alpha, first*1.5)
	pad := math.Pow(last/first, 0.01)
	x, y, box := s.curves(f, items, Scale{Lo: first / pad, Hi: last * pad, Log: true}, Scale{Lo: 0, Hi: end}, squarish(f.Width), [2]string{"alpha (logarithmic)", "Rényi divergence"}, [2]func(float64) string{Short, Short})

	// The divergence grows with its order, so a bound holds for every larger one.
	held := 0.0
	var stairs, dots []Point
	holds := func(alpha float64) float64 {
		level := 0.0
		for _, p := range v.Points {
			if p.Alpha <= alpha {
				level = max(level, *p.LowerBound)
			}
		}
		return level
	}
	for i, p := range v.Points {
		if i > 0 {
			stairs = append(stairs, Point{x.At(p.Alpha), y.At(held)})
		}
		held = max(held, *p.LowerBound)
		stairs = append(stairs, Point{x.At(p.Alpha), y.At(held)})
		dots = append(dots, Point{x.At(p.Alpha), y.At(*p.LowerBound)})
	}
	stairs = append(stairs, Point{x.At(last), y.At(held)})
	if over > 0 {
		s.barred(x, box, func(alpha float64) (from, to float64, in bool) {
			level, allowed := holds(alpha), v.allowed(alpha)
			return y.At(level), y.At(min(allowed, level)), level > allowed
		})
	}
	var line []Point
	for _, c := range v.Claimed {
		line = append(line, Point{x.At(c[0]), y.At(c[1])})
	}
	s.dash(line, 1.8, Ink(Text), box)
	s.add(Shape{Kind: Stroke, Points: stairs, Width: 2, Paint: Ink(First), Clip: around(box, 2)})
	s.dots(dots, 3, Ink(First), around(box, 4))
	return s
}

// squarish is the height of a picture that is about as high as it is wide.
func squarish(width float64) float64 { return min(340, max(220, width*0.66)) }

// dots are marks that can be read.
func (s *Scene) dots(points []Point, radius float64, paint Paint, clip Rect) {
	s.add(Shape{Kind: Dots, Points: points, Radius: radius, Paint: paint, Clip: clip})
	for _, p := range points {
		r := Rect{p.X - 8, p.Y - 8, 16, 16}
		s.Items = append(s.Items, Item{Box: r, Mark: intersect(r, around(clip, 8))})
	}
}
