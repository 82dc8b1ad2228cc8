package scene

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/core/pair"
)

const (
	narrow   = 520.0 // px, below which a picture is of a phone
	smallInk = 12.5  // px
)

// inks of the two datasets, darker on what is lit.
func (t *tested) ink(role Role, lit bool) Paint {
	if lit {
		return Between(role, LitInk, 0.35)
	}
	return Ink(role)
}

func (v *outputs) draw(f Frame) *Scene {
	if v.outcomes {
		return v.discrete(f)
	}
	return v.real(f)
}

// text writes words of a size.
func (s *Scene) text(x, y, size float64, words string, align Align, role Role, bold bool) {
	l := s.label(x, y, words, align, role)
	l.Size, l.Bold = size, bold
}

// fit cuts words to a width at a size.
func (s *Scene) fit(words string, size, room float64) string {
	return clipWords(s, words, room*textSize/size)
}

// wideAt and wideBold are a text's width.
func (s *Scene) wideAt(words string, size float64) float64   { return s.measure(words, size) }
func (s *Scene) wideBold(words string, size float64) float64 { return 1.13 * s.measure(words, size) }

// back draws diagonal lines over a box the other way than [Scene.hatch].
func (s *Scene) back(r Rect, step float64, p Paint) {
	var points []Point
	// Lines x - y = c.
	for c := step * (math.Floor((r.X-r.Bottom())/step) + 1); c < r.Right()-r.Y; c += step {
		x0, x1 := max(r.X, c+r.Y), min(r.Right(), c+r.Bottom())
		if x1 > x0 {
			points = append(points, Point{x0, x0 - c}, Point{x1, x1 - c})
		}
	}
	s.add(Shape{Kind: Segments, Points: points, Width: 1, Paint: p})
}

// forbidden is a zone beyond the claim.
func (s *Scene) forbidden(r Rect) {
	if r.W > 0.5 && r.H > 0.5 {
		s.rect(r, Ink(Forbid), Rect{})
		s.hatch(r, Ink(Grid), Rect{})
	}
}

// hollow is the outline of a box.
func (s *Scene) hollow(r Rect, width float64, p Paint) {
	c := corners(r)
	s.add(Shape{Kind: Stroke, Points: append(c, c[0]), Width: width, Paint: p})
}

func (s *Scene) dot(form Form, x, y, r float64, p Paint) {
	s.add(Shape{Kind: Dots, Points: []Point{{x, y}}, Form: form, Radius: r, Paint: p})
}

// reach is the end of the axis of ratios: what all figures that are well known need.
func (v *outputs) reach() float64 {
	most := 2.1
	if v.corridor {
		most = max(most, 1.9*v.epsilon)
	}
	need := 0.0
	for _, m := range v.marks {
		if least := max(m.from, -m.to); least > 0 {
			need = max(need, min(math.Abs(m.ratio()), least+1)*1.12)
		}
	}
	if t := v.tested; t != nil {
		need = max(need, t.bound*1.15)
	}
	for _, step := range []float64{2.1, 2.6, 3.2, 4, 5, 6.5, 8} {
		if step >= need {
			return max(most, step)
		}
	}
	return max(most, 8)
}

