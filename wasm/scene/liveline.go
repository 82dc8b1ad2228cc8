package scene

// LiveLine is the bound of a run on its way, small: it stands beside the figures that it
// draws.
type LiveLine struct{ *OverTime }

// NewLiveLine shows a run's course, nil where there is none.
func NewLiveLine(c *Course) *LiveLine {
	v := NewOverTime(c, nil, 0)
	if v == nil {
		return nil
	}
	return &LiveLine{v}
}

func (v *LiveLine) Choices() (string, []Choice) { return "", nil }

func (v *LiveLine) Layout(f Frame) *Scene {
	const height = 84
	s := f.scene(height)
	moments := v.course.Moments
	most := v.course.Claimed
	for _, m := range moments {
		most = max(most, m.Bound)
	}
	if !(most > 0) {
		most = 1
	}
	s.Plot = Rect{2, 4, f.Width - 10, height - 8}
	x := Scale{Lo: 0, Hi: float64(max(1, moments[len(moments)-1].Pairs)), From: s.Plot.X, To: s.Plot.Right()}
	y := Scale{Lo: 0, Hi: 1.25 * most, From: s.Plot.Bottom(), To: s.Plot.Y}
	s.line(x.From, y.From, x.To, y.From, 1, Ink(Axis), Rect{})
	if c := v.course.Claimed; c > 0 {
		s.dash([]Point{{x.From, y.At(c)}, {x.To, y.At(c)}}, 1.8, Ink(Text), Rect{})
		s.label(4, y.At(c)-4, "claimed "+Short(c), Start, Muted)
	}
	var stairs []Point // a bound holds from where it was reached until the next
	for i, m := range moments {
		p := Point{x.At(float64(m.Pairs)), y.At(m.Bound)}
		if i > 0 {
			stairs = append(stairs, Point{p.X, stairs[len(stairs)-1].Y})
		}
		stairs = append(stairs, p)
	}
	s.add(Shape{Kind: Stroke, Points: stairs, Width: 2, Paint: Ink(First)})
	s.add(Shape{Kind: Dots, Points: stairs[len(stairs)-1:], Radius: 3, Paint: Ink(First)})
	return s
}
