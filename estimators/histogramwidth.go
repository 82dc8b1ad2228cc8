package estimators

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// histogramM estimates the likelihood ratio of one column in bins of equal width,
// at most 256, between the smallest and the largest training output, as
// published, against the quantile bins of the histogram that the portfolio
// uses: one output far away leaves all others in one bin. Symbols get a cell
// each. Nothing is smoothed over neighbours. With shrink, ratios that are
// poorly known move to the middle; without it, as published, an outcome seen
// once on one side and never on the other outranks what is well known.
func histogramM(name string, bins int, shrink bool) audit.LearnerSpec {
	return audit.LearnerSpec{
		Name:   name,
		Title:  fmt.Sprintf("Likelihood ratio in %d bins of equal width", bins),
		Source: "HistogramTester of DP-Auditorium (Kong et al. 2023), algorithms 3 and 4, and Gilbert and McMillan 2018",
		ByName: true,
		Applies: func(columns []audit.Column) error {
			if len(columns) != 1 {
				return errors.New("the published histogram is of one output column")
			}
			return nil
		},
		Learn:  func(ex audit.Exploration) (audit.Model, error) { return learnHistogramM(ex, bins, shrink) },
		Decode: decodeHistogram,
	}
}

func learnHistogramM(ex audit.Exploration, bins int, shrink bool) (audit.Model, error) {
	if err := learnable(ex); err != nil {
		return nil, err
	}
	columns := ex.First.Columns
	p, err := fitPartition(ex, columns[0], 0, 1, false)
	if err != nil {
		return nil, err
	}
	if columns[0].Kind != audit.Symbol {
		if p.Edges, err = equalEdges(ex, columns[0], p, bins); err != nil {
			return nil, err
		}
	}
	m := &histogramModel{Partition: p}
	m.prepare(columns)
	folds, err := m.count(ex)
	if err != nil {
		return nil, err
	}
	counts := folds[0].plus(folds[1])
	for i := range counts.cells[0] {
		ratio, variance := logRatio(counts.cells[0][i], counts.total[0], counts.cells[1][i], counts.total[1])
		if shrink {
			ratio = cautious(ratio, variance)
		}
		m.Scores = append(m.Scores, ratio)
	}
	m.Scores = append(m.Scores, 0)
	return m, ex.Check()
}

// equalEdges cuts the range of a column's numbers into equal widths; none where
// it holds one value.
func equalEdges(ex audit.Exploration, column audit.Column, p partition, bins int) ([]float64, error) {
	low, high, any := 0.0, 0.0, false
	width := column.Width()
	for _, side := range []audit.Samples{ex.First, ex.Second} {
		for i := range side.Len() {
			if i%checkEvery == 0 {
				if err := ex.Check(); err != nil {
					return nil, err
				}
			}
			row := side.Rows[i*width : (i+1)*width]
			if column.Kind == audit.Mixed {
				if k := slices.Index(p.Symbols, row[0]); k < 0 || !p.Carries[k] {
					continue
				}
			}
			v := row[width-1]
			if !any {
				low, high, any = v, v, true
			}
			low, high = min(low, v), max(high, v)
		}
	}
	var edges []float64
	for i := 1; i < bins; i++ {
		share := float64(i) / float64(bins)
		e := float64(low*(1-share)) + float64(high*share) // high - low may overflow
		if e >= low && e < high {
			edges = append(edges, e+0)
		}
	}
	slices.Sort(edges) // rounding may swap two
	return slices.Compact(edges), ex.Check()
}
