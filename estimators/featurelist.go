package estimators

import (
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
)

const (
	hotMost     = 32  // symbols of one column with an indicator
	hotAll      = 512 // indicators altogether
	sharedMost  = 4   // symbols that are counted over all columns
	rampedMost  = 32  // numeric columns that get all ramps
	numbersMost = 128 // numeric columns that get any
	quartersMin = 8   // columns from which counts in quarters are taken
)

// windows are pairs of quantiles between which ramps run: all but the
// outermost outputs, the middle (a step, in effect), the middle half, the tails.
var windows = [][2]float64{{0.005, 0.995}, {0.45, 0.55}, {0.25, 0.75}, {0.005, 0.1}, {0.9, 0.995}}

// candidateFeatures lists the features that fit the columns, and the symbols
// that carry values.
func candidateFeatures(ex audit.Exploration) (list []feature, carriers []float64, err error) {
	columns := ex.First.Columns
	at := offsets(columns)
	seen, all, carriers, err := tallySymbols(ex)
	if err != nil {
		return nil, nil, err
	}
	list = hotFeatures(seen, all)
	symbolic, numeric := 0, 0
	for _, c := range columns {
		if c.Kind != audit.Symbol {
			numeric++
		}
		if c.Kind != audit.Real {
			symbolic++
		}
	}
	if symbolic > 1 {
		list = append(list, countFeatures(all, len(columns))...)
	}
	share := windows
	if numeric > rampedMost {
		share = windows[:2]
	}
	for i, c := range columns {
		if c.Kind == audit.Symbol || numeric > numbersMost {
			continue
		}
		carries := map[float64]bool{}
		for _, s := range carriers {
			carries[s] = true
		}
		pool, err := pooled(ex, c, at[i], carries)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, ramps(feature{Kind: valueFeature, Column: i}, pool, share)...)
	}
	more, err := summaryFeatures(ex, carriers)
	return append(list, more...), carriers, err
}

// tallySymbols counts the symbols of each column and of all, and lists those of
// mixed columns that carry values, ascending.
func tallySymbols(ex audit.Exploration) (seen [][]tallied, all map[float64]int, carriers []float64, err error) {
	columns := ex.First.Columns
	at := offsets(columns)
	all = map[float64]int{}
	seen = make([][]tallied, len(columns))
	for i, c := range columns {
		if c.Kind == audit.Real {
			continue
		}
		if seen[i], err = tally(ex, c, at[i]); err != nil {
			return nil, nil, nil, err
		}
		for _, s := range seen[i] {
			all[s.symbol] += s.count
			if c.Kind == audit.Mixed && s.varies && !slices.Contains(carriers, s.symbol) && len(carriers) < mostSymbols {
				carriers = append(carriers, s.symbol)
			}
		}
	}
	slices.Sort(carriers)
	return seen, all, carriers, nil
}

// hotFeatures are indicators of the symbols of each column but its base. The
// symbol that is most frequent over all columns is the base that the others are
// told from, in every column where it occurs. It sorts seen so.
func hotFeatures(seen [][]tallied, all map[float64]int) (list []feature) {
	for i := range seen {
		sort.SliceStable(seen[i], func(a, b int) bool { return all[seen[i][a].symbol] > all[seen[i][b].symbol] })
		for rank, s := range seen[i] {
			if rank > 0 && rank <= hotMost && len(list) < hotAll {
				list = append(list, feature{Kind: isFeature, Column: i, Symbol: s.symbol})
			}
		}
	}
	return list
}

// countFeatures are the counts of symbols over all columns, halves and quarters
// of them, and where they come first.
func countFeatures(all map[float64]int, columns int) []feature {
	symbols := make([]float64, 0, len(all))
	for s := range all {
		symbols = append(symbols, s)
	}
	sort.Slice(symbols, func(i, j int) bool {
		a, b := symbols[i], symbols[j]
		if all[a] != all[b] {
			return all[a] > all[b]
		}
		return a < b
	})
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

// ramps are the features of a number with these sorted values, of the kind and
// column of like. Windows that hold one value, or are too wide to compute with,
// give none.
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

// summaryFeatures are ramps of the sum, minimum and maximum of the values that
// mixed columns carry; of the sum alone where no output carries two; none where
// there are no carriers.
func summaryFeatures(ex audit.Exploration, carriers []float64) ([]feature, error) {
	if len(carriers) == 0 {
		return nil, nil
	}
	r := newOutputReader(ex.First.Columns, carriers)
	stride := (ex.First.Len() + ex.Second.Len() + sortedMost - 1) / sortedMost
	var pools [3][]float64
	for _, side := range []audit.Samples{ex.First, ex.Second} {
		for i, n := 0, 0; i < side.Len(); i, n = i+stride, n+1 {
			if n%(checkEvery/8) == 0 {
				if err := ex.Check(); err != nil {
					return nil, err
				}
			}
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
	return list, nil
}
