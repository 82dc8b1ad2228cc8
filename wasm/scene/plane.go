package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
)

const planeID = "plane"

// plane is a report's, ready to be drawn: counts by bins of the score and of the
// direction, the cells that hold outputs, and the sums over either.
type plane struct {
	chart.Plane
	cells        []planeCell
	across, up   []Bin // by the score and by the direction, with the sums
	score, along []Bin // those that hold outputs
	full         float64
	compared     bool // the cells' ratios
}

// planeCell is a cell of a plane: bin j of the score, bin i of the direction.
type planeCell struct {
	Bin
	i, j int
	look int
}

// How a cell's ratio looks.
const (
	unclear   = iota
	clear     // one side is likelier
	beyondAll // by more than the claimed epsilon
)

const mostPlaneBins = 200

// newPlane is nil where there is nothing to draw, or it does not fit together.
func newPlane(p *chart.Plane) *plane {
	if p == nil {
		return nil
	}
	for _, e := range [][]float64{p.ScoreEdges, p.Edges} {
		if n := len(e); n < 2 || n > mostPlaneBins || !slices.IsSorted(e) || !(e[n-1] > e[0]) || math.IsInf(4*(e[n-1]-e[0]), 0) {
			return nil
		}
	}
	across, up := len(p.ScoreEdges)+1, len(p.Edges)+1
	v := &plane{Plane: *p, across: make([]Bin, across), up: make([]Bin, up)}
	var of [2]int
	for side, counts := range [][]int{p.First, p.Second} {
		if len(counts) != across*up {
			return nil
		}
		for _, n := range counts {
			if n < 0 || n > math.MaxInt32 {
				return nil
			}
			of[side] += n
		}
	}
	if of[0]+of[1] == 0 {
		return nil
	}
	for j := range v.across {
		v.across[j] = interval(p.ScoreEdges, j, Bin{firstOf: of[0], secondOf: of[1]})
	}
	for i := range v.up {
		v.up[i] = interval(p.Edges, i, Bin{firstOf: of[0], secondOf: of[1]})
	}
	var masses []float64
	for i := range v.up {
		for j := range v.across {
			c := planeCell{Bin{First: p.First[i*across+j], Second: p.Second[i*across+j], firstOf: of[0], secondOf: of[1]}, i, j, unclear}
			if c.First+c.Second == 0 {
				continue
			}
			v.cells = append(v.cells, c)
			masses = append(masses, c.mass())
			for _, b := range []*Bin{&v.across[j], &v.up[i]} {
				b.First += c.First
				b.Second += c.Second
			}
		}
	}
	v.score, v.along = occupied(v.across), occupied(v.up)
	slices.Sort(masses)
	v.full = masses[len(masses)-1-len(masses)/20]
	return v
}

// compare holds the cells' ratios against epsilon, where that is above 0.
func (v *plane) compare(epsilon float64) {
	if v.compared {
		return
	}
	v.compared = true
	for k := range v.cells {
		v.cells[k].look = v.cells[k].Bin.look(epsilon, len(v.cells))
	}
}

// name is the cell in words.
func (v *plane) name(i int) string {
	c := v.cells[i]
	return "score " + v.across[c.j].Words + ", direction " + v.up[c.i].Words
}

// occupied leaves out what lies beyond the edges, where nothing does.
func occupied(bins []Bin) []Bin {
	if b := bins[0]; b.First+b.Second == 0 {
		bins = bins[1:]
	}
	if b := bins[len(bins)-1]; b.First+b.Second == 0 {
		bins = bins[:len(bins)-1]
	}
	return bins
}

// mass is the mean share of both datasets.
func (b Bin) mass() float64 {
	p, q := b.Shares()
	return (p + q) / 2
}

// look is how the cell's ratio looks. That the sides differ is said at 95 % for this
// cell alone, that they differ by more than epsilon at 95 % for all of so many
// cells together: by the binomial law of the first side's part, given both (Przyborowski
// and Wilenski, Biometrika 31, 1940).
func (b Bin) look(epsilon float64, cells int) int {
	x, n, odds := b.First, b.firstOf, b.LogRatio()
	y, m := b.Second, b.secondOf
	if odds < 0 {
		x, n, y, m = y, m, x, n
	}
	atLeast := func(epsilon float64) float64 {
		weight := math.Exp(epsilon) * float64(n)
		return binomialTail(x, x+y, weight/(weight+float64(m)))
	}
	switch {
	case epsilon > 0 && atLeast(epsilon) <= 0.025/float64(cells):
		return beyondAll
	case atLeast(0) <= 0.025:
		return clear
	}
	return unclear
}

