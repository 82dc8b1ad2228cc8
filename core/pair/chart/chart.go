// Package chart has the pictures of two output distributions as counts. They decide nothing.
package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// Kind says what the bins of a chart are.
type Kind string

const (
	Histogram Kind = "histogram" // bins of a real output
	Outcomes  Kind = "outcomes"  // the outcomes of a discrete output
	Score     Kind = "score"     // bins of the witness's score, where outputs have several columns
)

// Chart has counts of the certification samples by bins, which were chosen on exploration samples,
// and how much of each bin lies in the event.
type Chart struct {
	Kind Kind   `json:"kind"`
	Axis string `json:"axis"` // what the bins are of, see [Chart.AxisWords]
	// Edges of histogram and score, ascending. Bin i lies in [Edges[i-1], Edges[i]).
	Edges    []float64   `json:"edges,omitempty"`
	Outcomes [][]float64 `json:"outcomes,omitempty"` // rows; the last bin holds all others
	Labels   []string    `json:"labels,omitempty"`   // words for Outcomes

	First    []int `json:"first,omitempty"` // outputs a bin on the first dataset
	FirstIn  []int `json:"firstInEvent,omitempty"`
	Second   []int `json:"second,omitempty"`
	SecondIn []int `json:"secondInEvent,omitempty"`

	Plane *Plane `json:"plane,omitempty"` // there for kind score, where the outputs vary besides the score
}

const (
	innerBins    = 48    // inner bins of a histogram
	mostOutcomes = 16    // outcomes shown before "others"
	tailShare    = 0.005 // of exploration samples, left to either overflow bin at least
	mostReach    = 4     // interquartile ranges beyond the quartiles that the inner bins reach, at most
	// With farShare of the outputs beyond farReach such ranges, bins grow outwards from middleReach of them on.
	farReach    = 10
	farShare    = 0.01
	middleReach = 1.5
)

// Called is an output's only column in words: c1 is one that nobody named.
func Called(name string) string { return audit.Pick(name == "c1", "output", name) }

// AxisWords are the axis in words.
func (ch Chart) AxisWords() string { return Called(ch.Axis) }

// New chooses the bins on training samples.
func New(columns []audit.Column, first, second audit.Samples, m audit.Model) Chart {
	if len(columns) == 1 && columns[0].Kind == audit.Real {
		edges := HistogramEdges(innerBins, audit.NumbersOf(first.Rows), audit.NumbersOf(second.Rows))
		return Chart{Kind: Histogram, Edges: edges}.Named(columns)
	}
	if audit.AllSymbols(columns) {
		return OfOutcomes(columns, first, second)
	}
	s := [2][]float64{scores(m, first), scores(m, second)}
	return Chart{Kind: Score, Edges: Edges(innerBins, s[0], s[1]), Plane: newPlane(first, second, s)}.Named(columns)
}

// Bordered marks the event on the chart's plane.
func (ch Chart) Bordered(edges []float64, event threshold.Event) Chart {
	if p := ch.Plane.copy(); p != nil {
		p.Border, p.Above = new(edges[event.Edge]), event.Above
		ch.Plane = p
	}
	return ch
}

// Named puts axis and outcomes into words.
func (ch Chart) Named(columns []audit.Column) Chart {
	ch.Labels = nil
	switch ch.Kind {
	case Histogram:
		ch.Axis = columns[0].Name
	case Score:
		ch.Axis = "score of the witness (higher: likelier on the first dataset)"
		if ch.Plane != nil {
			ch.Plane = ch.Plane.named(columns)
		}
	default:
		ch.Axis = "outcome"
		for _, row := range ch.Outcomes {
			if len(row) == audit.Width(columns) {
				ch.Labels = append(ch.Labels, OutcomeWords(columns, row))
			}
		}
	}
	return ch
}

// HistogramEdges have bins that grow where the tails are far out, else of one width.
func HistogramEdges(bins int, first, second []float64) []float64 {
	if edges := GrowingEdges(bins, first, second); edges != nil {
		return edges
	}
	return Edges(bins, first, second)
}

