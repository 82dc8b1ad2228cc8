package scene

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/core/pair/chart"
)

// real draws outlines of both distributions over one axis, and the ratio under them.
func (v *outputs) real(f Frame) *Scene {
	W := f.Width
	phone := W < narrow
	F := choose(phone, smallInk, choose(W > 1000, 15.0, 13.5))
	s := f.scene(choose(phone, 286.0, 382))
	s.Keys = v.keys()
	left, room := choose(phone, 58.0, 76), choose(phone, 6.0, 18)
	w, K := W-left-room, float64(len(v.marks))
	const evTop = 26.0
	axis := choose(phone, 34.0, 40)
	t0 := evTop + 4
	h1 := (s.Height - t0 - axis - 14) * choose(phone, 0.42, 0.46)
	t1 := t0 + h1
	b0, b1 := t1+14, s.Height-axis
	h2 := b1 - b0
	s.Plot = Rect{left, t0, w, b1 - t0}
	px := func(bin float64) float64 { return left + w*bin/K }
	top := 0.0
	for _, m := range v.marks {
		top = max(top, share(m.first, m.n1), share(m.second, m.n0))
	}
	sy := func(p float64) float64 { return t1 - p/(top*1.12)*h1 }
	e, R := v.epsilon, v.reach()
	ry := func(r float64) float64 { return b0 + (R-max(-R, min(R, r)))/(2*R)*h2 }
	if v.corridor {
		s.forbidden(Rect{left, b0, w, ry(e) - b0})
		s.forbidden(Rect{left, ry(-e), w, b1 - ry(-e)})
	}

	// The event.
	t := v.tested
	lit := t != nil && t.lit
	if t != nil {
		for _, x := range t.spans {
			x1, x2 := px(x.Lo), px(x.Hi)
			if x2-x1 < 3 {
				x1, x2 = (x1+x2)/2-1.5, (x1+x2)/2+1.5
			}
			if lit {
				s.rect(Rect{x1, evTop - 1, x2 - x1, b1 - evTop + 1}, Ink(Lit).At(0.32), Rect{})
			} else {
				s.rect(Rect{x1, evTop - 1, x2 - x1, t1 - evTop + 1}, Ink(Grid).At(0.35), Rect{})
				for _, at := range []float64{x1, x2} {
					if at > left+1 && at < left+w-1 {
						s.dash([]Point{{at, t1}, {at, b1}}, 1, Ink(Muted), Rect{})
					}
				}
			}
			s.add(Shape{Kind: Stroke, Points: []Point{{x1 + 1, evTop + 5}, {x1 + 1, evTop - 1}, {x2 - 1, evTop - 1}, {x2 - 1, evTop + 5}}, Width: choose(lit, 3.0, 1.6), Paint: Ink(Text)})
		}
		words := strings.TrimPrefix(t.words, "the ")
		words = strings.Replace(words, " is ", " ", 1)
		if !phone {
			words = choose(lit, "event: ", choose(t.sofar, "tells most so far: ", "event tested: ")) + words
		}
		words = s.fit(words, F, W*0.86)
		at, wide := left, s.wideBold(words, F)
		if len(t.spans) > 0 {
			at = max(left, px(t.spans[0].Lo))
		}
		// Letters may be wider than is reckoned: what reaches the end is set from there.
		if at+2+wide > W-2 {
			s.text(W-2, 17, F, words, End, Text, true)
		} else {
			s.text(at+2, 17, F, words, Start, Text, true)
		}
	}

	// Both distributions.
	outline := func(of func(mark) float64) []Point {
		points := []Point{{px(0), t1}}
		for i, m := range v.marks {
			y := sy(of(m))
			points = append(points, Point{px(float64(i)), y}, Point{px(float64(i + 1)), y})
		}
		return append(points, Point{px(K), t1})
	}
	shareA := func(m mark) float64 { return share(m.first, m.n1) }
	shareB := func(m mark) float64 { return share(m.second, m.n0) }
	var under []Point
	for _, p := range outline(shareA) {
		under = append(under, p, Point{p.X, t1})
	}
	s.add(Shape{Kind: Strip, Points: under, Paint: Ink(First).At(0.16)})
	for i, m := range v.marks {
		x, y := px(float64(i)), sy(shareB(m))
		s.back(Rect{x, y, px(float64(i+1)) - x, t1 - y}, 5, Ink(Second).At(0.45))
	}
	s.add(Shape{Kind: Stroke, Points: outline(shareA), Width: 2.2, Paint: Ink(First)})
	s.dash(outline(shareB), 2.2, Ink(Second), Rect{})
	s.line(left, t1, left+w, t1, 1, Ink(Muted), Rect{})
	v.named(s, F, px, sy)
	s.text(left-8, t1, smallInk, choose(phone, "0%", "0\u202f%"), End, Muted, false)
	s.text(left-8, sy(top)+4, smallInk, percentWords(top, phone), End, Muted, false)
	if !phone {
		s.text(left-8, (t1+sy(top))/2+4, smallInk, "share", End, Muted, false)
	}

	// The axis of ratios.
	s.line(left, ry(0), left+w, ry(0), 1, Ink(Muted), Rect{})
	var taken []float64
	tick := func(r float64, words string, bold bool) {
		y := ry(r)
		if slices.ContainsFunc(taken, func(at float64) bool { return math.Abs(at-y) < 15 }) || math.Abs(r) > R-0.05 {
			return
		}
		taken = append(taken, y)
		s.text(left-8, y+4.5, smallInk, words, End, choose(bold, Text, Muted), bold)
	}
	if v.corridor {
		for _, r := range []float64{e, -e} {
			s.dash([]Point{{left - 4, ry(r)}, {left + w, ry(r)}}, 1.6, Ink(Text), Rect{})
		}
		tick(e, "B "+times(e)+"×", true)
		tick(-e, "A "+times(e)+"×", true)
	}
	tick(0, "equal", false)
	for _, far := range []float64{2, 5, 20, 10, 100, 50, 1000} {
		r := math.Log(far)
		tick(r, "B "+Grouped(int(far))+"×", false)
		tick(-r, "A "+Grouped(int(far))+"×", false)
	}

	// Bars and marks.
	var centres []Point
	for i, m := range v.marks {
		x := px(float64(i) + 0.5)
		r := Rect{px(float64(i)), t0, w / K, b1 - t0}
		s.Items = append(s.Items, Item{Box: r, Mark: r})
		if m.few() {
			continue
		}
		out, middle := v.out(m), m.ratio()
		s.line(x, ry(m.from), x, ry(m.to), choose(out, 3.0, 1.8), Ink(Text).At(choose(out, 1.0, 0.7)), Rect{})
		centres = append(centres, Point{x, ry(middle)})
		switch {
		case math.Abs(middle) > R-0.02:
			y, k := b0+1, 1.0
			if middle < 0 {
				y, k = b1-1, -1
			}
			p := []Point{{x - 5, y + 9*k}, {x, y}, {x + 5, y + 9*k}}
			s.add(Shape{Kind: Fill, Points: p, Paint: Ink(choose(out, Text, Panel))})
			s.add(Shape{Kind: Stroke, Points: append(p, p[0]), Width: 1.6, Paint: Ink(Text)})
		case out:
			s.dot(Diamond, x, ry(middle), choose(phone, 4.0, 6), Ink(Panel))
			s.dot(Diamond, x, ry(middle), choose(phone, 3.4, 5), Ink(Text))
		default:
			q := choose(phone, 2.6, 3.6)
			s.dot(Disc, x, ry(middle), q, Ink(Panel))
			s.dot(Ring, x, ry(middle), q+0.6, Ink(Text))
		}
	}
	var zone Rect
	if v.corridor && !phone && ry(e)-b0 > 24 {
		words := fmt.Sprintf("more than ε = %s allows", Short(e))
		wide := s.wideAt(words, smallInk) + 12
		zone = emptiest(centres, Rect{left + w*0.2, b0 + 4, wide, 20}, Rect{left + w - wide - 6, b0 + 4, wide, 20}, Rect{left + 6, b0 + 4, wide, 20}, Rect{left + w*0.2, b1 - 24, wide, 20}, Rect{left + w - wide - 6, b1 - 24, wide, 20})
		s.rect(zone, Ink(Panel).At(0.9), Rect{})
		s.text(zone.X+6, zone.Y+14.5, smallInk, words, Start, Muted, false)
	}
	v.certificate(s, F, px, ry, Rect{left, b0, w, h2}, centres, zone)
	v.values(s, px, left, w, b1, phone)
	if v.apart() {
		s.Items = append(s.Items, Item{Box: Rect{left, 3, w, evTop}, Mark: Rect{left, 3, w, evTop}})
	}
	return s
}