// discrete draws a row for every outcome: shares on both datasets, then their ratio.
func (v *outputs) discrete(f Frame) *Scene {
	W := f.Width
	phone, lin := W < narrow, len(v.marks) <= 3
	F := choose(phone, smallInk, choose(W > 1000, 15.0, 13.5))
	s := f.scene(0)
	s.Keys = v.keys()
	head, foot := choose(phone, 40.0, 44), choose(phone, 28.0, 30)
	type row struct {
		mark
		event bool
	}
	var rows []row
	t := v.tested
	if v.apart() {
		m := t.mark
		m.words, m.short = "all with a bar", "all ▎"
		rows = append(rows, row{m, true})
	}
	for i, m := range v.marks {
		rows = append(rows, row{m, t != nil && len(t.rows) == 1 && t.rows[0] == i})
	}
	k := float64(len(rows))
	rh := math.Floor(min(choose(lin, 116.0, 60), max(choose(phone, 19.0, 21), (choose(phone, 300.0, 382)-head-foot)/k)))
	s.Height = head + foot + rh*k
	y0, bottom := head, head+rh*k

	size := choose(phone, 13.0, F+0.5)
	labels := 0.0
	for _, r := range rows {
		labels = max(labels, s.wideAt(choose(phone, r.short, r.words), size)*1.08)
	}
	caption := "The answer is"
	if v.firstOf != "" {
		caption = fmt.Sprintf("First “%s” comes at", v.firstOf)
		if phone {
			caption = "1st " + v.firstOf
		}
	} else if phone {
		caption = "Says"
	}
	labels = min(max(labels+16, s.wideAt(caption, F)*1.12+14), W*choose(phone, 0.28, 0.3))
	values, gap := choose(phone, 52.0, 96), choose(phone, 8.0, 34)
	avail := W - labels - values - gap
	least, most := 1.0, 0.0
	for _, r := range rows {
		for _, p := range []float64{share(r.first, r.n1), share(r.second, r.n0)} {
			if p > 0 {
				least, most = min(least, p), max(most, p)
			}
		}
	}
	R := v.reach()
	lo, hi := math.Log(min(least*0.8, 0.0045)), math.Log(max(0.75, most*1.15))
	unit := avail / (hi - lo + 2*R)
	width := unit * (hi - lo)
	if lin {
		unit = avail * 0.52 / (2 * R)
		width = avail * 0.48
	}
	sx := func(p float64) float64 {
		if lin {
			return labels + p*width*choose(phone, 0.58, 0.82)
		}
		return labels + (math.Log(p)-lo)*unit
	}
	left := labels + width + gap
	right := left + 2*R*unit
	rx := func(r float64) float64 { return left + (max(-R, min(R, r))+R)*unit }
	s.Plot = Rect{left, y0, right - left, bottom - y0}

	s.text(0, head-8, F, s.fit(caption, F, labels-6), Start, Muted, false)
	title, ratio := "Share of outputs"+choose(lin, "", " (log scale)"), "How much likelier on one dataset"
	begin := (left + right - s.wideBold(ratio, F)) / 2
	if phone || begin+s.wideBold(ratio, F) > W || labels+s.wideBold(title, F)+10 > begin {
		title, ratio = "Share", "Ratio"
	}
	s.text(labels, choose(phone, 14.0, 16), F, title, Start, Text, true)
	s.text((left+right)/2, choose(phone, 14.0, 16), F, ratio, Middle, Text, true)
	toA, toB := "← likelier on A", "likelier on B →"
	if phone || s.wideAt(toA+toB, smallInk)+10 > right-left {
		toA, toB = "← A", "B →"
	}
	s.text(left, head-8, smallInk, toA, Start, Muted, false)
	s.text(right, head-8, smallInk, toB, End, Muted, false)

	under, e := bottom+17, v.epsilon
	if v.corridor {
		s.forbidden(Rect{left, y0, rx(-e) - left, bottom - y0})
		s.forbidden(Rect{rx(e), y0, right - rx(e), bottom - y0})
	}
	// The grid of shares.
	free := labels - 20
	ticks := []float64{1e-5, 1e-4, 1e-3, 0.005, 0.02, 0.1, 0.5}
	if lin {
		ticks = []float64{0, 0.25, 0.5, 0.75, 1}
		if phone {
			ticks = []float64{0, 1}
		}
	}
	for _, p := range ticks {
		if !lin && (math.Log(p) < lo || phone && p == 0.02) {
			continue
		}
		words := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", 100*p), "0"), ".") + choose(phone, "%", "\u202f%")
		half, align := s.wideAt(words, smallInk)/2, Middle
		x := sx(p)
		from := x - half
		if lin && p == 0 {
			align, from = Start, x
		}
		if from < free {
			continue
		}
		s.line(x, y0, x, bottom, 1, Ink(Grid), Rect{})
		if from+2*half > left-4 {
			continue
		}
		s.text(x, under, smallInk, words, align, Muted, false)
		free = from + 2*half + 6
	}
	lit := func(r row) bool { return r.event && t.lit }
	for i, r := range rows { // rows that are lit lie under the lines of the corridor
		if y := y0 + float64(i)*rh; lit(r) {
			s.rect(Rect{0, y, W, rh}, Ink(Lit), Rect{})
			s.hollow(Rect{0.6, y, W - 1.2, rh}, 1.2, Ink(LitInk))
		} else if r.event {
			s.hollow(Rect{0.6, y, W - 1.2, rh}, 1.2, Ink(AxisLine))
		} else if i > 0 && !lit(rows[i-1]) {
			s.line(0, y, W, y, 1, Ink(Grid).At(0.6), Rect{})
		}
	}
	s.line(rx(0), y0, rx(0), bottom, 1, Ink(Muted), Rect{})
	if v.corridor {
		allowed := times(e) + "×"
		for _, r := range []float64{-e, e} {
			s.dash([]Point{{rx(r), y0 - 4}, {rx(r), bottom + 4}}, 1.6, Ink(Text), Rect{})
			for i := range rows {
				if y := y0 + float64(i)*rh; lit(rows[i]) {
					s.line(rx(r), y+1, rx(r), y+rh-1, 1.6, Ink(LitInk), Rect{})
				}
			}
		}
		half := s.wideAt(allowed, smallInk) * 0.55
		apart := rx(e) - rx(-e)
		if apart > 2*half+4 {
			s.text(rx(-e), under, smallInk, allowed, Middle, Text, true)
			s.text(rx(e), under, smallInk, allowed, Middle, Text, true)
		} else {
			s.text(rx(0), under, smallInk, allowed, Middle, Text, true)
		}
		if !phone && apart > 2*half+s.wideAt("equal", smallInk)+20 {
			s.text(rx(0), under, smallInk, "equal", Middle, Muted, false)
		}
		outer := e
		for _, far := range []float64{5, 10, 50, 200, 1000} {
			if r, w := math.Log(far), s.wideAt(Grouped(int(far))+"×", smallInk); !phone && rx(r) > rx(outer)+half+w/2+8 && rx(r)+w/2 < right {
				s.text(rx(r), under, smallInk, Grouped(int(far))+"×", Middle, Muted, false)
				s.text(rx(-r), under, smallInk, Grouped(int(far))+"×", Middle, Muted, false)
				outer = r
			}
		}
	} else {
		s.text(rx(0), under, smallInk, "equal", Middle, Muted, false)
		for _, far := range []float64{5, 50} {
			if r := math.Log(far); r < R {
				s.text(rx(r), under, smallInk, Grouped(int(far))+"×", Middle, Muted, false)
				s.text(rx(-r), under, smallInk, Grouped(int(far))+"×", Middle, Muted, false)
			}
		}
	}

	for i, r := range rows {
		y := y0 + (float64(i)+0.5)*rh
		v.row(s, r.mark, r.event, Rect{0, y - rh/2, W, rh}, F, lin, sx, rx, R, labels)
	}
	// Items in the order of the marks, the event after them where it is apart.
	for i := range rows {
		r := Rect{0, y0 + float64(i)*rh, W, rh}
		s.Items = append(s.Items, Item{Box: r, Mark: r})
	}
	if v.apart() {
		s.Items = append(s.Items[1:], s.Items[0])
	}
	return s
}