// Edges spans all but the far tails of both samples with so many equal bins.
func Edges(bins int, first, second []float64) []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, xs := range [][]float64{first, second} {
		s := slices.Sorted(slices.Values(xs))
		k, quarter := int(tailShare*float64(len(s))), len(s)/4
		from, to := s[k], s[len(s)-1-k]
		low, high := s[quarter], s[len(s)-1-quarter]
		if reach := float64(mostReach*high) - float64(mostReach*low); reach > 0 {
			from, to = max(from, low-reach), min(to, high+reach)
		}
		lo, hi = min(lo, from), max(hi, to)
	}
	const most = math.MaxFloat64 / 4 // a finite span
	lo, hi = max(lo, -most), min(hi, most)
	if half := float64(hi/2) - float64(lo/2); !(half > 0) {
		pad := max(0.5, math.Abs(lo)/1024)
		lo, hi = lo-pad, hi+pad
	}
	edges := make([]float64, 0, bins+1)
	for i := 0; i <= bins; i++ {
		f := float64(i) / float64(bins)
		e := float64(lo*(1-f)) + float64(hi*f)
		if len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return edges
}

// GrowingEdges spans all but tailShare of both samples on either side: half of the bins of one width over
// the middle, the others each wider than the last by a factor; nil where tails are not far out.
func GrowingEdges(bins int, first, second []float64) []float64 {
	all := slices.Sorted(slices.Values(slices.Concat(first, second)))
	n := len(all)
	if n == 0 {
		return nil
	}
	low, high := all[n/4], all[n-1-n/4]
	far := float64(farReach*high) - float64(farReach*low)
	if !(far > 0) || math.IsInf(far, 1) {
		return nil
	}
	below, _ := slices.BinarySearch(all, low-far)
	above, _ := slices.BinarySearch(all, math.Nextafter(high+far, math.Inf(1)))
	if float64(below+n-above) < float64(farShare*float64(n)) {
		return nil
	}
	k, reach := int(tailShare*float64(n)), float64(middleReach*far)/farReach
	from, to := low-reach, high+reach
	middle := bins / 2
	width := (to - from) / float64(middle)
	// Beyond either end of the middle, in its bins.
	ends := [2]float64{max(0, (from-all[k])/width), max(0, (all[n-1-k]-to)/width)}
	tails := [2]int{(bins - middle) / 2, bins - middle - (bins-middle)/2}
	for side := range ends {
		if ends[side] < 1 { // nothing to show there
			tails[1-side] += tails[side]
			tails[side] = 0
		}
		if ends[side] > 1e100 {
			return nil
		}
	}
	grown := func(side, i int) float64 {
		log := float64(stream.Log(1+ends[side])*float64(i)) / float64(tails[side])
		return float64(width * (stream.Exp(log) - 1))
	}
	edges := make([]float64, 0, bins+1)
	for i := tails[0]; i > 0; i-- {
		edges = append(edges, from-grown(0, i))
	}
	for i := range middle {
		f := float64(i) / float64(middle)
		edges = append(edges, float64(from*(1-f))+float64(to*f))
	}
	edges = append(edges, to)
	for i := range tails[1] {
		edges = append(edges, to+grown(1, i+1))
	}
	sound := audit.Unordered(edges) < 0 && !math.IsInf(edges[bins]-edges[0], 1)
	return audit.Pick(sound, edges, nil)
}

// OfOutcomes lists the outcomes whose frequencies differ most, and among equals the frequent ones.
func OfOutcomes(columns []audit.Column, first, second audit.Samples) Chart {
	type cell struct {
		row  []float64
		n    [2]int
		rank float64
	}
	cells := map[uint64]*cell{}
	for side, s := range []audit.Samples{first, second} {
		for i := 0; i < s.Len(); i++ {
			row := s.Row(i)
			h := audit.RowKey(row)
			c := cells[h]
			if c == nil {
				c = &cell{row: row}
				cells[h] = c
			}
			c.n[side]++
		}
	}
	all := make([]*cell, 0, len(cells))
	for _, c := range cells {
		a, b := float64(c.n[0])/float64(first.Len()), float64(c.n[1])/float64(second.Len())
		c.rank = math.Abs(a-b) + float64((a+b)/64)
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(cmp.Compare(all[j].rank, all[i].rank), slices.Compare(all[i].row, all[j].row)) < 0
	})
	all = all[:min(len(all), mostOutcomes)]
	// By likelihood ratio, the likeliest on the first dataset first.
	sort.SliceStable(all, func(i, j int) bool {
		return float64(all[i].n[0]+1)*float64(all[j].n[1]+1) > float64(all[j].n[0]+1)*float64(all[i].n[1]+1)
	})
	rows := audit.Listed(len(all), func(i int) []float64 { return slices.Clone(all[i].row) })
	return Chart{Kind: Outcomes, Outcomes: rows}.Named(columns)
}

