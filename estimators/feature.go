package estimators

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

type featureKind string

const (
	isFeature     featureKind = "is"     // 1 where column shows symbol, else 0
	countFeature  featureKind = "count"  // how many of columns from..to-1 show symbol
	firstFeature  featureKind = "first"  // first column that shows symbol; their number where none does
	valueFeature  featureKind = "value"  // column's number on a ramp from low (0) to high (1)
	squareFeature featureKind = "square" // (2r - 1)^2 of that ramp r
	sumFeature    featureKind = "sum"    // sum of the carried values, on a ramp
	minFeature    featureKind = "min"    // smallest carried value, on a ramp
	maxFeature    featureKind = "max"    // largest carried value, on a ramp
	totalFeature  featureKind = "total"  // sum over real columns of the number on a ramp
	stepFeature   featureKind = "step"   // the same of the number less that in the real column before, or less 0
)

// feature is one summary of an output and its weight. Ramps are 0 where no value is carried.
type feature struct {
	Kind   featureKind `json:"kind"`
	Column int         `json:"column,omitempty"`
	Symbol float64     `json:"symbol,omitempty"`
	From   int         `json:"from,omitempty"`
	To     int         `json:"to,omitempty"`
	Low    float64     `json:"low,omitempty"`
	High   float64     `json:"high,omitempty"`
	Weight float64     `json:"weight"`
}

const (
	mostWeight  = 1e9   // of a feature, absolute
	hugeValue   = 1e300 // values are cut there before they are summed
	steepest    = 1e290 // 1/(high - low): its product with a weight is finite
	squareSteep = 1e140 // of a squared ramp: its square is, and its inverse
)

func (f feature) steepness() float64 { return 1 / (f.High - f.Low) }

func (f feature) ramped() bool {
	switch f.Kind {
	case valueFeature, squareFeature, sumFeature, minFeature, maxFeature, totalFeature, stepFeature:
		return true
	}
	return false
}

const soundRamps = "finite and ascending, with gaps neither too small nor too large"

// sound reports whether a ramp can be computed without overflow.
func (f feature) sound() bool {
	s := f.steepness()
	if !(s > 0 && s < steepest) || math.Abs(f.Low) > hugeValue || math.Abs(f.High) > hugeValue {
		return false
	}
	return f.Kind != squareFeature || (s < squareSteep && s > 1/squareSteep)
}

func (f feature) validate(field string, columns []audit.Column) {
	switch f.Kind {
	case isFeature, valueFeature, squareFeature:
		stopOn(audit.Within(field+".column", f.Column, 0, len(columns)-1))
		kind := columns[f.Column].Kind
		require(f.Kind != isFeature || kind != audit.Real, field+".column", "a real column", "one with symbols")
		require(f.Kind == isFeature || kind != audit.Symbol, field+".column", "a symbol column", "one with numbers")
	case countFeature:
		require(f.From >= 0 && f.From < f.To && f.To <= len(columns), field+".from, to", fmt.Sprintf("%d, %d", f.From, f.To), "0 <= from < to <= %d", len(columns))
	case firstFeature, sumFeature, minFeature, maxFeature, totalFeature, stepFeature:
	default:
		require(false, field+".kind", fmt.Sprintf("%q", f.Kind), "is, count, first, value, square, sum, min, max, total or step")
	}
	require(!f.ramped() || f.sound(), field+".low, high", fmt.Sprintf("%g, %g", f.Low, f.High), soundRamps)
	require(math.Abs(f.Weight) <= mostWeight, field+".weight", f.Weight, "in [%g, %g]", -mostWeight, mostWeight)
}

// outputReader reads features off rows, one at a time: what training sees.
type outputReader struct {
	columns  []audit.Column
	at       []int
	width    int
	carriers []float64 // symbols that carry values
}

func checkCarriers(carriers []float64) {
	require(len(carriers) <= mostSymbols && audit.Unordered(carriers) < 0, "model.carriers", fmt.Sprintf("a list of %d", len(carriers)), "ascending, distinct, at most %d", mostSymbols)
}

func newOutputReader(columns []audit.Column, carriers []float64) outputReader {
	return outputReader{columns, audit.Offsets(columns), audit.Width(columns), carriers}
}

func (r outputReader) carried(row []float64, column int) (float64, bool) {
	return r.columns[column].Kind.Number(row[r.at[column]:], r.carriers)
}

