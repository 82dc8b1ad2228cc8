package estimators

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
)

// outcomeTable estimates the likelihood ratio of whole outcomes by counting
// them, numbers cut at quantiles.
var outcomeTable = audit.LearnerSpec{
	Name:   "outcome-table",
	Title:  "Likelihood ratio of each outcome, shrunk where outcomes are rare",
	Source: "Plug-in likelihood ratio of StatDP (Ding et al. 2018), ranked with the doubt of its counts",
	Applies: func(columns []audit.Column) error {
		reals := 0
		for _, c := range columns {
			if c.Kind == audit.Real {
				reals++
			}
		}
		switch {
		case len(columns) == 0:
			return errors.New("an outcome table needs at least one output column")
		case reals > tableReals:
			return fmt.Errorf("a table over %d real columns has too few outputs a cell, must be at most %d; the learners histogram and logistic take more", reals, tableReals)
		}
		return nil
	},
	Learn:  learnTable,
	Decode: decodeTable,
}

const (
	tableReals    = 8
	tableBins     = 64      // most bins of one number
	outcomesMost  = 512     // outcomes that a model lists
	outcomeCells  = 1 << 14 // and numbers that it takes to list them
	outputsPerBin = 40      // training outputs a side and cell wanted, on average
)

// seenOutcome is an outcome of the training outputs.
type seenOutcome struct {
	key   uint64
	count [2]int
	side  int // where it was seen first,
	row   int // and in which row
	score float64
}

func learnTable(ex audit.Exploration) (audit.Model, error) {
	if err := learnable(ex); err != nil {
		return nil, err
	}
	columns := ex.First.Columns
	partitions, err := tablePartitions(ex)
	if err != nil {
		return nil, err
	}
	keys := newOutcomeKeys(partitions, columns)
	seen, err := countOutcomes(ex, keys)
	if err != nil {
		return nil, err
	}
	n, m := ex.First.Len(), ex.Second.Len()
	for i := range seen {
		seen[i].score = cautious(logRatio(seen[i].count[0], n, seen[i].count[1], m))
	}
	// When not all can be listed, those that say least are pooled.
	loudness := func(o seenOutcome) float64 {
		return math.Abs(float64(float64(o.count[0]+o.count[1]) * o.score))
	}
	sort.Slice(seen, func(i, j int) bool {
		a, b := loudness(seen[i]), loudness(seen[j])
		if a != b {
			return a > b
		}
		return seen[i].key < seen[j].key
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
		row := []audit.Samples{ex.First, ex.Second}[o.side].Row(o.row)
		cells := make([]int, len(columns))
		for c, coder := range keys.coders {
			coder.code(row, keys.width, 1, &cell)
			cells[c] = int(cell[0])
		}
		model.Outcomes[i] = outcome{Cells: cells, Score: o.score}
	}
	// Outcomes with a symbol that is not listed cannot be written down.
	model.Outcomes = slices.DeleteFunc(model.Outcomes, func(o outcome) bool {
		return slices.Contains(o.Cells, unknownCell)
	})
	model.prepare(columns)
	return model, ex.Check()
}

// tablePartitions divides the columns so that the outcomes that occur have
// some forty training outputs each, if their numbers were spread evenly.
func tablePartitions(ex audit.Exploration) ([]partition, error) {
	columns := ex.First.Columns
	at := offsets(columns)
	parts := make([]partition, len(columns))
	numbers := false
	for i, c := range columns {
		var err error
		if c.Kind != audit.Real {
			if parts[i], err = fitPartition(ex, c, at[i], 1, false); err != nil {
				return nil, err
			}
		}
		numbers = numbers || c.Kind == audit.Real || slices.Contains(parts[i].Carries, true)
	}
	if !numbers {
		return parts, nil
	}
	tuples, carried, err := symbolTuples(ex, parts)
	if err != nil {
		return nil, err
	}
	budget := max(8, min(ex.First.Len(), ex.Second.Len())/outputsPerBin)
	bins := 2
	for bins < tableBins && float64(tuples)*power(bins+1, carried) <= float64(budget) {
		bins++
	}
	for i, c := range columns {
		if c.Kind == audit.Real || slices.Contains(parts[i].Carries, true) {
			if parts[i], err = fitPartition(ex, c, at[i], bins, carried == 1); err != nil {
				return nil, err
			}
		}
	}
	return parts, nil
}

// power is x^k for a small whole k.
func power(x, k int) float64 {
	p := 1.0
	for range k {
		p *= float64(x)
	}
	return p
}

// symbolTuples counts the distinct outcomes without regard to numbers, and the
// most numbers that one of them carries.
func symbolTuples(ex audit.Exploration, parts []partition) (tuples, carried int, err error) {
	columns := ex.First.Columns
	reals := 0
	for _, c := range columns {
		if c.Kind == audit.Real {
			reals++
		}
	}
	seen, err := countOutcomes(ex, newOutcomeKeys(parts, columns))
	if err != nil {
		return 0, 0, err
	}
	at := offsets(columns)
	for _, o := range seen {
		row := []audit.Samples{ex.First, ex.Second}[o.side].Row(o.row)
		n := reals
		for c, p := range parts {
			if columns[c].Kind != audit.Mixed {
				continue
			}
			if k, ok := slices.BinarySearch(p.Symbols, row[at[c]]); ok && p.Carries[k] {
				n++
			}
		}
		carried = max(carried, n)
	}
	return len(seen), carried, nil
}

// countOutcomes counts the outcomes of both sides by key.
func countOutcomes(ex audit.Exploration, keys *outcomeKeys) ([]seenOutcome, error) {
	var seen []seenOutcome
	var dense []uint32 // key -> 1 + position in seen
	var sparse map[uint64]uint32
	if keys.dense > 0 {
		dense = make([]uint32, keys.dense+1) // last: a symbol that is not listed
	} else {
		sparse = map[uint64]uint32{}
	}
	var key [block]uint64
	for s, side := range []audit.Samples{ex.First, ex.Second} {
		rows := side.Rows
		for start := 0; len(rows) > 0; start += block {
			if start%checkEvery == 0 {
				if err := ex.Check(); err != nil {
					return nil, err
				}
			}
			n := min(block, len(rows)/keys.width)
			keys.code(rows, n, &key)
			rows = rows[n*keys.width:]
			for i, k := range key[:n] {
				var at uint32
				if dense != nil {
					k = min(k, uint64(keys.dense))
					at = dense[k]
				} else {
					at = sparse[k]
				}
				if at == 0 {
					seen = append(seen, seenOutcome{key: k, side: s, row: start + i})
					at = uint32(len(seen))
					if dense != nil {
						dense[k] = at
					} else {
						sparse[k] = at
					}
				}
				seen[at-1].count[s]++
			}
		}
	}
	return seen, nil
}
