package plot

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A clipped polygon has the area of what is left, and lies in the box.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		of   Shape
		want float64
	}{
		{Shape{Kind: Fill, Points: corners(Rect{0, 0, 10, 10}), Clip: Rect{5, 2, 100, 3}}, 5 * 3},
		{Shape{Kind: Fill, Points: corners(Rect{0, 0, 10, 10})}, 100},
		{Shape{Kind: Fill, Points: corners(Rect{0, 0, 10, 10}), Clip: Rect{20, 2, 100, 3}}, 0},
		{Shape{Kind: Strip, Points: []Point{{0, 0}, {0, 10}, {6, 0}, {6, 10}, {10, 4}, {10, 10}}}, 60 + 32},
		{Shape{Kind: Strip, Points: []Point{{0, 0}, {0, 10}, {6, 0}, {6, 10}, {10, 4}, {10, 10}}, Clip: Rect{3, 5, 100, 100}}, 7 * 5},
	} {
		sum := 0.0
		for _, area := range c.of.Areas() {
			twice := 0.0
			for i, b := range area {
				a := area[(i+len(area)-1)%len(area)]
				twice += a.X*b.Y - b.X*a.Y
			}
			sum += math.Abs(twice) / 2
		}
		if math.Abs(sum-c.want) > 1e-9 {
			t.Errorf("%+v has the area %v, want %v", c.of, sum, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(-20, 20)
		box := Rect{at.Draw(t, "x"), at.Draw(t, "y"), 7, 9}
		a, b := Point{at.Draw(t, "ax"), at.Draw(t, "ay")}, Point{at.Draw(t, "bx"), at.Draw(t, "by")}
		from, to, in := clipSegment(a, b, box)
		inside := 0
		for k := range 1001 { // the slow way
			f := float64(k) / 1000
			p := Point{a.X + f*(b.X-a.X), a.Y + f*(b.Y-a.Y)}
			if p.X >= box.X && p.X <= box.Right() && p.Y >= box.Y && p.Y <= box.Bottom() {
				inside++
			}
		}
		length := 0.0
		if in {
			length = hypot(to.X-from.X, to.Y-from.Y)
		}
		if want := float64(inside) / 1001 * hypot(b.X-a.X, b.Y-a.Y); math.Abs(length-want) > 0.003*hypot(b.X-a.X, b.Y-a.Y) {
			t.Errorf("%v to %v in %v: %v long, want %v", a, b, box, length, want)
		}
	})
}

// Scales go there and back; ticks are round, inside, and about as many as asked.
func TestScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		span := rapid.Float64Range(1e-3, 1e6).Draw(t, "span")
		s := Scale{Lo: lo, Hi: lo + span, From: 30, To: 500}
		v := lo + span*rapid.Float64Range(0, 1).Draw(t, "at")
		if back := s.Value(s.At(v)); math.Abs(back-v) > 1e-9*(span+math.Abs(lo)) {
			t.Errorf("%v comes back as %v", v, back)
		}
		n := rapid.IntRange(2, 12).Draw(t, "n")
		marks := s.marks(n)
		if len(marks) > n+1 || len(marks) < n/3 {
			t.Errorf("%d marks in [%v, %v], asked for %d", len(marks), s.Lo, s.Hi, n)
		}
		for _, m := range marks {
			if m < s.Lo-1e-6*span || m > s.Hi+1e-6*span {
				t.Errorf("mark %v outside of [%v, %v]", m, s.Lo, s.Hi)
			}
		}
	})
	log := Scale{Lo: 1e-6, Hi: 1, From: 0, To: 600, Log: true}
	if log.At(1e-3) != 300 || math.Abs(log.Value(300)-1e-3) > 1e-12 || log.At(0) != 0 || len(log.marks(6)) != 7 {
		t.Errorf("%v, %v, %v", log.At(1e-3), log.Value(300), log.marks(6))
	}
	for in, want := range map[float64]string{0: "0", 1: "1", -0.5: "−0.5", 1234567: "1.23e6", 0.00001234: "1.23e−5", 12.3456: "12.35"} {
		if got := Short(in); got != want {
			t.Errorf("%v is %q, want %q", in, got, want)
		}
	}
	if Grouped(1234567) != "1\u202f234\u202f567" || Grouped(12) != "12" || Percent(0.1234) != "12.3\u00a0%" || PercentTo(0.980721, math.Ceil) != "98.08\u00a0%" || PercentTo(0.98079, math.Floor) != "98.07\u00a0%" || PercentTo(0.0038, math.Ceil) != "0.38\u00a0%" || Power(1e-5) != "10⁻⁵" || Power(0.5) != "0.5" {
		t.Error(Grouped(1234567), Percent(0.1234), Power(1e-5))
	}
}