// read writes feature f of the first n rows into out, without its weight.
func (r outputReader) read(f feature, rows []float64, n int, out *floats) {
	switch f.Kind {
	case isFeature:
		r.readSymbols(f, f.Column, f.Column+1, rows, n, out)
	case countFeature:
		r.readSymbols(f, f.From, f.To, rows, n, out)
	case firstFeature:
		r.readSymbols(f, 0, len(r.columns), rows, n, out)
	default:
		for i := range n {
			out[i] = r.readRow(f, rows[i*r.width:(i+1)*r.width])
		}
	}
}

// readSymbols counts the columns that show the symbol, or finds the first, without branches on the data.
func (r outputReader) readSymbols(f feature, from, to int, rows []float64, n int, out *floats) {
	var found codes
	symbol, first := math.Float64bits(f.Symbol+0), f.Kind == firstFeature
	if first {
		for i := range found[:n] {
			found[i] = uint32(len(r.columns))
		}
	}
	for c := to - 1; c >= from; c-- {
		if r.columns[c].Kind == audit.Real {
			continue
		}
		j, here := r.at[c], uint32(c)
		for i := range found[:n] {
			old := found[i]
			then := audit.Pick(first, here, old+1)
			if math.Float64bits(rows[j]+0) == symbol { // -0 is 0
				old = then
			}
			found[i] = old
			j += r.width
		}
	}
	for i, k := range found[:n] {
		out[i] = float64(k)
	}
}

func (r outputReader) readRow(f feature, row []float64) float64 {
	v, ok := 0.0, false
	switch f.Kind {
	case totalFeature, stepFeature:
		return r.overReals(f, row)
	case valueFeature, squareFeature:
		v, ok = r.carried(row, f.Column)
	default:
		v, ok = r.summary(f.Kind, row)
	}
	if !ok {
		return 0
	}
	return f.ramp(v)
}

// summary is the sum, minimum or maximum of the values that mixed columns of a row carry.
func (r outputReader) summary(kind featureKind, row []float64) (value float64, any bool) {
	for c := range r.columns {
		if r.columns[c].Kind != audit.Mixed {
			continue
		}
		v, ok := r.carried(row, c)
		if !ok {
			continue
		}
		v = within(v, -hugeValue, hugeValue)
		switch {
		case !any:
			value = v
		case kind == sumFeature:
			value += v
		case kind == minFeature && v < value, kind == maxFeature && v > value:
			value = v
		}
		any = true
	}
	return value, any
}

// overReals adds up a ramp over the real columns of a row, or over their steps.
func (r outputReader) overReals(f feature, row []float64) float64 {
	var sum, before float64
	for c, column := range r.columns {
		if column.Kind != audit.Real {
			continue
		}
		v := row[r.at[c]]
		if f.Kind == stepFeature {
			sum += f.ramp(v - before)
			before = v
		} else {
			sum += f.ramp(v)
		}
	}
	return sum
}

// ramp is v's place between low (0) and high (1), or for squares (2r - 1)^2.
func (f feature) ramp(v float64) float64 {
	r := float64((within(v, f.Low, f.High) - f.Low) * f.steepness())
	if f.Kind != squareFeature {
		return r
	}
	d := float64(2*r) - 1
	return float64(d * d)
}

func within(v, low, high float64) float64 {
	if v < low {
		return low
	}
	if v > high {
		return high
	}
	return v
}

const (
	hotMost     = 32  // symbols of one column with an indicator
	hotAll      = 512 // indicators altogether
	sharedMost  = 4   // symbols counted over all columns
	rampedMost  = 32  // numeric columns that get all ramps
	numbersMost = 128 // numeric columns that get any
	quartersMin = 8   // columns for counts in quarters
)

// windows are pairs of quantiles between which ramps run: all outputs but those far out, all but the
// outermost, the middle (a step, in effect), the middle half, the tails.
var windows = [][2]float64{{0.0005, 0.9995}, {0.005, 0.995}, {0.45, 0.55}, {0.25, 0.75}, {0.005, 0.1}, {0.9, 0.995}}