// named writes A and B beside their outlines, each on its outer side.
func (v *outputs) named(s *Scene, F float64, px, sy func(float64) float64) {
	peak := func(of func(mark) float64) (at int, most float64) {
		for i, m := range v.marks {
			if p := of(m); p > most {
				at, most = i, p
			}
		}
		return at, most
	}
	shareA := func(m mark) float64 { return share(m.first, m.n1) }
	shareB := func(m mark) float64 { return share(m.second, m.n0) }
	a, mostA := peak(shareA)
	b, mostB := peak(shareB)
	write := func(of func(mark) float64, at int, most float64, step int, words string, role Role) {
		j, last := at, len(v.marks)-1
		walk := func() {
			for j = at; j >= 0 && j <= last && of(v.marks[j]) > 0.62*most; j += step {
			}
		}
		if walk(); j < 1 || j > last-1 { // no room on this side
			step = -step
			walk()
		}
		j = max(0, min(last, j))
		x, align := px(float64(j))+7, Start
		if step < 0 {
			x, align = px(float64(j+1))-7, End
		}
		if x < px(0)+14 {
			x, align = px(0)+7, Start
		}
		if end := px(float64(len(v.marks))); x > end-14 {
			x, align = end-7, End
		}
		s.text(x, sy(most)+14, F, words, align, role, true)
	}
	side := choose(a < b, -1, 1)
	write(shareA, a, mostA, side, "A", First)
	write(shareB, b, mostB, -side, "B", Second)
}

