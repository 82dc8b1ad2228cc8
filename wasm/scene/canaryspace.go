package scene

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/wasm/scene/plot"
)

// canarySpace are the canaries of the explored runs, each by its scores: a point for each
// score, score by score beside the threshold, or two at a time by their correlation.
type canarySpace struct {
	of    *scoreSample
	cloud *Cloud // of these runs, or of all that came while the audit ran
	most  int    // points that are drawn
}

// Ways to look at canary space.
const (
	inPlane  = "plane"
	inRows   = "scores"
	inMatrix = "matrix"
)

func (v *canarySpace) view() *plot.View {
	x := plot.View{ID: "space", Title: "Canary space", ChoiceLabel: "Show"}
	if v.cloud.there() {
		x.Choices = append(x.Choices, plot.Choice{ID: inPlane, Words: "score and run"})
	}
	x.Choices = append(x.Choices, plot.Choice{ID: inRows, Words: "scores and threshold"})
	if v.of.matrix != nil {
		x.Choices = append(x.Choices, plot.Choice{ID: inMatrix, Words: "correlations"})
	}
	return x.Of(func(choice string) plot.Plot {
		if !slices.ContainsFunc(x.Choices, func(c plot.Choice) bool { return c.ID == choice }) {
			choice = x.Choices[0].ID
		}
		p := map[string]func() plot.Plot{inPlane: func() plot.Plot { return v.cloud.plot(v.of.threshold, v.most) }, inRows: v.rows, inMatrix: v.cells}[choice]()
		p.Caption += " Threshold and stakes were chosen on these runs; nothing here is certified."
		return p
	})
}

