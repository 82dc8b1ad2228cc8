package scene

import "cmp"

func intersect(a, b Rect) Rect {
	x0, y0 := max(a.X, b.X), max(a.Y, b.Y)
	x1, y1 := min(a.Right(), b.Right()), min(a.Bottom(), b.Bottom())
	return Rect{x0, y0, max(0, x1-x0), max(0, y1-y0)}
}

// across draws the grid of an upright axis, words at its left.
func (s *Scene) across(y Scale, n int, box Rect, words func(float64) string) {
	for _, v := range y.Marks(n) {
		at := y.At(v)
		if at < box.Y-0.5 || at > box.Bottom()+0.5 {
			continue
		}
		s.line(box.X, at, box.Right(), at, 1, atZero(v), Rect{})
		if text := words(v); text != "" {
			s.label(box.X-6, at+4, text, End, Muted)
		}
	}
}

// choose is a where it is so, else b.
func choose[T any](so bool, a, b T) T {
	if so {
		return a
	}
	return b
}

// atZero is how a line of a grid is painted: that of 0 stands out.
func atZero(v float64) Paint { return Ink(choose(v == 0, AxisLine, Grid)) }

// gutter is the room for the words at the left of an upright axis.
func (s *Scene) gutter(y Scale, n int, words func(float64) string) float64 {
	wide := 0.0
	for _, v := range y.Marks(n) {
		wide = max(wide, s.wide(words(v)))
	}
	return wide + 12
}

// plane takes a box below top for a picture that pans and zooms both ways, with
// the grid of its upright axis, and returns its axes in their places.
func (s *Scene) plane(f Frame, x, y Scale, top, height float64, words func(float64) string) (Scale, Scale, Rect) {
	const n = 5
	y.From, y.To = top+height, top
	y = y.Zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})
	x.From, x.To = s.gutter(y, n, words), f.Width-14
	x = x.Zoomed(f.Camera.X)
	s.Plot = Rect{x.From, top, x.To - x.From, height}
	s.across(y, n, s.Plot, words)
	return x, y, s.Plot
}

// two takes two boxes of a height below top, side by side where there is room, with
// room for words at their left and below.
func (s *Scene) two(top, height, gap float64) (boxes [2]Rect) {
	const left, right = 50, 12
	room := s.Width - left - right
	s.Height = top + height + 44
	boxes[0] = Rect{left, top, room, height}
	boxes[1] = Rect{left, top + height + gap, room, height}
	if s.Width >= 640 {
		room = s.Width/2 - left - right
		boxes[0].W = room
		boxes[1] = Rect{2*left + room + right, top, room, height}
	} else {
		s.Height += height + gap
	}
	s.Plot = boxes[0]
	return boxes
}

// panel draws the frame of a picture in a box of [Scene.two], and puts its axes there.
func (s *Scene) panel(box Rect, x, y *Scale, marks []float64, title, below string, words func(float64) string) {
	x.From, x.To, y.From, y.To = box.X, box.Right(), box.Bottom(), box.Y
	s.label(box.X-50, box.Y-9, title, Start, Muted)
	s.across(*y, 5, box, words)
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(AxisLine), Rect{})
	s.ticksUnder(*x, marks, box.Bottom(), Short, box.X-20, box.Right()+14)
	s.label(box.X+box.W/2, box.Bottom()+37, below, Middle, Muted)
}

// around is a box with a margin.
func around(r Rect, by float64) Rect { return Rect{r.X - by, r.Y - by, r.W + 2*by, r.H + 2*by} }

// under draws the strokes and words of a level axis below y. What lies beyond
// the values' ends has words of its own there.
func (s *Scene) under(x Scale, y float64, values Window) {
	s.line(x.From, y, x.To, y, 1, Ink(AxisLine), Rect{})
	inner := Scale{Lo: max(x.Lo, values.Lo), Hi: min(x.Hi, values.Hi), From: x.At(max(x.Lo, values.Lo)), To: x.At(min(x.Hi, values.Hi))}
	least, most := x.From-10, x.To+10
	if x.Lo < values.Lo && inner.Hi > inner.Lo {
		l := s.label(x.From, y+18, "< "+Short(values.Lo), Start, Muted)
		least = l.X + s.wide(l.Words) + 12
	}
	if x.Hi > values.Hi && inner.Hi > inner.Lo {
		l := s.label(x.To+8, y+18, "≥ "+Short(values.Hi), End, Muted)
		most = l.X - s.wide(l.Words) - 12
	}
	marks := inner.Marks(int(max(2, (inner.To-inner.From)/80)))
	if values.Lo == values.Hi {
		marks = []float64{values.Lo}
	}
	for _, v := range marks {
		s.line(x.At(v), y, x.At(v), y+4, 1, Ink(AxisLine), Rect{})
	}
	s.ticksUnder(x, marks, y, Short, least, most)
}

