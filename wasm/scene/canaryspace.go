package scene

import (
	"fmt"
	"math"
	"slices"
)

// canarySpace are the canaries of the explored runs, each by its scores: all in
// the plane in which they differ most, score by score beside the threshold, or two
// at a time by their correlation.
type canarySpace struct {
	choices []Choice
	of      *scoreSample
	points  [][2]float64 // nil where all are the same
	share   [2]float64
	used    int // runs in which all have a score
	what    string
	place   func(i int) (x, y float64)
}

// Ways to look at canary space.
const (
	inPlane  = "plane"
	inRows   = "scores"
	inMatrix = "matrix"
)

func newCanarySpace(p *scoreSample) *canarySpace {
	v := &canarySpace{of: p}
	points := make([][]float64, len(p.canaries))
	for run := range p.runs {
		whole := true
		for _, c := range p.canaries {
			whole = whole && !math.IsNaN(c.scores[run])
		}
		if !whole {
			continue
		}
		v.used++
		for i, c := range p.canaries {
			points[i] = append(points[i], c.scores[run])
		}
	}
	v.points, v.share, _ = principal(points, p.inside)
	if v.points != nil {
		v.choices = append(v.choices, Choice{inPlane, "principal components"})
	}
	v.choices = append(v.choices, Choice{inRows, "scores and threshold"})
	if p.matrix != nil {
		v.choices = append(v.choices, Choice{inMatrix, "correlations"})
	}
	v.choose("")
	return v
}

func (v *canarySpace) view() *View {
	return View{ID: "space", Title: "Canary space", ChoiceLabel: "Show", Choices: v.choices}.of(func(choice string) Plot {
		v.choose(choice)
		p := Plot{Caption: v.caption(), Table: v.table, Tooltip: v.tooltip, Draw: v.draw}
		p.X.Zooms, p.Y.Zooms = v.what == inPlane, v.what != inMatrix
		p.Name = func(i int) string { return v.what + fmt.Sprint(i) }
		p.At = func(i int) (x, y float64) { return v.place(i) }
		return p
	})
}

func (v *canarySpace) choose(id string) {
	v.what = v.choices[0].ID
	for _, c := range v.choices {
		if c.ID == id {
			v.what = id
		}
	}
	v.place = func(int) (x, y float64) { return 0.5, 0.5 }
}

func (v *canarySpace) caption() string {
	n := len(v.of.canaries)
	from := fmt.Sprintf("%s canaries inside and %s fresh ones of the first %s exploration runs", Grouped(v.of.inside), Grouped(n-v.of.inside), Grouped(v.of.runs))
	const no = " On these runs threshold and stakes were chosen; no certificate."
	switch v.what {
	case inPlane:
		if v.used < v.of.runs {
			from += fmt.Sprintf(" (%s of them, in which all have a score)", Grouped(v.used))
		}
		return fmt.Sprintf("%s, a point each: their scores, less each run's mean, in the two directions in which they differ most (%s and %s of the variance). Sides lie apart where canaries inside score otherwise than fresh ones: because something leaks, or by what all canaries share that are scored on one output.",
			from, Percent(v.share[0]), Percent(v.share[1])) + no
	case inRows:
		return fmt.Sprintf("The scores of %s. A score above %s is in the event.", from, Short(v.of.threshold)) + no
	}
	means := [3]string{}
	for b, x := range v.blocks() {
		means[b] = "none"
		if !math.IsNaN(x) {
			means[b] = Short(round(x, 2))
		}
	}
	return fmt.Sprintf("Correlation of the scores of any two canaries over %s exploration runs: on average %s inside, %s among fresh ones, %s across. Canaries of a side are exchangeable: within a block cells differ by chance alone, which makes about ±%s.",
		Grouped(v.of.correlated), means[0], means[1], means[2], Short(round(v.chance(), 2))) + no
}

// chance is two standard errors of a correlation of none.
func (v *canarySpace) chance() float64 { return 2 / math.Sqrt(float64(v.of.correlated)) }

// blocks are mean correlations inside, among fresh canaries and across; NaN where
// there are none.
func (v *canarySpace) blocks() [3]float64 {
	var sum, n [3]float64
	for i := range v.of.canaries {
		for k := range i {
			if r := v.of.matrix[i][k]; !math.IsNaN(r) {
				sum[v.block(i, k)] += r
				n[v.block(i, k)]++
			}
		}
	}
	for b := range sum {
		sum[b] /= n[b]
	}
	return sum
}