// candidateFeatures fit the columns; with them come the symbols that carry values.
func candidateFeatures(ex audit.Exploration) (list []feature, carriers []float64) {
	columns := ex.First.Columns
	seen, all, carriers := tallySymbols(ex)
	list = hotFeatures(seen, all)
	numeric := audit.Count(columns, func(c audit.Column) bool { return c.Kind != audit.Symbol })
	if len(columns)-audit.Reals(columns) > 1 {
		list = append(list, countFeatures(all, len(columns))...)
	}
	share := audit.Pick(numeric > rampedMost, windows[1:3], windows)
	for i, c := range columns {
		if c.Kind == audit.Symbol || numeric > numbersMost {
			continue
		}
		pool := pooled(ex, i, carriers)
		list = append(list, ramps(feature{Kind: valueFeature, Column: i}, pool, share)...)
	}
	return append(list, summaryFeatures(ex, carriers)...), carriers
}

// tallySymbols counts the symbols of each column and of all, and lists those that carry values.
func tallySymbols(ex audit.Exploration) (seen [][]*tallied, all map[float64]int, carriers []float64) {
	columns := ex.First.Columns
	all = map[float64]int{}
	seen = symbolsOf(ex)
	for i, c := range columns {
		for _, s := range seen[i] {
			all[s.symbol] += s.count
			if c.Kind == audit.Mixed && s.varies && !slices.Contains(carriers, s.symbol) && len(carriers) < mostSymbols {
				carriers = append(carriers, s.symbol)
			}
		}
	}
	slices.Sort(carriers)
	return seen, all, carriers
}

// hotFeatures are indicators of each column's symbols but the most frequent of all. It sorts seen so.
func hotFeatures(seen [][]*tallied, all map[float64]int) (list []feature) {
	for i := range seen {
		slices.SortStableFunc(seen[i], func(a, b *tallied) int { return all[b.symbol] - all[a.symbol] })
		for rank, s := range seen[i] {
			if rank > 0 && rank <= hotMost && len(list) < hotAll {
				list = append(list, feature{Kind: isFeature, Column: i, Symbol: s.symbol})
			}
		}
	}
	return list
}

// countFeatures count symbols over all columns, halves and quarters, and say where they come first.
func countFeatures(all map[float64]int, columns int) []feature {
	symbols := slices.SortedStableFunc(maps.Keys(all), func(a, b float64) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	var list []feature
	for _, s := range symbols[:min(sharedMost, len(symbols))] {
		list = append(list, feature{Kind: firstFeature, Symbol: s})
		parts := []int{1, 2}
		if columns >= quartersMin {
			parts = append(parts, 4)
		}
		for _, k := range parts {
			for i := range k {
				list = append(list, feature{Kind: countFeature, Symbol: s, From: i * columns / k, To: (i + 1) * columns / k})
			}
		}
	}
	return slices.DeleteFunc(list, func(f feature) bool { return f.Kind == countFeature && f.From >= f.To })
}

// ramps are the features of a number with these sorted values, like like, where a window is sound.
func ramps(like feature, sorted []float64, share [][2]float64) []feature {
	if len(sorted) == 0 {
		return nil
	}
	var list []feature
	add := func(f feature, low, high float64) {
		f.Low, f.High = within(low, -hugeValue, hugeValue), within(high, -hugeValue, hugeValue)
		if f.sound() && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	for i, w := range share {
		last := float64(len(sorted) - 1)
		low, high := sorted[int(w[0]*last)], sorted[int(w[1]*last)]
		add(like, low, high)
		if i == 0 && like.Kind == valueFeature {
			square := like
			square.Kind = squareFeature
			add(square, low, high)
		}
	}
	return list
}

// summaryFeatures are ramps of the sum and, where outputs carry several values, of the extremes.
func summaryFeatures(ex audit.Exploration, carriers []float64) []feature {
	if len(carriers) == 0 {
		return nil
	}
	r := newOutputReader(ex.First.Columns, carriers)
	stride := (ex.First.Len() + ex.Second.Len() + sortedMost - 1) / sortedMost
	var pools [3][]float64
	for _, side := range sides(ex) {
		for i, n := 0, 0; i < side.Len(); i, n = i+stride, n+1 {
			checked(&ex, 8*n)
			for k, kind := range summaryKinds {
				if v, ok := r.summary(kind, side.Rows[i*r.width:(i+1)*r.width]); ok {
					pools[k] = append(pools[k], v)
				}
			}
		}
	}
	var list []feature
	several := !slices.Equal(pools[0], pools[1])
	for k, kind := range summaryKinds {
		if k > 0 && !several {
			break
		}
		slices.Sort(pools[k])
		list = append(list, ramps(feature{Kind: kind}, pools[k], windows)...)
	}
	return list
}
