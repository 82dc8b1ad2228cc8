package core

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Plane is what outputs of several numbers look like by the witness's score and
// one more direction, as counts of the first certification outputs. The direction
// is the leading principal component of the standardised numbers of an output
// after what the score explains of them is taken out, by linear regression; a
// symbol is a number, 1 where it is the column's commonest and else 0. Chosen on
// training samples, it shows and decides nothing: where the score holds all that
// tells the datasets apart, their ratio does not change along it.
type Plane struct {
	// The direction's value is offset + sum of weight x/deviation - slope score.
	Terms  []PlaneTerm `json:"terms"`
	Slope  float64     `json:"slope"`
	Offset float64     `json:"offset"`
	Words  string      `json:"words"` // what weighs most

	ScoreEdges []float64 `json:"scoreEdges"` // as a chart's
	Edges      []float64 `json:"edges"`      // of the direction
	// Border is the score at which the event of the first result begins, which
	// lies above it or, if Above is false, at and below it.
	Border *float64 `json:"border,omitempty"`
	Above  bool     `json:"above,omitempty"`

	// Outputs a cell: cell i, j at i (len(scoreEdges)+1) + j, i by the direction, j by
	// the score.
	First  []int `json:"first,omitempty"`
	Second []int `json:"second,omitempty"`
}

// PlaneTerm is a number of an output row in a direction.
type PlaneTerm struct {
	At     int      `json:"at"`               // number At of the row
	Symbol *float64 `json:"symbol,omitempty"` // 1 where the number is this symbol, else 0
	// Deviation is the standard deviation, Weight the number's in units of it: the
	// squares of a plane's weights sum to 1, but for rounding.
	Deviation float64 `json:"deviation"`
	Weight    float64 `json:"weight"`
}

const (
	planeBins     = 24   // inner bins of either axis
	planeTerms    = 32   // of wider outputs, numbers evenly apart
	planeTraining = 2048 // training samples a side that choose
	planeSteps    = 100  // of the power iteration
	// planeRare is the least share of a symbol and of all others, and planeLeft the
	// least share of a number's variance that the score leaves unexplained.
	planeRare = 0.01
	planeLeft = 1e-6
	// planeRows is how many certification outputs a side are counted, at most: the
	// first shards.
	planeRows = 1 << 16
	// mostPlaneEdges is what is read of either axis.
	mostPlaneEdges = 128
)

// newPlane chooses direction and bins on training samples, of which scores are
// the scores. Nil where the score does not vary, or nothing does besides it.
func newPlane(first, second Samples, scores [2][]float64) *Plane {
	width := Width(first.Columns)
	n := [2]int{min(first.Len(), planeTraining), min(second.Len(), planeTraining)}
	rows := slices.Concat(first.Rows[:n[0]*width], second.Rows[:n[1]*width])
	given := slices.Concat(scores[0][:n[0]], scores[1][:n[1]])
	score, ok := newSpread(slices.Clone(given))
	if !ok {
		return nil
	}
	var terms []PlaneTerm
	var left [][]float64           // of every term, what the score leaves
	var means, explained []float64 // of every term in its deviations, and by a deviation of the score
	for _, t := range planeNumbers(first.Columns, rows) {
		values := make([]float64, len(given))
		for i := range values {
			values[i] = t.of(rows[i*width:])
		}
		x, ok := newSpread(values)
		if !ok {
			continue
		}
		slope := mean(x.values, score.values)
		for i, s := range score.values {
			x.values[i] -= float64(slope * s)
		}
		if !(mean(x.values, x.values) > planeLeft) {
			continue
		}
		t.Deviation = roundFigures(x.deviation, 6)
		terms, left = append(terms, t), append(left, x.values)
		means, explained = append(means, x.mean/t.Deviation), append(explained, slope)
	}
	if len(terms) == 0 {
		return nil
	}
	p := &Plane{}
	for i, w := range leading(left) {
		if w = roundTo(w, 4); w == 0 {
			continue
		}
		terms[i].Weight = w
		p.Terms = append(p.Terms, terms[i])
		p.Slope += float64(w * explained[i])
		p.Offset -= float64(w * means[i])
	}
	p.Slope = roundFigures(p.Slope/score.deviation, 6)
	p.Offset += float64(p.Slope * score.mean)
	d := p.direction()
	along := make([]float64, len(given))
	for i := range along {
		along[i] = d.along(rows[i*width:], given[i])
	}
	if nonFinite(along) >= 0 {
		return nil
	}
	p.ScoreEdges, p.Edges = chartEdges(planeBins, given[:n[0]], given[n[0]:]), chartEdges(planeBins, along[:n[0]], along[n[0]:])
	if p.check() != nil {
		return nil
	}
	return p
}

