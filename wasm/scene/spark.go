package scene

import (
	"math"
)

// NewSpark shows a run's course, nil where there is none: the bound against the outputs a
// side, on a logarithmic axis, as small as a word, with the claim dashed, all in one colour.
func NewSpark(c *Course) *View {
	if c == nil || len(c.Moments) == 0 {
		return nil
	}
	of := course{Course: *c}
	role := choose(c.first() >= 0 && c.Valid, LitInk, Text)
	p := Plot{Caption: of.caption(), Table: of.table, Tooltip: of.tooltip, Name: of.name, Draw: func(f Frame) *Scene { return c.spark(f, role) }}
	return View{ID: "spark", Title: "Bound over time"}.of(func(string) Plot { return p })
}

// spark is about three and a half times as wide as high.
func (c *Course) spark(f Frame, role Role) *Scene {
	const below, left, top = 18.0, 4.0, 12.0
	height := math.Round(min(92, max(64, f.Width*0.29)))
	s := f.scene(height)
	moments := c.Moments
	last := moments[len(moments)-1]
	claim, bound := "claim "+Short(c.Claimed), symbolOf(c.Quantity)+Short(floor(last.Bound, 2))
	room := max(s.wideAt(claim, smallInk), s.wideAt(bound, smallInk)*1.06) + 12
	s.Plot = Rect{left, top, max(20, f.Width-left-room), height - below - top}
	x := Scale{Lo: float64(max(1, moments[0].Pairs)) * 0.8, Hi: float64(last.Pairs) * 1.0001, From: left, To: s.Plot.Right(), Log: true}
	y := Scale{Lo: 0, Hi: max(c.Claimed*1.35, c.most()*1.15, 1e-9), From: s.Plot.Bottom(), To: top}
	ink := Ink(role)
	faint := choose(role == LitInk, LitInk, Muted)
	s.line(left, y.From, s.Plot.Right(), y.From, 1, Ink(faint), Rect{})
	if c.Claimed > 0 {
		s.dash([]Point{{left, y.At(c.Claimed)}, {s.Plot.Right() + 4, y.At(c.Claimed)}}, 1.5, ink, Rect{})
	}
	line := []Point{{left, y.From}}
	for _, m := range moments {
		line = append(line, Point{x.At(float64(m.Pairs)), y.At(max(0, m.Bound))})
		p := line[len(line)-1]
		s.Items = append(s.Items, Item{Box: Rect{p.X - 5, top, 10, s.Plot.H}, Mark: intersect(Rect{p.X - 4, p.Y - 4, 8, 8}, Rect{0, 0, s.Width, s.Height})})
	}
	s.add(Shape{Kind: Stroke, Points: line, Width: 2.6, Paint: ink})
	end := line[len(line)-1]
	s.dot(Disc, end.X, end.Y, 4.5, ink)
	// Both figures at the right, apart.
	at := s.Plot.Right() + 8
	yc, yb := y.At(c.Claimed)+4.5, end.Y+4.5
	if d := yc - yb; math.Abs(d) < 15 {
		middle, sign := (yc+yb)/2, choose(d >= 0, 1.0, -1)
		yc, yb = middle+sign*7.5, middle-sign*7.5
	}
	shift := max(0, 11-min(yc, yb)) - max(0, max(yc, yb)-y.From-2)
	if c.Claimed > 0 {
		s.text(at, yc+shift, smallInk, claim, Start, role, false)
	}
	s.text(at, yb+shift, smallInk, bound, Start, role, true)
	from := "outputs: " + Grouped(moments[0].Pairs)
	to := Grouped(last.Pairs)
	if s.wideAt(from, 12)+s.wideAt(to, 12)+10 > s.Plot.W || moments[0].Pairs == last.Pairs {
		from = ""
	}
	if from != "" {
		s.text(left, height-4, 12, from, Start, faint, false)
		s.text(s.Plot.Right(), height-4, 12, to, End, faint, false)
	} else {
		s.text(left, height-4, 12, to+" outputs", Start, faint, false)
	}
	return s
}

// symbolOf is the sign of a quantity in words.
func symbolOf(quantity string) string {
	for _, q := range []struct{ name, sign string }{{"epsilon", "ε "}, {"rho", "ρ "}, {"mu", "μ "}} {
		if len(quantity) >= len(q.name) && quantity[:len(q.name)] == q.name {
			return q.sign
		}
	}
	return "≥ "
}
