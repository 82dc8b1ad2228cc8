// Package plot is a grammar of pictures. A [View] is a [Plot] for every choice: axes, marks, what can
// be read, a caption, and the same numbers as a table. Legend, layout and hit areas follow from them.
// [Draw] paints them as SVG; wasm/view paints them with Ebiten, for a [Viewer].
package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Plot is a view as values: axes, marks, and items, of which each has a row of the table.
type Plot struct {
	X, Y    Axis
	Height  Height
	Wide    float64 // of columns: in shares of all; 0: 1
	Marks   []Mark
	Items   [][2]float64 // by their values
	Within  []Box        // what is outlined, nil: the items themselves
	Hit     [2]float64   // width and height of the place that points at an item, px; none: what is outlined
	Outline float64      // least side of what is outlined there, px
	// Panels are several plots, one below another; of rows that have names, side by side.
	Panels  []Plot
	Caption string
	Numbers // a row for each item, but where Tooltip says what items read
	Tooltip func(item int) string
	Name    func(item int) string // tells it from others
	Only    Paint                 // all is painted as this, where it has an opacity
	Handle  *Handle               // of a plot without panels
	Said
}

// Mark adds marks.
func (p *Plot) Mark(marks ...Mark) { p.Marks = append(p.Marks, marks...) }

// Add adds an item, outlined as a box, and its row, if the table is of items.
func (p *Plot) Add(x, y float64, within Box, row ...any) {
	p.Items, p.Within = append(p.Items, [2]float64{x, y}), append(p.Within, within)
	if row != nil {
		p.Rows = append(p.Rows, row)
	}
}

// Axis is a scale in values with its title.
type Axis struct {
	Title, Short string // Short where the title has no room, "": it is cut
	Scale
	Words  func(float64) string // of a tick, nil: it has none
	Bold   func(float64) bool   // of a tick, or of a name's number
	Zooms  bool
	Whole  bool      // ticks are whole numbers
	Ticks  []float64 // instead of round ones, those that matter most first
	Values *Window   // of bins: a level axis has no grid; beyond these ends lies all that is beyond
	Names  []string  // of rows, of which row i is at [i, i+1]
	After  []string  // at the right end of rows
}

// Linear is an axis of numbers, Logarithmic one of their powers.
func Linear(title string, lo, hi float64) Axis {
	return Axis{Title: title, Scale: Scale{Lo: lo, Hi: hi}, Words: Short}
}

func Logarithmic(title string, lo, hi float64) Axis {
	return Axis{Title: title, Scale: Scale{Lo: lo, Hi: hi, Log: true}, Words: Power}
}

// Zooming pans and zooms.
func (a Axis) Zooming() Axis {
	a.Zooms = true
	return a
}

func (a Axis) marks(s Scale, n int) []float64 {
	marks := a.Ticks
	switch v := a.Values; {
	case v != nil:
		if s.Lo < v.Lo {
			marks = append(marks, (s.Lo+v.Lo)/2)
		}
		if s.Hi > v.Hi {
			marks = append(marks, (s.Hi+v.Hi)/2)
		}
		if marks = append(marks, ticks(max(s.Lo, v.Lo), min(s.Hi, v.Hi), n)...); v.Lo == v.Hi {
			marks = append(marks, v.Lo)
		}
	case marks == nil:
		marks = s.marks(n)
	}
	least, most := min(s.Lo, s.Hi), max(s.Lo, s.Hi)
	slack := 1e-3 * (most - least)
	return slices.DeleteFunc(slices.Clone(marks), func(v float64) bool {
		return a.Whole && v != math.Round(v) || v < least-slack || v > most+slack
	})
}

func (a Axis) words(at float64) string {
	switch v := a.Values; {
	case v != nil && at < v.Lo:
		return "< " + Short(v.Lo)
	case v != nil && at > v.Hi:
		return "≥ " + Short(v.Hi)
	}
	return a.Words(at)
}

// Height is of a plot's box: the least, px, a share of the width, and the most, px.
type Height [3]float64

var (
	Large    = Height{260, 0.7, 460}
	Squarish = Height{220, 0.66, 340}
)

// Px is a height whatever the width.
func Px(height float64) Height { return Height{height, 0, height} }