// planeNumbers are the numbers of a row that may have a weight.
func planeNumbers(columns []Column, rows []float64) []PlaneTerm {
	type place struct {
		at     int
		symbol bool
	}
	var all []place
	width := 0
	for _, c := range columns {
		if c.Kind != Real {
			all = append(all, place{width, true})
		}
		width += c.Width()
		if c.Kind != Symbol {
			all = append(all, place{width - 1, false})
		}
	}
	var out []PlaneTerm
	for i, n := 0, min(len(all), planeTerms); i < n; i++ {
		p := all[i*len(all)/n]
		if !p.symbol {
			out = append(out, PlaneTerm{At: p.at})
		} else if s, ok := commonest(rows, p.at, width); ok {
			out = append(out, PlaneTerm{At: p.at, Symbol: &s})
		}
	}
	return out
}

// commonest is the commonest value of a number of the rows, the smallest of
// several; false where it or all others are rare.
func commonest(rows []float64, at, width int) (symbol float64, ok bool) {
	counts := map[float64]int{}
	for ; at < len(rows); at += width {
		counts[rows[at]]++
	}
	most, others := 0, 0
	for v, n := range counts {
		if n > most || n == most && v < symbol {
			symbol, most = v, n
		}
		others += n
	}
	rare := planeRare * float64(others)
	others -= most
	return symbol + 0, float64(most) >= rare && float64(others) >= rare // -0 and 0 are one symbol
}

func (t *PlaneTerm) of(row []float64) float64 {
	if t.Symbol == nil {
		return row[t.At]
	}
	if row[t.At] == *t.Symbol {
		return 1
	}
	return 0
}

// spread is a list of values in their own standard deviations from their mean.
type spread struct {
	mean, deviation float64
	values          []float64
}

// newSpread takes the list over; false where it does not vary, or by more than
// floats hold.
func newSpread(values []float64) (spread, bool) {
	at := values[0] // a list of one value has no deviation, not even by rounding
	sum := 0.0
	for i := range values {
		values[i] -= at
		sum += values[i]
	}
	middle := sum / float64(len(values))
	for i := range values {
		values[i] -= middle
	}
	s := spread{mean: at + middle, deviation: math.Sqrt(mean(values, values)), values: values}
	if !(s.deviation > 0) || nonFinite([]float64{s.mean, s.deviation, 1 / s.deviation}) >= 0 {
		return s, false
	}
	for i := range values {
		values[i] /= s.deviation
	}
	return s, true
}

// mean is that of products.
func mean(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum / float64(len(a))
}

// leading is the leading principal component of lists of mean 0, of length 1, its
// largest weight positive: by power iteration.
func leading(lists [][]float64) []float64 {
	n := len(lists)
	covariance := make([][]float64, n)
	for i := range lists {
		covariance[i] = make([]float64, n)
		for j := range i + 1 {
			covariance[i][j] = mean(lists[i], lists[j])
			covariance[j][i] = covariance[i][j]
		}
	}
	w, next := make([]float64, n), make([]float64, n)
	for i := range w {
		w[i] = 1 + float64(i)/float64(n) // in no symmetry with the columns
	}
	for range planeSteps {
		squares := 0.0
		for i, row := range covariance {
			next[i] = 0
			for j, c := range row {
				next[i] += float64(c * w[j])
			}
			squares += float64(next[i] * next[i])
		}
		length := math.Sqrt(squares)
		if !(length > 0) {
			break
		}
		for i := range next {
			next[i] /= length
		}
		w, next = next, w
	}
	largest := 0
	for i := range w {
		if math.Abs(w[i]) > math.Abs(w[largest]) {
			largest = i
		}
	}
	if w[largest] < 0 {
		for i := range w {
			w[i] = -w[i]
		}
	}
	return w
}

// roundFigures rounds to so many significant figures, alike on every platform.
func roundFigures(x float64, figures int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', figures, 64), 64)
	return v
}