// binomialTail is the chance of at least x of n at rate p in (0, 1), or 1 where that
// is no less than about a half.
func binomialTail(x, n int, p float64) float64 {
	if !(float64(x) > float64(n)*p) {
		return 1
	}
	lgamma := func(k int) float64 {
		v, _ := math.Lgamma(float64(k) + 1)
		return v
	}
	term := math.Exp(lgamma(n) - lgamma(x) - lgamma(n-x) + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p))
	sum := term
	for k := x; k < n && term > 1e-12*sum; k++ {
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
		sum += term
	}
	return sum
}

// inEvent is 1 for a cell in the event, 0 for one that is not, 0.5 where the border
// cuts it.
func (v *plane) inEvent(c planeCell) float64 {
	if v.Border == nil {
		return 0
	}
	from, to := ends(v.ScoreEdges, c.j)
	switch {
	case from >= *v.Border:
		return map[bool]float64{true: 1}[v.Above]
	case to <= *v.Border:
		return map[bool]float64{false: 1}[v.Above]
	}
	return 0.5
}

// outputs are how many of each side were counted.
func (v *plane) outputs() (first, second int) { return v.cells[0].firstOf, v.cells[0].secondOf }

func (d *divergence) planeCaption() string {
	v := d.plane
	words := d.live
	if words != "" {
		words += " "
	}
	var seen [3]int
	epsilon, dp := epsilonOf(d.claim)
	for _, c := range v.cells {
		seen[c.look]++
	}
	n, m := v.outputs()
	outputs := Grouped(n)
	if m != n {
		outputs += " and " + Grouped(m)
	}
	all := 0
	for _, b := range d.bins {
		all += b.First
	}
	words += fmt.Sprintf("%s of %s certification outputs a side, by the witness's score and the direction in which they vary most besides: %s (each in its standard deviations, less what the score explains). Where the score holds all that tells the datasets apart, the ratio does not change upwards. ", outputs, Grouped(all), v.Words)
	words += fmt.Sprintf("Of %s cells, %s are likelier on one dataset, each at 95 %% for itself (by chance up to about %s)", Grouped(len(v.cells)), Grouped(seen[clear]+seen[beyondAll]), Grouped((len(v.cells)+19)/20))
	if dp {
		words += fmt.Sprintf("; %s by more than e^%s, at 95 %% for all together", Grouped(seen[beyondAll]), Short(epsilon))
	}
	return words + ". What is certified stands in the report."
}

func (d *divergence) planeTooltip(i int) string {
	c := d.plane.cells[i]
	c.Words = d.plane.name(i)
	words := d.counted(c.Bin)
	switch d.plane.inEvent(c) {
	case 1:
		words += "; in the event"
	case 0.5:
		words += "; partly in the event"
	}
	return words
}

// planeTable are the cells. While a run goes on, many times a second, they are the
// sums over the direction.
func (d *divergence) planeTable(fig Figures) Table {
	v := d.plane
	if d.live != "" {
		t := Table{Title: "Outputs by score so far", Head: []string{"score of the witness", "first dataset", "share", "second dataset", "share", "ln ratio", "±"}}
		for _, b := range v.score {
			t.Rows = append(t.Rows, append([]string{b.Words}, b.figures(fig)...))
		}
		return t
	}
	t := Table{Title: "Outputs by score and direction", Head: []string{"score of the witness", "direction: " + v.Words, "first dataset", "share", "second dataset", "share", "ln ratio", "±", "in the event"}}
	for _, c := range v.cells {
		row := append([]string{v.across[c.j].Words, v.up[c.i].Words}, c.figures(fig)...)
		t.Rows = append(t.Rows, append(row, map[float64]string{0: "no", 0.5: "partly", 1: "yes"}[v.inEvent(c)]))
	}
	return t
}

// figures are counts, shares, log ratio and its spread as cells of a table.
func (b Bin) figures(fig Figures) []string {
	p, q := b.Shares()
	ratio, spread := "", ""
	if r := b.LogRatio(); !math.IsNaN(r) {
		ratio = fig.of(r)
	}
	if s := b.Spread(); !math.IsNaN(s) {
		spread = fig.of(s)
	}
	return []string{fmt.Sprint(b.First), fig.of(p), fmt.Sprint(b.Second), fig.of(q), ratio, spread}
}

// scales are those of score and direction, in values.
func (v *plane) scales() (x, y Scale) {
	end := func(bins []Bin) Scale { return Scale{Lo: bins[0].From, Hi: bins[len(bins)-1].To} }
	return end(v.score), end(v.along)
}