// OutcomeWords puts an output row into words, by its columns' labels.
func OutcomeWords(columns []audit.Column, row []float64) string {
	var words []string
	short, at := true, 0
	for _, c := range columns {
		var w string
		switch {
		case c.Kind == audit.Real && audit.Outcome(row[at]).String() != "":
			w = audit.Outcome(row[at]).String()
		case c.Kind == audit.Real:
			w = fmt.Sprintf("%.4g", row[at])
		case c.Kind == audit.Mixed && row[at+1] != 0:
			w = fmt.Sprintf("%s(%.4g)", c.Word(row[at]), row[at+1])
		default:
			w = c.Word(row[at])
		}
		short = short && len([]rune(w)) == 1
		words = append(words, w)
		at += c.Width()
	}
	return strings.Join(words, audit.Pick(short, "", ", "))
}

// Binner counts rows into the bins of a chart, and into the cells of its plane.
type Binner struct {
	Bins   [4][]int // counts: first, first in the event, second, second in the event
	Cells  [2][]int // of the plane, by side; nil where there is none
	Column int      // of a row, that a histogram is of

	chart Chart
	width int
	index map[uint64]int32 // outcomes
	axis                   // of edges

	weights     []float64 // of the plane
	score, edge axis      // of the plane
}

type axis struct {
	edges     []float64
	lo, scale float64 // first edge, and bins per unit
	even      bool
}

func newAxis(edges []float64) axis {
	n := len(edges) - 1
	a := axis{edges: edges, lo: edges[0], scale: float64(n) / (edges[n] - edges[0]), even: true}
	for i, e := range edges {
		a.even = a.even && math.Abs(float64((e-a.lo)*a.scale)-float64(i)) < 2
	}
	return a
}

func (ch Chart) Binner(columns []audit.Column) (*Binner, error) {
	if err := ch.Check(); err != nil {
		return nil, err
	}
	b := &Binner{chart: ch, width: audit.Width(columns), Cells: ch.Plane.NewCounts()}
	if p := ch.Plane; p != nil {
		if err := p.Fits(b.width); err != nil {
			return nil, err
		}
		b.weights, b.score, b.edge = p.weights(), newAxis(p.ScoreEdges), newAxis(p.Edges)
	}
	for k := range b.Bins {
		b.Bins[k] = make([]int, ch.Bins())
	}
	switch ch.Kind {
	case Outcomes:
		b.index = map[uint64]int32{}
		for i, row := range ch.Outcomes {
			if len(row) != b.width {
				return nil, &audit.InputError{Field: fmt.Sprintf("chart.outcomes[%d]", i), Found: fmt.Sprintf("%d numbers", len(row)), Want: fmt.Sprint(b.width)}
			}
			b.index[audit.RowKey(row)] = int32(i)
		}
	case Histogram, Score:
		b.axis = newAxis(ch.Edges)
	}
	return b, nil
}

// Check refuses a chart that cannot be drawn.
func (ch Chart) Check() error {
	var err error
	switch ch.Kind {
	case Outcomes:
	case Histogram, Score:
		err = checkEdges("chart.edges", ch.Edges, math.MaxInt)
	default:
		return audit.UnknownName("chart.kind", string(ch.Kind), []string{string(Histogram), string(Outcomes), string(Score)})
	}
	if p := ch.Plane; p != nil && err == nil {
		score := audit.Require(ch.Kind == Score, "chart.plane", fmt.Sprintf("there in a chart of kind %q", ch.Kind), "only in one of kind %q", Score)
		err = cmp.Or(score, p.check())
	}
	return cmp.Or(err, checkCounts("chart", ch.Bins(), ch.First, ch.FirstIn, ch.Second, ch.SecondIn))
}

func checkEdges(field string, e []float64, most int) error {
	n, want := len(e), "two or more numbers in ascending order, of finite span"
	if most < math.MaxInt {
		want = fmt.Sprintf("2 to %d numbers in ascending order, of finite span", most)
	}
	return audit.Require(n >= 2 && n <= most && slices.IsSorted(e) && e[0] != e[n-1] && !math.IsInf(e[n-1]-e[0], 0), field, fmt.Sprintf("%d numbers", n), "%s", want)
}