// named puts the direction into words.
func (p Plane) named(columns []Column) *Plane {
	type number struct {
		column Column
		second bool // of a mixed column: the number beside the symbol
	}
	var numbers []number
	for _, c := range columns {
		for k := range c.Width() {
			numbers = append(numbers, number{c, k == 1})
		}
	}
	terms := slices.Clone(p.Terms)
	slices.SortStableFunc(terms, func(a, b PlaneTerm) int {
		switch x, y := math.Abs(a.Weight), math.Abs(b.Weight); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	const shown = 3
	var b strings.Builder
	for i, t := range terms[:min(shown, len(terms))] {
		sign := " + "
		if t.Weight < 0 {
			sign = " - "
		}
		if i > 0 || t.Weight < 0 {
			b.WriteString(sign)
		}
		fmt.Fprintf(&b, "%.2g ", math.Abs(t.Weight))
		switch {
		case t.At < 0 || t.At >= len(numbers): // refused elsewhere
		case t.Symbol != nil:
			c := numbers[t.At].column
			fmt.Fprintf(&b, "[%s = %s]", c.Name, c.Word(*t.Symbol))
		case numbers[t.At].second:
			b.WriteString("number of " + numbers[t.At].column.Name)
		default:
			b.WriteString(numbers[t.At].column.Name)
		}
	}
	if more := len(terms) - shown; more > 0 {
		fmt.Fprintf(&b, " + %d more", more)
	}
	p.Words = b.String()
	return &p
}

// check refuses a plane that cannot be drawn.
func (p Plane) check() error {
	if len(p.Terms) == 0 || len(p.Terms) > planeTerms {
		return &InputError{Field: "chart.plane.terms", Found: fmt.Sprintf("%d", len(p.Terms)), Want: fmt.Sprintf("1 to %d", planeTerms)}
	}
	for i, t := range p.Terms {
		if !(t.Deviation > 0) || nonFinite([]float64{t.Weight / t.Deviation}) >= 0 {
			return &InputError{Field: fmt.Sprintf("chart.plane.terms[%d].deviation", i), Found: number(t.Deviation), Want: "above 0, and no less than its weight needs"}
		}
	}
	if err := checkChartEdges("chart.plane.scoreEdges", p.ScoreEdges, mostPlaneEdges); err != nil {
		return err
	}
	if err := checkChartEdges("chart.plane.edges", p.Edges, mostPlaneEdges); err != nil {
		return err
	}
	if (p.First == nil) != (p.Second == nil) {
		return &InputError{Field: "chart.plane", Found: "counts of one dataset", Want: "of both or none"}
	}
	return checkCounts("chart.plane", p.cells(), p.First, p.Second)
}

// fits refuses terms beyond a row of so many numbers.
func (p Plane) fits(width int) error {
	for i, t := range p.Terms {
		if t.At < 0 || t.At >= width {
			return &InputError{Field: fmt.Sprintf("chart.plane.terms[%d].at", i), Found: fmt.Sprint(t.At), Want: fmt.Sprintf("in [0, %d], as an output has %d numbers", width-1, width)}
		}
	}
	return nil
}

func (p Plane) cells() int { return (len(p.Edges) + 1) * (len(p.ScoreEdges) + 1) }

// direction is that of a plane, with the weights of the numbers as they are.
type direction struct {
	plane   Plane
	weights []float64
}

func (p Plane) direction() direction {
	d := direction{plane: p}
	for _, t := range p.Terms {
		d.weights = append(d.weights, t.Weight/t.Deviation)
	}
	return d
}

// along is a row's value in the direction.
func (d *direction) along(row []float64, score float64) float64 {
	v := d.plane.Offset - float64(d.plane.Slope*score)
	for k := range d.weights {
		v += float64(d.weights[k] * d.plane.Terms[k].of(row))
	}
	return v
}

// planeCounter counts rows into the cells of a plane.
type planeCounter struct {
	direction
	width          int // of a row
	score, upwards axis
}

func (p Plane) counter(width int) *planeCounter {
	return &planeCounter{direction: p.direction(), width: width, score: newAxis(p.ScoreEdges), upwards: newAxis(p.Edges)}
}

// count adds a block of rows.
func (c *planeCounter) count(rows, scores []float64, cells []int) {
	across := len(c.score.edges) + 1
	for i, s := range scores {
		v := c.along(rows[i*c.width:(i+1)*c.width], s)
		cells[c.upwards.bin(v)*across+c.score.bin(s)]++
	}
}
