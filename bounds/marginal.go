package bounds

import "sort"

// halfCount is added to every bin of a marginal, so that a bin in which nothing
// fell on exploration is not taken as impossible (Jeffreys).
const halfCount = 0.5

// smoothed turns counts into probabilities.
func smoothed(n []int) []float64 {
	total := 0.0
	for _, k := range n {
		total += float64(k) + halfCount
	}
	p := make([]float64, len(n))
	for i, k := range n {
		p[i] = (float64(k) + halfCount) / total
	}
	return p
}

// tuningBins is the number of pools a side up to which tuning is quick.
const tuningBins = 48

// poolMarginals returns cells that stand for the expected table of one pair: the
// product of the smoothed marginals, because outputs are independent. The values
// of w are pooled to at most tuningBins a side, bins of similar value together;
// a cell then refers to one bin of its pool. For tuning only.
func poolMarginals(explore Table, w *wager) []tableCell {
	first := poolBins(w.a, smoothed(explore.First()))
	second := poolBins(w.b, smoothed(explore.Second()))
	cells := make([]tableCell, 0, len(first)*len(second))
	for _, p := range first {
		for _, q := range second {
			cells = append(cells, tableCell{p.bin, q.bin, p.weight * q.weight})
		}
	}
	return cells
}

type binPool struct {
	bin    int
	weight float64
}

// poolBins sorts the bins by value and lets the middle one of each run speak for
// it; the largest value stays alone.
func poolBins(value, weight []float64) []binPool {
	order := make([]int, len(value))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return value[order[i]] < value[order[j]] })
	if len(order) <= tuningBins {
		pools := make([]binPool, len(order))
		for i, bin := range order {
			pools[i] = binPool{bin, weight[bin]}
		}
		return pools
	}
	last := len(order) - 1
	pools := make([]binPool, tuningBins)
	for i := range tuningBins - 1 {
		lo, hi := i*last/(tuningBins-1), (i+1)*last/(tuningBins-1)
		pools[i].bin = order[(lo+hi)/2]
		for _, bin := range order[lo:hi] {
			pools[i].weight += weight[bin]
		}
	}
	pools[tuningBins-1] = binPool{order[last], weight[order[last]]}
	return pools
}
