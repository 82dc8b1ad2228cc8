package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream/linalg"
)

// Plane has counts of the first certification outputs by the witness's score and by one more
// direction: the leading principal component of an output's standardised numbers, less what the
// score explains of them by linear regression. A symbol is a number: 1 where it is the column's
// commonest, else 0. Chosen on training samples, it decides nothing: where the score holds all that
// tells the datasets apart, their ratio does not change along it.
type Plane struct {
	// The direction's value is offset + sum of weight x/deviation - slope score.
	Terms  []PlaneTerm `json:"terms"`
	Slope  float64     `json:"slope"`
	Offset float64     `json:"offset"`
	Words  string      `json:"words"` // what weighs most

	ScoreEdges []float64 `json:"scoreEdges"` // as a chart's
	Edges      []float64 `json:"edges"`      // of the direction
	// Border is the score that the event of the first result lies above or, unless Above, at and below.
	Border *float64 `json:"border,omitempty"`
	Above  bool     `json:"above,omitempty"`

	// Outputs a cell: cell i, j at i (len(scoreEdges)+1) + j, i by the direction, j by the score.
	First  []int `json:"first,omitempty"`
	Second []int `json:"second,omitempty"`
}

// PlaneTerm is a number of an output row in a direction.
type PlaneTerm struct {
	At     int      `json:"at"`               // number At of the row
	Symbol *float64 `json:"symbol,omitempty"` // 1 where the number is this symbol, else 0
	// Deviation is the standard deviation, Weight the number's in units of it. The squares of a
	// plane's weights sum to 1, but for rounding.
	Deviation float64 `json:"deviation"`
	Weight    float64 `json:"weight"`
}

const (
	planeBins      = 24      // inner bins of either axis
	planeTerms     = 32      // of wider outputs, numbers evenly apart
	planeTraining  = 2048    // training samples a side that choose
	planeSteps     = 100     // of the power iteration
	planeRare      = 0.01    // least share of a symbol and of all others
	planeLeft      = 1e-6    // least share of a number's variance that the score leaves unexplained
	PlaneRows      = 1 << 16 // certification outputs a side that are counted, at most: the first shards
	mostPlaneEdges = 128
)

// newPlane chooses direction and bins on training samples with these scores. It is nil where the
// score does not vary, or nothing does besides it.
func newPlane(first, second audit.Samples, scores [2][]float64) *Plane {
	width := audit.Width(first.Columns)
	n := min(first.Len(), planeTraining)
	rows := slices.Concat(first.Rows[:n*width], second.Rows[:min(second.Len(), planeTraining)*width])
	given := slices.Concat(scores[0][:n], scores[1][:len(rows)/width-n])
	score := slices.Clone(given)
	middle, spread := standardise(score)
	p := &Plane{}
	var left [][]float64 // of every term, what the score leaves
	for _, t := range planeNumbers(first.Columns, rows) {
		x := audit.Listed(len(given), func(i int) float64 { return t.of(rows[i*width:]) })
		_, t.Deviation = standardise(x)
		slope := mean(x, score)
		for i, s := range score {
			x[i] -= float64(slope * s)
		}
		if mean(x, x) > planeLeft {
			t.Deviation = phrase.Figures(t.Deviation, 6)
			p.Terms, left = append(p.Terms, t), append(left, x)
		}
	}
	if spread == 0 || len(left) == 0 {
		return nil
	}
	for i, w := range leading(left) {
		p.Terms[i].Weight = phrase.Round(w, 4)
	}
	along := p.values(rows, given, width)
	m, deviation := standardise(along)
	p.Slope = phrase.Figures(float64(mean(along, score)*deviation)/spread, 6)
	p.Offset = float64(p.Slope*middle) - m
	along = p.values(rows, given, width)
	if deviation == 0 || audit.NonFinite(along) >= 0 {
		return nil
	}
	p.ScoreEdges, p.Edges = Edges(planeBins, given[:n], given[n:]), Edges(planeBins, along[:n], along[n:])
	return audit.Pick(p.check() == nil, p, nil)
}

// planeNumbers are those of a row that may have a weight.
func planeNumbers(columns []audit.Column, rows []float64) (out []PlaneTerm) {
	var all []int // places, those of symbols below 0
	width := 0
	for _, c := range columns {
		if c.Kind != audit.Real {
			all = append(all, ^width)
		}
		width += c.Width()
		if c.Kind != audit.Symbol {
			all = append(all, width-1)
		}
	}
	n := min(len(all), planeTerms)
	for i := range n {
		at := all[i*len(all)/n]
		if at >= 0 {
			out = append(out, PlaneTerm{At: at})
		} else if s, ok := commonest(rows, ^at, width); ok {
			out = append(out, PlaneTerm{At: ^at, Symbol: &s})
		}
	}
	return out
}

func commonest(rows []float64, at, width int) (symbol float64, ok bool) {
	values := make([]float64, 0, len(rows)/width)
	for ; at < len(rows); at += width {
		values = append(values, rows[at]+0) // -0 and 0 are one symbol
	}
	slices.Sort(values)
	most, run := 0, 0
	for i, v := range values {
		if run++; i > 0 && v != values[i-1] {
			run = 1
		}
		if run > most {
			symbol, most = v, run
		}
	}
	rare := planeRare * float64(len(values))
	return symbol, float64(most) >= rare && float64(len(values)-most) >= rare
}

func (t *PlaneTerm) of(row []float64) float64 {
	x := row[t.At]
	if t.Symbol == nil {
		return x
	}
	return audit.Pick(x == *t.Symbol, 1.0, 0)
}

