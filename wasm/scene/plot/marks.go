package plot

import (
	"cmp"
	"math"
	"slices"
)

// Mark is a part of a plot. Areas lie under lines, and lines under points; of two lines the first
// lies above, of points the last.
type Mark interface {
	key() key // without words: it has none in the legend
	draw(canvas)
}

const (
	points = iota
	lines
	areas
	under // the grid
)

func (c canvas) draw(layers ...int) {
	marks := c.of.Marks
	for _, layer := range layers {
		for i, m := range marks {
			if layer == lines {
				m = marks[len(marks)-1-i]
			}
			if m.key().layer == layer {
				m.draw(c)
			}
		}
	}
}

// Line is through points, or of a function of the level axis.
type Line struct {
	Key    string
	Paint  Paint
	Points [][2]float64
	Of     func(x float64) float64 // instead
	Width  float64                 // 0: 2
	Dash   bool
}

func (l Line) key() key {
	form := If(l.Width > 3, keyThick, keyLine)
	return key{words: l.Key, paint: l.Paint, form: If(l.Dash, keyDash, form), layer: lines}
}

func (l Line) draw(c canvas) {
	points := c.all(l.Points)
	if l.Of != nil {
		for px := c.box.X; px <= c.box.Right()+0.5; px++ {
			points = append(points, Point{px, c.y.At(l.Of(c.x.Value(px)))})
		}
	}
	c.add(Shape{Kind: Stroke, Points: points, Width: cmp.Or(l.Width, 2), Dash: l.Dash, Paint: l.Paint, Clip: If(l.Dash, c.box, around(c.box, 5))})
}

// Along is the height at a place of a line through points.
func Along(line [][2]float64, x float64) float64 {
	i, _ := slices.BinarySearchFunc(line, x, func(p [2]float64, x float64) int { return If(p[0] <= x, -1, 1) })
	if i == 0 || i == len(line) {
		return line[min(i, len(line)-1)][1]
	}
	a, b := line[i-1], line[i]
	return a[1] + (b[1]-a[1])*(x-a[0])/(b[0]-a[0])
}

// Rule is a dashed line across a plot.
type Rule struct {
	Key     string
	Paint   Paint
	At      float64
	Upright bool
}

func (r Rule) key() key { return key{words: r.Key, paint: r.Paint, form: keyDash, layer: lines} }

func (r Rule) draw(c canvas) {
	line := If(r.Upright, []Point{{c.x.At(r.At), c.box.Y}, {c.x.At(r.At), c.box.Bottom()}}, []Point{{c.box.X, c.y.At(r.At)}, {c.box.Right(), c.y.At(r.At)}})
	c.add(Shape{Kind: Stroke, Points: line, Width: 1.8, Dash: true, Paint: r.Paint, Clip: c.box})
}

// Points are marks at values.
type Points struct {
	Key    string
	Paint  Paint
	At     [][2]float64
	Form   Form
	Radius float64
	Paints []Paint // of each, where they differ
}

func (p Points) key() key {
	return key{words: p.Key, paint: cmp.Or(p.Paint, Text).At(1), form: keyDot, mark: p.Form}
}

func (p Points) draw(c canvas) {
	c.add(Shape{Kind: Dots, Points: c.all(p.At), Radius: p.Radius, Form: p.Form, Paint: p.Paint, Paints: p.Paints, Clip: around(c.box, 6)})
}

// Band is between the limits of a curve whose points lie within rectangles: those at its left and
// right bound it from below and above, or where it falls from above and below.
type Band struct {
	Key    string
	Paint  Paint
	Within []Box
	Falls  bool
	Edge   bool // its edges are drawn
}

func (b Band) key() key { return key{words: b.Key, paint: b.Paint, form: KeyBand, layer: areas} }

