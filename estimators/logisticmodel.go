package estimators

import (
	"encoding/json"
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
	width   int
	tables  []symbolWeights
	firsts  []feature
	reals   []columnCurve
	mixed   []columnCurve
	sums    [3]*curve // of the sum, minimum and maximum of carried values
	totals  *curve    // of the number in every real column
	steps   *curve    // of its distance from the one before
}

// symbolWeights adds up all that is linear in the symbols of one column.
type symbolWeights struct {
	offset  int
	index   *symbolIndex
	weights []float64 // of the symbols; last, 0 for others
}

// columnCurve is what a number of one column adds to the score.
type columnCurve struct {
	offset   int
	curve    *curve // nil: nothing
	carriers *symbolIndex
}

var summaryKinds = [3]featureKind{sumFeature, minFeature, maxFeature}

const featuresMost = 1 << 12

// prepare builds what scoring needs from the fields that are written down.
// Weights are added up in the order of the list, so that the sums have the same
// bits everywhere.
func (m *logisticModel) prepare(columns []audit.Column) {
	m.columns = columns
	m.reader = newOutputReader(columns, m.Carriers)
	m.width = m.reader.width
	var sums [3][]feature
	for _, f := range m.Features {
		if f.Kind == firstFeature {
			m.firsts = append(m.firsts, f)
		}
		if i := slices.Index(summaryKinds[:], f.Kind); i >= 0 {
			sums[i] = append(sums[i], f)
		}
	}
	var totals, steps []feature
	for _, f := range m.Features {
		switch f.Kind {
		case totalFeature:
			totals = append(totals, f)
		case stepFeature:
			steps = append(steps, f)
		}
	}
	m.totals, m.steps = newCurve(totals), newCurve(steps)
	summed := false
	for i := range sums {
		m.sums[i] = newCurve(sums[i])
		summed = summed || m.sums[i] != nil
	}
	at := offsets(columns)
	for c, column := range columns {
		if column.Kind != audit.Real {
			m.addTable(c, at[c])
		}
		var ramps []feature
		for _, f := range m.Features {
			if (f.Kind == valueFeature || f.Kind == squareFeature) && f.Column == c {
				ramps = append(ramps, f)
			}
		}
		switch {
		case column.Kind == audit.Real && len(ramps) > 0:
			m.reals = append(m.reals, columnCurve{offset: at[c], curve: newCurve(ramps)})
		case column.Kind == audit.Mixed && (len(ramps) > 0 || summed):
			m.mixed = append(m.mixed, columnCurve{at[c], newCurve(ramps), newSymbolIndex(m.Carriers, uint32(len(m.Carriers)))})
		}
	}
}

func (m *logisticModel) addTable(c, offset int) {
	weights := map[float64]float64{}
	for _, f := range m.Features {
		if (f.Kind == isFeature && f.Column == c) || (f.Kind == countFeature && f.From <= c && c < f.To) {
			weights[f.Symbol] += f.Weight
		}
	}
	symbols := slices.Sorted(maps.Keys(weights))
	for some := range slices.Chunk(symbols, mostSymbols) {
		t := symbolWeights{offset: offset, index: newSymbolIndex(some, uint32(len(some)))}
		for _, s := range some {
			t.weights = append(t.weights, weights[s])
		}
		t.weights = append(t.weights, 0)
		m.tables = append(m.tables, t)
	}
}

// Score writes the score of each row into out.
func (m *logisticModel) Score(rows, out []float64) {
	var acc floats
	for len(out) > 0 {
		n := min(block, len(out))
		clear(acc[:n])
		m.addSymbols(rows, n, &acc)
		m.addFirsts(rows, n, &acc)
		m.addReals(rows, n, &acc)
		m.addMixed(rows, n, &acc)
		m.addTotals(rows, n, &acc)
		copy(out[:n], acc[:n])
		rows, out = rows[n*m.width:], out[n:]
	}
}

func (m *logisticModel) addSymbols(rows []float64, n int, acc *floats) {
	var code codes
	for i := range m.tables {
		t := &m.tables[i]
		t.index.find(rows, m.width, t.offset, n, &code)
		weights := t.weights
		for i, c := range code[:n] {
			acc[i] += weights[c]
		}
	}
}