// emptiest is the box of several with the fewest points in it.
func emptiest(points []Point, boxes ...Rect) Rect {
	best, least := boxes[0], len(points)+1
	for _, b := range boxes {
		n := 0
		for _, p := range points {
			if around(b, 5).Has(p) {
				n++
			}
		}
		if n < least {
			best, least = b, n
		}
	}
	return best
}

// certificate draws the event's bound over its extent, with its words.
func (v *outputs) certificate(s *Scene, F float64, px, ry func(float64) float64, box Rect, centres []Point, zone Rect) {
	t := v.tested
	if t == nil || !t.certain || !(t.bound > 0) || len(t.spans) == 0 {
		return
	}
	phone := s.Width < narrow
	y := ry(t.sign * t.bound)
	for _, x := range t.spans {
		x1, x2 := px(x.Lo)+1, px(x.Hi)-1
		if x2-x1 < 4 {
			x1, x2 = (x1+x2)/2-4, (x1+x2)/2+4
		}
		s.line(x1, y, x2, y, choose(t.lit, 5.0, 3.2), Ink(Text), Rect{})
	}
	if t.bound < 0.1 {
		return
	}
	likelier, _ := likelierOn(t.sign)
	words := fmt.Sprintf("whole event: %s at least %s×", likelier, timesTo(t.bound, false))
	if phone {
		words = "≥ " + timesTo(t.bound, false) + "×"
	}
	size := choose(phone, smallInk, F)
	wide := s.wideBold(words, size) + 14
	end, begin := px(t.spans[len(t.spans)-1].Hi), px(t.spans[0].Lo)
	var places []Rect
	for _, dy := range []float64{-11, 20, -42, 50, -72} {
		at := y + dy
		if at < box.Y+3 || at > box.Bottom()-25 {
			at = max(box.Y+3, min(box.Bottom()-25, at))
		}
		for _, lead := range []float64{28, 70, 130} {
			for _, x := range []float64{end + lead, begin - lead - wide, px(t.spans[0].Hi) + lead} {
				if r := (Rect{x, at, wide, 22}); x >= box.X+2 && r.Right() <= box.Right()-2 && (zone.W == 0 || intersect(r, around(zone, 12)).H == 0 || intersect(r, around(zone, 12)).W == 0) {
					places = append(places, r)
				}
			}
		}
	}
	if len(places) == 0 {
		at := box.Y + 3
		if zone.Y < box.Y+box.H/2 {
			at = box.Bottom() - 25
		}
		places = []Rect{{min(max(box.X+2, (begin+end)/2-wide/2), box.Right()-wide-2), at, wide, 22}}
	}
	r := emptiest(centres, places...)
	from := end
	tip := r.X
	switch {
	case r.Right() <= begin:
		from, tip = begin, r.Right()
	case r.X >= px(t.spans[0].Hi) && r.X < end:
		from = px(t.spans[0].Hi)
	case r.X < end:
		from, tip = (begin+end)/2, r.X+r.W/2
	}
	s.line(from, y, tip, r.Y+11, 1.4, Ink(Text), Rect{})
	s.rect(r, Ink(choose(t.lit, Lit, Panel)), Rect{})
	s.hollow(r, 1.3, Ink(choose(t.lit, LitInk, Text)))
	s.text(r.X+7, r.Y+15.8, size, words, Start, choose(t.lit, LitInk, Text), true)
}

