package scene

import "math"

const rowPitch = 30

// rows are the outcomes' pictures: shares, log ratio and part, beside one
// another.
func (d *Divergence) rows(f Frame) *Scene {
	s := f.scene(0)
	narrow := f.Width < 560
	top := d.legend(s, 4) + 24
	pitch := float64(rowPitch)
	if narrow {
		pitch += 16
	}
	if d.brief { // counts stand at the bars
		pitch += 2
	}
	n := float64(len(d.bins))
	height := pitch * n
	if !d.brief { // one that does not zoom is as high as it must be
		height = min(height, 600)
	}
	const foot = 30
	s.Height = top + height + foot
	// The rows that are shown share the height.
	z := f.Camera.Y
	pitch = height / n / (z.Hi - z.Lo)
	begin := top - z.Lo*n*pitch

	left := 0.0
	if !narrow {
		for _, b := range d.bins {
			left = max(left, s.wide(b.Words)*1.1)
		}
		left = min(left, f.Width*0.3) + 32
	}
	body := Rect{left, top, f.Width - left, height}
	s.Plot = Rect{0, top, f.Width, height}
	gaps := 26.0
	if narrow {
		gaps = 14
	}
	shares := []float64{0.36, 0.38, 0.26}
	if d.brief {
		shares = []float64{0.5, 0.5}
	}
	room := body.W - float64(len(shares)-1)*gaps - 14
	var columns []Rect
	at := left + 2
	for _, share := range shares {
		columns = append(columns, Rect{at, top, room * share, height})
		at += room*share + gaps
	}

	parts, _ := d.parts()
	x := d.scales(parts)
	var titles [3]string
	for _, titles = range [][3]string{{"share of outputs", "ln(first / second share), ± 95 % each", "part of the divergence"}, {"share", "ln ratio, ± 95 %", "part"}, {"share", "ln ratio", "part"}} {
		fits := true
		for k, c := range columns {
			fits = fits && s.wide(titles[k]) <= c.W+gaps-8
		}
		if fits {
			break
		}
	}
	words := [3]func(float64) string{Percent, Short, Short}
	for i, b := range d.bins {
		y := begin + float64(i)*pitch
		r := intersect(Rect{0, y, f.Width, pitch}, s.Plot)
		s.Items = append(s.Items, Item{Box: r, Mark: r})
		if r.H <= 0 {
			continue
		}
		if b.inEvent() > 0 {
			s.rect(Rect{0, y + 1, f.Width, pitch - 2}, Ink(Region), s.Plot)
		}
	}
	for k := range columns {
		x[k].From, x[k].To = columns[k].X, columns[k].Right()
		if k == 0 && d.brief {
			x[k].To -= s.wide(Grouped(d.bins[0].firstOf)) + 2
		}
		s.label(columns[k].X, top-8, titles[k], Start, Muted)
		marks := x[k].Marks(int(max(2, columns[k].W/46)))
		if e, ok := epsilonOf(d.claim); ok && k == 1 && len(marks) < 3 {
			marks = []float64{-e, 0, e}
		}
		for _, v := range marks {
			role := Line
			if v == 0 {
				role = Axis
			}
			s.line(x[k].At(v), top, x[k].At(v), top+height, 1, Ink(role), Rect{})
		}
		s.ticksUnder(x[k], marks, top+height, words[k], columns[k].X-8, columns[k].Right()+gaps-6)
	}
	if e, ok := epsilonOf(d.claim); ok {
		for _, v := range []float64{e, -e} {
			s.dash([]Point{{x[1].At(v), top}, {x[1].At(v), top + height}}, 1.5, Ink(Text), Rect{})
		}
	}
	for i, b := range d.bins {
		y := begin + float64(i)*pitch
		if y+pitch < top || y > top+height {
			continue
		}
		d.row(s, b, parts[i], y, pitch, narrow, left, x)
	}
	return s
}

func (d *Divergence) row(s *Scene, b Bin, part, y, pitch float64, narrow bool, left float64, x [3]Scale) {
	clip := s.Plot
	middle := y + pitch/2
	if narrow {
		middle = y + 8 + pitch/2
	}
	bar := min(9, pitch/2-3)
	p, q := b.Shares()
	s.rect(Rect{x[0].At(0), middle - bar - 0.5, x[0].At(p) - x[0].At(0), bar}, Ink(First), clip)
	second := Rect{x[0].At(0), middle + 0.5, x[0].At(q) - x[0].At(0), bar}
	s.rect(second, Ink(Second), clip)
	s.hatch(second, Ink(Panel).At(0.75), intersect(second, clip))
	if d.brief {
		for side, n := range [2]int{b.First, b.Second} {
			at := []float64{p, q}[side]
			if y := middle + []float64{-bar/2 + 3, bar/2 + 5}[side]; y > clip.Y+8 && y < clip.Bottom() {
				s.label(x[0].At(at)+4, y, Grouped(n), Start, Muted).Size = 10.5
			}
		}
	}
	s.ratio(b, func(v float64) Point {
		return Point{x[1].At(math.Max(-x[1].Hi, math.Min(x[1].Hi, v))), middle}
	}, x[1].Hi, clip)
	switch {
	case d.brief:
	case math.IsInf(part, 1):
		s.arrow(Point{x[2].At(0), middle}, Point{x[2].To, middle}, Ink(Event), clip)
	case part != 0:
		s.rect(Rect{x[2].At(min(0, part)), middle - bar/2 - 2, math.Abs(x[2].At(part) - x[2].At(0)), bar + 4}, Ink(Event), clip)
	}
	if y+pitch/2 < clip.Y || y+pitch/2 > clip.Bottom() {
		return
	}
	in := b.inEvent() > 0
	mark := func(x, y float64) {
		if in {
			s.add(Shape{Kind: Dots, Form: Diamond, Radius: 4.5, Points: []Point{{x, y}}, Paint: Ink(Event)})
		}
	}
	if narrow {
		l := s.label(16, y+14, clipWords(s, b.Words, s.Width-24), Start, Text)
		l.Mono, l.Bold = true, in
		mark(7, y+10)
		return
	}
	l := s.label(left-8, middle+4, clipWords(s, b.Words, left-28), End, Text)
	l.Mono, l.Bold = true, in
	mark(9, middle)
}