// row draws an outcome.
func (v *outputs) row(s *Scene, m mark, event bool, box Rect, F float64, lin bool, sx, rx func(float64) float64, R, labels float64) {
	phone, y, W, t := box.W < narrow, box.Y+box.H/2, box.W, v.tested
	lit := event && t.lit
	role, paint := choose(lit, LitInk, Text), Ink(choose(lit, LitInk, Text))
	size := choose(phone, 13.0, F+0.5)
	if m.in > 0 && v.apart() && !event {
		s.rect(Rect{0, box.Y + 2, 3, box.H - 4}, Ink(Text), Rect{})
	}
	s.text(choose(lit, 8.0, 7), y+5, size, s.fit(choose(phone, m.short, m.words), size, labels-9), Start, role, lit)
	a, b := share(m.first, m.n1), share(m.second, m.n0)
	first, second := t.ink(First, lit), t.ink(Second, lit)
	if lin {
		h := min(34, box.H*0.29)
		s.rect(Rect{sx(0), y - h - 2, sx(a) - sx(0), h}, first, Rect{})
		r := Rect{sx(0) + 1, y + 3, max(0.5, sx(b)-sx(0)-2), h - 2}
		s.back(r, 5, second.At(0.5))
		s.hollow(r, 2, second)
		s.text(sx(a)+6, y-h/2+3, F, "A "+percentWords(a, phone), Start, role, false)
		s.text(sx(b)+6, y+h/2+6, F, "B "+percentWords(b, phone), Start, role, false)
	} else {
		if a > 0 && b > 0 {
			s.line(sx(a), y, sx(b), y, choose(lit, 3.0, 2), Ink(choose(lit, LitInk, Muted)), Rect{})
		}
		q := choose(phone, 4.2, 5.5)
		if a > 0 {
			s.dot(Disc, sx(a), y, q, first)
		}
		if b > 0 {
			s.hollow(Rect{sx(b) - q, y - q, 2 * q, 2 * q}, 2.4, second)
		}
	}
	if m.few() {
		s.text(W-2, y+5, smallInk, choose(phone, "few", "too few"), End, choose(lit, LitInk, Muted), false)
		return
	}
	e, middle := v.epsilon, m.ratio()
	certified := event && t.certain && t.bound > 0
	x1, x2 := rx(m.from), rx(m.to)
	thick := choose(certified, 4.0, 2)
	if certified {
		x1, x2 = rx(middle), rx(t.sign*t.bound)
		if x1 > x2 {
			x1, x2 = x2, x1
		}
	}
	s.line(x1, y, x2, y, thick, paint, Rect{})
	whisker := func(x, h, width float64) { s.line(x, y-h, x, y+h, width, paint, Rect{}) }
	if certified {
		at := rx(t.sign * t.bound)
		whisker(at, min(9, box.H*0.4), 3)
		if lit {
			s.line(rx(t.sign*e), y, at, y, 2, paint, Rect{})
		}
	} else {
		if m.from > -R {
			whisker(x1, 4, 2)
		}
		if m.to < R {
			whisker(x2, 4, 2)
		}
	}
	switch r := choose(phone, 3.0, 4); {
	case math.Abs(middle) > R-0.02:
		k := math.Copysign(1, middle)
		x := rx(middle)
		s.add(Shape{Kind: Fill, Points: []Point{{x - 9*k, y - 5}, {x, y}, {x - 9*k, y + 5}}, Paint: paint})
	case lit:
		s.dot(Diamond, rx(middle), y, choose(phone, 6.0, 8), paint)
	case v.out(m):
		s.dot(Diamond, rx(middle), y, r+1.5, paint)
	default:
		s.dot(Disc, rx(middle), y, r, paint)
	}
	if certified && !phone {
		words := "at least " + timesTo(t.bound, false) + "×"
		wide := s.wideBold(words, F)
		near := rx(t.sign * t.bound)
		if lit {
			near = rx(t.sign * e)
		}
		x := near - t.sign*10 // towards what is equal
		if t.sign > 0 {
			x -= wide
		}
		x = max(rx(-R)+4, min(x, rx(R)-4-wide))
		if lit { // over the line of what is equal
			s.rect(Rect{x - 2, y - box.H/2 + 2, wide + 2, box.H - 4}, Ink(Lit), Rect{})
		} else {
			s.rect(Rect{x - 2, y - min(9, box.H/2-2), wide + 2, min(18, box.H-4)}, Ink(Panel), Rect{})
		}
		s.text(choose(t.sign > 0, x+wide, x), y+5, F, words, choose(t.sign > 0, End, Start), role, true)
	}
	words := "equal"
	if r := m.seen(); math.IsInf(r, 1) {
		words = "only B"
	} else if math.IsInf(r, -1) {
		words = "only A"
	} else if math.Abs(r) >= math.Log(1.045) {
		likelier, _ := likelierOn(r)
		words = likelier + choose(phone, "", " ") + times(math.Abs(r)) + "×"
	}
	s.text(W-choose(lit, 6.0, 4), y+5, choose(phone, smallInk, F), words, End, choose(lit, LitInk, Muted), lit)
}

func percentWords(p float64, tight bool) string {
	words := Percent(round(p, choose(p >= 0.0995, 2, 2)))
	return strings.Replace(words, "\u00a0", choose(tight, "", "\u202f"), 1)
}

// keys are what is drawn, in words.
func (v *outputs) keys() []string {
	keys := []string{"dataset A, blue and solid", "dataset B, orange and dashed or hollow"}
	if v.corridor {
		keys = append(keys, "the claim, "+v.claimWords()+", dashed lines")
	}
	if t := v.tested; t != nil {
		keys = append(keys, choose(t.lit, "the event that refutes the claim, lit: ", choose(t.sofar, "what tells most so far: ", "the event tested: "))+t.words)
	}
	return keys
}

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
	if v.chart.Kind == pair.ScoreChart {
		name, rest = "score of the output", " (left: looks like B, right: looks like A)"
	} else if !phone {
		name += " that came out"
	}
	if phone {
		rest = choose(v.stretch, " (stretched in the middle)", "")
		if v.chart.Kind == pair.ScoreChart {
			rest = " (left: like B, right: like A)"
		}
	}
	s.text(left+w/2, s.Height-3, smallInk, s.fit(name+rest, smallInk, s.Width-10), Middle, Text, false)
}
