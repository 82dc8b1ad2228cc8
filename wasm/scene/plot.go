package scene

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Plot is a view as values: two axes, marks, and items, of which each has a row of the table.
// Layout, legend, hit areas and positions follow from them.
type Plot struct {
	X, Y    Axis
	Height  Height
	Right   float64 // px beside the box
	Marks   []Mark
	Caption string
	Table   func(Figures) Table
	Items   [][2]float64 // by their values
	Hit     Point        // width and height of the place that points at an item, px; none: what is outlined
	Outline float64      // least side of what is outlined there, px
	Within  []Box        // what is outlined, nil: the items themselves
	Tooltip func(item int) string
	Name    func(item int) string         // tells it from others, nil: its number
	At      func(item int) (x, y float64) // where it lies, as shares of the whole; nil: by its values
	Draw    func(Frame) *Scene            // of a picture of its own, nil: by axes and marks
	Framed  bool                          // the box has a left edge, and the grid's line at 0 stands out
	Said
}

// Axis is a scale in values with its title.
type Axis struct {
	Title, Short string // Short where the title has no room, "": it is cut
	Scale
	Words  func(float64) string // of a tick
	Zooms  bool
	Ticks  []float64 // of a facet
	Values *Window   // of bins: the axis has no grid, and words beyond these ends
}

// Height is that of a plot's box, px: a share of the width between two ends.
type Height struct{ Least, Share, Most float64 }

var (
	large    = Height{260, 0.7, 460}
	squarish = Height{220, 0.66, 340}
)

func (h Height) of(width float64) float64 { return min(h.Most, max(h.Least, h.Share*width)) }

// Box is a rectangle between values: where a point lies with confidence, or a bar.
type Box struct{ X0, X1, Y0, Y1 float64 }

// View is one of the pictures of a report: a plot for every choice.
type View struct {
	ID, Title   string
	ChoiceLabel string
	Choices     []Choice // ways to look at it, the first is the default
	plot        func(choice string) Plot
	Plot        // of what is chosen
}

// of is the view of a plot for every choice, with what is chosen by default.
func (v View) of(plot func(choice string) Plot) *View {
	v.plot = plot
	v.Choose("")
	return &v
}

// Choose takes one of the choices.
func (v *View) Choose(id string) {
	if v.Plot = v.plot(id); v.Name == nil {
		v.Name = strconv.Itoa
	}
}

// Zooms says which axes pan and zoom.
func (v *View) Zooms() (x, y bool) { return v.X.Zooms, v.Y.Zooms }

// Position says where an item lies, as shares of the whole.
func (v *View) Position(i int) (px, py float64) {
	switch {
	case v.At != nil:
		px, py = v.At(i)
	case v.Items == nil:
		return 0.5, 0.5
	default:
		px, py = v.position(i)
	}
	return min(1, max(0, px)), min(1, max(0, py))
}

func (p *Plot) position(i int) (px, py float64) {
	x, y := p.X.Scale, p.Y.Scale
	x.From, x.To, y.From, y.To = 0, 1, 1, 0
	return x.At(p.Items[i][0]), y.At(p.Items[i][1])
}

// Layout is the picture.
func (v *View) Layout(f Frame) *Scene {
	if v.Draw != nil {
		return v.Draw(f)
	}
	return v.layout(f)
}

func (p *Plot) layout(f Frame) *Scene {
	s := f.scene(0)
	top, height := s.legend(keysOf(p.Marks), 4)+22, p.Height.of(f.Width)
	s.Height = top + height + 44
	f.Width -= p.Right
	x, y, box := s.plane(f, p.X.Scale, p.Y.Scale, top, height, p.Y.Words)
	c := canvas{s, x, y, box}
	c.draw(p.Marks, under)
	s.label(0, top-9, p.Y.title(s), Start, Muted)
	if p.X.Values != nil {
		s.under(x, box.Bottom(), *p.X.Values)
	} else {
		marks := x.Marks(int(max(choose(p.Framed, 4.0, 2), box.W/70)))
		for _, v := range marks {
			s.line(x.At(v), box.Y, x.At(v), box.Bottom(), 1, choose(p.Framed, atZero(v), Ink(Grid)), Rect{})
		}
		if p.Framed {
			s.line(box.X, box.Y, box.X, box.Bottom(), 1, Ink(AxisLine), Rect{})
		}
		s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(AxisLine), Rect{})
		s.ticksUnder(x, marks, box.Bottom(), p.X.Words, box.X-12, box.Right()+14)
	}
	s.label((box.X+box.Right())/2, box.Bottom()+37, p.X.title(s), Middle, Muted)
	c.draw(p.Marks, areas, lines, points)
	c.items(p)
	return s
}

// title is an axis' title, as far as there is room.
func (a Axis) title(s *Scene) string {
	switch {
	case s.wide(a.Title) <= s.Width:
		return a.Title
	case a.Short != "":
		return a.Short
	}
	return clipWords(s, a.Title, s.Width-60)
}

