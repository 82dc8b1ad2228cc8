package pair

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair/chart"
	"github.com/dpscope/dpscope/core/pair/threshold"
)

// Bins are chosen on the first epoch, and again after sequentialChartAgain outputs a side; then they count.
const (
	sequentialChartAgain = 192
	sequentialChartBins  = 24 // inner bins of a histogram
)

// sequentialChartShares are the error's, of the first chart of a pair and the second.
var sequentialChartShares = [2]float64{0.1, 0.9}

type armChart struct {
	chart  chart.Chart
	binner *chart.Binner // nil: nothing is counted
	chosen int           // how often the bins were chosen
	seen   [2][]float64  // outputs to choose on
}

// choose takes the outputs of an epoch, on which bins may be chosen.
func (c *armChart) choose(columns []audit.Column, kept [2][]float64) {
	if c.chosen == len(sequentialChartShares) || len(kept[0]) == 0 || len(kept[1]) == 0 {
		return
	}
	for side := range kept {
		c.seen[side] = append(c.seen[side], kept[side]...)
	}
	if c.chosen == 1 && len(c.seen[0]) < sequentialChartAgain*audit.Width(columns) {
		return
	}
	first, second := audit.Samples{Columns: columns, Rows: c.seen[0]}, audit.Samples{Columns: columns, Rows: c.seen[1]}
	if c.chosen++; c.chosen == len(sequentialChartShares) {
		c.seen = [2][]float64{}
	}
	ch, column, ok := sequentialChart(columns, first, second)
	if !ok {
		*c = armChart{chosen: len(sequentialChartShares)}
		return
	}
	c.chart = ch
	if c.binner, _ = ch.Binner(columns); c.binner != nil { // else nothing is counted
		c.binner.Column = column
	}
}

// sequentialChart is of the outcomes, or a histogram of the number, of several, that differs most
// between the samples; false where outputs are neither.
func sequentialChart(columns []audit.Column, first, second audit.Samples) (chart.Chart, int, bool) {
	if audit.AllSymbols(columns) {
		return chart.OfOutcomes(columns, first, second), 0, true
	}
	best, most, at, width := -1, -1, 0, audit.Width(columns)
	var sorted [2][]float64
	name := ""
	for _, c := range columns {
		if c.Kind == audit.Real {
			var s [2][]float64
			for side, rows := range [2][]float64{first.Rows, second.Rows} {
				for i := at; i < len(rows); i += width {
					s[side] = append(s[side], rows[i])
				}
				slices.Sort(s[side])
			}
			if d := distance(s[0], s[1]); d > most {
				best, most, sorted, name = at, d, s, c.Name
			}
		}
		at += c.Width()
	}
	if best < 0 {
		return chart.Chart{}, 0, false
	}
	return chart.Chart{Kind: chart.Histogram, Axis: name, Edges: chart.HistogramEdges(sequentialChartBins, sorted[0], sorted[1])}, best, true
}

// distance is the largest difference of the counts up to any value, of sorted samples of one size.
func distance(first, second []float64) (most int) {
	for _, n := range threshold.Values(first, second) {
		most = max(most, n[0]-n[1], n[1]-n[0])
	}
	return most
}

// chart is that of the pair that most outputs were drawn from; nil where it has none.
func (r *sequentialRun) chart() *SequentialChart {
	if len(r.candidates) == 0 {
		return nil
	}
	lead := r.result.loudest()
	c := &r.candidates[lead].chart
	if c.binner == nil || audit.Total(c.binner.Bins[0]) == 0 {
		return nil
	}
	ch := c.chart
	ch.First, ch.Second = slices.Clone(c.binner.Bins[0]), slices.Clone(c.binner.Bins[2])
	return &SequentialChart{Pair: lead, Share: sequentialChartShares[c.chosen-1] / float64((lead+1)*(lead+2)), Chart: ch}
}

func (c *SequentialChart) rows() int { return audit.Total(c.Chart.First) }

func (c *SequentialChart) check(r *SequentialResult) error {
	if err := audit.Within("report: sequential.chart.pair", c.Pair, 0, len(r.Pairs)-1); err != nil {
		return err
	}
	drawn := r.drawn()[c.Pair]
	most := func(side string, counts []int) error {
		sum := audit.Total(counts)
		return audit.Require(sum <= drawn, "report: sequential.chart."+side, fmt.Sprintf("%d outputs", sum), "at most %d, all that were drawn of the pair", drawn)
	}
	return audit.First(audit.Require(c.Share > 0 && c.Share <= 1, "report: sequential.chart.share", audit.Number(c.Share), "in (0, 1]"),
		most("first", c.Chart.First), most("second", c.Chart.Second), c.Chart.Check())
}
