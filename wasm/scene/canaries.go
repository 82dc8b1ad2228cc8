package scene

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// CanaryReport is what the views need of a report of core/canary: of canaries in
// many runs, in one run, or of scores.
type CanaryReport struct {
	head
	Plan struct {
		Relation audit.Relation `json:"relation"`
		Beta     float64        `json:"beta"`
	} `json:"plan"`
	Evidence *struct {
		Runs       *membership.Gathered `json:"runs"`
		Membership *membership.Evidence `json:"membership"`
	} `json:"evidence"`
	In  *CanarySide `json:"in"`
	Out *CanarySide `json:"out"`
}

// CanarySide is canary.Side.
type CanarySide struct {
	Canaries int       `json:"canaries"`
	Moments  []float64 `json:"moments"`
}

// canaryViews are the pictures of a canary report.
func canaryViews(r *CanaryReport) []*View {
	var out []*View
	if r.Evidence != nil && r.Evidence.Runs != nil {
		e := r.Evidence.Runs
		if t := e.Certified.Table; t != nil && len(t.Cells) > 0 {
			v := newCanaryRuns(*t)
			v.coins = r.Kind == "scores" && r.Plan.Relation == audit.AddRemove
			out = append(out, v.view())
		}
		if p := newScoreSample(e.ScoreSample, e.Threshold); p != nil {
			out = append(out, newCanarySpace(p).view(), newCanaryPair(p).view())
		}
	}
	return present(append(out, NewROC(r), NewScores(r), newMoments(r.In, r.Out), newCanaryBounds(r).view()))
}

// canaryRuns are the runs of an audit by how many of their canaries, and of the
// fresh ones, were in the event.
type canaryRuns struct {
	table bounds.CanaryTable
	runs  int
	most  int // runs of a cell
	x, y  Scale
	// coins: fair coins put canaries in or left them out; the table counts those of all
	// that were in, or out, and in the event.
	coins bool
}

func newCanaryRuns(t bounds.CanaryTable) *canaryRuns {
	v := &canaryRuns{table: t}
	for _, c := range t.Cells {
		v.runs += c.Runs
		v.most = max(v.most, c.Runs)
	}
	return v
}

func (v *canaryRuns) caption() string {
	in, out := membership.Shares(v.table)
	if v.coins {
		return fmt.Sprintf("%s certification runs of %s canaries, each in by a fair coin: %s of all were in and in the event, %s out and in the event. Were nothing leaked, both would scatter alike.",
			Grouped(v.runs), Grouped(v.table.K), Percent(in), Percent(out))
	}
	return fmt.Sprintf("%s certification runs: %s of the %s canaries inside were in the event, and %s of the %s fresh ones. Were nothing leaked, both would scatter alike.",
		Grouped(v.runs), Percent(in), Grouped(v.table.K), Percent(out), Grouped(v.table.M))
}

func (v *canaryRuns) tooltip(i int) string {
	c := v.table.Cells[i]
	if v.coins {
		return fmt.Sprintf("of %s canaries %s in and %s out in the event: %s runs (%s)", Grouped(v.table.K), Grouped(c.X), Grouped(c.Y), Grouped(c.Runs), Percent(share(c.Runs, v.runs)))
	}
	return fmt.Sprintf("%s of %s canaries inside and %s of %s fresh ones in the event: %s runs (%s)", Grouped(c.X), Grouped(v.table.K), Grouped(c.Y), Grouped(v.table.M), Grouped(c.Runs), Percent(share(c.Runs, v.runs)))
}

func (v *canaryRuns) view() *View {
	p := Plot{Caption: v.caption(), Tooltip: v.tooltip, Draw: v.draw}
	most := [2]int{1, 1}
	for _, c := range v.table.Cells {
		most = [2]int{max(most[0], c.X), max(most[1], c.Y)}
		p.Items = append(p.Items, [2]float64{float64(c.X), float64(c.Y)})
	}
	for k, axis := range []*Axis{&p.X, &p.Y} { // a little beyond the runs
		*axis = Axis{Zooms: true, Scale: Scale{Lo: -0.5, Hi: min(float64([2]int{v.table.K, v.table.M}[k]), 1.1*float64(most[k])) + 0.5}}
	}
	v.x, v.y = p.X.Scale, p.Y.Scale
	p.Table = rows("Runs by canaries in the event", []string{"inside", "of", "fresh", "of", "runs"}, len(v.table.Cells), func(_ Figures, i int) []string {
		c := v.table.Cells[i]
		return []string{fmt.Sprint(c.X), fmt.Sprint(v.table.K), fmt.Sprint(c.Y), fmt.Sprint(v.table.M), fmt.Sprint(c.Runs)}
	})
	return View{ID: "runs", Title: "Canaries"}.of(func(string) Plot { return p })
}