// Box is a rectangle between values. What is infinite reaches through all panels.
type Box struct{ X0, X1, Y0, Y1 float64 }

// Span is the box between values of both axes.
func Span(x0, x1, y0, y1 float64) Box { return Box{x0, x1, y0, y1} }

// Infinity ends such a box.
var Infinity = math.Inf(1)

// Row and Column reach through all panels.
func Row(i int) Box               { return Box{-Infinity, Infinity, float64(i), float64(i + 1)} }
func Column(from, to float64) Box { return Box{from, to, -Infinity, Infinity} }

// View is a picture of a report: a plot for every choice.
type View struct {
	ID, Title   string
	ChoiceLabel string
	Choices     []Choice // ways to look at it, the first is the default
	plot        func(choice string) Plot
	Plot        // of what is chosen
}

// Of is the view of a plot for every choice.
func (v View) Of(plot func(choice string) Plot) *View {
	v.plot = plot
	v.Choose("")
	return &v
}

// Always is the view of one plot.
func (v View) Always(p Plot) *View { return v.Of(func(string) Plot { return p }) }

// Choose takes one of the choices.
func (v *View) Choose(id string) {
	if v.Plot = v.plot(id); v.Name == nil {
		v.Name = If(v.Tooltip == nil, v.Numbers.name, strconv.Itoa)
	}
	if v.Tooltip == nil {
		v.Tooltip = v.Numbers.row
	}
}

func (p *Plot) panels() []Plot {
	if p.Panels == nil {
		return []Plot{*p}
	}
	return p.Panels
}

// Zooms says which axes pan and zoom.
func (p *Plot) Zooms() (x, y bool) {
	for _, q := range p.panels() {
		x, y = x || q.X.Zooms, y || q.Y.Zooms
	}
	return x, y
}

// Position says where an item lies, as shares of the whole.
func (p *Plot) Position(i int) (px, py float64) {
	for _, q := range p.panels() {
		if i >= len(q.Items) {
			i -= len(q.Items)
			continue
		}
		x, y := q.X.Scale, q.Y.scale(1, 0)
		x.From, x.To = 0, 1
		return min(1, max(0, x.At(q.Items[i][0]))), min(1, max(0, y.At(q.Items[i][1])))
	}
	return 0.5, 0.5
}

func (a Axis) scale(bottom, top float64) Scale {
	s := a.Scale
	if s.From, s.To = bottom, top; a.Names != nil {
		s.From, s.To, s.Lo, s.Hi = top, bottom, 0, float64(len(a.Names))
	}
	return s
}

func (a Axis) shown(f Frame) Scale {
	y := a.scale(1, 0)
	if a.Zooms {
		y = y.zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})
	}
	return y
}

// Layout lays the picture out.
func (p *Plot) Layout(f Frame) *Scene {
	s := &Scene{Width: f.Width, wide: f.Measure}
	if s.wide == nil {
		s.wide = Roughly
	}
	var keys []key
	for _, q := range p.panels() {
		for _, m := range q.Marks {
			if k := m.key(); k.words != "" && !slices.ContainsFunc(keys, func(o key) bool { return o.words == k.words }) {
				keys = append(keys, k)
			}
		}
	}
	boxes := If(p.panels()[0].Y.Names != nil, p.columns, p.stack)
	all := boxes(s, f, s.legend(keys, 4))
	for _, c := range all {
		c.draw(under)
	}
	for _, c := range all {
		c.upright()
		c.level()
		c.draw(areas, lines, points)
		c.whole = s.Plot
		c.items()
	}
	if p.Only.Alpha > 0 {
		for i := range s.Shapes {
			s.Shapes[i].Paint = p.Only
		}
		for i := range s.Labels {
			s.Labels[i].Role = p.Only.Role
		}
	}
	return s
}

