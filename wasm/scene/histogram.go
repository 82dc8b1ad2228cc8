package scene

import "math"

// panels are the histogram's three pictures over one axis: shares, log ratios,
// parts of the divergence.
func (d *Divergence) panels(f Frame) *Scene {
	heights := []float64{190, 140, 110}
	if d.brief {
		heights = heights[:2]
	}
	const head, gap, foot = 22, 30, 42
	s := f.scene(0)
	y := d.legend(s, 4)
	top := y
	for _, h := range heights {
		y += h + gap
	}
	s.Height = y - gap + head + foot

	parts, _ := d.parts()
	uprights := d.scales(parts)
	words := [3]func(float64) string{Percent, Short, Short}
	marks := [3]int{4, 6, 3}
	left := 0.0
	for k := range heights {
		left = max(left, s.gutter(uprights[k], marks[k], words[k]))
	}
	lo, hi := d.span()
	x := Scale{Lo: lo, Hi: hi, From: left, To: f.Width - 10}.Zoomed(f.Camera.X)
	titles := [3]string{"share of outputs a bin", "ln(share on first / share on second), ± 95 % each", "part of each bin: " + d.kind.of}
	if f.Width < 520 {
		titles = [3]string{"share of outputs a bin", "ln(first / second share), ± 95 % each", "part of each bin, " + d.kind.id}
		if d.kind.id == "claim" {
			titles[2] = "part of each bin at the claim"
		}
	}

	at := top + head
	s.Plot = Rect{left, at, x.To - x.From, s.Height - foot - at}
	for k := range heights {
		box := Rect{left, at, x.To - x.From, heights[k]}
		clip := Rect{box.X - 1, box.Y - 4, box.W + 2, box.H + 8}
		uprights[k].From, uprights[k].To = box.Bottom(), box.Y
		for _, b := range d.bins {
			if in := b.inEvent(); in > 0 {
				r := Rect{x.At(b.From), box.Y, x.At(b.To) - x.At(b.From), box.H}
				s.rect(r, Ink(Region).At(max(0.35, in)), box)
				if k == 0 {
					s.hatch(r, Ink(Hatch).At(0.55*max(0.35, in)), box)
				}
			}
		}
		s.across(uprights[k], marks[k], box, words[k])
		s.label(0, box.Y-9, titles[k], Start, Muted)
		switch k {
		case 0:
			s.steps(d.bins, func(at, share float64) Point { return Point{x.At(at), uprights[k].At(share)} }, clip)
		case 1:
			d.ratios(s, x, uprights[k], box, clip)
		case 2:
			d.bars(s, x, uprights[k], parts, box)
		}
		at += heights[k] + gap
	}
	bottom := at - gap
	s.under(x, bottom, d.edges())
	s.label((x.From+x.To)/2, bottom+36, clipWords(s, d.chart.Axis, f.Width-20), Middle, Muted)
	for _, b := range d.bins {
		r := Rect{x.At(b.From), top + head, x.At(b.To) - x.At(b.From), bottom - top - head}
		s.Items = append(s.Items, Item{Box: r, Mark: intersect(r, s.Plot)})
	}
	return s
}

// edges are where the axis is one of values: between the boxes beyond.
func (d *Divergence) edges() Window {
	e := d.chart.Edges
	return Window{e[0], e[len(e)-1]}
}

func (d *Divergence) legend(s *Scene, y float64) float64 {
	items := []key{{words: "first dataset", paint: Ink(First), form: keyLine}, {words: "second dataset (dashed)", paint: Ink(Second), form: keyDash}}
	if d.outcomes() {
		items[0].form, items[1] = keyBox, key{words: "second dataset (hatched)", paint: Ink(Second), form: keyHatch}
	}
	for _, b := range d.bins {
		if b.inEvent() > 0 {
			items = append(items, key{words: "in the event", paint: Ink(Region), form: keyRegion})
			break
		}
	}
	if e, ok := epsilonOf(d.claim); ok {
		items = append(items, key{words: "claimed: ± ε = " + Short(e), paint: Ink(Text), form: keyDash})
	}
	return s.legend(items, y)
}