// values writes the level axis and what it is of.
func (v *outputs) values(s *Scene, px func(float64) float64, left, w, b1 float64, phone bool) {
	edges := v.chart.Edges
	var at []float64
	if !v.stretch {
		at = ticks(edges[0], edges[len(edges)-1], int(max(2, w/choose(phone, 60.0, 90))))
	} else {
		for _, x := range []float64{0, 1, 10, 100, 1e3, 1e6, 1e9, 1e12, 1e4, 1e15, 1e5, 1e7, 1e8, 5, 0.1, 0.01, 1e-3, 1e20, 1e30, 1e40} {
			at = append(at, x, -x)
		}
	}
	type span struct{ from, to float64 }
	var taken []span
	for _, x := range at {
		if x < edges[0] || x > edges[len(edges)-1] || math.Signbit(x) && x == 0 {
			continue
		}
		words, p := Short(x), px(v.bin(x))
		if math.Abs(x) >= 1e4 || x != 0 && math.Abs(x) < 1e-3 {
			words = choose(x < 0, "−", "") + Power(math.Abs(x))
		}
		half := s.wideAt(words, smallInk)/2 + 5
		if p-half < left-14 || p+half > s.Width+4 || slices.ContainsFunc(taken, func(o span) bool { return p-half < o.to && p+half > o.from }) {
			continue
		}
		taken = append(taken, span{p - half, p + half})
		s.line(p, b1, p, b1+5, 1, Ink(Muted), Rect{})
		s.text(p, b1+18, smallInk, words, Middle, Muted, false)
	}
	name := "the " + v.chart.AxisWords()
	rest := " (end bins hold everything beyond)"
	if v.stretch {
		rest = " (axis stretched in the middle; end bins hold everything beyond)"
	}
	if v.chart.Kind == chart.Score {
		name, rest = "score of the output", " (left: looks like B, right: looks like A)"
	} else if !phone {
		name += " that came out"
	}
	if phone {
		rest = choose(v.stretch, " (stretched in the middle)", "")
		if v.chart.Kind == chart.Score {
			rest = " (left: like B, right: like A)"
		}
	}
	s.text(left+w/2, s.Height-3, smallInk, s.fit(name+rest, smallInk, s.Width-10), Middle, Text, false)
}