const mostColumns = 64

// columns are shares of runs by the share of their canaries in the event, from 0
// to a little beyond the most that occurs.
func (v *canaryRuns) columns() (in, out []float64, end float64) {
	n := min(mostColumns, max(v.table.K, v.table.M)+1)
	in, out = make([]float64, n), make([]float64, n)
	last := 0
	put := func(into []float64, x, of, runs int) {
		i := min(n-1, x*n/of)
		into[i] += share(runs, v.runs)
		last = max(last, i)
	}
	for _, c := range v.table.Cells {
		put(in, c.X, v.table.K, c.Runs)
		put(out, c.Y, v.table.M, c.Runs)
	}
	shown := min(n, last+2)
	return in[:shown], out[:shown], float64(shown) / float64(n)
}

func (v *canaryRuns) draw(f Frame) *Scene {
	s := f.scene(0)
	top := s.legend([]key{{words: "canaries inside (up)", paint: Ink(First), form: keyBox}, {words: "fresh canaries (down)", paint: Ink(Second), form: keyBox},
		{words: "runs (the more, the larger)", paint: Ink(Event), form: keyDot, mark: Disc}, {words: "as large a share inside as fresh", paint: Ink(Text), form: keyDash}}, 4) + 22
	const upper, gap = 150, 60
	lower := min(380, max(240, f.Width*0.5))
	s.Height = top + upper + gap + lower + 44
	in, out, end := v.columns()
	mostIn, mostOut := slices.Max(in), slices.Max(out)
	left := s.wide(Grouped(v.table.M))
	for _, m := range []float64{mostIn, mostOut} {
		left = max(left, s.wide(Percent(round(m, 1))))
	}
	left += 16
	right := f.Width - 14

	// Both distributions, over the share of canaries.
	share := Scale{Lo: 0, Hi: end, From: left, To: right}
	box := Rect{left, top, right - left, upper}
	y := Scale{Lo: -mostOut * 1.05, Hi: mostIn * 1.05, From: box.Bottom(), To: box.Y}
	title := "share of runs, by the share of their canaries in the event"
	if f.Width < 480 {
		title = "runs by the share in the event"
	}
	s.label(0, top-9, title, Start, Muted)
	s.across(y, 5, box, func(v float64) string { return Percent(math.Abs(v)) })
	width := (right - left) / float64(len(in))
	for i := range in {
		at := left + float64(i)*width
		s.rect(Rect{at + 0.5, y.At(in[i]), max(1, width-1), y.At(0) - y.At(in[i])}, Ink(First), box)
		s.rect(Rect{at + 0.5, y.At(0), max(1, width-1), y.At(-out[i]) - y.At(0)}, Ink(Second), box)
	}
	s.ticksUnder(share, share.Marks(int(max(3, box.W/60))), box.Bottom(), Percent, left-14, right+14)

	// The runs in the plane.
	x, y := v.x, v.y
	box = Rect{left, top + upper + gap, right - left, lower}
	x.From, x.To, y.From, y.To = box.X, box.Right(), box.Bottom(), box.Y
	x, y = x.Zoomed(f.Camera.X), y.Zoomed(Window{1 - f.Camera.Y.Hi, 1 - f.Camera.Y.Lo})
	s.Plot = box
	whole := func(marks []float64) []float64 {
		return slices.DeleteFunc(marks, func(v float64) bool { return v != math.Round(v) })
	}
	s.label(0, box.Y-9, "fresh canaries in the event, of "+Grouped(v.table.M), Start, Muted)
	for _, m := range whole(y.Marks(5)) {
		s.line(box.X, y.At(m), box.Right(), y.At(m), 1, Ink(Grid), box)
		s.label(box.X-6, y.At(m)+4, Short(m), End, Muted)
	}
	marks := whole(x.Marks(int(max(3, box.W/60))))
	for _, m := range marks {
		s.line(x.At(m), box.Y, x.At(m), box.Bottom(), 1, Ink(Grid), box)
	}
	s.line(box.X, box.Bottom(), box.Right(), box.Bottom(), 1, Ink(AxisLine), Rect{})
	s.line(box.X, box.Y, box.X, box.Bottom(), 1, Ink(AxisLine), Rect{})
	s.ticksUnder(x, marks, box.Bottom(), Short, left-10, right+12)
	s.label((left+right)/2, box.Bottom()+37, "canaries inside in the event, of "+Grouped(v.table.K), Middle, Muted)
	if from, to, in := clipSegment(Point{x.At(0), y.At(0)}, Point{x.At(float64(v.table.K)), y.At(float64(v.table.M))}, box); in {
		s.dash([]Point{from, to}, 1.3, Ink(Text), box)
	}
	sizes := map[float64]*Shape{}
	for _, c := range v.table.Cells {
		r := math.Round(2*max(2, 11*math.Sqrt(float64(c.Runs)/float64(v.most)))) / 2
		if sizes[r] == nil {
			sizes[r] = &Shape{Kind: Dots, Form: Disc, Radius: r, Paint: Ink(Event).At(0.65), Clip: Rect{box.X - 1, box.Y - 1, box.W + 2, box.H + 2}}
		}
		p := Point{x.At(float64(c.X)), y.At(float64(c.Y))}
		sizes[r].Points = append(sizes[r].Points, p)
		hit := max(r, 5)
		s.Items = append(s.Items, Item{Box: intersect(Rect{p.X - hit, p.Y - hit, 2 * hit, 2 * hit}, box), Mark: intersect(Rect{p.X - r - 2, p.Y - r - 2, 2*r + 4, 2*r + 4}, box)})
	}
	for r := 11.0; r >= 2; r -= 0.5 {
		if sizes[r] != nil {
			s.add(*sizes[r])
		}
	}
	return s
}

