package plot

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Paint is a colour: a role's, or part of the way from it to another's, at an opacity in (0, 1]. That
// of a mark is by default of text.
type Paint struct {
	Role, To int     // in the order in which the document's script sends their colours
	Mix      float64 // in [0, 1], the share of To
	Alpha    float64
}

// roles are the custom properties of the page's styles that have their colours.
var roles []string

func role(name string) Paint {
	roles = append(roles, name)
	return Paint{Role: len(roles) - 1, To: len(roles) - 1, Alpha: 1}
}

var (
	Panel     = role("panel") // background
	Text      = role("text")
	Muted     = role("muted")
	Grid      = role("line")
	AxisLine  = role("field-line")
	First     = role("first")
	Second    = role("second")
	EventArea = role("region")
	Hatch     = role("hatch")
	Event     = role("event")
	Bad       = role("bad")
	Calm      = role("calm")
	Accent    = role("accent")
	Lit       = role("lit")     // what is proven, and nothing else
	LitInk    = role("lit-ink") // on it
	_         = role("lit-soft")
	Forbid    = role("forbid") // what a claim does not allow
	Roles     = len(roles)
)

// At is the paint at an opacity.
func (p Paint) At(alpha float64) Paint {
	p.Alpha = alpha
	return p
}

// In is the colour in a theme, by roles.
func (p Paint) In(theme [][3]uint8) (c [3]uint8) {
	from, to := theme[p.Role], theme[p.To]
	for i := range c {
		c[i] = uint8(math.Round(float64(from[i]) + p.Mix*(float64(to[i])-float64(from[i]))))
	}
	return c
}

// Between is part of the way from one to another.
func Between(from, to Paint, mix float64) Paint {
	return Paint{from.Role, to.Role, min(1, max(0, mix)), 1}
}

// Point is a place, px from the upper left corner.
type Point struct{ X, Y float64 }

// Rect is a box, px.
type Rect struct{ X, Y, W, H float64 }

// Has reports whether the point is in it.
func (r Rect) Has(p Point) bool { return p.X >= r.X && p.X < r.X+r.W && p.Y >= r.Y && p.Y < r.Y+r.H }

// Middle is amid the box.
func (r Rect) Middle() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// Right and Bottom are the far edges.
func (r Rect) Right() float64  { return r.X + r.W }
func (r Rect) Bottom() float64 { return r.Y + r.H }

// Kind says how a shape's points are painted.
type Kind int

const (
	Fill     Kind = iota // a convex polygon
	Stroke               // a line through all points
	Segments             // a line from every even point to the next
	Strip                // what lies between the line through the even points and that through the odd ones
	Dots                 // a mark at every point
)

// Form is the form of a mark.
type Form int

const (
	Disc Form = iota
	Square
	Triangle
	Diamond
	Ring
)

// Shape is painted as a whole, cut off by a Clip that is not empty.
type Shape struct {
	Kind   Kind
	Points []Point
	Paint  Paint
	Width  float64 // of lines
	Dash   bool    // of strokes
	Form   Form
	Radius float64 // of marks
	Paints []Paint // of each mark, where they differ
	Clip   Rect
}

// Align is where a label's point lies in it.
type Align int

const (
	Start Align = iota
	Middle
	End
)

// Label is a line of text, whose point lies on the baseline.
type Label struct {
	X, Y  float64
	Words string
	Align Align
	Role  int // its colour
	Bold  bool
}

// Scene is a picture. Items are what can be read.
type Scene struct {
	Width, Height float64
	Shapes        []Shape
	Labels        []Label
	Items         []Item
	Keys          []string // the words of its legend
	Plot          Rect     // what pans and zooms
	wide          Measure
}

// Item is read when its Box is pointed at; Mark is outlined.
type Item struct{ Box, Mark Rect }

// Measure is the width of words in px, at TextSize.
type Measure func(words string) float64

// Roughly measures without a font.
func Roughly(words string) float64 {
	wide := 0.0
	for _, c := range words {
		switch {
		case strings.ContainsRune("\u202f\u00a0 ijlI|!.,:;'", c):
			wide += 0.31
		case strings.ContainsRune("ftr-()[]/", c):
			wide += 0.4
		case strings.ContainsRune("mwMW%@—…⊥⊤", c):
			wide += 0.92
		case c >= 'A' && c <= 'Z' || strings.ContainsRune("=+−±<>≤≥~", c):
			wide += 0.72
		default:
			wide += 0.6
		}
	}
	return wide * TextSize
}

