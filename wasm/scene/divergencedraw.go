package scene

import (
	"cmp"
	"math"
	"slices"
)

func (d *divergence) draw(f Frame) *Scene {
	switch {
	case d.flat:
		return d.plane.layout(f, d.claim)
	case d.outcomes():
		return d.rows(f)
	}
	return d.panels(f)
}

// scales are those of shares, log ratios and parts.
func (d *divergence) scales(parts []float64) [3]Scale {
	mostShare, mostPart, leastPart := 0.0, 0.0, 0.0
	for i, b := range d.bins {
		p, q := b.Shares()
		mostShare = max(mostShare, p, q)
		if !math.IsInf(parts[i], 0) {
			mostPart, leastPart = max(mostPart, parts[i]), min(leastPart, parts[i])
		}
	}
	mostPart = cmp.Or(mostPart, 0.01)
	ratio := d.mostRatio()
	return [3]Scale{{Lo: 0, Hi: mostShare * 1.06}, {Lo: -ratio, Hi: ratio}, {Lo: leastPart * 1.1, Hi: mostPart * 1.1}}
}

// mostRatio is the end of the axis of log ratios: beyond the ratios that are
// known well enough, and the claim.
func (d *divergence) mostRatio() float64 {
	most := 0.5
	if e, ok := epsilonOf(d.claim); ok {
		most = max(most, 1.15*e)
	}
	for _, b := range d.bins {
		if r, s := b.LogRatio(), b.Spread(); !math.IsNaN(s) {
			most = max(most, math.Abs(r)+min(s, 1))
		}
	}
	return most * 1.08
}

// panels are the histogram's three pictures over one axis: shares, log ratios,
// parts of the divergence.
func (d *divergence) panels(f Frame) *Scene {
	heights := []float64{190, 140, 110}
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
				s.rect(r, Ink(EventArea).At(max(0.35, in)), box)
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
	if e := d.chart.Edges; uneven(e) {
		s.line(x.From, bottom, x.To, bottom, 1, Ink(AxisLine), Rect{})
		var at []float64
		for k := range e {
			at = append(at, float64(k))
		}
		s.ticksUnder(x, at, bottom, func(k float64) string { return Short(round(e[int(k)], 2)) }, x.From-10, x.To+10)
	} else {
		s.under(x, bottom, d.edges())
	}
	s.label((x.From+x.To)/2, bottom+36, clipWords(s, d.chart.AxisWords(), f.Width-20), Middle, Muted)
	for _, b := range d.bins {
		r := Rect{x.At(b.From), top + head, x.At(b.To) - x.At(b.From), bottom - top - head}
		s.Items = append(s.Items, Item{Box: r, Mark: intersect(r, s.Plot)})
	}
	return s
}

// edges are where the axis is one of values: between the boxes beyond.
func (d *divergence) edges() Window {
	e := d.chart.Edges
	return Window{e[0], e[len(e)-1]}
}

func (d *divergence) legend(s *Scene, y float64) float64 {
	items := []key{{words: "first dataset", paint: Ink(First), form: keyLine}, {words: "second dataset (dashed)", paint: Ink(Second), form: keyDash}}
	if d.outcomes() {
		items[0].form, items[1] = keyBox, key{words: "second dataset (hatched)", paint: Ink(Second), form: keyHatch}
	}
	if slices.ContainsFunc(d.bins, func(b Bin) bool { return b.inEvent() > 0 }) {
		items = append(items, key{words: "in the event", paint: Ink(EventArea), form: keyRegion})
	}
	if e, ok := epsilonOf(d.claim); ok {
		items = append(items, key{words: "claimed: ± ε = " + Short(e), paint: Ink(Text), form: keyDash})
	}
	return s.legend(items, y)
}

// steps are both outlines over bins, at the place of a value and a share.
func (s *Scene) steps(bins []Bin, place func(at, share float64) Point, clip Rect) {
	for side := range 2 {
		paint, _ := sideMark(side)
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
func (d *divergence) ratios(s *Scene, x, y Scale, box, clip Rect) {
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
	paint := choose(r < 0, Ink(Second), Ink(First))
	switch {
	case math.IsNaN(r):
	case math.IsInf(r, 0):
		end := math.Copysign(most, r)
		s.arrow(place(end*0.86), place(end*0.985), paint, clip)
	default:
		from, to := place(r-spread), place(r+spread)
		s.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: paint.At(0.75), Clip: clip})
		form := choose(r < 0, Square, Disc)
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
func (d *divergence) bars(s *Scene, x, y Scale, parts []float64, box Rect) {
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

const rowPitch = 30

// rows are the outcomes' pictures: shares, log ratio and part, beside one
// another.
func (d *divergence) rows(f Frame) *Scene {
	s := f.scene(0)
	narrow := f.Width < 560
	top := d.legend(s, 4) + 24
	pitch := float64(rowPitch)
	if narrow {
		pitch += 16
	}
	n := float64(len(d.bins))
	height := min(pitch*n, 600)
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
	gaps := choose(narrow, 14, 26.0)
	shares := []float64{0.36, 0.38, 0.26}
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
			s.rect(Rect{0, y + 1, f.Width, pitch - 2}, Ink(EventArea), s.Plot)
		}
	}
	for k := range columns {
		x[k].From, x[k].To = columns[k].X, columns[k].Right()
		s.label(columns[k].X, top-8, titles[k], Start, Muted)
		marks := x[k].Marks(int(max(2, columns[k].W/46)))
		if e, ok := epsilonOf(d.claim); ok && k == 1 && len(marks) < 3 {
			marks = []float64{-e, 0, e}
		}
		for _, v := range marks {
			s.line(x[k].At(v), top, x[k].At(v), top+height, 1, atZero(v), Rect{})
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

func (d *divergence) row(s *Scene, b Bin, part, y, pitch float64, narrow bool, left float64, x [3]Scale) {
	clip := s.Plot
	middle := choose(narrow, y+8+pitch/2, y+pitch/2)
	bar := min(9, pitch/2-3)
	p, q := b.Shares()
	s.rect(Rect{x[0].At(0), middle - bar - 0.5, x[0].At(p) - x[0].At(0), bar}, Ink(First), clip)
	second := Rect{x[0].At(0), middle + 0.5, x[0].At(q) - x[0].At(0), bar}
	s.rect(second, Ink(Second), clip)
	s.hatch(second, Ink(Panel).At(0.75), intersect(second, clip))
	s.ratio(b, func(v float64) Point {
		return Point{x[1].At(math.Max(-x[1].Hi, math.Min(x[1].Hi, v))), middle}
	}, x[1].Hi, clip)
	switch {
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
