package scene

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/wasm/scene/plot"

	"github.com/dpscope/dpscope/core/membership"
)

// scoreSample are scores of exploration runs by canaries, those inside before the
// fresh ones.
type scoreSample struct {
	threshold  float64
	runs       int
	canaries   []portrayed
	inside     int // of the canaries
	matrix     [][]float64
	correlated int // runs
}

// portrayed is a place of a run. A score that is none is NaN.
type portrayed struct {
	side, number int // from 1
	scores       []float64
}

// hugest bounds scores that are drawn.
const hugest = 1e150

// newScoreSample is nil where there is nothing to draw.
func newScoreSample(p *membership.ScoreSample, threshold float64) *scoreSample {
	if p == nil || len(p.In) == 0 || len(p.In) != len(p.Out) || !(math.Abs(threshold) <= hugest) {
		return nil
	}
	v := &scoreSample{threshold: threshold, runs: len(p.In), inside: len(p.In[0])}
	finite := 0
	for side, rows := range [][][]*float64{p.In, p.Out} {
		n := len(rows[0])
		if n == 0 {
			return nil
		}
		for k := range n {
			c := portrayed{side: side, number: k + 1}
			for _, row := range rows {
				if len(row) != n {
					return nil
				}
				x := math.NaN()
				if s := row[k]; s != nil && math.Abs(*s) <= hugest {
					x = *s
					finite++
				}
				c.scores = append(c.scores, x)
			}
			v.canaries = append(v.canaries, c)
		}
	}
	if finite == 0 {
		return nil
	}
	v.takeMatrix(p)
	return v
}

// takeMatrix takes the correlations, if they are of these canaries.
func (v *scoreSample) takeMatrix(p *membership.ScoreSample) {
	n := len(v.canaries)
	if len(p.Correlations) != n || p.Correlated < 2 {
		return
	}
	matrix := make([][]float64, n)
	for i := range matrix {
		matrix[i] = make([]float64, n)
		matrix[i][i] = 1
	}
	for i, row := range p.Correlations {
		if len(row) != i {
			return
		}
		for k, r := range row {
			x := math.NaN()
			if r != nil && math.Abs(*r) <= 1 {
				x = *r
			}
			matrix[i][k], matrix[k][i] = x, x
		}
	}
	v.matrix, v.correlated = matrix, p.Correlated
}

// words name a canary.
func (c portrayed) words() string { return fmt.Sprintf("%s %d", sideWords[c.side], c.number) }

// figures are how many of its scores exceed a threshold, how many there are, their
// mean and their ends; NaN where there are none.
func (c portrayed) figures(threshold float64) (above, n int, mean, least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	sum := 0.0
	for _, x := range c.scores {
		if math.IsNaN(x) {
			continue
		}
		n++
		sum += x
		least, most = min(least, x), max(most, x)
		if x > threshold {
			above++
		}
	}
	if n == 0 {
		return 0, 0, math.NaN(), math.NaN(), math.NaN()
	}
	return above, n, sum / float64(n), least, most
}

// sideMark is how a side is painted and marked.
func sideMark(side int) (plot.Paint, plot.Form) {
	if side == 0 {
		return plot.Ink(plot.First), plot.Disc
	}
	return plot.Ink(plot.Second), plot.Square
}

// spanOf reaches a little beyond values.
func spanOf(values ...float64) plot.Scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range values {
		if !math.IsNaN(x) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	pad := 0.06 * (hi - lo)
	if !(pad > 0) {
		pad = max(0.5, 0.06*math.Abs(hi))
	}
	return plot.Scale{Lo: lo - pad, Hi: hi + pad}
}

// cloud are the scores as points.
func (v *scoreSample) cloud() *Cloud {
	c := &Cloud{}
	for run := range v.runs {
		var scores []float64
		for _, k := range v.canaries {
			scores = append(scores, k.scores[run])
		}
		c.add(run+1, v.inside, scores)
	}
	return c
}
