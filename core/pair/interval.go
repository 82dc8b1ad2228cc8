package pair

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Where an event of one real output begins and ends is looked for on a grid:
// within the chart's range, and beyond it at growing distances.
const (
	intervalSteps = 2000
	intervalReach = 60  // steps beyond either end
	intervalMost  = 4   // intervals that are put into words
	intervalGrow  = 1.3 // of the distance beyond the end, a step
)

// eventWords describes the outputs in an event. For one real output that is a
// few intervals, whatever the learner; else its model finds the words.
func eventWords(columns []audit.Column, ch Chart, m audit.Model, threshold float64, above bool) string {
	words := m.Describe(threshold, above)
	if len(columns) != 1 || columns[0].Kind != audit.Real || ch.Kind != HistogramChart || strings.HasPrefix(words, columns[0].Name+" ") {
		return words
	}
	if in := intervals(ch.Edges, m, threshold, above); len(in) > 0 && len(in) <= intervalMost {
		parts := make([]string, len(in))
		for i, x := range in {
			parts[i] = intervalWords(columns[0].Name, x[0], x[1])
		}
		return "about " + strings.Join(parts, " or ")
	}
	return words
}

func intervalWords(name string, lo, hi float64) string {
	switch {
	case math.IsInf(lo, -1) && math.IsInf(hi, 1):
		return "any " + name
	case math.IsInf(lo, -1):
		return fmt.Sprintf("%s < %.4g", name, hi)
	case math.IsInf(hi, 1):
		return fmt.Sprintf("%s > %.4g", name, lo)
	}
	return fmt.Sprintf("%s in (%.4g, %.4g)", name, lo, hi)
}

// intervals are the maximal intervals of the grid on which the score lies on the
// event's side, their ends found by halving. An interval that reaches the grid's
// end is taken to go on.
func intervals(edges []float64, m audit.Model, threshold float64, above bool) [][2]float64 {
	lo, hi := edges[0], edges[len(edges)-1]
	var grid []float64
	beyond := float64((hi - lo) / intervalSteps)
	for range intervalReach {
		grid = append(grid, lo-beyond, hi+beyond)
		beyond *= intervalGrow
	}
	for i := range intervalSteps + 1 {
		f := float64(i) / intervalSteps
		grid = append(grid, float64(lo*(1-f))+float64(hi*f))
	}
	slices.Sort(grid)
	score := make([]float64, 1)
	in := func(x float64) bool {
		m.Score([]float64{x}, score)
		return (score[0] > threshold) == above
	}
	// end halves between a point outside and one inside.
	end := func(out, in0 float64) float64 {
		for range 60 {
			mid := float64(out*0.5) + float64(in0*0.5)
			if in(mid) {
				in0 = mid
			} else {
				out = mid
			}
		}
		return in0
	}
	var found [][2]float64
	inside := false
	for i, x := range grid {
		switch now := in(x); {
		case now && !inside:
			from := math.Inf(-1)
			if i > 0 {
				from = end(grid[i-1], x)
			}
			found = append(found, [2]float64{from, math.Inf(1)})
			inside = true
		case !now && inside:
			found[len(found)-1][1] = end(x, grid[i-1])
			inside = false
		}
	}
	return found
}
