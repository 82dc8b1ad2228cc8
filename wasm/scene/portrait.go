package scene

import (
	"fmt"
	"math"
)

// CanaryPortrait is canary.Portrait.
type CanaryPortrait struct {
	In           [][]*float64 `json:"in"`
	Out          [][]*float64 `json:"out"`
	Correlations [][]*float64 `json:"correlations"`
	Correlated   int          `json:"correlated"`
}

// portrait are scores of exploration runs by canaries, those inside before the
// fresh ones.
type portrait struct {
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

// newPortrait is nil where there is nothing to draw.
func newPortrait(p *CanaryPortrait, threshold float64) *portrait {
	if p == nil || len(p.In) == 0 || len(p.In) != len(p.Out) || !(math.Abs(threshold) <= hugest) {
		return nil
	}
	v := &portrait{threshold: threshold, runs: len(p.In), inside: len(p.In[0])}
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
func (v *portrait) takeMatrix(p *CanaryPortrait) {
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
func sideMark(side int) (Paint, Form) {
	if side == 0 {
		return Ink(First), Disc
	}
	return Ink(Second), Square
}

// sideKeys are the legend's samples of both sides.
func sideKeys(inside, fresh string) []key {
	return []key{{words: inside, paint: Ink(First), form: keyDot, mark: Disc}, {words: fresh, paint: Ink(Second), form: keyDot, mark: Square}}
}

// spanOf reaches a little beyond values.
func spanOf(values ...float64) Scale {
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
	return Scale{Lo: lo - pad, Hi: hi + pad}
}