// block is that of two canaries: inside, fresh, across.
func (v *canarySpace) block(i, k int) int {
	if a := v.of.canaries[i].side; a == v.of.canaries[k].side {
		return a
	}
	return 2
}

// cell is an item of the matrix, row by row without the diagonal.
func (v *canarySpace) cell(item int) (i, k int) {
	n := len(v.of.canaries) - 1
	i, k = item/n, item%n
	if k >= i {
		k++
	}
	return i, k
}

func (v *canarySpace) tooltip(item int) string {
	if v.what == inMatrix {
		i, k := v.cell(item)
		a, b := v.of.canaries[i], v.of.canaries[k]
		if r := v.of.matrix[i][k]; !math.IsNaN(r) {
			return fmt.Sprintf("%s and %s: correlation %s", a.words(), b.words(), Short(r))
		}
		return fmt.Sprintf("%s and %s: no correlation, one's scores are all the same", a.words(), b.words())
	}
	c := v.of.canaries[item]
	above, n, mean, least, most := c.figures(v.of.threshold)
	if n == 0 {
		return c.words() + ": no score is finite"
	}
	words := fmt.Sprintf("%s: %s of %s scores above the threshold, mean %s", c.words(), Grouped(above), Grouped(n), Short(round(mean, 4)))
	if v.what == inRows {
		return words + fmt.Sprintf(", from %s to %s", Short(round(least, 4)), Short(round(most, 4)))
	}
	return words + fmt.Sprintf("; components %s and %s", Short(round(v.points[item][0], 4)), Short(round(v.points[item][1], 4)))
}

