package estimators

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// outcomeTable estimates the likelihood ratio of whole outcomes, numbers cut at quantiles.
var outcomeTable = audit.LearnerSpec{
	Name:   "outcome-table",
	Title:  "Likelihood ratio of each outcome, shrunk where outcomes are rare",
	Source: "Plug-in likelihood ratio of StatDP (Ding et al. 2018), ranked by the uncertainty of its counts",
	Applies: func(columns []audit.Column) error {
		reals := audit.Reals(columns)
		switch {
		case len(columns) == 1 && reals == 1:
			return errors.New("an outcome table of one column of numbers would be a histogram of fewer bins")
		case len(columns) == 0:
			return errors.New("an outcome table needs at least one output column")
		case reals > tableReals:
			return fmt.Errorf("a table over %d real columns has too few outputs in each cell, must be at most %d; use the learner histogram or logistic", reals, tableReals)
		}
		return nil
	},
	Learn:  learner(learnTable),
	Decode: decoder[tableModel],
}

const (
	tableReals    = 8
	tableBins     = 64      // most bins of one number
	outcomesMost  = 512     // outcomes that a model lists
	outcomeCells  = 1 << 14 // and numbers that it takes to list them
	outputsPerBin = 40      // training outputs a side and cell wanted, on average
)

type seenOutcome struct {
	key   uint64
	count [2]int
	row   []float64 // the first
	score float64
}

func learnTable(ex audit.Exploration) *tableModel {
	columns := ex.First.Columns
	partitions := tablePartitions(ex)
	keys := newOutcomeKeys(partitions, columns)
	seen := countOutcomes(ex, keys)
	n, m := ex.First.Len(), ex.Second.Len()
	for i := range seen {
		seen[i].score = cautious(logRatio(seen[i].count[0], n, seen[i].count[1], m))
	}
	// Those that say least are pooled.
	loudness := func(o seenOutcome) float64 {
		return math.Abs(float64(float64(o.count[0]+o.count[1]) * o.score))
	}
	slices.SortFunc(seen, func(a, b seenOutcome) int {
		return cmp.Or(cmp.Compare(loudness(b), loudness(a)), cmp.Compare(a.key, b.key))
	})
	listed := max(16, min(outcomesMost, outcomeCells/len(columns)))
	listed = min(listed, len(seen))
	model := &tableModel{Partitions: partitions, Outcomes: make([]outcome, listed)}
	rest := [2]int{}
	for _, o := range seen[listed:] {
		rest[0] += o.count[0]
		rest[1] += o.count[1]
	}
	model.Rest = cautious(logRatio(rest[0], n, rest[1], m))
	var cell codes
	for i, o := range seen[:listed] {
		cells := make([]int, len(columns))
		for c, coder := range keys.coders {
			coder.code(o.row, keys.width, 1, &cell)
			cells[c] = int(cell[0])
		}
		model.Outcomes[i] = outcome{Cells: cells, Score: o.score}
	}
	// Outcomes with a symbol that is not listed cannot be written down.
	model.Outcomes = slices.DeleteFunc(model.Outcomes, func(o outcome) bool {
		return slices.Contains(o.Cells, unknownCell)
	})
	model.prepare(columns)
	return model
}

// tablePartitions divides columns so that an outcome has some forty training outputs.
func tablePartitions(ex audit.Exploration) []partition {
	columns, symbols := ex.First.Columns, symbolsOf(ex)
	parts := make([]partition, len(columns))
	numbers := false
	for i, c := range columns {
		if c.Kind != audit.Real {
			parts[i] = fitPartition(ex, i, symbols, nil)
		}
		numbers = numbers || c.Kind == audit.Real || slices.Contains(parts[i].Carries, true)
	}
	if !numbers {
		return parts
	}
	tuples, carried := symbolTuples(ex, parts)
	budget := max(8, min(ex.First.Len(), ex.Second.Len())/outputsPerBin)
	bins := 2
	for bins < tableBins && float64(tuples)*power(bins+1, carried) <= float64(budget) {
		bins++
	}
	for i, c := range columns {
		if c.Kind == audit.Real || slices.Contains(parts[i].Carries, true) {
			parts[i] = fitPartition(ex, i, symbols, func(pool []float64) []float64 { return quantileEdges(pool, bins, carried == 1) })
		}
	}
	return parts
}

func power(x, k int) float64 {
	p := 1.0
	for range k {
		p *= float64(x)
	}
	return p
}

// symbolTuples counts distinct outcomes without numbers, and the most numbers that one carries.
func symbolTuples(ex audit.Exploration, parts []partition) (tuples, carried int) {
	columns := ex.First.Columns
	reals := audit.Reals(columns)
	seen := countOutcomes(ex, newOutcomeKeys(parts, columns))
	at := audit.Offsets(columns)
	for _, o := range seen {
		n := reals
		for c, p := range parts {
			if columns[c].Kind != audit.Mixed {
				continue
			}
			if k, ok := slices.BinarySearch(p.Symbols, o.row[at[c]]); ok && p.Carries[k] {
				n++
			}
		}
		carried = max(carried, n)
	}
	return len(seen), carried
}

