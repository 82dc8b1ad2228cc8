package plot

import "slices"

// Areas are the polygons of a fill or a strip, cut off at its clip.
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

// cut reports whether part of a shape lies beyond its clip.
func (s Shape) cut() bool {
	return s.clips() && slices.ContainsFunc(s.Points, func(p Point) bool { return !around(s.Clip, 0.01).Has(p) })
}

func (s Shape) clips() bool { return s.Clip.W > 0 && s.Clip.H > 0 }

// Shows reports whether a mark is not cut off.
func (s Shape) Shows(at Point) bool { return !s.clips() || s.Clip.Has(at) }

// Lines are those of a stroke or of segments, cut off at its clip.
func (s Shape) Lines() (lines [][]Point) {
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

// Dashed are the lines as they are seen: dashes of those that are dashed.
func (s Shape) Dashed() [][]Point {
	lines := s.Lines()
	if !s.Dash {
		return lines
	}
	var out [][]Point
	for _, l := range lines {
		out = slices.AppendSeq(out, slices.Chunk(dashed(l, dashOn, dashOff), 2))
	}
	return out
}

// Sharp reports whether all edges of a line, or of a closed one, are upright or level.
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

// Corners are those of a mark; nil of a disc or a ring.
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
				left = If(drawn, on, off)
			}
		}
	}
	return out
}