func (v *canarySpace) table(fig Figures) Table {
	if v.what == inMatrix {
		t := Table{Title: "Correlations of scores", Head: []string{"canary", "with", "correlation", "block"}}
		blocks := [3]string{"inside", "fresh", "across"}
		for i, a := range v.of.canaries {
			for k, b := range v.of.canaries[:i] {
				r := choose(!math.IsNaN(v.of.matrix[i][k]), fig.of(v.of.matrix[i][k]), "none")
				t.Rows = append(t.Rows, []string{b.words(), a.words(), r, blocks[v.block(i, k)]})
			}
		}
		return t
	}
	t := Table{Title: "Canaries of the explored runs", Head: []string{"canary", "scores", "above the threshold", "mean", "least", "largest"}}
	if v.points != nil {
		t.Head = append(t.Head, "first component", "second component")
	}
	for i, c := range v.of.canaries {
		above, n, mean, least, most := c.figures(v.of.threshold)
		row := []string{c.words(), fmt.Sprint(n), fmt.Sprint(above)}
		for _, x := range []float64{mean, least, most} {
			if n == 0 {
				row = append(row, "none")
			} else {
				row = append(row, fig.of(x))
			}
		}
		if v.points != nil {
			row = append(row, fig.of(v.points[i][0]), fig.of(v.points[i][1]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (v *canarySpace) draw(f Frame) *Scene {
	switch v.what {
	case inPlane:
		return v.plane(f)
	case inRows:
		return v.rows(f)
	}
	return v.cells(f)
}

// plane draws canaries as points, as long on both axes.
func (v *canarySpace) plane(f Frame) *Scene {
	p := Plot{Height: Height{260, 0.6, 440}, Framed: true, Items: v.points, Hit: Point{24, 24}, Outline: 16}
	height := p.Height.of(f.Width)
	var ends [2][]float64
	var sides [2][][2]float64
	var means [2][2]float64
	for i, c := range v.of.canaries {
		sides[c.side] = append(sides[c.side], v.points[i])
		for k, x := range v.points[i] {
			ends[k] = append(ends[k], x)
		}
	}
	for side, all := range sides {
		paint, form := sideMark(side)
		p.Marks = append(p.Marks, Points{Key: sideWords[side], Paint: paint, At: all, Form: form, Radius: 5})
		for _, at := range all {
			means[side][0] += at[0] / float64(len(all))
			means[side][1] += at[1] / float64(len(all))
		}
	}
	p.Marks = append(p.Marks, Crosses{Key: "mean inside", Paint: Ink(First), At: means[:1], Upright: true, Under: true}, Crosses{Key: "mean of fresh ones", Paint: Ink(Second), At: means[1:], Under: true})
	wholeX, wholeY := spanOf(ends[0]...), spanOf(ends[1]...)
	width := func() float64 { return f.Width - 14 - f.scene(0).gutter(wholeY, 5, Short) }
	unit := max((wholeX.Hi-wholeX.Lo)/width(), (wholeY.Hi-wholeY.Lo)/height)
	widen := func(a Scale, px float64) Scale {
		middle, half := (a.Lo+a.Hi)/2, max(unit*px, a.Hi-a.Lo)/2
		return Scale{Lo: middle - half, Hi: middle + half}
	}
	wholeY = widen(wholeY, height)
	wholeX = widen(wholeX, width())
	component := func(which string, k int) string {
		return which + " component, " + Percent(round(v.share[k], 2)) + " of the variance"
	}
	p.X, p.Y = Axis{Title: component("first", 0), Scale: wholeX, Words: Short}, Axis{Title: component("second", 1), Scale: wholeY, Words: Short}
	v.place = p.position
	p.Marks = append(p.Marks, Drawn(func(c canvas) {
		var taken []Rect
		for _, at := range append(c.all(v.points), c.all(means[:])...) {
			taken = append(taken, around(Rect{at.X, at.Y, 0, 0}, 6))
		}
		for i, at := range c.all(v.points) {
			c.beside(at, fmt.Sprint(v.of.canaries[i].number), c.box, &taken)
		}
	}))
	return p.layout(f)
}

// cross marks a place, upright or oblique.
func (s *Scene) cross(p Point, long float64, oblique bool, paint Paint, clip Rect) {
	points := []Point{{p.X - long, p.Y}, {p.X + long, p.Y}, {p.X, p.Y - long}, {p.X, p.Y + long}}
	if oblique {
		d := 0.7071 * long
		points = []Point{{p.X - d, p.Y - d}, {p.X + d, p.Y + d}, {p.X - d, p.Y + d}, {p.X + d, p.Y - d}}
	}
	s.add(Shape{Kind: Segments, Points: points, Width: 2.5, Paint: paint, Clip: clip})
}

// beside writes words next to a place where nothing is, if there is room.
func (s *Scene) beside(p Point, words string, box Rect, taken *[]Rect) {
	const size, height = 11.0, 11.0
	width := s.measure(words, size) + 2
	if !box.Has(p) {
		return
	}
	for _, r := range []Rect{{p.X + 8, p.Y - 5.5, width, height}, {p.X - 8 - width, p.Y - 5.5, width, height}, {p.X - width/2, p.Y - 19, width, height}, {p.X - width/2, p.Y + 8, width, height}} {
		free := r.X >= box.X && r.Right() <= box.Right() && r.Y >= box.Y && r.Bottom() <= box.Bottom()
		for _, t := range *taken {
			both := intersect(r, t)
			free = free && !(both.W > 0 && both.H > 0)
		}
		if free {
			*taken = append(*taken, r)
			s.Labels = append(s.Labels, Label{X: r.X + 1, Y: r.Bottom() - 2, Words: words, Role: Muted, Size: size})
			return
		}
	}
}

// rows draws every score beside the threshold, a canary a column.
func (v *canarySpace) rows(f Frame) *Scene {
	s := f.scene(0)
	keys := append(sideKeys("inside", "fresh"), key{words: "mean", paint: Ink(Text), form: keyLine}, key{words: "threshold (dashed)", paint: Ink(Event), form: keyDash}, key{words: "in the event", paint: Ink(EventArea), form: keyRegion})
	top := s.legend(keys, 4) + 22
	height := min(440, max(260, f.Width*0.5))
	s.Height = top + height + 62
	all := []float64{v.of.threshold}
	for _, c := range v.of.canaries {
		all = append(all, c.scores...)
	}
	whole := spanOf(all...)
	v.place = func(i int) (x, y float64) {
		_, _, mean, _, _ := v.of.canaries[i].figures(v.of.threshold)
		if math.IsNaN(mean) {
			mean = whole.Lo
		}
		return 0.5, (whole.Hi - mean) / (whole.Hi - whole.Lo)
	}
	f.Camera.X = Whole
	n := len(v.of.canaries)
	const apart = 0.8 // columns between the sides
	x, y, box := s.plane(f, Scale{Lo: 0, Hi: float64(n) + apart}, whole, top, height, Short)
	s.label(0, top-9, "score", Start, Muted)
	pitch := x.At(1) - x.At(0)
	Region{Box: Box{x.Lo, x.Hi, v.of.threshold, whole.Hi}}.draw(canvas{s, x, y, box})
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(AxisLine), Rect{})
	clip := Rect{box.X - 1, box.Y - 3, box.W + 2, box.H + 6}
	radius := math.Round(2*min(4, max(1.5, pitch/4))) / 2
	ends := [2][2]float64{{math.Inf(1), 0}, {math.Inf(1), 0}}
	var means []Point
	for i, c := range v.of.canaries {
		at := x.At(float64(i) + 0.5 + apart*float64(c.side))
		paint, form := sideMark(c.side)
		var points []Point
		for _, score := range c.scores {
			if !math.IsNaN(score) {
				points = append(points, Point{at, y.At(score)})
			}
		}
		s.add(Shape{Kind: Dots, Points: points, Radius: radius, Form: form, Paint: paint.At(0.55), Clip: clip})
		if _, count, mean, _, _ := c.figures(v.of.threshold); count > 0 {
			means = append(means, Point{at - 0.42*pitch, y.At(mean)}, Point{at + 0.42*pitch, y.At(mean)})
		}
		column := Rect{at - pitch/2, box.Y, pitch, box.H}
		s.Items = append(s.Items, Item{Box: column, Mark: column})
		if c.number == 1 || c.number%4 == 0 && pitch > 7 {
			s.label(at, box.Bottom()+18, fmt.Sprint(c.number), Middle, Muted)
		}
		ends[c.side] = [2]float64{min(ends[c.side][0], at), at}
	}
	s.add(Shape{Kind: Segments, Points: means, Width: 2, Paint: Ink(Text), Clip: box})
	s.dash([]Point{{box.X, y.At(v.of.threshold)}, {box.Right(), y.At(v.of.threshold)}}, 1.5, Ink(Event), box)
	for side, e := range ends {
		paint, _ := sideMark(side)
		from, to := e[0]-pitch/2+1, e[1]+pitch/2-1
		s.rect(Rect{from, box.Bottom() + 25, to - from, 3}, paint, Rect{})
		words := []string{"canaries inside", "fresh canaries"}[side]
		if s.wide(words)*1.1 > to-from {
			words = sideWords[side]
		}
		s.label((from+to)/2, box.Bottom()+44, words, Middle, Muted)
	}
	return s
}

// cells draws the matrix of correlations.
func (v *canarySpace) cells(f Frame) *Scene {
	s := f.scene(0)
	n := len(v.of.canaries)
	end := 1.5 * v.chance()
	for i := range n {
		for k := range i {
			if r := math.Abs(v.of.matrix[i][k]); r > end {
				end = r
			}
		}
	}
	end = min(1, end)
	paint := func(r float64) Paint {
		if r < 0 {
			return Between(Panel, Calm, -r/end)
		}
		return Between(Panel, Bad, r/end)
	}
	// The scale of paints.
	const steps, barHeight = 21, 12
	low, high := Short(round(-end, 2)), Short(round(end, 2))
	left := s.wide(low) + 8
	width := min(320, f.Width-left-s.wide(high)-16)
	s.label(0, 14, low, Start, Text)
	for i := range steps {
		r := end * (2*float64(i)/(steps-1) - 1)
		c := Rect{left + width*float64(i)/steps, 4, width / steps, barHeight}
		s.rect(c, paint(r), Rect{})
		if r < 0 && i%2 == 0 {
			s.minus(c, Rect{})
		}
	}
	s.hollow(Rect{left, 4, width, barHeight}, 1, Ink(AxisLine))
	s.label(left+width+8, 14, high, Start, Text)
	s.label(left+width/2, 32, "correlation; barred below 0", Middle, Muted)

	const top, gap = 74.0, 5.0
	margin := s.wide("16") + 14
	cell := min(44, 500/float64(n), (f.Width-margin-gap-12)/float64(n))
	at := func(i int) float64 {
		x := float64(i) * cell
		if v.of.canaries[i].side == 1 {
			x += gap
		}
		return x
	}
	side := at(n-1) + cell
	s.Height = max(top+side+30, top+210+44)
	box := Rect{margin, top, side, side}
	s.Plot = box
	for i, c := range v.of.canaries {
		if c.number == 1 || c.number%4 == 0 {
			s.label(margin-8, top+at(i)+cell/2+4, fmt.Sprint(c.number), End, Muted)
			if cell*4 > s.wide("16")+4 {
				s.label(margin+at(i)+cell/2, top+side+18, fmt.Sprint(c.number), Middle, Muted)
			}
		}
		for k := range n {
			r := Rect{margin + at(k), top + at(i), cell, cell}
			inner := Rect{r.X + 0.5, r.Y + 0.5, r.W - 1, r.H - 1}
			switch x := v.of.matrix[i][k]; {
			case i == k:
				s.rect(inner, Ink(Grid), Rect{})
				continue
			case math.IsNaN(x):
				s.add(Shape{Kind: Segments, Points: []Point{{r.X + 2, r.Y + 2}, {r.Right() - 2, r.Bottom() - 2}}, Width: 1, Paint: Ink(Muted)})
			default:
				s.rect(inner, paint(x), Rect{})
				if x < 0 && -x > 0.2*end {
					s.minus(r, Rect{})
				}
			}
			s.Items = append(s.Items, Item{Box: r, Mark: r})
		}
	}
	// The sides: strips along the edges, words above.
	inside := v.of.inside
	for block, ends := range [2][2]int{{0, inside - 1}, {inside, n - 1}} {
		from, to := at(ends[0]), at(ends[1])+cell
		p, _ := sideMark(block)
		s.rect(Rect{margin + from, top - 7, to - from, 3}, p, Rect{})
		s.rect(Rect{margin - 6, top + from, 3, to - from}, p, Rect{})
		words := sideWords[block]
		if s.wide(words)*1.1 <= to-from {
			s.label(margin+(from+to)/2, top-14, words, Middle, Text)
		}
		for other, ends := range [2][2]int{{0, inside - 1}, {inside, n - 1}} {
			x := at(ends[0])
			ink := choose(other != block, Ink(Grid), Ink(AxisLine))
			s.hollow(Rect{margin + x, top + from, at(ends[1]) + cell - x, to - from}, 1, ink)
		}
	}
	room := Rect{margin + side + 70, top, f.Width - margin - side - 84, 210}
	if room.W < 240 {
		room = Rect{60, top + side + 66, f.Width - 74, 150}
		s.Height = room.Bottom() + 44
	}
	v.strips(s, room, end)
	return s
}

// strips draws the correlations block by block, with their means, over what chance
// alone makes.
func (v *canarySpace) strips(s *Scene, box Rect, end float64) {
	x := Scale{Lo: -1.06 * end, Hi: 1.06 * end, From: box.X, To: box.Right()}
	s.label(box.X-60, box.Y-9, "block by block, with means", Start, Muted)
	chance := min(end, v.chance())
	s.rect(Rect{x.At(-chance), box.Y, x.At(chance) - x.At(-chance), box.H}, Ink(Grid).At(0.6), box)
	marks := x.Marks(int(max(3, box.W/70)))
	if slices.Contains(marks, 0) {
		s.line(x.At(0), box.Y, x.At(0), box.Bottom(), 1, Ink(AxisLine), Rect{})
	}
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(AxisLine), Rect{})
	s.ticksUnder(x, marks, box.Bottom(), Short, box.X-20, box.Right()+12)
	words := "correlation; shaded: by chance alone"
	if s.wide(words)*1.1 > s.Width-box.X {
		words = "shaded: by chance alone"
	}
	s.label(box.X+box.W/2, box.Bottom()+37, words, Middle, Muted)
	row := box.H / 3
	var dots [3][]Point
	for i := range v.of.canaries {
		for k := range i {
			if r := v.of.matrix[i][k]; !math.IsNaN(r) {
				b := v.block(i, k)
				_, off := math.Modf(0.381966 * float64(len(dots[b]))) // apart from its neighbours
				dots[b] = append(dots[b], Point{x.At(r), box.Y + (float64(b)+0.2+0.6*off)*row})
			}
		}
	}
	for b, mean := range v.blocks() {
		paint, form := Ink(Muted), Diamond
		if b < 2 {
			paint, form = sideMark(b)
		}
		middle := box.Y + (float64(b)+0.5)*row
		s.label(box.X-8, middle+4, [3]string{"inside", "fresh", "across"}[b], End, Text)
		s.add(Shape{Kind: Dots, Points: dots[b], Radius: 2.5, Form: form, Paint: paint.At(0.6)})
		if !math.IsNaN(mean) {
			s.line(x.At(mean), middle-0.42*row, x.At(mean), middle+0.42*row, 2.5, Ink(Text), Rect{})
		}
	}
}

// minus marks a box of a value below 0.
func (s *Scene) minus(r Rect, clip Rect) {
	y := r.Y + r.H/2
	s.line(r.X+0.28*r.W, y, r.Right()-0.28*r.W, y, 1, Ink(Panel), clip)
}
