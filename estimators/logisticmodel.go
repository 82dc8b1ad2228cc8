package estimators

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// logisticModel scores an output by a weighted sum of features.
type logisticModel struct {
	Carriers []float64 `json:"carriers,omitempty"` // symbols of mixed columns that carry values, ascending
	Features []feature `json:"features"`

	columns []audit.Column
	reader  outputReader
	tables  []symbolWeights
	firsts  []feature
	numbers []numberTerm
}

// symbolWeights adds up all that is linear in the symbols of one column.
type symbolWeights struct {
	offset  int
	index   *symbolIndex
	weights []float64 // of the symbols; last, 0 for others
}

// numberTerm is what a number of an output adds to the score.
type numberTerm struct {
	curve *curve
	read  func(row []float64) (v float64, ok bool) // 0 is added where there is none
}

var summaryKinds = [3]featureKind{sumFeature, minFeature, maxFeature}

const featuresMost = 1 << 12

// prepare builds what scoring needs from the fields that are written down.
// Weights are added up in the order of the list, so that the sums have the same
// bits everywhere.
func (m *logisticModel) prepare(columns []audit.Column) {
	m.columns = columns
	m.reader = newOutputReader(columns, m.Carriers)
	curveOf := func(column int, kinds ...featureKind) *curve {
		var ramps []feature
		for _, f := range m.Features {
			if slices.Contains(kinds, f.Kind) && (column < 0 || f.Column == column) {
				ramps = append(ramps, f)
			}
		}
		return newCurve(ramps)
	}
	add := func(c *curve, read func(row []float64) (float64, bool)) {
		if c != nil {
			m.numbers = append(m.numbers, numberTerm{c, read})
		}
	}
	for _, f := range m.Features {
		if f.Kind == firstFeature {
			m.firsts = append(m.firsts, f)
		}
	}
	for c, column := range columns {
		if column.Kind != audit.Real {
			m.addTable(c)
		}
	}
	for _, kind := range []audit.ColumnKind{audit.Real, audit.Mixed} {
		for c, column := range columns {
			if column.Kind == kind {
				add(curveOf(c, valueFeature, squareFeature), func(row []float64) (float64, bool) { return m.reader.carried(row, c) })
			}
		}
	}
	for _, kind := range summaryKinds {
		add(curveOf(-1, kind), func(row []float64) (float64, bool) { return m.reader.summary(kind, row) })
	}
	steps, totals := curveOf(-1, stepFeature), curveOf(-1, totalFeature)
	before := -1
	for c, column := range columns {
		if column.Kind != audit.Real {
			continue
		}
		at, last := m.reader.at[c], before
		add(steps, func(row []float64) (float64, bool) {
			if last < 0 {
				return row[at], true
			}
			return row[at] - row[last], true
		})
		add(totals, func(row []float64) (float64, bool) { return row[at], true })
		before = at
	}
}

func (m *logisticModel) addTable(c int) {
	weights := map[float64]float64{}
	for _, f := range m.Features {
		if (f.Kind == isFeature && f.Column == c) || (f.Kind == countFeature && f.From <= c && c < f.To) {
			weights[f.Symbol] += f.Weight
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(weights)), mostSymbols) {
		t := symbolWeights{offset: m.reader.at[c], index: newSymbolIndex(some, uint32(len(some)))}
		for _, s := range some {
			t.weights = append(t.weights, weights[s])
		}
		t.weights = append(t.weights, 0)
		m.tables = append(m.tables, t)
	}
}

// Score writes the score of each row into out.
func (m *logisticModel) Score(rows, out []float64) {
	var acc, v, share floats
	var code codes
	width := m.reader.width
	for len(out) > 0 {
		n := min(block, len(out))
		clear(acc[:n])
		for _, t := range m.tables {
			t.index.find(rows, width, t.offset, n, &code)
			for i, c := range code[:n] {
				acc[i] += t.weights[c]
			}
		}
		for _, f := range m.firsts {
			m.reader.readSymbols(f, 0, len(m.columns), rows, n, &v)
			for i, p := range v[:n] {
				acc[i] += float64(f.Weight * p)
			}
		}
		for _, t := range m.numbers {
			for i := range n {
				x, ok := t.read(rows[i*width : (i+1)*width])
				v[i], share[i] = x, 0
				if ok {
					share[i] = 1
				}
			}
			t.curve.add(&v, &share, &acc, n)
		}
		copy(out[:n], acc[:n])
		rows, out = rows[n*width:], out[n:]
	}
}

// open implements [decoder].
func (m *logisticModel) open(columns []audit.Column) error {
	if len(m.Carriers) > mostSymbols || !ascending(m.Carriers) {
		return &audit.InputError{Field: "model.carriers", Found: fmt.Sprintf("a list of %d", len(m.Carriers)), Want: fmt.Sprintf("ascending, distinct, at most %d", mostSymbols)}
	}
	if len(m.Features) > featuresMost {
		return &audit.InputError{Field: "model.features", Found: fmt.Sprintf("a list of %d", len(m.Features)), Want: fmt.Sprintf("at most %d", featuresMost)}
	}
	ramps := map[string]int{}
	for i, f := range m.Features {
		field := fmt.Sprintf("model.features[%d]", i)
		if err := f.validate(field, columns); err != nil {
			return err
		}
		if f.ramped() {
			source := string(f.Kind)
			if f.Kind == valueFeature || f.Kind == squareFeature {
				source = fmt.Sprint(f.Column)
			}
			if ramps[source]++; ramps[source] > mostRamps {
				return &audit.InputError{Field: field, Found: "one ramp too many", Want: fmt.Sprintf("at most %d", mostRamps)}
			}
		}
	}
	m.prepare(columns)
	return nil
}
