package scene

import (
	"fmt"
	"math"
	"strings"
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
