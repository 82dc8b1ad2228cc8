package scene

import "math"

// Vertex is a corner of a triangle in device pixels; its colour is straight, not
// multiplied by its opacity.
type Vertex struct{ X, Y, R, G, B, A float32 }

// Mesh are triangles in painting order, three indices each.
type Mesh struct {
	Vertices []Vertex
	Indices  []uint32

	scale  float64
	colour func(Paint) [4]float32
}

// NewMesh collects triangles at so many device pixels in a CSS pixel; colour
// gives red, green, blue and opacity in [0, 1].
func NewMesh(scale float64, colour func(Paint) [4]float32) *Mesh {
	return &Mesh{scale: scale, colour: colour}
}

// Add adds a shape other than dots. Edges are a pixel soft; upright and level
// lines are as sharp as the pixels.
func (m *Mesh) Add(s Shape) {
	c := m.colour(s.Paint)
	switch s.Kind {
	case Fill:
		m.fill(s, c)
	case Strip:
		for i := 3; i < len(s.Points); i += 2 {
			m.fill(Shape{Points: []Point{s.Points[i-3], s.Points[i-1], s.Points[i], s.Points[i-2]}, Clip: s.Clip}, c)
		}
	case Stroke:
		if s.Dash {
			m.Add(Shape{Kind: Segments, Points: dashed(s.Points, dashOn, dashOff), Width: s.Width, Paint: s.Paint, Clip: s.Clip})
			return
		}
		for i := 1; i < len(s.Points); i++ {
			m.segment(s.Points[i-1], s.Points[i], s.Width, i > 1, i < len(s.Points)-1, s.Clip, c)
		}
	case Segments:
		for i := 1; i < len(s.Points); i += 2 {
			m.segment(s.Points[i-1], s.Points[i], s.Width, false, false, s.Clip, c)
		}
	}
}

// fill paints a convex polygon.
func (m *Mesh) fill(s Shape, c [4]float32) {
	points := s.Points
	if s.Clip.W > 0 && s.Clip.H > 0 {
		points = clipPolygon(points, s.Clip)
	}
	if len(points) < 3 {
		return
	}
	n := uint32(len(m.Vertices))
	straight := true
	for i, p := range points {
		q := points[(i+1)%len(points)]
		straight = straight && (p.X == q.X || p.Y == q.Y)
		m.vertex(p.X*m.scale, p.Y*m.scale, c, 1)
		if i >= 2 {
			m.Indices = append(m.Indices, n, n+uint32(i)-1, n+uint32(i))
		}
	}
	if straight {
		return
	}
	for i, p := range points { // soft edges
		m.segment(p, points[(i+1)%len(points)], 1/m.scale, false, false, Rect{}, c)
	}
}

func (m *Mesh) vertex(x, y float64, c [4]float32, opacity float32) {
	m.Vertices = append(m.Vertices, Vertex{float32(x), float32(y), c[0], c[1], c[2], c[3] * opacity})
}

func (m *Mesh) quad(a, b, c, d uint32) { m.Indices = append(m.Indices, a, b, c, b, c, d) }

// segment paints a line; where it goes on, its end reaches to the joint's far
// side.
func (m *Mesh) segment(a, b Point, width float64, before, after bool, clip Rect, c [4]float32) {
	if clip.W > 0 && clip.H > 0 {
		var in bool
		if a, b, in = clipSegment(a, b, clip); !in {
			return
		}
	}
	x0, y0, x1, y1 := a.X*m.scale, a.Y*m.scale, b.X*m.scale, b.Y*m.scale
	dx, dy := x1-x0, y1-y0
	length := hypot(dx, dy)
	if !(length > 0) {
		return
	}
	dx, dy = dx/length, dy/length
	half := width * m.scale / 2
	if before {
		x0, y0 = x0-dx*half, y0-dy*half
	}
	if after {
		x1, y1 = x1+dx*half, y1+dy*half
	}
	if dx == 0 || dy == 0 {
		m.straight(x0, y0, x1, y1, dx == 0, max(1, math.Round(2*half)), c)
		return
	}
	inner, outer, opacity := half-0.5, half+0.5, float32(1)
	if inner < 0 {
		inner, opacity = 0, float32(2*half/outer)
	}
	n := uint32(len(m.Vertices))
	for _, o := range [4]float64{-outer, -inner, inner, outer} {
		alpha := choose(o == outer || o == -outer, 0, opacity)
		m.vertex(x0-dy*o, y0+dx*o, c, alpha)
		m.vertex(x1-dy*o, y1+dx*o, c, alpha)
	}
	for k := uint32(0); k < 6; k += 2 {
		m.quad(n+k, n+k+1, n+k+2, n+k+3)
	}
}