func (v *plane) place(i int) (float64, float64) {
	x, y := v.scales()
	x.To, y.From = 1, 1
	c := v.cells[i]
	across, up := v.box(c)
	return x.At((across.From + across.To) / 2), y.At((up.From + up.To) / 2)
}

// box is where a cell begins and ends, by the score and by the direction.
func (v *plane) box(c planeCell) (across, up *Bin) { return &v.across[c.j], &v.up[c.i] }

// layout draws every cell, as large as it is likely and formed by its ratio, with
// the sums over the score above and over the direction beside it.
func (v *plane) layout(f Frame, claim audit.Claim) *Scene {
	s := f.scene(0)
	narrow := f.Width < 520
	epsilon, dp := epsilonOf(claim)
	items := []key{{words: "likelier on the first", paint: Ink(First), form: keyDiamond}, {words: "likelier on the second", paint: Ink(Second), form: keySquare}, {words: "no clear difference", paint: Ink(Muted), form: keyHollow}}
	if dp {
		items = append(items, key{words: "beyond the claimed ε = " + Short(epsilon), paint: Ink(Text), form: keyOutline})
	}
	if v.Border != nil {
		sign := choose(v.Above, " > ", " ≤ ")
		items = append(items, key{words: "in the event: score" + sign + Short(*v.Border), paint: Ink(EventArea), form: keyRegion})
	}
	top := s.legend(items, 4) + 20
	const upper, gap, foot = 74.0, 34.0, 42.0
	beside := choose(narrow, 0.0, min(130, f.Width*0.14))
	xs, ys := v.scales()
	inner := func(y Scale) Scale { // the axis between the edges
		lo, hi := max(y.Lo, v.Edges[0]), min(y.Hi, v.Edges[len(v.Edges)-1])
		return Scale{Lo: lo, Hi: hi, From: y.At(lo), To: y.At(hi)}
	}
	low, high := "< "+Short(v.Edges[0]), "≥ "+Short(v.Edges[len(v.Edges)-1])
	left := max(s.gutter(ys, 6, Short), s.wide(low)+12, s.wide(high)+12)
	x := Scale{Lo: xs.Lo, Hi: xs.Hi, From: left, To: f.Width - 12 - beside}
	if beside > 0 {
		x.To -= 14
	}
	x = x.Zoomed(f.Camera.X)
	head := Rect{left, top, x.To - x.From, upper}
	plot := Rect{left, head.Bottom() + gap, head.W, min(480, max(280, head.W*0.72))}
	s.Plot, s.Height = plot, plot.Bottom()+foot
	y := Scale{Lo: ys.Lo, Hi: ys.Hi, From: plot.Bottom(), To: plot.Y}.Zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})

	// The event and its border.
	if v.Border != nil {
		at := x.At(v.between(*v.Border))
		r := Rect{plot.X, 0, at - plot.X, 0}
		if v.Above {
			r.X, r.W = at, plot.Right()-at
		}
		for _, box := range []Rect{head, plot} {
			r.Y, r.H = box.Y, box.H
			in := intersect(r, box)
			s.rect(in, Ink(EventArea), box)
			if box == head {
				s.hatch(in, Ink(Hatch).At(0.55), box)
			}
			s.dash([]Point{{at, box.Y}, {at, box.Bottom()}}, 1.5, Ink(Event), around(box, 0.5))
		}
	}
	// Its axes.
	between := inner(y)
	if between.Hi > between.Lo {
		for _, m := range between.Marks(6) {
			if at := y.At(m); at >= plot.Y && at <= plot.Bottom() {
				s.line(plot.X, at, plot.Right(), at, 1, Ink(Grid), Rect{})
				s.label(plot.X-6, at+4, Short(m), End, Muted)
			}
		}
	}
	for k, words := range [2]string{low, high} {
		b := v.up[k*len(v.Edges)]
		at := y.At((b.From + b.To) / 2)
		if b.From >= ys.Lo-1e-9*math.Abs(ys.Lo) && b.To <= ys.Hi+1e-9*math.Abs(ys.Hi) && at > plot.Y && at < plot.Bottom() {
			s.label(plot.X-6, at+4, words, End, Muted)
		}
	}
	s.line(plot.X, plot.Y, plot.X, plot.Bottom(), 1, Ink(AxisLine), Rect{})
	s.under(x, plot.Bottom(), Window{v.ScoreEdges[0], v.ScoreEdges[len(v.ScoreEdges)-1]})
	axis := "score of the witness (higher: likelier on the first dataset)"
	if s.wide(axis) > f.Width-20 {
		axis = "score of the witness"
	}
	s.label((x.From+x.To)/2, plot.Bottom()+36, axis, Middle, Muted)
	room := f.Width - 8
	if beside > 0 {
		room = plot.Right() - 8
		s.label(plot.Right()+14, plot.Y-10, "share", Start, Muted)
	}
	s.label(0, plot.Y-10, clipWords(s, "direction: "+v.Words, room), Start, Muted)

	// The sums.
	most := func(bins []Bin) float64 {
		m := 0.0
		for _, b := range bins {
			p, q := b.Shares()
			m = max(m, p, q)
		}
		return m * 1.06
	}
	up := Scale{Lo: 0, Hi: most(v.score), From: head.Bottom(), To: head.Y}
	s.across(up, 3, head, Percent)
	title := "share of outputs by score: first (line), second (dashed)"
	if s.wide(title) > f.Width-8 {
		title = "share: first (line), second (dashed)"
	}
	s.label(0, head.Y-8, title, Start, Muted)
	s.steps(v.score, func(at, share float64) Point { return Point{x.At(at), up.At(share)} }, around(head, 1))
	if beside > 0 {
		side := Rect{plot.Right() + 14, plot.Y, beside, plot.H}
		right := Scale{Lo: 0, Hi: most(v.along), From: side.X, To: side.Right()}
		for _, m := range right.Marks(2) {
			s.line(right.At(m), side.Y, right.At(m), side.Bottom(), 1, Ink(Grid), Rect{})
		}
		s.ticksUnder(right, right.Marks(2), side.Bottom(), Percent, side.X-4, side.Right()+12)
		s.steps(v.along, func(at, share float64) Point { return Point{right.At(share), y.At(at)} }, around(side, 1))
	}

	// The cells.
	for _, c := range v.cells {
		across, up := v.box(c)
		box := Rect{x.At(across.From), y.At(up.To), x.At(across.To) - x.At(across.From), y.At(up.From) - y.At(up.To)}
		s.Items = append(s.Items, Item{Box: intersect(box, plot), Mark: intersect(box, plot)})
		if intersect(box, plot).W <= 0 || intersect(box, plot).H <= 0 {
			continue
		}
		v.draw(s, c, box, plot, epsilon)
	}
	return s
}

