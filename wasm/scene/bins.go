package scene

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// Bin is an interval of outputs or scores, or an outcome.
type Bin struct {
	Words         string
	From, To      float64 // of an interval; of those beyond the edges, a box beside them
	n, inside, of [2]int  // outputs on either dataset: here, here and in the event, in all
	low, high     float64 // what an interval holds, infinite beyond the edges
}

func (b *Bin) add(o Bin) {
	for side := range b.n {
		b.n[side] += o.n[side]
		b.inside[side] += o.inside[side]
	}
}

func (b Bin) count() int { return b.n[0] + b.n[1] }

func (b Bin) middle() float64 { return (b.From + b.To) / 2 }

func (b Bin) share(side int) float64 { return share(b.n[side], b.of[side]) }

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// LogRatio is ln(first share / second share): NaN where neither was seen.
func (b Bin) LogRatio() float64 { return math.Log(b.share(0) / b.share(1)) }

// z is the normal quantile of a two-sided 95 % interval.
const z = 1.959963984540054

// Spread is half the width of the approximate 95 % interval of the log ratio (Katz, Baptista, Azen
// and Pike 1978); NaN where a side was never seen.
func (b Bin) Spread() float64 {
	if b.n[0] == 0 || b.n[1] == 0 {
		return math.NaN()
	}
	return z * math.Sqrt((1-b.share(0))/float64(b.n[0])+(1-b.share(1))/float64(b.n[1]))
}

// MostBins is how many bins of a chart are drawn.
const MostBins = 1000

// binsOf are a chart's bins, or outcomes with all others last, and their sum; empty where they are too many.
func binsOf(c chart.Chart) (bins []Bin, sum Bin) {
	n := plot.If(c.Kind == chart.Outcomes, len(c.Outcomes), len(c.Edges)) + 1
	if c.Kind != chart.Outcomes && n < 3 || n > MostBins {
		return nil, sum
	}
	at := func(list []int, i int) int {
		if i < len(list) {
			return max(0, list[i])
		}
		return 0
	}
	bins = make([]Bin, n)
	for i := range bins {
		bins[i].n = [2]int{at(c.First, i), at(c.Second, i)}
		bins[i].inside = [2]int{at(c.FirstIn, i), at(c.SecondIn, i)}
		sum.add(bins[i])
	}
	return bins, sum
}

const others = "others"

func outcomeWords(chart chart.Chart, i int) string {
	switch {
	case i >= len(chart.Outcomes):
		return others
	case i < len(chart.Labels) && chart.Labels[i] != "":
		return chart.Labels[i]
	}
	return "(" + strings.Join(audit.Each(chart.Outcomes[i], plot.Short), ", ") + ")"
}

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

// level is an axis of bins, with boxes beside it for what lies beyond. Where the edges are uneven,
// bins are of one width, at their numbers.
type level struct{ edges []float64 }

// ends are where values between edges begin and end on the axis, and a bin's width.
func (l level) ends() (least, most, unit float64) {
	n := float64(len(l.edges) - 1)
	if least, most, unit = l.edges[0], l.edges[len(l.edges)-1], 1; uneven(l.edges) {
		return 0, n, 1
	}
	return least, most, cmp.Or((most-least)/n, max(1, math.Abs(least))) // a stranger's edges may all be one
}

func (l level) bins(of [2]int) []Bin {
	return audit.Listed(len(l.edges)+1, func(i int) Bin {
		b := l.bin(i)
		b.of = of
		return b
	})
}

func (l level) bin(i int) (b Bin) {
	least, most, unit := l.ends()
	b.low, b.high = ends(l.edges, i)
	b.Words, b.From, b.To = plot.Range{A: b.low, B: b.high}.String(), b.low, b.high
	if uneven(l.edges) {
		b.From, b.To = float64(i-1), float64(i)
	}
	switch i {
	case 0:
		b.From, b.To = least-2.4*unit, least-0.6*unit
	case len(l.edges):
		b.From, b.To = most+0.6*unit, most+2.4*unit
	}
	return b
}

// place is where a value lies; beyond the edges, amid the box beside them.
func (l level) place(x float64) float64 {
	least, most, unit := l.ends()
	i, at := slices.BinarySearch(l.edges, x)
	switch {
	case i == 0 && !at:
		return least - 1.5*unit
	case i == len(l.edges):
		return most + 1.5*unit
	case !uneven(l.edges):
		return x
	case at:
		return float64(i)
	}
	return float64(i-1) + (x-l.edges[i-1])/(l.edges[i]-l.edges[i-1])
}

func (l level) axis(title string, bins []Bin) plot.Axis {
	a := plot.Linear(title, bins[0].From, bins[len(bins)-1].To).Zooming()
	if least, most, _ := l.ends(); !uneven(l.edges) {
		a.Values = &plot.Window{Lo: least, Hi: most}
		return a
	}
	a.Ticks = audit.Listed(len(l.edges), func(k int) float64 { return float64(k) })
	a.Words = func(k float64) string { return plot.Short(plot.Round(l.edges[int(k)], 2)) }
	return a
}

func uneven(edges []float64) bool {
	least, most := math.Inf(1), 0.0
	for i := 1; i < len(edges); i++ {
		d := edges[i] - edges[i-1]
		least, most = min(least, d), max(most, d)
	}
	return most > 3*least
}

// outline is the line over the shares of a side in bins, and down where there is none.
func outline(l plot.Line, bins []Bin, side int) plot.Line {
	for i, b := range bins {
		p := b.share(side)
		if i == 0 || bins[i-1].To != b.From {
			if i > 0 {
				l.Points = append(l.Points, [2]float64{bins[i-1].To, 0})
			}
			l.Points = append(l.Points, [2]float64{b.From, 0})
		}
		l.Points = append(l.Points, [2]float64{b.From, p}, [2]float64{b.To, p})
	}
	l.Points = append(l.Points, [2]float64{bins[len(bins)-1].To, 0})
	return l
}

func shareBars(first, second string, bins []Bin) []plot.Mark {
	sides := [2]plot.Bars{{Key: first, Paint: plot.First}, {Key: second, Paint: plot.Second, Form: plot.KeyHatch}}
	for i, b := range bins {
		for k := range sides {
			from := float64(i) + []float64{0.16, 0.52}[k]
			sides[k].Boxes = append(sides[k].Boxes, plot.Span(0, b.share(k), from, from+0.32))
		}
	}
	return []plot.Mark{sides[0], sides[1]}
}