// TextSize is that of words, px.
const TextSize = 12.0

func (s *Scene) add(sh Shape) {
	if len(sh.Points) > 0 {
		sh.Paint = cmp.Or(sh.Paint, Text)
		s.Shapes = append(s.Shapes, sh)
	}
}

func corners(r Rect) []Point {
	return []Point{{r.X, r.Y}, {r.Right(), r.Y}, {r.Right(), r.Bottom()}, {r.X, r.Bottom()}}
}

func (s *Scene) rect(r Rect, p Paint, clip Rect) {
	s.add(Shape{Kind: Fill, Points: corners(r), Paint: p, Clip: clip})
}

func (s *Scene) line(x0, y0, x1, y1, width float64, p Paint) {
	s.add(Shape{Kind: Stroke, Points: []Point{{x0, y0}, {x1, y1}}, Width: width, Paint: p})
}

func (s *Scene) label(x, y float64, words string, align Align, p Paint) *Label {
	s.Labels = append(s.Labels, Label{X: x, Y: y, Words: words, Align: align, Role: p.Role})
	return &s.Labels[len(s.Labels)-1]
}

// hatch draws diagonals, as not all see colours. They meet those of neighbours.
func (s *Scene) hatch(r Rect, p Paint) {
	const step, widest = 7, 1e5
	if !(r.W+r.H < widest) || !(math.Abs(r.X)+math.Abs(r.Y) < widest) {
		return // a box of an absurd report, which nobody sees whole
	}
	var points []Point
	for c := step * float64(int((r.X+r.Y)/step)+1); c < r.Right()+r.Bottom(); c += step {
		x0, x1 := max(r.X, c-r.Bottom()), min(r.Right(), c-r.Y)
		if x1 > x0 {
			points = append(points, Point{x0, c - x0}, Point{x1, c - x1})
		}
	}
	s.add(Shape{Kind: Segments, Points: points, Width: 1, Paint: p, Clip: r})
}

// Hit is the item whose box holds a place, of several that of the nearest middle; -1: none.
func (s *Scene) Hit(p Point) int {
	best, least := -1, 0.0
	for i, it := range s.Items {
		if !it.Box.Has(p) {
			continue
		}
		m := it.Box.Middle()
		d := hypot(m.X-p.X, m.Y-p.Y)
		if best < 0 || d < least {
			best, least = i, d
		}
	}
	return best
}

// Areas are the polygons of a fill or a strip within its clip.
func (s Shape) Areas() [][]Point {
	areas, cut := [][]Point{s.Points}, s.cut()
	switch {
	case s.Kind == Strip && cut:
		areas = nil
		for i := 3; i < len(s.Points); i += 2 {
			areas = append(areas, []Point{s.Points[i-3], s.Points[i-1], s.Points[i], s.Points[i-2]})
		}
	case s.Kind == Strip:
		var there, back []Point
		for i := 1; i < len(s.Points); i += 2 {
			there, back = append(there, s.Points[i-1]), append(back, s.Points[i])
		}
		slices.Reverse(back)
		areas[0] = append(there, back...)
	}
	if cut {
		for i, a := range areas {
			areas[i] = clipPolygon(a, s.Clip)
		}
	}
	return slices.DeleteFunc(areas, func(a []Point) bool { return len(a) < 3 })
}

func (s Shape) cut() bool {
	return s.clips() && slices.ContainsFunc(s.Points, func(p Point) bool { return !around(s.Clip, 0.01).Has(p) })
}

func (s Shape) clips() bool { return s.Clip.W > 0 && s.Clip.H > 0 }

// Shows reports whether a mark is not cut off.
func (s Shape) Shows(at Point) bool { return !s.clips() || s.Clip.Has(at) }

