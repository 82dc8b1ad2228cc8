package mechanisms

import "github.com/dpscope/dpscope/audit"

// shape is a pattern of two vectors of m answers that differ by at most 1 in
// each: at(i, m) are the two answers of query i. Those but the last are
// StatDP's (Ding et al. 2018).
type shape struct {
	label string
	at    func(i, m int) (first, second float64)
	alone bool // only the first query runs: the others are at the domain's lower end
}

var (
	oneAbove = shape{label: "one above", at: func(i, _ int) (float64, float64) {
		if i == 0 {
			return 1, 2
		}
		return 1, 1
	}}
	oneBelow = shape{label: "one below", at: func(i, _ int) (float64, float64) {
		if i == 0 {
			return 1, 0
		}
		return 1, 1
	}}
	oneAboveRestBelow = shape{label: "one above, the rest below", at: func(i, _ int) (float64, float64) {
		if i == 0 {
			return 1, 2
		}
		return 1, 0
	}}
	oneBelowRestAbove = shape{label: "one below, the rest above", at: func(i, _ int) (float64, float64) {
		if i == 0 {
			return 1, 0
		}
		return 1, 2
	}}
	halfHalf = shape{label: "half below, half above", at: func(i, m int) (float64, float64) {
		if 2*i < m {
			return 1, 0
		}
		return 1, 2
	}}
	allAbove = shape{label: "all above", at: func(int, int) (float64, float64) { return 1, 2 }}
	xShape   = shape{label: "X shape", at: func(i, m int) (float64, float64) {
		switch {
		case i < m/2:
			return 1, 0
		case i >= m-m/2:
			return 0, 1
		}
		return 0, 0
	}}
	loneAbove = shape{label: "one above, the rest out of the race", alone: true,
		at: func(int, int) (float64, float64) { return 0, 1 }}
)

// Shapes in the order in which they tell.
var (
	indexShapes            = []shape{oneAboveRestBelow, oneBelowRestAbove, halfHalf, xShape, oneAbove, oneBelow, allAbove}
	valueLaplaceShapes     = []shape{allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, oneBelow, xShape}
	valueExponentialShapes = []shape{loneAbove, allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, xShape, oneBelow}
)

func shapePairs(shapes []shape, m int, lower float64) []audit.Pair {
	pairs := make([]audit.Pair, len(shapes))
	for k, s := range shapes {
		first, second := make([]float64, m), make([]float64, m)
		for i := range m {
			first[i], second[i] = s.at(i, m)
			if s.alone && i > 0 {
				first[i], second[i] = lower, lower
			}
		}
		pairs[k] = audit.Pair{Label: s.label, First: audit.Records(first...), Second: audit.Records(second...)}
	}
	return pairs
}