// correlation is how canaries of one run hang together: how often several are in
// the event at once, and how the variance of their rate falls with their number.
type correlation struct {
	sides   [2]*CanarySide // inside, fresh
	figures []figure
}

// figure is an item: a moment, or the variance of the rate of k canaries.
type figure struct {
	side        int
	order, k    int // one of them is 0
	value       float64
	independent float64 // were the canaries independent
}

var sideWords = [2]string{"inside", "fresh"}

// newMoments is nil where no second moment is known.
func newMoments(in, out *CanarySide) *View {
	v := correlation{sides: [2]*CanarySide{in, out}}
	for side, x := range v.sides {
		if x == nil || len(x.Moments) < 2 {
			return nil
		}
		for l, mu := range x.Moments {
			v.figures = append(v.figures, figure{side: side, order: l + 1, value: mu, independent: math.Pow(x.Moments[0], float64(l+1))})
		}
	}
	for side, x := range v.sides {
		for k := 1; ; k = min(2*k, x.Canaries) {
			v.figures = append(v.figures, figure{side: side, k: k, value: x.variance(k), independent: x.spread() / float64(k)})
			if k == x.Canaries {
				break
			}
		}
	}
	return View{ID: "moments", Title: "Correlation"}.of(v.plot)
}

// spread is the variance of one canary's indicator, covariance that of two of a
// run.
func (x *CanarySide) spread() float64     { return x.Moments[0] - x.Moments[0]*x.Moments[0] }
func (x *CanarySide) covariance() float64 { return x.Moments[1] - x.Moments[0]*x.Moments[0] }

// variance is that of the rate of k exchangeable canaries of a run:
// spread/k + (1 - 1/k) covariance.
func (x *CanarySide) variance(k int) float64 {
	return x.spread()/float64(k) + (1-1/float64(k))*x.covariance()
}

// correlation is that of any two canaries of a run: they are exchangeable, so the
// matrix has this one figure off its diagonal. NaN where all are alike.
func (x *CanarySide) correlation() float64 { return x.covariance() / x.spread() }