func (p *Plot) stack(s *Scene, f Frame, at float64) []canvas {
	var all []canvas
	left := 12.0
	for _, q := range p.panels() {
		y := q.Y.shown(f)
		all = append(all, canvas{Scene: s, of: &q, y: y})
		if q.Y.Words != nil {
			for _, v := range q.Y.marks(y, yTicks) {
				left = max(left, s.wide(q.Y.words(v))*If(q.Y.Bold != nil, 1.1, 1)+12)
			}
		}
	}
	for i := range all {
		c := &all[i]
		q, h := c.of, c.of.Height
		at += If(q.Y.Title != "", 24.0, 8)
		c.box = Rect{left, at, max(20, f.Width-14-left), min(h[2], max(h[0], h[1]*f.Width))}
		c.x, c.y.From, c.y.To = q.X.Scale, c.box.Bottom(), c.box.Y
		if c.x.From, c.x.To = c.box.X, c.box.Right(); q.X.Zooms {
			c.x = c.x.zoomed(f.Camera.X)
		}
		c.whole = c.box
		at = c.box.Bottom() + If(q.X.Title != "", 44.0, If(q.X.Words != nil, 26.0, 4))
		if q.Y.Title != "" {
			s.label(0, c.box.Y-9, q.Y.title(s, s.Width), Start, Muted)
		}
	}
	s.Height = at
	zooming := slices.DeleteFunc(slices.Clone(all), func(c canvas) bool { return !c.of.X.Zooms && !c.of.Y.Zooms })
	if len(zooming) == 0 {
		zooming = all
	}
	s.Plot = zooming[0].box
	s.Plot.H = zooming[len(zooming)-1].box.Bottom() - s.Plot.Y
	return all
}

// columns puts panels of the same rows side by side, names at the left of rows or above.
func (p *Plot) columns(s *Scene, f Frame, at float64) []canvas {
	panels := p.panels()
	rows := panels[0].Y
	n := float64(len(rows.Names))
	phone := s.Width < narrow
	left, right, drop, pitch := 8.0, 14.0, 9.0, min(60, max(24, 286/n))
	for _, words := range rows.After {
		right = max(right, s.wide(words)*1.12+10)
	}
	if phone {
		pitch += 16
	} else {
		drop = 0
		for _, words := range rows.Names {
			left = max(left, s.wide(words)*1.15+14)
		}
		left = min(left, 0.36*s.Width)
	}
	if rows.Title != "" {
		at += 20
		s.label(0, at-6, rows.title(s, s.Width), Start, Muted)
	}
	height := min(pitch*n, 640)
	s.Plot, s.Height = Rect{0, at, s.Width, height}, at+height+44
	y := rows.scale(at+height, at)
	if rows.Zooms {
		y = y.zoomed(f.Camera.Y)
	}
	pitch = y.At(1) - y.At(0)
	for i, words := range rows.Names {
		top := y.At(float64(i))
		if top+pitch/2 < at || top+pitch/2 > at+height {
			continue
		}
		bold := rows.Bold != nil && rows.Bold(float64(i))
		if phone {
			s.label(4, max(at+12, top+13), clipWords(s, words, s.Width-right-10), Start, Text).Bold = bold
		} else {
			s.label(left-8, top+pitch/2+4, clipWords(s, words, left-10), End, Text).Bold = bold
		}
		if rows.After != nil {
			s.label(s.Width-2, top+If(phone, 13.0, pitch/2+4), rows.After[i], End, Muted).Bold = bold
		}
	}
	sum := 0.0
	for _, q := range panels {
		sum += cmp.Or(q.Wide, 1)
	}
	const gap = 26
	room := s.Width - left - If(phone, 14.0, right) - gap*float64(len(panels)-1)
	var all []canvas
	x := left
	for _, q := range panels {
		c := canvas{Scene: s, of: &q, x: q.X.Scale, y: y, whole: s.Plot, rows: pitch, drop: drop}
		c.box = Rect{x, at, room * cmp.Or(q.Wide, 1) / sum, height}
		c.x.From, c.x.To = c.box.X, c.box.Right()
		c.y.From, c.y.To = y.From+drop, y.To+drop
		x += c.box.W + gap
		all = append(all, c)
	}
	return all
}

const (
	yTicks = 5
	narrow = 520.0 // px, below which a picture is of a phone
)