// facets draws two plots side by side, or one below the other. The first has the legend.
func facets(plots [2]Plot, height, gap float64) func(Frame) *Scene {
	return func(f Frame) *Scene {
		s := f.scene(0)
		boxes := s.two(s.legend(keysOf(plots[0].Marks), 4)+22, height, gap)
		for k, p := range plots {
			s.panel(boxes[k], &p.X.Scale, &p.Y.Scale, p.X.Ticks, p.Y.title(s), p.X.Title, p.Y.Words)
			c := canvas{s, p.X.Scale, p.Y.Scale, boxes[k]}
			c.draw(p.Marks, lines, points)
			c.items(&p)
		}
		return s
	}
}

func keysOf(marks []Mark) (keys []key) {
	for _, m := range marks {
		if k := m.key(); k.words != "" {
			keys = append(keys, k)
		}
	}
	return keys
}

// items are the hit areas of a plot, and what is outlined there.
func (c canvas) items(p *Plot) {
	for i, v := range p.Items {
		at := c.at(v)
		r := Rect{at.X, at.Y, 0, 0}
		if p.Within != nil {
			r = c.rectangle(p.Within[i])
		}
		if p.Hit == (Point{}) {
			r = intersect(r, c.box)
			c.Items = append(c.Items, Item{r, r})
			continue
		}
		if d := p.Outline - r.W; d > 0 {
			r.X, r.W = r.X-d/2, p.Outline
		}
		if d := p.Outline - r.H; d > 0 {
			r.Y, r.H = r.Y-d/2, p.Outline
		}
		c.Items = append(c.Items, Item{Box: Rect{at.X - p.Hit.X/2, at.Y - p.Hit.Y/2, p.Hit.X, p.Hit.Y}, Mark: intersect(r, around(c.box, 8))})
	}
}

// canvas is where marks are drawn: a picture with axes in their places.
type canvas struct {
	*Scene
	x, y Scale
	box  Rect
}

func (c canvas) at(v [2]float64) Point { return Point{c.x.At(v[0]), c.y.At(v[1])} }

func (c canvas) all(values [][2]float64) []Point {
	var out []Point
	for _, v := range values {
		out = append(out, c.at(v))
	}
	return out
}

// Mark is a part of a plot. Areas lie under lines, and lines under points. Of two lines
// the one that comes first in the legend lies above, of points the last.
type Mark interface {
	key() key // without words: it has none in the legend
	draw(canvas)
}

// Layers of marks.
const (
	under = iota // the grid
	areas
	lines
	points
)

// draw draws the marks of some layers.
func (c canvas) draw(marks []Mark, layers ...int) {
	for _, layer := range layers {
		for i, m := range marks {
			of := points
			if layer == lines {
				m = marks[len(marks)-1-i]
			}
			switch m := m.(type) {
			case Region:
				of = under
			case Band, Bars, Over:
				of = areas
			case Line, Rule:
				of = lines
			case Crosses:
				of = choose(m.Under, lines, points)
			}
			if of == layer {
				m.draw(c)
			}
		}
	}
}

// Line is a line through points, or of a function of the level axis.
type Line struct {
	Key    string
	Paint  Paint
	Points [][2]float64
	Of     func(x float64) float64 // instead
	Width  float64                 // 0: 2
	Dash   bool
	Bend   bool // straight in values, where axes are logarithmic
}

// Rule is a dashed line across a plot: level, or upright.
type Rule struct {
	Key     string
	Paint   Paint
	At      float64
	Upright bool
}

func (r Rule) key() key { return key{words: r.Key, paint: r.Paint, form: keyDash} }

func (r Rule) draw(c canvas) {
	line := []Point{{c.box.X, c.y.At(r.At)}, {c.box.Right(), c.y.At(r.At)}}
	if r.Upright {
		line = []Point{{c.x.At(r.At), c.box.Y}, {c.x.At(r.At), c.box.Bottom()}}
	}
	c.dash(line, 1.8, r.Paint, c.box)
}

func (l Line) key() key {
	form := choose(l.Width > 3, keyThick, keyLine)
	return key{words: l.Key, paint: l.Paint, form: choose(l.Dash, keyDash, form)}
}

func (l Line) draw(c canvas) {
	width := l.Width
	if width == 0 {
		width = 2
	}
	clip := choose(l.Dash, c.box, around(c.box, 5))
	points := c.all(l.Points)
	switch {
	case l.Bend:
		points = c.bend(l.Points)
	case l.Of != nil:
		for px := c.box.X; px <= c.box.Right()+0.5; px += 2 {
			points = append(points, Point{px, c.y.At(l.Of(c.x.Value(px)))})
		}
	}
	c.add(Shape{Kind: Stroke, Points: points, Width: width, Dash: l.Dash, Paint: l.Paint, Clip: clip})
}