// steps are both outlines over bins, at the place of a value and a share.
func (s *Scene) steps(bins []Bin, place func(at, share float64) Point, clip Rect) {
	for side := range 2 {
		paint := Ink(First)
		if side == 1 {
			paint = Ink(Second)
		}
		var line []Point
		flush := func() {
			if side == 0 {
				s.add(Shape{Kind: Stroke, Points: line, Width: 2, Paint: paint, Clip: clip})
			} else {
				s.dash(line, 2, paint, clip)
			}
			line = nil
		}
		for i, b := range bins {
			p, q := b.Shares()
			if side == 1 {
				p = q
			}
			if len(line) > 0 && bins[i-1].To != b.From {
				line = append(line, place(bins[i-1].To, 0))
				flush()
			}
			if len(line) == 0 {
				line = append(line, place(b.From, 0))
			}
			line = append(line, place(b.From, p), place(b.To, p))
		}
		line = append(line, place(bins[len(bins)-1].To, 0))
		flush()
	}
}

// ratios are dots with their intervals; an arrow where one side was never seen.
func (d *Divergence) ratios(s *Scene, x, y Scale, box, clip Rect) {
	if e, ok := epsilonOf(d.claim); ok {
		for _, v := range []float64{e, -e} {
			s.dash([]Point{{box.X, y.At(v)}, {box.Right(), y.At(v)}}, 1.5, Ink(Text), box)
		}
	}
	for _, b := range d.bins {
		at := x.At((b.From + b.To) / 2)
		s.ratio(b, func(v float64) Point { return Point{at, y.At(math.Max(-y.Hi, math.Min(y.Hi, v)))} }, y.Hi, clip)
	}
}

// ratio draws the log ratio of a bin, at the place of a value; most is the end
// of the axis.
func (s *Scene) ratio(b Bin, place func(float64) Point, most float64, clip Rect) {
	r, spread := b.LogRatio(), b.Spread()
	paint := Ink(First)
	if r < 0 {
		paint = Ink(Second)
	}
	switch {
	case math.IsNaN(r):
	case math.IsInf(r, 0):
		end := math.Copysign(most, r)
		s.arrow(place(end*0.86), place(end*0.985), paint, clip)
	default:
		from, to := place(r-spread), place(r+spread)
		s.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: paint.At(0.75), Clip: clip})
		form := Disc
		if r < 0 {
			form = Square
		}
		s.add(Shape{Kind: Dots, Points: []Point{place(r)}, Radius: 3, Form: form, Paint: paint, Clip: clip})
	}
}

func (s *Scene) arrow(from, to Point, p Paint, clip Rect) {
	dx, dy := to.X-from.X, to.Y-from.Y
	n := hypot(dx, dy)
	if n == 0 {
		return
	}
	dx, dy = dx/n, dy/n
	s.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: p, Clip: clip})
	s.add(Shape{Kind: Fill, Points: []Point{{to.X - 7*dx + 4*dy, to.Y - 7*dy - 4*dx}, to, {to.X - 7*dx - 4*dy, to.Y - 7*dy + 4*dx}}, Paint: p, Clip: clip})
}

// bars are the parts; an arrow where a part is infinite.
func (d *Divergence) bars(s *Scene, x, y Scale, parts []float64, box Rect) {
	for i, b := range d.bins {
		x0, x1 := x.At(b.From), x.At(b.To)
		if x1-x0 > 4 {
			x0, x1 = x0+0.5, x1-0.5
		}
		switch v := parts[i]; {
		case math.IsInf(v, 1):
			s.arrow(Point{(x0 + x1) / 2, box.Bottom()}, Point{(x0 + x1) / 2, box.Y}, Ink(Event), box)
		case v != 0:
			from, to := y.At(max(0, v)), y.At(min(0, v))
			s.rect(Rect{x0, from, x1 - x0, to - from}, Ink(Event), box)
		}
	}
}