// straight paints an upright or level line on whole pixels.
func (m *Mesh) straight(x0, y0, x1, y1 float64, upright bool, width float64, c [4]float32) {
	at := y0
	from, to := min(x0, x1), max(x0, x1)
	if upright {
		at, from, to = x0, min(y0, y1), max(y0, y1)
	}
	lo := math.Round(at - width/2)
	n := uint32(len(m.Vertices))
	for _, p := range [4][2]float64{{from, lo}, {to, lo}, {from, lo + width}, {to, lo + width}} {
		if upright {
			p[0], p[1] = p[1], p[0]
		}
		m.vertex(p[0], p[1], c, 1)
	}
	m.quad(n, n+1, n+2, n+3)
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
	start, end := a, b
	if from > 0 {
		start = at(from)
	}
	if to < 1 {
		end = at(to)
	}
	return start, end, true
}

// clipPolygon is the part of a convex polygon inside a box (Sutherland and
// Hodgman 1974).
func clipPolygon(points []Point, r Rect) []Point {
	for _, edge := range [4]struct {
		inside func(Point) float64 // above 0 inside
	}{
		{func(p Point) float64 { return p.X - r.X }}, {func(p Point) float64 { return r.Right() - p.X }},
		{func(p Point) float64 { return p.Y - r.Y }}, {func(p Point) float64 { return r.Bottom() - p.Y }},
	} {
		var out []Point
		for i, p := range points {
			q := points[(i+1)%len(points)]
			dp, dq := edge.inside(p), edge.inside(q)
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

// Stamp is the opacity of a mark's pixels, in a square whose side is returned;
// its middle is the mark's.
func Stamp(form Form, radius float64) (alpha []uint8, side int) {
	const fine = 5 // samples of a pixel's side
	half := math.Ceil(radius) + 1
	side = int(2 * half)
	for y := range side {
		for x := range side {
			n := 0
			for k := range fine * fine {
				u := (float64(x) + (float64(k%fine)+0.5)/fine - half) / radius
				v := (float64(y) + (float64(k/fine)+0.5)/fine - half) / radius
				if form.has(u, v, radius) {
					n++
				}
			}
			alpha = append(alpha, uint8(math.Round(255*float64(n)/(fine*fine))))
		}
	}
	return alpha, side
}

// has reports whether a mark of radius 1 covers a place; px is its radius.
func (f Form) has(u, v, px float64) bool {
	switch f {
	case Square:
		return math.Abs(u) <= 0.86 && math.Abs(v) <= 0.86
	case Triangle:
		return v <= 0.75 && math.Abs(u) <= (v+1)*0.56
	case Diamond:
		return math.Abs(u)+math.Abs(v) <= 1.1
	case Ring:
		d := hypot(u, v)
		return d <= 1 && d >= 1-2/px
	}
	return hypot(u, v) <= 1
}

// Lengths of dashes and of the gaps between them, in CSS pixels.
const dashOn, dashOff = 6, 4

// dashed cuts a line into dashes.
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
				left = on
				if !drawn {
					left = off
				}
			}
		}
	}
	return out
}