func countOutcomes(ex audit.Exploration, keys *outcomeKeys) []seenOutcome {
	var seen []seenOutcome
	at := map[uint64]int{} // key -> place in seen
	var key [block]uint64
	eachBlock(ex, keys.width, func(s, _ int, rows []float64) {
		n := len(rows) / keys.width
		keys.code(rows, n, &key)
		for i, k := range key[:n] {
			place, known := at[k]
			if !known {
				place = len(seen)
				at[k] = place
				seen = append(seen, seenOutcome{key: k, row: rows[i*keys.width : (i+1)*keys.width]})
			}
			seen[place].count[s]++
		}
	})
	return seen
}

type outcome struct {
	Cells []int   `json:"cells"`
	Score float64 `json:"score"`
}

type tableModel struct {
	Partitions []partition `json:"partitions"` // one a column
	Outcomes   []outcome   `json:"outcomes"`
	Rest       float64     `json:"rest"`

	columns []audit.Column
	keys    *outcomeKeys
	scores  map[uint64]float64 // of the outcomes, by key
}

// prepare reports whether the listed outcomes have distinct keys.
func (m *tableModel) prepare(columns []audit.Column) (distinct bool) {
	m.columns = columns
	m.keys = newOutcomeKeys(m.Partitions, columns)
	m.scores = make(map[uint64]float64, len(m.Outcomes))
	for _, o := range m.Outcomes {
		m.scores[m.keys.of(o.Cells)] = o.Score
	}
	return len(m.scores) == len(m.Outcomes)
}

func (m *tableModel) Score(rows, out []float64) {
	var key [block]uint64
	for len(out) > 0 {
		n := min(block, len(out))
		m.keys.code(rows, n, &key)
		for i, k := range key[:n] {
			score, listed := m.scores[k]
			if !listed {
				score = m.Rest
			}
			out[i] = score
		}
		rows, out = rows[n*m.keys.width:], out[n:]
	}
}

func (m *tableModel) open(columns []audit.Column) {
	requireCount("model.partitions", len(m.Partitions), len(columns))
	for i, p := range m.Partitions {
		p.validate(fmt.Sprintf("model.partitions[%d]", i), columns[i].Kind)
	}
	require(len(m.Outcomes) <= outcomesMost, "model.outcomes", fmt.Sprintf("a list of %d", len(m.Outcomes)), "at most %d", outcomesMost)
	for i, o := range m.Outcomes {
		field := fmt.Sprintf("model.outcomes[%d].cells", i)
		requireCount(field, len(o.Cells), len(columns))
		for c, v := range o.Cells {
			if most := m.Partitions[c].cells(columns[c].Kind) - 1; v < 0 || v > most {
				stopOn(audit.Within(fmt.Sprintf("%s[%d]", field, c), v, 0, most))
			}
		}
	}
	require(m.prepare(columns), "model.outcomes", "a list with an outcome twice", "distinct outcomes")
}

// outcomeKeys numbers outcomes: in mixed radix where there are at most 2^16, else by a 64-bit
// polynomial hash, whose collisions (about one in 10^13 among a thousand outcomes) join outcomes.
type outcomeKeys struct {
	coders []*coder
	width  int
	dense  int // number of outcomes, or 0 where they are hashed
	stride []uint64
}

const hashFactor = 0xd1342543de82ef95 // odd; multiplier of a good linear congruential generator mod 2^64

func newOutcomeKeys(partitions []partition, columns []audit.Column) *outcomeKeys {
	k := &outcomeKeys{width: audit.Width(columns), dense: 1}
	at := audit.Offsets(columns)
	for i, p := range partitions {
		k.coders = append(k.coders, newCoder(p, columns[i].Kind, at[i]))
		k.stride = append(k.stride, uint64(k.dense))
		if k.dense *= p.cells(columns[i].Kind); k.dense > mostCells || k.dense == 0 {
			k.dense = 0
		}
	}
	return k
}

// code writes keys; a dense one is the number of outcomes where a symbol is not listed.
func (k *outcomeKeys) code(rows []float64, n int, out *[block]uint64) {
	var cell codes
	clear(out[:n])
	for c, coder := range k.coders {
		coder.code(rows, k.width, n, &cell)
		if k.dense > 0 {
			stride := k.stride[c]
			for i, v := range cell[:n] {
				out[i] += uint64(v) * stride
			}
			continue
		}
		for i, v := range cell[:n] {
			out[i] = (out[i] + uint64(v) + 1) * hashFactor
		}
	}
	if most := uint64(k.dense); most > 0 {
		for i, v := range out[:n] {
			out[i] = min(v, most)
		}
	}
}

func (k *outcomeKeys) of(cells []int) uint64 {
	var key uint64
	for c, v := range cells {
		if k.dense > 0 {
			key += uint64(v) * k.stride[c]
		} else {
			key = (key + uint64(v) + 1) * hashFactor
		}
	}
	return key
}
