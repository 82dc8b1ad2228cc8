package scene

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func plain(p Paint) [4]float32 { return [4]float32{1, 0, 0, float32(p.Alpha)} }

// area is that of all triangles, each weighted by its mean opacity.
func area(m *Mesh) float64 {
	sum := 0.0
	for i := 0; i < len(m.Indices); i += 3 {
		a, b, c := m.Vertices[m.Indices[i]], m.Vertices[m.Indices[i+1]], m.Vertices[m.Indices[i+2]]
		twice := float64((b.X-a.X)*(c.Y-a.Y) - (c.X-a.X)*(b.Y-a.Y))
		sum += math.Abs(twice) / 2 * float64(a.A+b.A+c.A) / 3
	}
	return sum
}

// A line's ink is its length times its width in device pixels, soft edges or
// not, thin or thick.
func TestLinesHaveTheirInk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := rapid.SampledFrom([]float64{1, 1.5, 2, 3}).Draw(t, "scale")
		at := rapid.Float64Range(-500, 500)
		a, b := Point{at.Draw(t, "ax"), at.Draw(t, "ay")}, Point{at.Draw(t, "bx"), at.Draw(t, "by")}
		if a.X == b.X || a.Y == b.Y || hypot(a.X-b.X, a.Y-b.Y) < 1 {
			t.Skip()
		}
		width := rapid.Float64Range(0.2, 6).Draw(t, "width")
		m := NewMesh(scale, plain)
		m.Add(Shape{Kind: Stroke, Points: []Point{a, b}, Width: width, Paint: Ink(Text)})
		want := hypot(a.X-b.X, a.Y-b.Y) * scale * width * scale
		if got := area(m); math.Abs(got-want) > 0.01*want+0.5 {
			t.Errorf("ink %v, want %v", got, want)
		}
	})
}

// A clipped polygon has the area of what is left, and lies in the box.
func TestClip(t *testing.T) {
	m := NewMesh(2, plain)
	m.Add(Shape{Kind: Fill, Points: corners(Rect{0, 0, 10, 10}), Clip: Rect{5, 2, 100, 3}, Paint: Ink(Text)})
	if got := area(m); got != 5*3*4 {
		t.Errorf("area %v, want 60", got)
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

// Marks cover about what their forms do, in the middle of an even square.
func TestStamp(t *testing.T) {
	const r = 20.0
	for form, want := range map[Form]float64{Disc: math.Pi * r * r, Square: 4 * 0.86 * 0.86 * r * r, Triangle: 1.75 * 1.75 * 0.56 * r * r, Diamond: 2 * 1.1 * 1.1 * r * r * (1 - 2*0.1*0.1/(1.1*1.1)), Ring: math.Pi * (r*r - (r-2)*(r-2))} {
		alpha, side := Stamp(form, r)
		if len(alpha) != side*side || side%2 != 0 || side < 2*r {
			t.Fatalf("form %d: %d pixels, side %d", form, len(alpha), side)
		}
		sum := 0.0
		for _, a := range alpha {
			sum += float64(a) / 255
		}
		if math.Abs(sum-want) > 0.04*want {
			t.Errorf("form %d covers %v, want %v", form, sum, want)
		}
	}
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
		marks := s.Marks(n)
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
	if log.At(1e-3) != 300 || math.Abs(log.Value(300)-1e-3) > 1e-12 || log.At(0) != 0 || len(log.Marks(6)) != 7 {
		t.Errorf("%v, %v, %v", log.At(1e-3), log.Value(300), log.Marks(6))
	}
	for in, want := range map[float64]string{0: "0", 1: "1", -0.5: "−0.5", 1234567: "1.23e6", 0.00001234: "1.23e−5", 12.3456: "12.35"} {
		if got := Short(in); got != want {
			t.Errorf("%v is %q, want %q", in, got, want)
		}
	}
	if Grouped(1234567) != "1\u202f234\u202f567" || Grouped(12) != "12" || Percent(0.1234) != "12.3\u00a0%" || PercentUp(0.980721) != "98.08\u00a0%" || PercentDown(0.98079) != "98.07\u00a0%" || PercentUp(0.0038) != "0.38\u00a0%" || Power(1e-5) != "10⁻⁵" || Power(0.5) != "0.5" {
		t.Error(Grouped(1234567), Percent(0.1234), Power(1e-5))
	}
}