func checkCounts(field string, bins int, lists ...[]int) error {
	for _, counts := range lists {
		if counts != nil && len(counts) != bins {
			return &audit.InputError{Field: field, Found: fmt.Sprintf("%d counts", len(counts)), Want: fmt.Sprintf("%d, one a bin", bins)}
		}
		if i := slices.IndexFunc(counts, func(n int) bool { return n < 0 }); i >= 0 {
			return &audit.InputError{Field: fmt.Sprintf("%s: count of bin %d", field, i), Found: fmt.Sprint(counts[i]), Want: "at least 0"}
		}
	}
	return nil
}

// CheckCounts refuses a chart whose counts are not of the outputs in a table, and in an event.
func (ch Chart) CheckCounts(t bounds.Table, event threshold.Event) error {
	c := t.Event(event.Bins(t.Bins))
	for side, x := range []struct {
		all, in    []int
		drawn, hit int
	}{{ch.First, ch.FirstIn, c.N1, c.X}, {ch.Second, ch.SecondIn, c.N0, c.Y}} {
		bad := func(found string) error {
			return &audit.InputError{Field: "chart: counts on the " + []string{"first", "second"}[side] + " dataset", Found: found, Want: fmt.Sprintf("of %d outputs, %d of them in the event, as the table has it", x.drawn, x.hit)}
		}
		if len(x.all) != ch.Bins() || len(x.in) != ch.Bins() {
			return bad(fmt.Sprintf("of %d and %d bins", len(x.all), len(x.in)))
		}
		all, in := 0, 0
		for i, n := range x.all {
			if n < 0 || n > x.drawn || x.in[i] < 0 || x.in[i] > n {
				return bad(fmt.Sprintf("%d in bin %d, %d of them in the event", n, i, x.in[i]))
			}
			all, in = all+n, in+x.in[i]
		}
		if all != x.drawn || in != x.hit {
			return bad(fmt.Sprintf("of %d outputs, %d of them in the event", all, in))
		}
	}
	return nil
}

func (ch Chart) Bins() int {
	return audit.Pick(ch.Kind == Outcomes, len(ch.Outcomes), len(ch.Edges)) + 1
}

// Count adds a block of rows to a side, and where their bin of the score is in the event to that.
// Without an event bins may be nil, and so may be scores, where the chart is not of them.
func (b *Binner) Count(side int, rows, scores []float64, bins []uint16, event []bool) {
	all, hit := b.Bins[2*side], b.Bins[2*side+1]
	for i := range len(rows) / b.width {
		row := rows[i*b.width : (i+1)*b.width]
		var k int
		switch b.chart.Kind {
		case Outcomes:
			n, ok := b.index[audit.RowKey(row)]
			k = audit.Pick(ok, int(n), len(b.chart.Outcomes))
		case Histogram:
			k = b.Bin(row[b.Column])
		default:
			k = b.Bin(scores[i])
		}
		all[k]++
		if event != nil && event[bins[i]] {
			hit[k]++
		}
		if p := b.chart.Plane; p != nil {
			v := p.along(b.weights, row, scores[i])
			b.Cells[side][b.edge.Bin(v)*(len(p.ScoreEdges)+1)+b.score.Bin(scores[i])]++
		}
	}
}

// Bin is that of v: a guess from equal widths, mended against the edges.
func (a *axis) Bin(v float64) int {
	edges := a.edges
	if !a.even {
		return sort.Search(len(edges), func(i int) bool { return v < edges[i] })
	}
	k, guess := len(edges), (v-a.lo)*a.scale
	if guess < 0 {
		k = 0
	} else if guess < float64(len(edges)) {
		k = int(guess) + 1
	}
	for k > 0 && v < edges[k-1] {
		k--
	}
	for k < len(edges) && v >= edges[k] {
		k++
	}
	return k
}

// With is the chart with its counts filled in.
func (ch Chart) With(counts [4][]int, plane [2][]int) Chart {
	ch.First, ch.FirstIn, ch.Second, ch.SecondIn = counts[0], counts[1], counts[2], counts[3]
	if ch.Plane = ch.Plane.copy(); ch.Plane != nil {
		ch.Plane.First, ch.Plane.Second = plane[0], plane[1]
	}
	return ch
}

func scores(m audit.Model, s audit.Samples) []float64 {
	out := make([]float64, s.Len())
	for lo := 0; lo < len(out); lo += audit.BlockRows {
		hi := min(lo+audit.BlockRows, len(out))
		m.Score(s.Slice(lo, hi).Rows, out[lo:hi])
	}
	return out
}