// bend places a line that is straight in values, pixel by pixel.
func (c canvas) bend(line [][2]float64) []Point {
	var out []Point
	for i, b := range line {
		end := c.at(b)
		if i > 0 {
			a := line[i-1]
			for px := max(c.at(a).X, c.box.X) + 1; px < min(end.X, c.box.Right()); px++ {
				out = append(out, Point{px, c.y.At(a[1] + (b[1]-a[1])*(c.x.Value(px)-a[0])/(b[0]-a[0]))})
			}
		}
		out = append(out, end)
	}
	return out
}

// Points are marks at values.
type Points struct {
	Key    string
	Paint  Paint
	At     [][2]float64
	Form   Form
	Radius float64
}

func (p Points) key() key { return key{words: p.Key, paint: p.Paint.At(1), form: keyDot, mark: p.Form} }

func (p Points) draw(c canvas) {
	c.add(Shape{Kind: Dots, Points: c.all(p.At), Radius: p.Radius, Form: p.Form, Paint: p.Paint, Clip: around(c.box, 6)})
}

// Band is what lies between the limits of a curve of which points lie within rectangles:
// those at its left and at its right bound it from below and above, or where it falls from
// above and below.
type Band struct {
	Key    string
	Paint  Paint
	Within []Box
	Falls  bool
	Edge   bool // its edges are drawn
}

func (b Band) key() key { return key{words: b.Key, paint: b.Paint, form: keyBand} }

// limits are its heights at a place of the level axis.
func (b Band) limits(x float64) (lower, upper float64) {
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
		lower, upper := b.limits((edges[i-1] + edges[i]) / 2)
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

// Over is barred wherever one height lies above another: a region in which the claim is
// refuted.
type Over struct {
	Key string
	Of  func(x float64) (above, below float64)
}

func (o Over) key() key { return key{words: o.Key, paint: Ink(Bad), form: keyBarred} }

func (o Over) draw(c canvas) {
	const step = 5
	var region, bars []Point
	for px := math.Ceil(c.box.X); px <= c.box.Right()+1; px++ {
		above, below := o.Of(c.x.Value(px))
		if !(above > below) || px > c.box.Right() {
			c.add(Shape{Kind: Strip, Points: region, Paint: Ink(Bad).At(0.16), Clip: c.box})
			region = nil
			continue
		}
		from, to := Point{px, c.y.At(above)}, Point{px, c.y.At(below)}
		region = append(region, from, to)
		if int(px-c.box.X)%step == 0 {
			bars = append(bars, from, to)
		}
	}
	c.add(Shape{Kind: Segments, Points: bars, Width: 1, Paint: Ink(Bad), Clip: c.box})
}

// Bars are boxes between values.
type Bars struct {
	Key   string
	Paint Paint
	Boxes []Box
}

func (b Bars) key() key { return key{words: b.Key, paint: b.Paint, form: keyBox} }

func (b Bars) draw(c canvas) {
	for _, v := range b.Boxes {
		r := c.rectangle(v)
		c.rect(Rect{r.X + 0.5, r.Y, max(0.5, r.W-1), r.H}, b.Paint, c.box)
	}
}

func (c canvas) rectangle(w Box) Rect {
	return Rect{c.x.At(w.X0), c.y.At(w.Y1), c.x.At(w.X1) - c.x.At(w.X0), c.y.At(w.Y0) - c.y.At(w.Y1)}
}

// Region is a hatched box: of the event.
type Region struct {
	Key string
	Box Box
}

func (r Region) key() key { return key{words: r.Key, paint: Ink(EventArea), form: keyRegion} }

func (r Region) draw(c canvas) {
	if box := intersect(c.rectangle(r.Box), c.box); box.W > 0 && box.H > 0 {
		c.rect(box, Ink(EventArea), c.box)
		c.hatch(box, Ink(Hatch).At(0.35), c.box)
	}
}

// Crosses are marks at values: oblique ones, or upright.
type Crosses struct {
	Key     string
	Paint   Paint
	At      [][2]float64
	Upright bool
	Under   bool // points lie above them
}

func (x Crosses) key() key {
	return key{words: x.Key, paint: x.Paint, form: choose(x.Upright, keyCross, keyOblique)}
}

func (x Crosses) draw(c canvas) {
	for _, p := range c.all(x.At) {
		c.cross(p, choose(x.Under, 12.0, 9), !x.Upright, x.Paint, around(c.box, 7))
	}
}

// Drawn is a mark of its own.
type Drawn func(canvas)

func (Drawn) key() key        { return key{} }
func (d Drawn) draw(c canvas) { d(c) }

// stairs hold each height until the next point.
func stairs(points [][2]float64) (out [][2]float64) {
	for i, p := range points {
		if i > 0 {
			out = append(out, [2]float64{p[0], points[i-1][1]})
		}
		out = append(out, p)
	}
	return out
}

// rows makes a table of n rows.
func rows(title string, head []string, n int, row func(fig Figures, i int) []string) func(Figures) Table {
	return func(fig Figures) Table {
		t := Table{Title: title, Head: head}
		for i := range n {
			t.Rows = append(t.Rows, row(fig, i))
		}
		return t
	}
}
