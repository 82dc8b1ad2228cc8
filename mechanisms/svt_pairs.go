package mechanisms

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// flip is the pair 1^falls 0^rises against 0^falls 1^rises of answers half a
// sensitivity above (1) and below (0) the threshold; queries beyond are below
// it in both.
type flip struct{ falls, rises int }

// manyQueries is how many queries the flips of a variant that stops spread
// over: later ones are hardly reached.
const manyQueries = 10

// flips are the variant's pairs of m direct answers, the best first. Exact
// distributions at m = 10, c = 1 and epsilon = 1 put the balanced flip first:
// the hockey-stick divergence at the claim is 0.029 for svt3, 0.030 for svt4
// and 0.123 for svt6, against 0.025, 0.019 and 0.038 for 5+1, and 0.221 for
// svt5 with every flip. Where a variant stops after one positive answer, 9+1
// has the rarer event with the larger ratio; 3+2 and 3+1 have the more frequent
// one.
func (v svtVariant) flips(m int) []flip {
	spread := m
	if !v.endless {
		spread = min(m, manyQueries)
	}
	var flips []flip
	for _, f := range []flip{
		{spread - spread/2, spread / 2}, {min(m, manyQueries) - 1, 1},
		{3, 2}, {3, 1}, {5, 1}, {2, 1}, {1, 1},
	} {
		if f.falls > 0 && f.rises > 0 && f.falls+f.rises <= m && !slices.Contains(flips, f) {
			flips = append(flips, f)
		}
	}
	return flips
}

// directPairs are the flips, then a move of one answer and of all in one
// direction.
func (v svtVariant) directPairs(m int, threshold, sensitivity float64) []audit.Pair {
	half := float64(sensitivity / 2)
	low, high := threshold-half, threshold+half
	var pairs []audit.Pair
	for _, f := range v.flips(m) {
		pairs = append(pairs, f.pair(m, low, high))
	}
	pairs = append(pairs, flip{falls: 1}.pair(m, low, high))
	if m > 1 {
		pairs = append(pairs, flip{falls: m}.pair(m, low, high))
	}
	return pairs
}

func (f flip) pair(m int, low, high float64) audit.Pair {
	first, second := vector(m, low), vector(m, low)
	for i := range f.falls + f.rises {
		if i < f.falls {
			first[i] = high
		} else {
			second[i] = high
		}
	}
	label := fmt.Sprintf("%d+%d: the first %d answers fall below the threshold, the next %d rise above it", f.falls, f.rises, f.falls, f.rises)
	switch {
	case f.rises == 0 && f.falls == m:
		label = "all answers fall below the threshold"
	case f.rises == 0:
		label = "the first answer falls below the threshold"
	}
	return audit.Pair{Label: label, First: audit.Records(first...), Second: audit.Records(second...)}
}
