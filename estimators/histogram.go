package estimators

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// histogram estimates the likelihood ratio of one column at a time by counts in
// bins, smoothed over neighbours, and keeps the column that tells the sides
// apart best.
var histogram = audit.LearnerSpec{
	Name:    "histogram",
	Title:   "Likelihood ratio of one column, from a histogram",
	Source:  "Histogram tester of DP-Auditorium (Kong et al. 2023), section 4, with quantile bins and shrinkage",
	Applies: anyColumn("a histogram needs at least one output column"),
	Learn:   learnHistogram,
	Decode:  decodeHistogram,
}

const (
	histogramBins = 96
	screeningBins = 24 // when there are several columns to choose from
	roughest      = 16 // widest smoothing, in bins to each side
)

// histogramModel scores an output by the cell in which one of its columns lies.
type histogramModel struct {
	Column    int       `json:"column"`
	Partition partition `json:"partition"`
	Scores    []float64 `json:"scores"` // one a cell; last, for symbols that are not listed

	columns []audit.Column
	coder   *coder
	width   int
}

func learnHistogram(ex audit.Exploration) (audit.Model, error) {
	if err := learnable(ex); err != nil {
		return nil, err
	}
	columns := ex.First.Columns
	bins := min(histogramBins, binsFor(ex))
	best, gain := 0, 0.0
	if len(columns) > 1 {
		for i := range columns {
			_, g, err := fitHistogram(ex, i, min(bins, screeningBins))
			if err != nil {
				return nil, err
			}
			if i == 0 || g > gain {
				best, gain = i, g
			}
		}
	}
	m, _, err := fitHistogram(ex, best, bins)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// binsFor is how many bins so many outputs carry: 2 n^(1/3), at least 4.
func binsFor(ex audit.Exploration) int {
	n := ex.First.Len() + ex.Second.Len()
	k := 2
	for k*k*k < n {
		k++
	}
	return max(4, 2*k)
}

// fitHistogram learns from one column. The gain is how much better, in nats an
// output, the scores guess the side of outputs that they were not learnt from.
func fitHistogram(ex audit.Exploration, column, bins int) (*histogramModel, float64, error) {
	columns := ex.First.Columns
	p, err := fitPartition(ex, columns[column], offsets(columns)[column], bins, true)
	if err != nil {
		return nil, 0, err
	}
	m := &histogramModel{Column: column, Partition: p}
	m.prepare(columns)
	counts, err := m.count(ex)
	if err != nil {
		return nil, 0, err
	}
	reach, gain := chooseSmoothing(counts, m.runs())
	m.Scores = append(smoothed(counts[0].plus(counts[1]), m.runs(), reach), 0)
	return m, gain, nil
}

// prepare builds what scoring needs from the fields that are written down.
func (m *histogramModel) prepare(columns []audit.Column) {
	m.columns = columns
	m.width = audit.Width(columns)
	m.coder = newCoder(m.Partition, columns[m.Column].Kind, offsets(columns)[m.Column])
}

// count tallies the cells of the training outputs in two folds, row by row in
// turn.
func (m *histogramModel) count(ex audit.Exploration) ([2]sideCounts, error) {
	cells := m.Partition.cells(m.columns[m.Column].Kind)
	folds := [2]sideCounts{newSideCounts(cells), newSideCounts(cells)}
	var cell codes
	for s, side := range []audit.Samples{ex.First, ex.Second} {
		rows := side.Rows
		for start := 0; len(rows) > 0; start += block {
			if start%checkEvery == 0 {
				if err := ex.Check(); err != nil {
					return folds, err
				}
			}
			n := min(block, len(rows)/m.width)
			m.coder.code(rows, m.width, n, &cell)
			rows = rows[n*m.width:]
			for i, c := range cell[:n] {
				f := &folds[i&1]
				f.total[s]++
				if int(c) < cells {
					f.cells[s][c]++
				}
			}
		}
	}
	return folds, nil
}

// runs marks the cells that smoothing may join: equal numbers, neighbours;
// 0 for cells that stand alone (symbols, values that repeat often).
func (m *histogramModel) runs() []int {
	kind := m.columns[m.Column].Kind
	run := make([]int, 0, m.Partition.cells(kind))
	next := 1
	value := func() {
		e := m.Partition.Edges
		for i := range m.Partition.bins() {
			if i > 0 && i < len(e) && isAtom(e[i-1], e[i]) {
				run = append(run, 0)
				next++
				continue
			}
			run = append(run, next)
		}
		next++
	}
	switch kind {
	case audit.Real:
		value()
	case audit.Symbol:
		run = append(run, make([]int, len(m.Partition.Symbols))...)
	default:
		for _, carries := range m.Partition.Carries {
			if carries {
				value()
			} else {
				run = append(run, 0)
			}
		}
	}
	return run
}

// Score writes the score of each row into out.
func (m *histogramModel) Score(rows, out []float64) {
	var cell codes
	last := uint32(len(m.Scores) - 1)
	scores := m.Scores
	for len(out) > 0 {
		n := min(block, len(out))
		m.coder.code(rows, m.width, n, &cell)
		for i, c := range cell[:n] {
			out[i] = scores[min(c, last)]
		}
		rows, out = rows[n*m.width:], out[n:]
	}
}

func decodeHistogram(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
	m := new(histogramModel)
	if err := decodeModel(data, m); err != nil {
		return nil, err
	}
	if m.Column < 0 || m.Column >= len(columns) {
		return nil, &audit.InputError{Field: "model.column", Found: fmt.Sprint(m.Column), Want: fmt.Sprintf("in [0, %d]", len(columns)-1)}
	}
	kind := columns[m.Column].Kind
	if err := m.Partition.validate("model.partition", kind); err != nil {
		return nil, err
	}
	if want := m.Partition.cells(kind) + 1; len(m.Scores) != want {
		return nil, wrongCount("model.scores", len(m.Scores), want)
	}
	m.prepare(columns)
	return m, nil
}
