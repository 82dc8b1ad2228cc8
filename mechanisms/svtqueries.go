package mechanisms

import (
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// queryFamily is where the true answers to an SVT's m queries come from. Each moves by at most 1.
type queryFamily struct {
	name    string
	answers func(records []float64, m int) []float64
	// pairs where a record is added, and where one is replaced; below records of 1 sum to
	// just below the threshold.
	pairs func(below int) (added, replaced pairs)
}

var queryFamilies = []queryFamily{
	{name: "sum",
		answers: func(records []float64, m int) []float64 { return vector(m, clippedSum(records)) },
		pairs: func(below int) (added, replaced pairs) {
			return pairs{
					{"a record of 1 more, the sum below and above the threshold", beside(below), beside(below, 1)},
					{"none against {1}", of(), of(1)},
				}, pairs{
					{"a 0 replaced by 1, the sum below and above the threshold", beside(below, 0), beside(below, 1)},
					{"{0} against {1}", of(0), of(1)},
				}
		}},
	// m-1 queries are the last record and one is the record before it, clipped to [0, 1]. The
	// pairs swap the two, so that m-1 queries fall as one rises: neighbours, as rows have no order.
	{name: "reveal-records",
		answers: func(records []float64, m int) []float64 {
			n := len(records)
			q := vector(m, clippedSum(records[max(n-1, 0):]))
			q[m-1] = clippedSum(records[max(n-2, 0):max(n-1, 0)])
			return q
		},
		pairs: func(int) (added, replaced pairs) {
			return pairs{
					{"{0, 1} against {0, 1, 0}: the last two records swap", of(0, 1), of(0, 1, 0)},
					{"none against {1}", of(), of(1)},
				}, pairs{
					{"last two records 0, 1 against 1, 0", of(0, 0, 1), of(1, 1, 0)},
					{"{0} against {1}", of(0), of(1)},
				}
		}},
	// Query i = 1..m is the number of records above (i-1/2)/m.
	{name: "count-above",
		answers: func(records []float64, m int) []float64 {
			return audit.Listed(m, func(i int) float64 {
				cut := (float64(i) + 0.5) / float64(m)
				return float64(audit.Count(records, func(v float64) bool { return v > cut }))
			})
		},
		pairs: func(below int) (added, replaced pairs) {
			return pairs{
					{"a record of 0.5 more: the first half of the counts rises", beside(below), beside(below, 0.5)},
					{"a record of 1 more: all counts rise", beside(below), beside(below, 1)},
				}, pairs{
					{"a 0 replaced by 0.5: the first half of the counts rises", beside(below, 0), beside(below, 0.5)},
					{"a 0.5 replaced by 1: the second half of the counts rises", beside(below, 0.5), beside(below, 1)},
					{"a 0 replaced by 1: all counts rise", beside(below, 0), beside(below, 1)},
				}
		}},
}

func queryFamilyNames() []string {
	return append([]string{"direct"}, audit.Each(queryFamilies, func(f queryFamily) string { return f.name })...)
}

func direct(p audit.Params) bool { return p.Word("queries") == "direct" }

// family is the query family that resolved parameters name, of those beside direct.
func family(p audit.Params) queryFamily {
	return queryFamilies[slices.IndexFunc(queryFamilies, func(f queryFamily) bool { return f.name == p.Word("queries") })]
}

func beside(ones int, others ...float64) []float64 { return append(vector(ones, 1), others...) }

// flip is a pair of answers half a sensitivity above or below the threshold: the first ones
// fall below it, the next ones rise above it, others are below it in both.
type flip struct{ falls, rises int }

// manyQueries is how many queries flips spread over: later ones are hardly reached.
const manyQueries = 10

// flips are the variant's pairs of m direct answers, the best first: by exact divergences at
// m = 10, c = 1 and epsilon = 1 the balanced one. Where a variant stops after one positive
// answer, 9+1 has the rarer event with the larger ratio; 3+2 and 3+1 the more frequent one.
func (v svtVariant) flips(m int) []flip {
	spread := audit.Pick(v.endless, m, min(m, manyQueries))
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

func (v svtVariant) directPairs(m int, threshold, sensitivity float64) pairs {
	half := float64(sensitivity / 2)
	low, high := threshold-half, threshold+half
	moves := append(v.flips(m), flip{falls: 1})
	if m > 1 {
		moves = append(moves, flip{falls: m})
	}
	return audit.Each(moves, func(f flip) neighbours { return f.pair(m, low, high) })
}

func (f flip) pair(m int, low, high float64) neighbours {
	first, second := vector(m, low), vector(m, low)
	copy(first, vector(f.falls, high))
	copy(second[f.falls:], vector(f.rises, high))
	label := fmt.Sprintf("%d+%d: the first %[1]d answers fall below the threshold, the next %[2]d rise above it", f.falls, f.rises)
	if f.rises == 0 {
		label = audit.Pick(f.falls == m, "all answers fall below the threshold", "the first answer falls below the threshold")
	}
	return neighbours{label, first, second}
}