// between is a score's place: beyond the edges in the gap before the box beside them.
func (v *plane) between(score float64) float64 {
	e := v.ScoreEdges
	gap := 0.3 * (e[len(e)-1] - e[0]) / float64(len(e)-1)
	return min(e[len(e)-1]+gap, max(e[0]-gap, score))
}

// draw draws a cell in its box: a diamond where the first dataset is likelier, a
// square where the second is, hollow where neither clearly is; its area is the share
// of outputs, up to a full one, and it is the stronger the larger the ratio.
func (v *plane) draw(s *Scene, c planeCell, box, clip Rect, epsilon float64) {
	size := math.Sqrt(min(1, c.mass()/v.full))
	least := choose(c.look == beyondAll, 9, 2.4)
	w, h := max(min(least, box.W), box.W*size), max(min(least, box.H), box.H*size)
	middle := Point{box.X + box.W/2, box.Y + box.H/2}
	r := Rect{middle.X - w/2, middle.Y - h/2, w, h}
	look, ratio := c.look, c.LogRatio()
	strength := 0.35 + 0.65*min(1, math.Abs(ratio)/max(epsilon, 0.5))
	shape := Shape{Kind: Fill, Clip: clip, Paint: Between(Panel, First, strength)}
	if ratio > 0 && look != unclear {
		shape.Points = diamond(r)
	} else {
		shape.Paint = Between(Panel, Second, strength)
		shape.Points = corners(inset(r, 0.5*(1-math.Sqrt2/2)))
	}
	if look != unclear {
		s.add(shape)
	}
	if look != clear {
		shape.Kind, shape.Points, shape.Width, shape.Paint = Stroke, append(shape.Points, shape.Points[0]), 1.5, Ink(Text)
		if look == unclear {
			shape.Width, shape.Paint = 1, Ink(Muted).At(0.75)
		}
		s.add(shape)
	}
}

// inset is a box less a share of it on every side.
func inset(r Rect, by float64) Rect {
	return Rect{r.X + by*r.W, r.Y + by*r.H, r.W * (1 - 2*by), r.H * (1 - 2*by)}
}

func diamond(r Rect) []Point {
	x, y := r.X+r.W/2, r.Y+r.H/2
	return []Point{{x, r.Y}, {r.Right(), y}, {x, r.Bottom()}, {r.X, y}}
}