// Limits are its heights at a place of the level axis.
func (b Band) Limits(x float64) (lower, upper float64) {
	upper = 1
	for _, w := range b.Within {
		left, right := w.X1 <= x, w.X0 >= x
		if b.Falls {
			left, right = right, left
		}
		if left {
			lower = max(lower, w.Y0)
		}
		if right {
			upper = min(upper, w.Y1)
		}
	}
	return lower, upper
}

func (b Band) draw(c canvas) {
	edges := []float64{0, 1}
	for _, w := range b.Within {
		edges = append(edges, w.X0, w.X1)
	}
	// Of edges at one pixel the last remains: a report may have any number of them.
	slices.SortFunc(edges, func(a, b float64) int { return cmp.Compare(b, a) })
	edges = slices.CompactFunc(edges, func(a, b float64) bool { return decimal(c.x.At(a)) == decimal(c.x.At(b)) })
	slices.Reverse(edges)
	var region, up, low []Point
	for i := 1; i < len(edges); i++ {
		lower, upper := b.Limits((edges[i-1] + edges[i]) / 2)
		for _, at := range edges[i-1 : i+1] {
			above, below := c.at([2]float64{at, upper}), c.at([2]float64{at, lower})
			up, low, region = append(up, above), append(low, below), append(region, above, below)
		}
	}
	c.add(Shape{Kind: Strip, Points: region, Paint: b.Paint.At(0.18), Clip: c.box})
	if b.Edge {
		for _, line := range [][]Point{up, low} {
			c.add(Shape{Kind: Stroke, Points: line, Width: 1, Paint: b.Paint.At(0.55), Clip: c.box})
		}
	}
}

// Over bars where one height lies above another: there the claim is refuted.
type Over struct {
	Key string
	Of  func(x float64) (above, below float64)
}

func (o Over) key() key { return key{words: o.Key, paint: Bad, form: KeyBarred, layer: areas} }

func (o Over) draw(c canvas) {
	const step = 5
	var region, bars []Point
	for px := math.Ceil(c.box.X); px <= c.box.Right()+1; px++ {
		above, below := o.Of(c.x.Value(px))
		if !(above > below) || px > c.box.Right() {
			c.add(Shape{Kind: Strip, Points: region, Paint: Bad.At(0.16), Clip: c.box})
			region = nil
			continue
		}
		from, to := Point{px, c.y.At(above)}, Point{px, c.y.At(below)}
		region = append(region, from, to)
		if int(px-c.box.X)%step == 0 {
			bars = append(bars, from, to)
		}
	}
	c.add(Shape{Kind: Segments, Points: bars, Width: 1, Paint: Bad, Clip: c.box})
}

// Bars are boxes between values.
type Bars struct {
	Key   string
	Paint Paint
	Boxes []Box
	Form  int  // of the legend's samples
	Under bool // the grid
	Tight bool // nothing is left between neighbours
}

func (b Bars) key() key {
	layer := If(b.Form == KeyRegion || b.Under, under, areas)
	return key{words: b.Key, paint: b.Paint, form: cmp.Or(b.Form, KeyBox), layer: layer}
}

func (b Bars) draw(c canvas) {
	for _, v := range b.Boxes {
		r, clip := c.rectangle(v), c.box
		if math.IsInf(v.X0, 0) {
			clip = c.whole
		}
		if !b.Tight && !b.Under && r.W > 3 {
			r = Rect{r.X + 0.5, r.Y, r.W - 1, r.H}
		}
		if shown := intersect(r, clip); shown.W > 0 && shown.H > 0 {
			c.boxed(cmp.Or(b.Form, KeyBox), r, b.Paint, clip)
		}
	}
}

// Arrow points from a value towards one that is infinite.
type Arrow struct {
	Paint    Paint
	From, To [2]float64
}

func (Arrow) key() key { return key{} }