func (m *logisticModel) addFirsts(rows []float64, n int, acc *floats) {
	if len(m.firsts) == 0 {
		return
	}
	var first floats
	for _, f := range m.firsts {
		m.reader.readSymbols(f, 0, len(m.columns), rows, n, &first)
		for i, p := range first[:n] {
			acc[i] += float64(f.Weight * p)
		}
	}
}

func (m *logisticModel) addReals(rows []float64, n int, acc *floats) {
	if len(m.reals) == 0 {
		return
	}
	var v, ones floats
	for i := range ones[:n] {
		ones[i] = 1
	}
	for _, r := range m.reals {
		gather(rows, m.width, r.offset, n, &v)
		r.curve.add(&v, &ones, acc, n)
	}
}

// addTotals adds what is alike in all real columns.
func (m *logisticModel) addTotals(rows []float64, n int, acc *floats) {
	if m.totals == nil && m.steps == nil {
		return
	}
	var v, scratch, before, ones floats
	for i := range ones[:n] {
		ones[i] = 1
	}
	for c, column := range m.columns {
		if column.Kind != audit.Real {
			continue
		}
		gather(rows, m.width, m.reader.at[c], n, &v)
		if m.steps != nil {
			for i, x := range v[:n] {
				scratch[i] = x - before[i]
			}
			m.steps.add(&scratch, &ones, acc, n)
			copy(before[:n], v[:n])
		}
		if m.totals != nil {
			m.totals.add(&v, &ones, acc, n)
		}
	}
}

func (m *logisticModel) addMixed(rows []float64, n int, acc *floats) {
	if len(m.mixed) == 0 {
		return
	}
	var v, share, any floats
	var summary [3]floats // sum, minimum, maximum
	var code codes
	none := uint32(len(m.Carriers))
	for _, r := range m.mixed {
		r.carriers.find(rows, m.width, r.offset, n, &code)
		gather(rows, m.width, r.offset+1, n, &v)
		for i, c := range code[:n] {
			share[i] = 0
			if c == none {
				continue
			}
			share[i] = 1
			x := within(v[i], -hugeValue, hugeValue)
			if any[i] == 0 {
				any[i] = 1
				summary[0][i], summary[1][i], summary[2][i] = x, x, x
				continue
			}
			summary[0][i] += x
			if x < summary[1][i] {
				summary[1][i] = x
			}
			if x > summary[2][i] {
				summary[2][i] = x
			}
		}
		if r.curve != nil {
			r.curve.add(&v, &share, acc, n)
		}
	}
	for i, c := range m.sums {
		if c != nil {
			c.add(&summary[i], &any, acc, n)
		}
	}
}

func decodeLogistic(data json.RawMessage, columns []audit.Column) (audit.Model, error) {
	m := new(logisticModel)
	if err := decodeModel(data, m); err != nil {
		return nil, err
	}
	if len(m.Carriers) > mostSymbols || !ascending(m.Carriers) {
		return nil, &audit.InputError{Field: "model.carriers", Found: fmt.Sprintf("a list of %d", len(m.Carriers)), Want: fmt.Sprintf("ascending, distinct, at most %d", mostSymbols)}
	}
	if len(m.Features) > featuresMost {
		return nil, &audit.InputError{Field: "model.features", Found: fmt.Sprintf("a list of %d", len(m.Features)), Want: fmt.Sprintf("at most %d", featuresMost)}
	}
	ramps := map[string]int{}
	for i, f := range m.Features {
		field := fmt.Sprintf("model.features[%d]", i)
		if err := f.validate(field, columns); err != nil {
			return nil, err
		}
		if f.ramped() {
			source := string(f.Kind)
			if f.Kind == valueFeature || f.Kind == squareFeature {
				source = fmt.Sprint(f.Column)
			}
			if ramps[source]++; ramps[source] > mostRamps {
				return nil, &audit.InputError{Field: field, Found: "one ramp too many", Want: fmt.Sprintf("at most %d", mostRamps)}
			}
		}
	}
	m.prepare(columns)
	return m, nil
}