// from says what is drawn.
func (v *canarySpace) from() string {
	return fmt.Sprintf("%s canaries inside and %s fresh ones of the first %s exploration runs", plot.Grouped(v.of.inside), plot.Grouped(len(v.of.canaries)-v.of.inside), plot.Grouped(v.of.runs))
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

// rounded is a correlation of two figures.
func rounded(r float64) string {
	if math.IsNaN(r) {
		return "none"
	}
	return plot.Short(plot.Round(r, 2))
}

// block is that of two canaries: inside, fresh, across.
func (v *canarySpace) block(i, k int) int {
	if a := v.of.canaries[i].side; a == v.of.canaries[k].side {
		return a
	}
	return 2
}

// numbers are the canaries.
func (v *canarySpace) numbers() plot.Numbers {
	n := plot.Numbers{Title: "Canaries of the explored runs", Head: []string{"canary", "scores", "above the threshold", "mean", "least", "largest"}}
	for _, c := range v.of.canaries {
		above, all, mean, least, most := c.figures(v.of.threshold)
		n.Rows = append(n.Rows, []any{c.words(), all, above, mean, least, most})
	}
	return n
}

// rows shows every score beside the threshold, a canary a column.
func (v *canarySpace) rows() plot.Plot {
	const apart = 0.8 // columns between the sides
	all, where := []float64{v.of.threshold}, map[float64]string{}
	p := plot.Plot{Height: plot.Height{260, 0.5, 440}, Numbers: v.numbers()}
	p.Caption = fmt.Sprintf("The scores of %s. A score above %s is in the event.", v.from(), plot.Short(v.of.threshold))
	p.X = plot.Axis{Title: "canaries, those inside first", Scale: plot.Scale{Hi: float64(len(v.of.canaries)) + apart}, Words: func(at float64) string { return where[at] }}
	marks := []plot.Mark{plot.Rule{Key: "threshold (dashed)", Paint: plot.Ink(plot.Event), At: v.of.threshold}}
	for i, c := range v.of.canaries {
		paint, form := sideMark(c.side)
		from := float64(i) + apart*float64(c.side)
		dots := plot.Points{Paint: paint.At(0.55), Form: form, Radius: 3}
		for _, score := range c.scores {
			if all = append(all, score); !math.IsNaN(score) {
				dots.At = append(dots.At, [2]float64{from + 0.5, score})
			}
		}
		marks = append(marks, dots)
		_, _, mean, _, _ := c.figures(v.of.threshold)
		if !math.IsNaN(mean) {
			marks = append(marks, plot.Line{Paint: plot.Ink(plot.Text), Points: [][2]float64{{from + 0.1, mean}, {from + 0.9, mean}}})
		} else {
			mean = v.of.threshold
		}
		p.Items, p.Within = append(p.Items, [2]float64{from + 0.5, mean}), append(p.Within, plot.Column(from, from+1))
		p.X.Ticks, where[from+0.5] = append(p.X.Ticks, from+0.5), fmt.Sprint(c.number)
	}
	p.Y = plot.Axis{Title: "score", Scale: spanOf(all...), Words: plot.Short, Zooms: true}
	for side := range 2 {
		paint, form := sideMark(side)
		p.Marks = append(p.Marks, plot.Points{Key: sideWords[side], Paint: paint, Form: form})
	}
	p.Marks = append(append(p.Marks, plot.Line{Key: "mean", Paint: plot.Ink(plot.Text)}, plot.Bars{Key: "in the event", Paint: plot.Ink(plot.EventArea), Form: plot.KeyRegion, Boxes: []plot.Box{plot.Span(p.X.Lo, p.X.Hi, v.of.threshold, p.Y.Hi)}}), marks...)
	return p
}

// cells shows the matrix of correlations.
func (v *canarySpace) cells() plot.Plot {
	n := float64(len(v.of.canaries))
	end := 1.5 * v.chance()
	for i := range v.of.canaries {
		for k := range i {
			if r := math.Abs(v.of.matrix[i][k]); r > end {
				end = r
			}
		}
	}
	end = min(1, end)
	where := map[float64]string{}
	p := plot.Plot{Height: plot.Height{240, 0.6, 460}}
	means := v.blocks()
	p.Caption = fmt.Sprintf("Correlation of the scores of any two canaries over %s exploration runs: on average %s inside, %s among fresh ones, %s across. Canaries of a side are exchangeable: within a block cells differ by chance alone, which makes about ±%s.",
		plot.Grouped(v.of.correlated), rounded(means[0]), rounded(means[1]), rounded(means[2]), rounded(v.chance()))
	p.Numbers = plot.Numbers{Title: "Correlations of scores", Head: []string{"canary", "with", "correlation", "block"}}
	p.X = plot.Axis{Title: "canaries, those inside first", Scale: plot.Scale{Hi: n}, Words: func(at float64) string { return where[at] }}
	p.Y = plot.Axis{Scale: plot.Scale{Lo: -n}, Words: func(at float64) string { return where[-at] }}
	most := plot.Short(plot.Round(end, 2))
	p.Marks = []plot.Mark{plot.Bars{Key: "correlation up to " + most, Paint: plot.Ink(plot.Bad)}, plot.Bars{Key: "down to −" + most + " (hatched)", Paint: plot.Ink(plot.Calm), Form: plot.KeyHatch}, plot.Bars{Key: "none, or a canary with itself", Paint: plot.Ink(plot.Grid)}}
	for i, c := range v.of.canaries {
		at := float64(i)
		where[at+0.5] = fmt.Sprint(c.number)
		p.X.Ticks, p.Y.Ticks = append(p.X.Ticks, at+0.5), append(p.Y.Ticks, -at-0.5)
		for k := range v.of.canaries {
			box, r := plot.Span(float64(k), float64(k+1), -at-1, -at), v.of.matrix[i][k]
			if i != k {
				p.Items, p.Within = append(p.Items, [2]float64{float64(k) + 0.5, -at - 0.5}), append(p.Within, box)
				p.Rows = append(p.Rows, []any{c.words(), v.of.canaries[k].words(), r, [3]string{"inside", "fresh", "across"}[v.block(i, k)]})
			}
			cell := plot.Bars{Boxes: []plot.Box{box}, Paint: plot.Ink(plot.Grid)}
			if i != k && !math.IsNaN(r) {
				cell.Paint, cell.Form = plot.Between(plot.Panel, plot.If(r < 0, plot.Calm, plot.Bad), math.Abs(r)/end), plot.If(r < -0.2*end, plot.KeyHatch, plot.KeyBox)
			}
			p.Marks = append(p.Marks, cell)
		}
	}
	p.Name = strconv.Itoa
	edge := float64(v.of.inside) // between the sides
	p.Marks = append(p.Marks, plot.Line{Paint: plot.Ink(plot.Text), Width: 1.5, Points: [][2]float64{{edge, 0}, {edge, -n}}}, plot.Line{Paint: plot.Ink(plot.Text), Width: 1.5, Points: [][2]float64{{0, -edge}, {n, -edge}}})
	return p
}
