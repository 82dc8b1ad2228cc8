package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// Bin is an interval of outputs or scores, or an outcome.
type Bin struct {
	Words             string
	From, To          float64 // of an interval; of those beyond the edges, a box beside them
	First, FirstIn    int
	Second, SecondIn  int
	firstOf, secondOf int     // outputs in all
	low, high         float64 // what an interval holds, infinite beyond the edges
}

// Shares of the outputs on both datasets.
func (b Bin) Shares() (first, second float64) {
	return share(b.First, b.firstOf), share(b.Second, b.secondOf)
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// inEvent is how much of the bin lies in the event, over both sides.
func (b Bin) inEvent() float64 { return share(b.FirstIn+b.SecondIn, b.First+b.Second) }

// LogRatio is ln(first share / second share), infinite where one of them was
// never seen, and NaN where neither was.
func (b Bin) LogRatio() float64 {
	p, q := b.Shares()
	if p == 0 && q == 0 {
		return math.NaN()
	}
	return math.Log(p / q)
}

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959963984540054

// Spread is half the width of the approximate 95 % interval of the log ratio
// (Katz, Baptista, Azen and Pike 1978), for this bin alone; NaN where a side was
// never seen.
func (b Bin) Spread() float64 {
	if b.First == 0 || b.Second == 0 {
		return math.NaN()
	}
	p, q := b.Shares()
	return z * math.Sqrt((1-p)/float64(b.First)+(1-q)/float64(b.Second))
}

// Measure of divergence between the two output distributions, as a sum over
// bins: p are shares on the likelier dataset, q on the other. On bins it is at
// most that of the outputs themselves, but for chance.
type divergenceKind struct {
	id, words string
	part      func(p, q float64) float64
	of        string // what the sum is, in words
	share     bool   // only its share of the sum has a meaning
}

func hockeyStick(id, words string, epsilon float64, of string) divergenceKind {
	return divergenceKind{id: id, words: words, of: of, part: func(p, q float64) float64 { return math.Max(0, p-math.Exp(epsilon)*q) }}
}

// kinds are the divergences that a claim asks for, its own first.
func kinds(c audit.Claim) []divergenceKind {
	total := hockeyStick("tv", "total variation (hockey-stick at ε = 0)", 0, "total variation")
	kl := divergenceKind{id: "kl", words: "Kullback-Leibler (Rényi at α = 1)", of: "Kullback-Leibler divergence in nats", part: func(p, q float64) float64 {
		if p == 0 {
			return 0
		}
		return p * math.Log(p/q)
	}}
	switch e, ok := epsilonOf(c); {
	case ok && e > 0:
		return []divergenceKind{hockeyStick("claim", "hockey-stick at the claimed ε = "+Short(e), e, "hockey-stick divergence at ε = "+Short(e)), total, kl}
	case c.Kind == "renyi" && c.Alpha > 1:
		a := c.Alpha
		return []divergenceKind{{id: "claim", words: "Rényi at the claimed order α = " + Short(a), share: true, of: "the sum of p^α q^(1−α) at α = " + Short(a), part: func(p, q float64) float64 {
			if p == 0 {
				return 0
			}
			return math.Exp(a*math.Log(p) + (1-a)*math.Log(q))
		}}, kl, total}
	case c.Kind == "zcdp":
		return []divergenceKind{kl, total}
	}
	return []divergenceKind{total, kl}
}

// divergence are the two output distributions, the event over them, the log
// ratio of every bin and its part in a divergence.
type divergence struct {
	chart    pair.Chart
	claim    audit.Claim
	bins     []Bin
	reversed bool // the second dataset is the likelier
	live     string
	kinds    []divergenceKind
	kind     divergenceKind
	plane    *plane // nil where there is none
	flat     bool   // the plane is shown
}

// MostBins is how many bins of a chart are drawn; a report of ours has 50.
const MostBins = 1000

// newDivergence shows a report's chart, or, with live words, that of a run on its
// way. Nil where nothing was counted.
func newDivergence(chart pair.Chart, claim audit.Claim, reversed bool, live string) *divergence {
	d := &divergence{chart: chart, claim: claim, reversed: reversed, live: live, kinds: kinds(claim)}
	d.kind = d.kinds[0]
	n := len(chart.Edges) + 1
	outcomes := chart.Kind == "outcomes"
	if chart.Kind == "score" {
		d.plane = newPlane(chart.Plane)
	}
	if outcomes {
		n = len(chart.Outcomes) + 1
	}
	at := func(list []int, i int) int {
		if i < len(list) {
			return max(0, list[i])
		}
		return 0
	}
	var all [2]int
	for i := range n {
		all[0] += at(chart.First, i)
		all[1] += at(chart.Second, i)
	}
	if all[0] == 0 && all[1] == 0 || !outcomes && len(chart.Edges) < 2 || n > MostBins {
		return nil
	}
	for i := range n {
		b := Bin{First: at(chart.First, i), FirstIn: at(chart.FirstIn, i), Second: at(chart.Second, i), SecondIn: at(chart.SecondIn, i), firstOf: all[0], secondOf: all[1]}
		if outcomes {
			if b.First+b.Second == 0 {
				continue
			}
			b.Words = outcomeWords(chart, i)
		} else if b = interval(chart.Edges, i, b); (i == 0 || i == n-1) && b.First+b.Second == 0 {
			continue
		}
		d.bins = append(d.bins, b)
	}
	if outcomes {
		// By the ratio seen; half an output is added on either side, so that rare
		// outcomes do not stand at the ends by chance. All others come last.
		smoothed := func(b Bin) float64 {
			if b.Words == others {
				return math.Inf(-1)
			}
			return math.Log((float64(b.First) + 0.5) / float64(b.firstOf+1) / (float64(b.Second) + 0.5) * float64(b.secondOf+1))
		}
		sort.SliceStable(d.bins, func(i, j int) bool { return cmp.Less(smoothed(d.bins[j]), smoothed(d.bins[i])) })
	}
	return d
}

const others = "others"

func outcomeWords(chart pair.Chart, i int) string {
	switch {
	case i >= len(chart.Outcomes):
		return others
	case i < len(chart.Labels) && chart.Labels[i] != "":
		return chart.Labels[i]
	}
	words := make([]string, len(chart.Outcomes[i]))
	for k, v := range chart.Outcomes[i] {
		words[k] = Short(v)
	}
	return "(" + strings.Join(words, ", ") + ")"
}

// ends are those of bin i of a histogram, infinite beyond the edges.
func ends(edges []float64, i int) (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	if i > 0 {
		from = edges[i-1]
	}
	if i < len(edges) {
		to = edges[i]
	}
	return from, to
}

// rangeWords are the ends of a bin in words.
func rangeWords(from, to float64) string {
	switch {
	case math.IsInf(from, -1):
		return "below " + Short(to)
	case math.IsInf(to, 1):
		return Short(from) + " and above"
	}
	return Short(from) + " to " + Short(to)
}

// interval puts bin i of a histogram in its place. What lies beyond the edges
// gets a box beside them.
func interval(edges []float64, i int, b Bin) Bin {
	n := len(edges)
	b.low, b.high = ends(edges, i)
	b.Words, b.From, b.To = rangeWords(b.low, b.high), b.low, b.high
	least, most := edges[0], edges[n-1]
	unit := (most - least) / float64(n-1)
	if uneven(edges) { // bins of one width, at their numbers
		b.From, b.To, least, most, unit = float64(i-1), float64(i), 0, float64(n-1), 1
	}
	switch i {
	case 0:
		b.From, b.To = least-2.4*unit, least-0.6*unit
	case n:
		b.From, b.To = most+0.6*unit, most+2.4*unit
	}
	return b
}

// view is nil where nothing was counted.
func (d *divergence) view() *View {
	if d == nil {
		return nil
	}
	v := View{ID: "divergence", Title: "Divergence", ChoiceLabel: "Divergence", Choices: choices(d.kinds)}
	if d.plane != nil {
		v.ChoiceLabel, v.Choices = "Show", append(v.Choices, Choice{planeID, "plane: the score and one more direction"})
	}
	return v.of(func(choice string) Plot {
		d.choose(choice)
		p := Plot{Caption: d.caption(), Table: d.table, Tooltip: d.tooltip, At: d.position, Draw: d.draw}
		p.X.Zooms, p.Y.Zooms = !d.outcomes(), d.outcomes() || d.flat
		p.Name = func(i int) string { return d.bins[i].Words }
		if d.flat {
			p.Name = d.plane.name
		}
		return p
	})
}

func choices(kinds []divergenceKind) []Choice {
	var out []Choice
	for _, k := range kinds {
		out = append(out, Choice{k.id, k.words})
	}
	return out
}

func (d *divergence) choose(id string) {
	if d.flat = id == planeID && d.plane != nil; d.flat {
		epsilon, _ := epsilonOf(d.claim)
		d.plane.compare(epsilon)
	}
	for _, k := range d.kinds {
		if k.id == id {
			d.kind = k
		}
	}
}

func (d *divergence) outcomes() bool { return d.chart.Kind == "outcomes" }

// likelier names the dataset that the divergence starts from, and the other.
func (d *divergence) likelier() (string, string) {
	if d.reversed {
		return "second", "first"
	}
	return "first", "second"
}

// parts are what the bins contribute to the divergence, and their sum.
func (d *divergence) parts() (parts []float64, sum float64) {
	for _, b := range d.bins {
		p, q := b.Shares()
		if d.reversed {
			p, q = q, p
		}
		parts = append(parts, d.kind.part(p, q))
		sum += parts[len(parts)-1]
	}
	return parts, sum
}

func (d *divergence) caption() string {
	if d.flat {
		return d.planeCaption()
	}
	_, sum := d.parts()
	from, to := d.likelier()
	words := d.live
	if words != "" {
		words += " "
	}
	what := choose(d.outcomes(), "outcomes", "bins")
	switch e, dp := epsilonOf(d.claim); {
	case math.IsInf(sum, 1):
		words += fmt.Sprintf("The observed %s of the %s dataset from the %s is infinite: there are %s that were never seen on the %s.", d.kind.of, from, to, what, to)
	case d.kind.share:
		words += fmt.Sprintf("Parts are shares of %s, of the %s dataset from the %s, as observed.", d.kind.of, from, to)
	case sum == 0 && d.kind.id == "claim":
		words += fmt.Sprintf("None of the %s is observed more than e^%s times as often on the %s dataset as on the %s.", what, Short(e), from, to)
	default:
		words += fmt.Sprintf("The observed %s of the %s dataset from the %s, over these %s, is %s", d.kind.of, from, to, what, Short(sum))
		if dp && d.kind.id == "claim" {
			words += fmt.Sprintf("; claimed: at most δ = %s", Short(d.claim.Delta))
		}
		words += "."
	}
	return words + " Observed figures err by chance; what is certified stands in the report."
}

// counted are the words of a bin's counts and their ratio.
func (d *divergence) counted(b Bin) string {
	p, q := b.Shares()
	words := fmt.Sprintf("%s: first dataset %s (%s), second dataset %s (%s)", b.Words, Grouped(b.First), Percent(p), Grouped(b.Second), Percent(q))
	switch r := b.LogRatio(); {
	case math.IsNaN(r):
		return words + "; never seen"
	case math.IsInf(r, 1):
		words += "; never seen on the second dataset"
	case math.IsInf(r, -1):
		words += "; never seen on the first dataset"
	default:
		words += fmt.Sprintf("; ln ratio %s ± %s", Short(round(r, 3)), Short(round(b.Spread(), 2)))
	}
	return words
}

func (d *divergence) tooltip(i int) string {
	if d.flat {
		return d.planeTooltip(i)
	}
	b := d.bins[i]
	words := d.counted(b)
	if b.First+b.Second == 0 {
		return words
	}
	parts, sum := d.parts()
	words += "; part " + Short(round(parts[i], 4))
	if sum > 0 && !math.IsInf(sum, 1) && parts[i] > 0 {
		words += fmt.Sprintf(" of %s (%s)", Short(round(sum, 4)), Percent(parts[i]/sum))
	}
	switch s := b.inEvent(); {
	case s == 1:
		words += "; in the event"
	case s > 0:
		words += fmt.Sprintf("; %s of it in the event", Percent(s))
	}
	return words
}

func (d *divergence) table(fig Figures) Table {
	if d.flat {
		return d.planeTable(fig)
	}
	first := []string{d.chart.AxisWords()}
	switch {
	case d.outcomes():
		first[0] = "outcome"
	case fig == Exact:
		first = []string{"from", "below"}
	}
	t := Table{Title: "Ratio and part of every " + map[bool]string{true: "outcome", false: "bin"}[d.outcomes()]}
	t.Head = append(first, "first dataset", "share", "in the event", "second dataset", "share", "in the event", "ln ratio", "±", "part: "+d.kind.of)
	parts, _ := d.parts()
	for i, b := range d.bins {
		x := b.figures(fig)
		row := []string{b.Words}
		if len(first) == 2 {
			row = []string{fig.of(b.low), fig.of(b.high)}
		}
		row = append(row, x[0], x[1], fmt.Sprint(b.FirstIn), x[2], x[3], fmt.Sprint(b.SecondIn), x[4], x[5], fig.of(parts[i]))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// span is where the histogram's boxes begin and end.
func (d *divergence) span() (lo, hi float64) { return d.bins[0].From, d.bins[len(d.bins)-1].To }

func (d *divergence) position(i int) (x, y float64) {
	if d.flat {
		return d.plane.place(i)
	}
	if d.outcomes() {
		return 0.5, (float64(i) + 0.5) / float64(len(d.bins))
	}
	lo, hi := d.span()
	return ((d.bins[i].From+d.bins[i].To)/2 - lo) / (hi - lo), 0.5
}

func (d *divergence) draw(f Frame) *Scene {
	switch {
	case d.flat:
		return d.plane.layout(f, d.claim)
	case d.outcomes():
		return d.rows(f)
	}
	return d.panels(f)
}

// scales are those of shares, log ratios and parts.
func (d *divergence) scales(parts []float64) [3]Scale {
	mostShare, mostPart, leastPart := 0.0, 0.0, 0.0
	for i, b := range d.bins {
		p, q := b.Shares()
		mostShare = max(mostShare, p, q)
		if !math.IsInf(parts[i], 0) {
			mostPart, leastPart = max(mostPart, parts[i]), min(leastPart, parts[i])
		}
	}
	mostPart = cmp.Or(mostPart, 0.01)
	ratio := d.mostRatio()
	return [3]Scale{{Lo: 0, Hi: mostShare * 1.06}, {Lo: -ratio, Hi: ratio}, {Lo: leastPart * 1.1, Hi: mostPart * 1.1}}
}

// mostRatio is the end of the axis of log ratios: beyond the ratios that are
// known well enough, and the claim.
func (d *divergence) mostRatio() float64 {
	most := 0.5
	if e, ok := epsilonOf(d.claim); ok {
		most = max(most, 1.15*e)
	}
	for _, b := range d.bins {
		if r, s := b.LogRatio(), b.Spread(); !math.IsNaN(s) {
			most = max(most, math.Abs(r)+min(s, 1))
		}
	}
	return most * 1.08
}

// panels are the histogram's three pictures over one axis: shares, log ratios,
// parts of the divergence.
func (d *divergence) panels(f Frame) *Scene {
	heights := []float64{190, 140, 110}
	const head, gap, foot = 22, 30, 42
	s := f.scene(0)
	y := d.legend(s, 4)
	top := y
	for _, h := range heights {
		y += h + gap
	}
	s.Height = y - gap + head + foot

	parts, _ := d.parts()
	uprights := d.scales(parts)
	words := [3]func(float64) string{Percent, Short, Short}
	marks := [3]int{4, 6, 3}
	left := 0.0
	for k := range heights {
		left = max(left, s.gutter(uprights[k], marks[k], words[k]))
	}
	lo, hi := d.span()
	x := Scale{Lo: lo, Hi: hi, From: left, To: f.Width - 10}.Zoomed(f.Camera.X)
	titles := [3]string{"share of outputs a bin", "ln(share on first / share on second), ± 95 % each", "part of each bin: " + d.kind.of}
	if f.Width < 520 {
		titles = [3]string{"share of outputs a bin", "ln(first / second share), ± 95 % each", "part of each bin, " + d.kind.id}
		if d.kind.id == "claim" {
			titles[2] = "part of each bin at the claim"
		}
	}

	at := top + head
	s.Plot = Rect{left, at, x.To - x.From, s.Height - foot - at}
	for k := range heights {
		box := Rect{left, at, x.To - x.From, heights[k]}
		clip := Rect{box.X - 1, box.Y - 4, box.W + 2, box.H + 8}
		uprights[k].From, uprights[k].To = box.Bottom(), box.Y
		for _, b := range d.bins {
			if in := b.inEvent(); in > 0 {
				r := Rect{x.At(b.From), box.Y, x.At(b.To) - x.At(b.From), box.H}
				s.rect(r, Ink(EventArea).At(max(0.35, in)), box)
				if k == 0 {
					s.hatch(r, Ink(Hatch).At(0.55*max(0.35, in)), box)
				}
			}
		}
		s.across(uprights[k], marks[k], box, words[k])
		s.label(0, box.Y-9, titles[k], Start, Muted)
		switch k {
		case 0:
			s.steps(d.bins, func(at, share float64) Point { return Point{x.At(at), uprights[k].At(share)} }, clip)
		case 1:
			d.ratios(s, x, uprights[k], box, clip)
		case 2:
			d.bars(s, x, uprights[k], parts, box)
		}
		at += heights[k] + gap
	}
	bottom := at - gap
	if e := d.chart.Edges; uneven(e) {
		s.line(x.From, bottom, x.To, bottom, 1, Ink(AxisLine), Rect{})
		var at []float64
		for k := range e {
			at = append(at, float64(k))
		}
		s.ticksUnder(x, at, bottom, func(k float64) string { return Short(round(e[int(k)], 2)) }, x.From-10, x.To+10)
	} else {
		s.under(x, bottom, d.edges())
	}
	s.label((x.From+x.To)/2, bottom+36, clipWords(s, d.chart.AxisWords(), f.Width-20), Middle, Muted)
	for _, b := range d.bins {
		r := Rect{x.At(b.From), top + head, x.At(b.To) - x.At(b.From), bottom - top - head}
		s.Items = append(s.Items, Item{Box: r, Mark: intersect(r, s.Plot)})
	}
	return s
}

// edges are where the axis is one of values: between the boxes beyond.
func (d *divergence) edges() Window {
	e := d.chart.Edges
	return Window{e[0], e[len(e)-1]}
}

func (d *divergence) legend(s *Scene, y float64) float64 {
	items := []key{{words: "first dataset", paint: Ink(First), form: keyLine}, {words: "second dataset (dashed)", paint: Ink(Second), form: keyDash}}
	if d.outcomes() {
		items[0].form, items[1] = keyBox, key{words: "second dataset (hatched)", paint: Ink(Second), form: keyHatch}
	}
	if slices.ContainsFunc(d.bins, func(b Bin) bool { return b.inEvent() > 0 }) {
		items = append(items, key{words: "in the event", paint: Ink(EventArea), form: keyRegion})
	}
	if e, ok := epsilonOf(d.claim); ok {
		items = append(items, key{words: "claimed: ± ε = " + Short(e), paint: Ink(Text), form: keyDash})
	}
	return s.legend(items, y)
}

// steps are both outlines over bins, at the place of a value and a share.
func (s *Scene) steps(bins []Bin, place func(at, share float64) Point, clip Rect) {
	for side := range 2 {
		paint, _ := sideMark(side)
		var line []Point
		flush := func() {
			if side == 0 {
				s.add(Shape{Kind: Stroke, Points: line, Width: 2, Paint: paint, Clip: clip})
			} else {
				s.dash(line, 2, paint, clip)
			}
			line = nil
		}
		for i, b := range bins {
			p, q := b.Shares()
			if side == 1 {
				p = q
			}
			if len(line) > 0 && bins[i-1].To != b.From {
				line = append(line, place(bins[i-1].To, 0))
				flush()
			}
			if len(line) == 0 {
				line = append(line, place(b.From, 0))
			}
			line = append(line, place(b.From, p), place(b.To, p))
		}
		line = append(line, place(bins[len(bins)-1].To, 0))
		flush()
	}
}

// ratios are dots with their intervals; an arrow where one side was never seen.
func (d *divergence) ratios(s *Scene, x, y Scale, box, clip Rect) {
	if e, ok := epsilonOf(d.claim); ok {
		for _, v := range []float64{e, -e} {
			s.dash([]Point{{box.X, y.At(v)}, {box.Right(), y.At(v)}}, 1.5, Ink(Text), box)
		}
	}
	for _, b := range d.bins {
		at := x.At((b.From + b.To) / 2)
		s.ratio(b, func(v float64) Point { return Point{at, y.At(math.Max(-y.Hi, math.Min(y.Hi, v)))} }, y.Hi, clip)
	}
}

// ratio draws the log ratio of a bin, at the place of a value; most is the end
// of the axis.
func (s *Scene) ratio(b Bin, place func(float64) Point, most float64, clip Rect) {
	r, spread := b.LogRatio(), b.Spread()
	paint := choose(r < 0, Ink(Second), Ink(First))
	switch {
	case math.IsNaN(r):
	case math.IsInf(r, 0):
		end := math.Copysign(most, r)
		s.arrow(place(end*0.86), place(end*0.985), paint, clip)
	default:
		from, to := place(r-spread), place(r+spread)
		s.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: paint.At(0.75), Clip: clip})
		form := choose(r < 0, Square, Disc)
		s.add(Shape{Kind: Dots, Points: []Point{place(r)}, Radius: 3, Form: form, Paint: paint, Clip: clip})
	}
}

func (s *Scene) arrow(from, to Point, p Paint, clip Rect) {
	dx, dy := to.X-from.X, to.Y-from.Y
	n := hypot(dx, dy)
	if n == 0 {
		return
	}
	dx, dy = dx/n, dy/n
	s.add(Shape{Kind: Stroke, Points: []Point{from, to}, Width: 1.5, Paint: p, Clip: clip})
	s.add(Shape{Kind: Fill, Points: []Point{{to.X - 7*dx + 4*dy, to.Y - 7*dy - 4*dx}, to, {to.X - 7*dx - 4*dy, to.Y - 7*dy + 4*dx}}, Paint: p, Clip: clip})
}

// bars are the parts; an arrow where a part is infinite.
func (d *divergence) bars(s *Scene, x, y Scale, parts []float64, box Rect) {
	for i, b := range d.bins {
		x0, x1 := x.At(b.From), x.At(b.To)
		if x1-x0 > 4 {
			x0, x1 = x0+0.5, x1-0.5
		}
		switch v := parts[i]; {
		case math.IsInf(v, 1):
			s.arrow(Point{(x0 + x1) / 2, box.Bottom()}, Point{(x0 + x1) / 2, box.Y}, Ink(Event), box)
		case v != 0:
			from, to := y.At(max(0, v)), y.At(min(0, v))
			s.rect(Rect{x0, from, x1 - x0, to - from}, Ink(Event), box)
		}
	}
}

const rowPitch = 30

// rows are the outcomes' pictures: shares, log ratio and part, beside one
// another.
func (d *divergence) rows(f Frame) *Scene {
	s := f.scene(0)
	narrow := f.Width < 560
	top := d.legend(s, 4) + 24
	pitch := float64(rowPitch)
	if narrow {
		pitch += 16
	}
	n := float64(len(d.bins))
	height := min(pitch*n, 600)
	const foot = 30
	s.Height = top + height + foot
	// The rows that are shown share the height.
	z := f.Camera.Y
	pitch = height / n / (z.Hi - z.Lo)
	begin := top - z.Lo*n*pitch

	left := 0.0
	if !narrow {
		for _, b := range d.bins {
			left = max(left, s.wide(b.Words)*1.1)
		}
		left = min(left, f.Width*0.3) + 32
	}
	body := Rect{left, top, f.Width - left, height}
	s.Plot = Rect{0, top, f.Width, height}
	gaps := choose(narrow, 14, 26.0)
	shares := []float64{0.36, 0.38, 0.26}
	room := body.W - float64(len(shares)-1)*gaps - 14
	var columns []Rect
	at := left + 2
	for _, share := range shares {
		columns = append(columns, Rect{at, top, room * share, height})
		at += room*share + gaps
	}

	parts, _ := d.parts()
	x := d.scales(parts)
	var titles [3]string
	for _, titles = range [][3]string{{"share of outputs", "ln(first / second share), ± 95 % each", "part of the divergence"}, {"share", "ln ratio, ± 95 %", "part"}, {"share", "ln ratio", "part"}} {
		fits := true
		for k, c := range columns {
			fits = fits && s.wide(titles[k]) <= c.W+gaps-8
		}
		if fits {
			break
		}
	}
	words := [3]func(float64) string{Percent, Short, Short}
	for i, b := range d.bins {
		y := begin + float64(i)*pitch
		r := intersect(Rect{0, y, f.Width, pitch}, s.Plot)
		s.Items = append(s.Items, Item{Box: r, Mark: r})
		if r.H <= 0 {
			continue
		}
		if b.inEvent() > 0 {
			s.rect(Rect{0, y + 1, f.Width, pitch - 2}, Ink(EventArea), s.Plot)
		}
	}
	for k := range columns {
		x[k].From, x[k].To = columns[k].X, columns[k].Right()
		s.label(columns[k].X, top-8, titles[k], Start, Muted)
		marks := x[k].Marks(int(max(2, columns[k].W/46)))
		if e, ok := epsilonOf(d.claim); ok && k == 1 && len(marks) < 3 {
			marks = []float64{-e, 0, e}
		}
		for _, v := range marks {
			s.line(x[k].At(v), top, x[k].At(v), top+height, 1, atZero(v), Rect{})
		}
		s.ticksUnder(x[k], marks, top+height, words[k], columns[k].X-8, columns[k].Right()+gaps-6)
	}
	if e, ok := epsilonOf(d.claim); ok {
		for _, v := range []float64{e, -e} {
			s.dash([]Point{{x[1].At(v), top}, {x[1].At(v), top + height}}, 1.5, Ink(Text), Rect{})
		}
	}
	for i, b := range d.bins {
		y := begin + float64(i)*pitch
		if y+pitch < top || y > top+height {
			continue
		}
		d.row(s, b, parts[i], y, pitch, narrow, left, x)
	}
	return s
}

func (d *divergence) row(s *Scene, b Bin, part, y, pitch float64, narrow bool, left float64, x [3]Scale) {
	clip := s.Plot
	middle := choose(narrow, y+8+pitch/2, y+pitch/2)
	bar := min(9, pitch/2-3)
	p, q := b.Shares()
	s.rect(Rect{x[0].At(0), middle - bar - 0.5, x[0].At(p) - x[0].At(0), bar}, Ink(First), clip)
	second := Rect{x[0].At(0), middle + 0.5, x[0].At(q) - x[0].At(0), bar}
	s.rect(second, Ink(Second), clip)
	s.hatch(second, Ink(Panel).At(0.75), intersect(second, clip))
	s.ratio(b, func(v float64) Point {
		return Point{x[1].At(math.Max(-x[1].Hi, math.Min(x[1].Hi, v))), middle}
	}, x[1].Hi, clip)
	switch {
	case math.IsInf(part, 1):
		s.arrow(Point{x[2].At(0), middle}, Point{x[2].To, middle}, Ink(Event), clip)
	case part != 0:
		s.rect(Rect{x[2].At(min(0, part)), middle - bar/2 - 2, math.Abs(x[2].At(part) - x[2].At(0)), bar + 4}, Ink(Event), clip)
	}
	if y+pitch/2 < clip.Y || y+pitch/2 > clip.Bottom() {
		return
	}
	in := b.inEvent() > 0
	mark := func(x, y float64) {
		if in {
			s.add(Shape{Kind: Dots, Form: Diamond, Radius: 4.5, Points: []Point{{x, y}}, Paint: Ink(Event)})
		}
	}
	if narrow {
		l := s.label(16, y+14, clipWords(s, b.Words, s.Width-24), Start, Text)
		l.Mono, l.Bold = true, in
		mark(7, y+10)
		return
	}
	l := s.label(left-8, middle+4, clipWords(s, b.Words, left-28), End, Text)
	l.Mono, l.Bold = true, in
	mark(9, middle)
}