// lines are those of a stroke or of segments within its clip.
func (s Shape) lines() (lines [][]Point) {
	step := If(s.Kind == Segments, 2, 1)
	for i := 1; i < len(s.Points); i += step {
		a, b := s.Points[i-1], s.Points[i]
		if s.clips() {
			var in bool
			if a, b, in = clipSegment(a, b, s.Clip); !in {
				continue
			}
		}
		if n := len(lines); n > 0 && step == 1 && lines[n-1][len(lines[n-1])-1] == a {
			lines[n-1] = append(lines[n-1], b)
		} else {
			lines = append(lines, []Point{a, b})
		}
	}
	return lines
}

// Dashed are the lines, or the dashes of those that are dashed.
func (s Shape) Dashed() [][]Point {
	lines := s.lines()
	if !s.Dash {
		return lines
	}
	var out [][]Point
	for _, l := range lines {
		out = slices.AppendSeq(out, slices.Chunk(dashed(l, dashOn, dashOff), 2))
	}
	return out
}

// Sharp reports whether all edges are upright or level.
func Sharp(line []Point, closed bool) bool {
	for i, b := range line {
		if a := line[(i+len(line)-1)%len(line)]; (i > 0 || closed) && a.X != b.X && a.Y != b.Y {
			return false
		}
	}
	return true
}

// SquareSide is half a square's side, in radii.
const SquareSide = 0.86

// Corners are nil of a disc or a ring.
func (f Form) Corners(at Point, r float64) []Point {
	form := func(x, y float64) Point { return Point{at.X + r*x, at.Y + r*y} }
	switch f {
	case Square:
		return []Point{form(-SquareSide, -SquareSide), form(SquareSide, -SquareSide), form(SquareSide, SquareSide), form(-SquareSide, SquareSide)}
	case Triangle:
		return []Point{form(0, -1), form(0.98, 0.75), form(-0.98, 0.75)}
	case Diamond:
		return []Point{form(0, -1.1), form(1.1, 0), form(0, 1.1), form(-1.1, 0)}
	}
	return nil
}

// clipSegment is the part of a line inside a box (Liang and Barsky 1984).
func clipSegment(a, b Point, r Rect) (Point, Point, bool) {
	dx, dy := b.X-a.X, b.Y-a.Y
	from, to := 0.0, 1.0
	for _, e := range [4][2]float64{{-dx, a.X - r.X}, {dx, r.Right() - a.X}, {-dy, a.Y - r.Y}, {dy, r.Bottom() - a.Y}} {
		switch p, q := e[0], e[1]; {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		}
	}
	if !(from <= to) {
		return a, b, false
	}
	at := func(t float64) Point { return Point{a.X + t*dx, a.Y + t*dy} }
	return If(from > 0, at(from), a), If(to < 1, at(to), b), true
}

// clipPolygon is a convex polygon's part in a box (Sutherland and Hodgman 1974).
func clipPolygon(points []Point, r Rect) []Point {
	for _, inside := range [4]func(Point) float64{ // above 0 inside
		func(p Point) float64 { return p.X - r.X }, func(p Point) float64 { return r.Right() - p.X },
		func(p Point) float64 { return p.Y - r.Y }, func(p Point) float64 { return r.Bottom() - p.Y },
	} {
		var out []Point
		for i, p := range points {
			q := points[(i+1)%len(points)]
			dp, dq := inside(p), inside(q)
			if dp >= 0 {
				out = append(out, p)
			}
			if dp > 0 && dq < 0 || dp < 0 && dq > 0 {
				t := dp / (dp - dq)
				out = append(out, Point{p.X + t*(q.X-p.X), p.Y + t*(q.Y-p.Y)})
			}
		}
		points = out
	}
	return points
}

const dashOn, dashOff = 6, 4

func dashed(line []Point, on, off float64) []Point {
	var out []Point
	drawn, left := true, on
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		length := hypot(b.X-a.X, b.Y-a.Y)
		if !(length > 0) || length > 1e5 {
			continue
		}
		for at := 0.0; at < length; {
			step := min(left, length-at)
			if drawn {
				f, g := at/length, (at+step)/length
				out = append(out, Point{a.X + f*(b.X-a.X), a.Y + f*(b.Y-a.Y)}, Point{a.X + g*(b.X-a.X), a.Y + g*(b.Y-a.Y)})
			}
			at += step
			if left -= step; left <= 0 {
				drawn = !drawn
				left = If(drawn, on, off)
			}
		}
	}
	return out
}