func (c canvas) upright() {
	p := c.of
	if c.rows > 0 {
		for i := 1.0; i < c.y.Hi && i < float64(len(p.Y.Names)); i++ {
			if at := c.y.At(i) - c.drop; at > c.box.Y && at < c.box.Bottom() && c.rows > 34 {
				c.line(0, at, c.Width, at, 1, Grid.At(0.6))
			}
		}
		return
	}
	if p.Y.Words == nil {
		return
	}
	var taken []float64
	for _, v := range p.Y.marks(c.y, int(max(2, min(yTicks, c.box.H/22)))) {
		at := c.y.At(v)
		if slices.ContainsFunc(taken, func(o float64) bool { return math.Abs(at-o) < 14 }) {
			continue
		}
		taken = append(taken, at)
		c.line(c.box.X, at, c.box.Right(), at, 1, atZero(v))
		if text := p.Y.words(v); text != "" {
			bold := p.Y.Bold != nil && p.Y.Bold(v)
			c.label(c.box.X-6, at+4, text, End, If(bold, Text, Muted)).Bold = bold
		}
	}
}

func (c canvas) level() {
	x, bottom := c.of.X, c.box.Bottom()
	var marks []float64
	if x.Words != nil {
		marks = x.marks(c.x, int(max(2, c.box.W/If(c.rows > 0, 56.0, 70.0))))
	}
	for _, v := range marks {
		switch at := c.x.At(v); {
		case x.Values != nil:
			if v >= x.Values.Lo && v <= x.Values.Hi {
				c.line(at, bottom, at, bottom+4, 1, AxisLine)
			}
		case x.Ticks == nil || c.rows > 0:
			c.line(at, c.box.Y, at, bottom, 1, If(c.rows > 0, atZero(v), Grid))
		}
	}
	c.line(c.box.X, bottom, c.box.Right(), bottom, 1, AxisLine)
	c.ticksUnder(c.x, marks, bottom, x, c.box.X-12, c.box.Right()+14)
	if x.Title != "" {
		c.label((c.box.X+c.box.Right())/2, bottom+37, x.title(c.Scene, If(c.rows > 0, c.box.W+24, c.Width)), Middle, Muted)
	}
}

func (a Axis) title(s *Scene, room float64) string {
	if a.Short != "" && s.wide(a.Title) > room {
		a.Title = a.Short
	}
	return clipWords(s, a.Title, room)
}

func (c canvas) items() {
	p := c.of
	c.Items = slices.Grow(c.Items, len(p.Items))
	for i, v := range p.Items {
		at := c.at(v)
		r := Rect{at.X, at.Y, 0, 0}
		if p.Within != nil {
			r = c.rectangle(p.Within[i])
		}
		if p.Hit == [2]float64{} {
			r = intersect(r, c.whole)
			c.Items = append(c.Items, Item{r, r})
			continue
		}
		dx, dy := max(0, p.Outline-r.W), max(0, p.Outline-r.H)
		r = Rect{r.X - dx/2, r.Y - dy/2, max(r.W, p.Outline), max(r.H, p.Outline)}
		c.Items = append(c.Items, Item{Box: Rect{at.X - p.Hit[0]/2, at.Y - p.Hit[1]/2, p.Hit[0], p.Hit[1]}, Mark: intersect(r, around(c.box, 8))})
	}
}

type canvas struct {
	*Scene
	of    *Plot
	x, y  Scale
	box   Rect
	whole Rect    // what an infinite box fills
	rows  float64 // px of a row that has a name, 0: there are none
	drop  float64 // px by which marks lie below the middles of such rows
}

func (c canvas) at(v [2]float64) Point { return Point{c.x.At(v[0]), c.y.At(v[1])} }

func (c canvas) all(values [][2]float64) []Point {
	out := make([]Point, len(values))
	for i, v := range values {
		out[i] = c.at(v)
	}
	return out
}

func (c canvas) rectangle(w Box) Rect {
	r := c.whole
	if !math.IsInf(w.X0, 0) {
		r.X, r.W = c.x.At(w.X0), c.x.At(w.X1)-c.x.At(w.X0)
	}
	if !math.IsInf(w.Y0, 0) {
		r.Y, r.H = min(c.y.At(w.Y0), c.y.At(w.Y1)), math.Abs(c.y.At(w.Y0)-c.y.At(w.Y1))
		if math.IsInf(w.X0, 0) {
			r.Y -= c.drop
		}
	}
	return r
}
