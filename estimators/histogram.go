package estimators

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// histogram estimates the likelihood ratio of one column by counts in bins, smoothed over neighbours,
// and keeps the column that tells the sides apart best.
var histogram = audit.LearnerSpec{
	Name:    "histogram",
	Title:   "Likelihood ratio of one column, from a histogram",
	Source:  "Histogram tester of DP-Auditorium (Kong et al. 2023), section 4, with quantile bins and shrinkage",
	Applies: needs(anyColumn, "a histogram needs at least one output column"),
	Learn:   learner(learnHistogram),
	Decode:  decoder[histogramModel],
}

const (
	histogramBins = 96
	screeningBins = 24 // when there are several columns to choose from
	roughest      = 16 // widest smoothing, in bins to each side
)

type histogramModel struct {
	Column    int       `json:"column"`
	Partition partition `json:"partition"`
	Scores    []float64 `json:"scores"` // one a cell; last, for symbols that are not listed

	columns []audit.Column
	coder   *coder
	width   int
}

func learnHistogram(ex audit.Exploration) *histogramModel {
	columns := ex.First.Columns
	bins, symbols := min(histogramBins, binsFor(ex)), symbolsOf(ex)
	best, gain := 0, 0.0
	if len(columns) > 1 {
		for i := range columns {
			_, g := fitHistogram(ex, i, symbols, min(bins, screeningBins))
			if i == 0 || g > gain {
				best, gain = i, g
			}
		}
	}
	m, _ := fitHistogram(ex, best, symbols, bins)
	return m
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

// fitHistogram learns from one column. The gain, in nats an output, is how much better than no guess
// the scores guess the side of outputs that they were not learnt from.
func fitHistogram(ex audit.Exploration, column int, symbols [][]*tallied, bins int) (*histogramModel, float64) {
	columns := ex.First.Columns
	p := fitPartition(ex, column, symbols, func(pool []float64) []float64 { return quantileEdges(pool, bins, true) })
	m := &histogramModel{Column: column, Partition: p}
	m.prepare(columns)
	folds, all := m.count(ex)
	reach, gain := chooseSmoothing(folds, m.runs())
	m.Scores = append(smoothed(all, m.runs(), reach), 0)
	return m, gain
}

func (m *histogramModel) prepare(columns []audit.Column) {
	m.columns = columns
	m.width = audit.Width(columns)
	m.coder = newCoder(m.Partition, columns[m.Column].Kind, audit.Offsets(columns)[m.Column])
}

// count tallies the cells of the training outputs in two folds, row by row in turn, and then in all.
func (m *histogramModel) count(ex audit.Exploration) (folds [2]sideCounts, all sideCounts) {
	cells := m.Partition.cells(m.columns[m.Column].Kind)
	for _, c := range []*sideCounts{&folds[0], &folds[1], &all} {
		c.cells = [2][]int{make([]int, cells), make([]int, cells)}
	}
	var cell codes
	eachBlock(ex, m.width, func(s, _ int, rows []float64) {
		n := len(rows) / m.width
		m.coder.code(rows, m.width, n, &cell)
		for i, c := range cell[:n] {
			for _, f := range []*sideCounts{&folds[i&1], &all} {
				f.total[s]++
				if int(c) < cells {
					f.cells[s][c]++
				}
			}
		}
	})
	return folds, all
}

// runs marks the cells that smoothing may join by equal numbers; 0 for symbols and values that repeat.
func (m *histogramModel) runs() []int {
	kind := m.columns[m.Column].Kind
	run := make([]int, 0, m.Partition.cells(kind))
	next, e := 1, m.Partition.Edges
	for _, numbers := range m.Partition.numbered(kind) {
		if !numbers {
			run = append(run, 0)
			continue
		}
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
	return run
}

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

func (m *histogramModel) open(columns []audit.Column) {
	stopOn(audit.Within("model.column", m.Column, 0, len(columns)-1))
	kind := columns[m.Column].Kind
	m.Partition.validate("model.partition", kind)
	requireCount("model.scores", len(m.Scores), m.Partition.cells(kind)+1)
	m.prepare(columns)
}

// histogramTester is HistogramTester's set {j : p_j > e^epsilon q_j} as a ranking: log ratios of raw
// counts in 100 bins of equal width between the extremes of the training outputs, and of symbols. The paper
// has discrete outputs only ("a universe size of 100", section 6). What differs: half a count is added, so
// that ratios are finite. One output far away leaves all others in one bin, and an outcome seen once on one
// side only outranks what is well known.
var histogramTester = settable([]audit.ParamSpec{
	{Name: "bins", Doc: "m, the bins of equal width of a column of numbers", Default: 100, Min: 1, Max: mostEdges + 1, Integer: true},
}, func(p audit.Params) audit.LearnerSpec {
	return audit.LearnerSpec{
		Name:    "histogram-tester",
		Tester:  audit.ADPTester,
		Title:   "Likelihood ratio of HistogramTester",
		Source:  "DP-Auditorium (Kong et al. 2023), section 4.2.1, algorithms 3 and 4",
		ByName:  true,
		Applies: needs(func(columns []audit.Column) bool { return len(columns) == 1 }, "the published histogram needs one output column"),
		Learn:   learner(func(ex audit.Exploration) *histogramModel { return learnHistogramTester(ex, p.Int("bins")) }),
		Decode:  decoder[histogramModel],
	}
})

func learnHistogramTester(ex audit.Exploration, bins int) *histogramModel {
	columns := ex.First.Columns
	p := fitPartition(ex, 0, symbolsOf(ex), func(pool []float64) []float64 { return equalEdges(pool, bins) })
	m := &histogramModel{Partition: p}
	m.prepare(columns)
	_, counts := m.count(ex)
	for i := range counts.cells[0] {
		ratio, _ := logRatio(counts.cells[0][i], counts.total[0], counts.cells[1][i], counts.total[1])
		m.Scores = append(m.Scores, ratio)
	}
	m.Scores = append(m.Scores, 0)
	return m
}

// equalEdges cuts the range of sorted values into equal widths; none where it holds one.
func equalEdges(sorted []float64, bins int) (edges []float64) {
	if len(sorted) == 0 {
		return nil
	}
	low, high := sorted[0], sorted[len(sorted)-1]
	for i := 1; i < bins; i++ {
		share := float64(i) / float64(bins)
		e := float64(low*(1-share)) + float64(high*share) // high - low may overflow
		if e >= low && e < high {
			edges = append(edges, e+0)
		}
	}
	slices.Sort(edges) // rounding may swap two
	return slices.Compact(edges)
}

type sideCounts struct {
	cells [2][]int
	total [2]int
}

func isAtom(low, high float64) bool { return math.Nextafter(high, math.Inf(-1)) == low }

// smoothed estimates the log ratio of each cell as the mean over its neighbours of the same run,
// weighted by a triangle of this reach and by precision, and shrinks it by its own variance.
func smoothed(c sideCounts, run []int, reach int) []float64 {
	ratio := make([]float64, len(run))
	variance := make([]float64, len(run))
	for i := range run {
		ratio[i], variance[i] = logRatio(c.cells[0][i], c.total[0], c.cells[1][i], c.total[1])
	}
	out := make([]float64, len(run))
	for i := range run {
		if run[i] == 0 || reach == 0 {
			out[i] = cautious(ratio[i], variance[i])
			continue
		}
		var weight, sum, square float64
		for j := max(0, i-reach); j <= min(len(run)-1, i+reach); j++ {
			if run[j] != run[i] {
				continue
			}
			k := float64(reach + 1 - max(i-j, j-i))
			w := k / variance[j]
			weight += w
			sum += float64(w * ratio[j])
			square += float64(w * k)
		}
		out[i] = cautious(sum/weight, square/float64(weight*weight))
	}
	return out
}

// chooseSmoothing is the reach that guesses best across two folds, and its gain in nats an output.
func chooseSmoothing(folds [2]sideCounts, run []int) (reach int, gain float64) {
	for r := 0; r <= min(roughest, len(run)-1); r = max(1, 2*r) {
		g := (heldOutGain(smoothed(folds[0], run, r), folds[1]) + heldOutGain(smoothed(folds[1], run, r), folds[0])) / 2
		if r == 0 || g > gain {
			reach, gain = r, g
		}
	}
	return reach, gain
}

// heldOutGain is the mean log score of guessing an output's side with these log odds, the sides equally
// likely, less that of a blind guess.
func heldOutGain(scores []float64, c sideCounts) float64 {
	if c.total[0] == 0 || c.total[1] == 0 {
		return 0
	}
	var loss [2]float64
	var inside [2]int
	for i, s := range scores {
		loss[0] += float64(float64(c.cells[0][i]) * logLoss(s))
		loss[1] += float64(float64(c.cells[1][i]) * logLoss(-s))
		inside[0] += c.cells[0][i]
		inside[1] += c.cells[1][i]
	}
	gain := 0.0
	for s := range loss {
		outside := float64(float64(c.total[s]-inside[s]) * math.Ln2)
		gain += math.Ln2 - (loss[s]+outside)/float64(c.total[s])
	}
	return gain / 2
}