// ticksUnder writes the words of marks below y, where they are free.
func (s *Scene) ticksUnder(x Scale, marks []float64, y float64, words func(float64) string, least, most float64) {
	end := least
	for _, v := range marks {
		text := words(v)
		half := s.wide(text) / 2
		at := x.At(v)
		if at <= most && at+half > most {
			at = most - half
		}
		if at-half < end || at+half > most {
			continue
		}
		s.label(at, y+18, text, Middle, Muted)
		end = at + half + 6
	}
}

// Forms of a legend's samples.
const (
	keyLine = iota
	keyThick
	keyDash
	keyBox
	keyHatch
	keyRegion
	keyDot
	keyBand
	keyBarred
	keyDiamond
	keySquare
	keyHollow
	keyOutline
	keyCross   // upright
	keyOblique // cross
)

type key struct {
	words  string
	paint  Paint
	form   int
	mark   Form
	radius float64 // of a mark; 0: 5
}

// legend writes samples and words into rows from y on, and returns where they
// end.
func (s *Scene) legend(items []key, y float64) float64 {
	const row, sample = 20, 28
	x := 0.0
	for _, k := range items {
		if s.wide(k.words)+sample+8 > s.Width {
			k.words = clipWords(s, k.words, s.Width-sample-12)
		}
		s.Keys = append(s.Keys, k.words)
		w := sample + 8 + s.wide(k.words)
		if x > 0 && x+w > s.Width {
			x, y = 0, y+row
		}
		middle := y + 9
		box := Rect{x, middle - 6, sample, 12}
		switch k.form {
		case keyLine:
			s.line(x, middle, x+sample, middle, 2, k.paint, Rect{})
		case keyThick:
			s.line(x, middle, x+sample, middle, 3.2, k.paint, Rect{})
		case keyDash:
			s.dash([]Point{{x, middle}, {x + sample, middle}}, 2, k.paint, Rect{})
		case keyBox:
			s.rect(box, k.paint, Rect{})
		case keyHatch:
			s.rect(box, k.paint, Rect{})
			s.hatch(box, Ink(Panel).At(0.75), box)
		case keyRegion:
			s.rect(box, k.paint, Rect{})
			s.hatch(box, Ink(Hatch).At(0.7), box)
		case keyDot:
			s.add(Shape{Kind: Dots, Points: []Point{{x + sample/2, middle}}, Radius: cmp.Or(k.radius, 5), Form: k.mark, Paint: k.paint})
		case keyCross, keyOblique:
			s.cross(Point{x + sample/2, middle}, 7, k.form == keyOblique, k.paint, Rect{})
		case keyBand:
			s.rect(box, k.paint.At(0.18), Rect{})
		case keyBarred:
			s.rect(box, k.paint.At(0.16), Rect{})
			for x := box.X + 2; x < box.Right(); x += 5 {
				s.line(x, box.Y, x, box.Bottom(), 1, k.paint, Rect{})
			}
		case keyDiamond, keySquare, keyHollow, keyOutline:
			form := corners(Rect{x + sample/2 - 5, middle - 5, 10, 10})
			if k.form == keyDiamond || k.form == keyOutline {
				form = diamond(Rect{x + sample/2 - 7, middle - 7, 14, 14})
			}
			if k.form == keyDiamond || k.form == keySquare {
				s.add(Shape{Kind: Fill, Points: form, Paint: k.paint})
			} else {
				s.add(Shape{Kind: Stroke, Points: append(form, form[0]), Width: 1.5, Paint: k.paint})
			}
		}
		s.label(x+sample+6, middle+4, k.words, Start, Text)
		x += w + 18
	}
	return y + row + 6
}

// clipWords shortens words in the middle until they fit: outcomes often differ
// at their ends.
func clipWords(s *Scene, words string, room float64) string {
	all := []rune(words)
	for n := len(all); s.wide(words)*1.1 > room && n > 3; {
		n--
		head := n / 2
		words = string(all[:head]) + "…" + string(all[len(all)-(n-1-head):])
	}
	return words
}