func (v correlation) caption() string {
	words := "Canaries of a run are exchangeable: any two have the same correlation, "
	for side, x := range v.sides {
		c := "none that can be told (all are alike)"
		if r := x.correlation(); !math.IsNaN(r) {
			c = Short(round(r, 3))
		}
		words += fmt.Sprintf("%s %s", c, sideWords[side])
		if side == 0 {
			words += " and "
		}
	}
	return words + ". The more they hang together, the less a further canary tells: the variance of their rate falls to their covariance and no lower. As observed in the certification runs; no certificate."
}

func (f figure) words() string {
	if f.k > 0 {
		if f.k == 1 {
			return "variance of one canary"
		}
		return fmt.Sprintf("variance of the rate of %s canaries", Grouped(f.k))
	}
	if f.order == 1 {
		return "chance that a canary is in the event"
	}
	return fmt.Sprintf("chance that %d given canaries are all in it", f.order)
}

func (v correlation) tooltip(i int) string {
	f := v.figures[i]
	return fmt.Sprintf("%s, %s: %s; were they independent: %s", sideWords[f.side], f.words(), Short(round(f.value, 4)), Short(round(f.independent, 4)))
}

func (v correlation) plot(string) Plot {
	orders, largest := max(len(v.sides[0].Moments), len(v.sides[1].Moments)), 1
	least, most := [2]float64{1, 1}, [2]float64{} // of chances and variances above 0
	for _, g := range v.figures {
		k := min(1, g.k)
		largest = max(largest, g.k)
		for _, x := range []float64{g.value, g.independent} {
			if x > 0 {
				least[k], most[k] = min(least[k], x), max(most[k], x)
			}
		}
	}
	plots := [2]Plot{
		{X: Axis{Title: "given canaries", Scale: Scale{Lo: 0.6, Hi: float64(orders) + 0.4}}, Y: Axis{Title: "chance that so many are all in the event"}},
		{X: Axis{Title: "canaries a run", Scale: Scale{Lo: 0.9, Hi: float64(largest) * 1.1, Log: true}}, Y: Axis{Title: "variance of their rate in a run"}},
	}
	for l := range orders {
		plots[0].X.Ticks = append(plots[0].X.Ticks, float64(l+1))
	}
	for n := 1; n <= largest; n *= 2 {
		plots[1].X.Ticks = append(plots[1].X.Ticks, float64(n))
	}
	for k := range plots {
		p := &plots[k]
		p.Hit, p.Outline, p.Y.Words = Point{24, 24}, 14, Power
		p.Y.Scale = Scale{Hi: 1}
		if most[k] > 0 {
			p.Y.Scale = Scale{Lo: math.Pow(10, math.Floor(math.Log10(0.9*least[k]))), Hi: most[k] * 1.4, Log: true}
		}
		var lines [2][2][][2]float64 // side, observed or independent
		for _, g := range v.figures {
			if min(1, g.k) != k {
				continue
			}
			at := float64(max(g.order, g.k))
			for i, value := range []float64{g.value, g.independent} {
				if value > 0 || !p.Y.Log {
					lines[g.side][i] = append(lines[g.side][i], [2]float64{at, value})
				}
			}
			p.Items = append(p.Items, [2]float64{at, g.value})
		}
		for side, both := range lines {
			paint, form := sideMark(side)
			p.Marks = append(p.Marks, Points{Key: sideWords[side], Paint: paint, At: both[0], Form: form, Radius: 4})
			p.Marks = append([]Mark{Line{Paint: paint, Points: both[0], Width: 1.6}}, append(p.Marks, Line{Paint: paint.At(0.8), Points: both[1], Width: 1.2, Dash: true})...)
		}
		p.Marks = append(p.Marks, Line{Key: "were they independent (dashed)", Paint: Ink(Muted), Dash: true})
	}
	return Plot{Caption: v.caption(), Tooltip: v.tooltip, Draw: facets(plots, 190, 66),
		Table: rows("Moments and variances", []string{"canaries", "figure", "observed", "were they independent"}, len(v.figures), func(fig Figures, i int) []string {
			f := v.figures[i]
			return []string{sideWords[f.side], f.words(), fig.of(f.value), fig.of(f.independent)}
		})}
}