// standardise puts values in their own standard deviations from their mean. Where they do not vary,
// or by more than floats hold, the deviation is 0 and so are they.
func standardise(values []float64) (middle, deviation float64) {
	at, sum := values[0], 0.0 // equal values deviate by nothing, not even by rounding
	for i := range values {
		values[i] -= at
		sum += values[i]
	}
	sum /= float64(len(values))
	for i := range values {
		values[i] -= sum
	}
	middle, deviation = at+sum, math.Sqrt(mean(values, values))
	if !(deviation > 0) || audit.NonFinite([]float64{middle, deviation, 1 / deviation}) >= 0 {
		clear(values)
		return 0, 0
	}
	for i := range values {
		values[i] /= deviation
	}
	return middle, deviation
}

// mean is that of products.
func mean(a, b []float64) float64 { return linalg.Dot(a, b) / float64(len(a)) }

// leading is the leading principal component of lists of mean 0, of length 1, its largest weight positive.
func leading(lists [][]float64) []float64 {
	w, next := make([]float64, len(lists)), make([]float64, len(lists))
	covariance := make([][]float64, len(lists))
	for i, x := range lists {
		for _, y := range lists {
			covariance[i] = append(covariance[i], mean(x, y))
		}
		w[i] = 1 + float64(i)/float64(len(lists)) // in no symmetry with the columns
	}
	for range planeSteps {
		for i, row := range covariance {
			next[i] = mean(row, w)
		}
		length := math.Sqrt(mean(next, next) * float64(len(w)))
		for i, x := range next {
			w[i] = x / length
		}
	}
	largest := slices.MaxFunc(w, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	for i := range w {
		w[i] = math.Copysign(w[i], w[i]*largest)
	}
	return w
}

func (p *Plane) copy() *Plane {
	if p == nil {
		return nil
	}
	return new(*p)
}

func (p *Plane) named(columns []audit.Column) *Plane {
	const shown = 3
	p = p.copy()
	p.Words = ""
	heaviest := slices.Clone(p.Terms)
	sort.SliceStable(heaviest, func(i, j int) bool { return math.Abs(heaviest[i].Weight) > math.Abs(heaviest[j].Weight) })
	for k, t := range heaviest {
		if k == shown {
			p.Words += " + " + strconv.Itoa(len(p.Terms)-shown) + " more"
			break
		}
		if k > 0 || t.Weight < 0 {
			p.Words += audit.Pick(t.Weight < 0, " - ", " + ")
		}
		p.Words += strconv.FormatFloat(math.Abs(t.Weight), 'g', 2, 64) + " " + t.words(columns)
	}
	return p
}

func (t *PlaneTerm) words(columns []audit.Column) string {
	at := t.At
	for _, c := range columns {
		switch {
		case at >= c.Width():
			at -= c.Width()
			continue
		case t.Symbol != nil:
			return "[" + c.Name + " = " + c.Word(*t.Symbol) + "]"
		case at == 1:
			return "number of " + c.Name
		}
		return c.Name
	}
	return "" // refused elsewhere
}

func (p *Plane) check() error {
	if err := audit.Require(len(p.Terms) > 0 && len(p.Terms) <= planeTerms, "chart.plane.terms", len(p.Terms), "1 to %d", planeTerms); err != nil {
		return err
	}
	if i := audit.NonFinite(p.weights()); i >= 0 {
		return &audit.InputError{Field: fmt.Sprintf("chart.plane.terms[%d].deviation", i), Found: audit.Number(p.Terms[i].Deviation), Want: "above 0, and no less than its weight needs"}
	}
	return audit.First(
		checkEdges("chart.plane.scoreEdges", p.ScoreEdges, mostPlaneEdges),
		checkEdges("chart.plane.edges", p.Edges, mostPlaneEdges),
		audit.Require((p.First == nil) == (p.Second == nil), "chart.plane", "counts of one dataset", "of both or none"),
		checkCounts("chart.plane", p.cells(), p.First, p.Second),
	)
}

// Fits refuses terms beyond a row of so many numbers.
func (p *Plane) Fits(width int) error {
	for _, t := range p.Terms {
		if t.At < 0 || t.At >= width {
			return &audit.InputError{Field: "chart.plane: at of a term", Found: fmt.Sprint(t.At), Want: fmt.Sprintf("in [0, %d], as an output has %d numbers", width-1, width)}
		}
	}
	return nil
}

// NewCounts have room for the outputs in the cells; none where there is no plane.
func (p *Plane) NewCounts() (counts [2][]int) {
	if p != nil {
		for side := range counts {
			counts[side] = make([]int, p.cells())
		}
	}
	return counts
}

func (p *Plane) cells() int { return (len(p.Edges) + 1) * (len(p.ScoreEdges) + 1) }

// weights are of the numbers as they are.
func (p *Plane) weights() []float64 {
	return audit.Listed(len(p.Terms), func(i int) float64 { return p.Terms[i].Weight / p.Terms[i].Deviation })
}

func (p *Plane) along(weights, row []float64, score float64) float64 {
	v := p.Offset - float64(p.Slope*score)
	for k, w := range weights {
		v += float64(w * p.Terms[k].of(row))
	}
	return v
}

func (p *Plane) values(rows, scores []float64, width int) []float64 {
	weights := p.weights()
	return audit.Listed(len(scores), func(i int) float64 { return p.along(weights, rows[i*width:], scores[i]) })
}