func (a Arrow) draw(c canvas) {
	from, to := c.at(a.From), c.at(a.To)
	dx, dy := to.X-from.X, to.Y-from.Y
	n := hypot(dx, dy)
	if n == 0 {
		return
	}
	dx, dy = dx/n, dy/n
	c.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: a.Paint, Clip: c.box})
	c.add(Shape{Kind: Fill, Points: []Point{{to.X - 7*dx + 4*dy, to.Y - 7*dy - 4*dx}, to, {to.X - 7*dx - 4*dy, to.Y - 7*dy + 4*dx}}, Paint: a.Paint, Clip: c.box})
}

// Note is words beside a place where nothing else is; without one they are left out, but if Must.
type Note struct {
	At    [2]float64
	Words string
	Paint Paint
	Bold  bool
	Must  bool
	Lit   bool // on the colour of what is proven
	Box   bool
}

func (Note) key() key { return key{} }

func (n Note) draw(c canvas) {
	p := c.at(n.At)
	if !around(c.box, 6).Has(p) {
		return
	}
	pad := If(n.Box, 7.0, 1)
	w, h := c.wide(n.Words)*If(n.Bold, 1.13, 1)+2*pad, 13+2*(pad-1)
	var places []Rect
	for _, off := range []float64{8, 26, 60, 110} {
		for _, d := range [][2]float64{{1, 0}, {-1, 0}, {1, -1}, {-1, -1}, {0, -1}, {1, 1}, {-1, 1}, {0, 1}} {
			places = append(places, Rect{p.X - w/2 + d[0]*(off+w/2), p.Y - h/2 + d[1]*(off+h/2), w, h})
		}
		if !n.Must {
			break
		}
	}
	i := slices.IndexFunc(places, func(r Rect) bool { return c.free(r, true) })
	switch {
	case i < 0 && !n.Must:
		return
	case i < 0:
		i = max(0, slices.IndexFunc(places, func(r Rect) bool { return c.free(r, false) }))
	}
	r := places[i]
	r.X, r.Y = min(max(r.X, c.box.X), c.box.Right()-w), min(max(r.Y, c.box.Y), c.box.Bottom()-h)
	if n.Box {
		c.line(p.X, p.Y, min(max(p.X, r.X), r.Right()), min(max(p.Y, r.Y), r.Bottom()), 1.2, Text)
		c.rect(r, If(n.Lit, Lit, Panel), Rect{})
		c.add(Shape{Kind: Stroke, Points: append(corners(r), Point{r.X, r.Y}), Width: 1.2, Paint: If(n.Lit, LitInk, Text)})
	}
	c.label(r.X+pad, r.Bottom()-pad-2, n.Words, Start, If(n.Lit, LitInk, cmp.Or(n.Paint, Text))).Bold = n.Bold
}

// free reports whether no words lie in a box, and if none no shapes but the grid.
func (c canvas) free(r Rect, none bool) bool {
	if r.X < c.box.X || r.Y < c.box.Y || r.Right() > c.box.Right() || r.Bottom() > c.box.Bottom() {
		return false
	}
	crosses := func(o Rect) bool { both := intersect(r, o); return both.W > 0 && both.H > 0 }
	for _, l := range c.Labels {
		w := c.wide(l.Words) * 1.1
		if crosses(Rect{l.X - w*float64(l.Align)/2, l.Y - TextSize, w, TextSize + 2}) {
			return false
		}
	}
	for _, s := range c.Shapes {
		switch {
		case !none:
		case s.Kind == Dots:
			for _, p := range s.Points {
				if around(r, s.Radius).Has(p) {
					return false
				}
			}
		case s.Kind == Stroke:
			for i := 1; i < len(s.Points) && s.Paint.Role != Grid.Role; i++ {
				if _, _, in := clipSegment(s.Points[i-1], s.Points[i], r); in {
					return false
				}
			}
		}
	}
	return true
}

// Stairs hold each height until the next point.
func Stairs(points [][2]float64) (out [][2]float64) {
	for i, p := range points {
		if i > 0 {
			out = append(out, [2]float64{p[0], points[i-1][1]})
		}
		out = append(out, p)
	}
	return out
}
