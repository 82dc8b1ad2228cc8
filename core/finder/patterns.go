package finder

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/core"
)

// patterns proposes the pairs that StatDP and DP-Sniper try, at the middle of
// the domain and then at its ends.
var patterns = core.FinderSpec{
	Name:  "patterns",
	Title: "Patterns of one against the rest, halves and all alike",
	Source: "Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy (2018), table 1;" +
		" Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper (2021), section VI",
	New: func(p core.FinderProblem) (core.Finder, error) {
		if err := searchable(p.Relation, p.Domain); err != nil {
			return nil, err
		}
		all := patternPairs(p.Relation, p.Domain)
		seen := seenPairs{}
		var pairs []core.Pair
		for _, c := range all {
			if !same(c) && !seen.has(swapped(c)) && p.Relation.Check(c, p.Domain) == nil && seen.add(c) {
				pairs = append(pairs, c)
			}
		}
		return &list{pairs: pairs}, nil
	},
}

// answerPatterns are the two answers to query i of m, in steps of the reach:
// StatDP's table 1 with each of its pairs of patterns, and "all below".
var answerPatterns = []struct {
	label string
	at    func(i, m int) (first, second float64)
}{
	{"one above", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2, 1) }},
	{"one below", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0, 1) }},
	{"one above, the rest below", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2, 0) }},
	{"one below, the rest above", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0, 2) }},
	{"half below, half above", func(i, m int) (float64, float64) { return 1, pick(2*i < m, 0, 2) }},
	{"all above", func(int, int) (float64, float64) { return 1, 2 }},
	{"all below", func(int, int) (float64, float64) { return 1, 0 }},
	{"X shape", func(i, m int) (float64, float64) { return pick(2*i < m, 1, 0), pick(2*i < m, 0, 1) }},
}

// recordPatterns are the same where one record is added, or takes the place of
// another: where it stands against the others. Values are shares of the way
// from the domain's lower end to its upper end.
var recordPatterns = []struct {
	label    string
	other    func(i, n int) float64 // record i of the n that stay
	from, to float64                // under replace; under add-remove, to is added
}{
	{"one above", func(int, int) float64 { return 0 }, 0, 1},
	{"one below", func(int, int) float64 { return 1 }, 1, 0},
	{"all above", func(int, int) float64 { return 1 }, 0.5, 1},
	{"all below", func(int, int) float64 { return 0 }, 0.5, 0},
	{"half below, half above, one above", func(i, n int) float64 { return pick(2*i < n, 0, 1) }, 0, 1},
	{"half below, half above, one below", func(i, n int) float64 { return pick(2*i < n, 0, 1) }, 1, 0},
	{"across the middle", func(int, int) float64 { return 0.5 }, 0, 1},
	{"X shape, one below", func(int, int) float64 { return 0.5 }, 1, 0},
}

func pick(yes bool, a, b float64) float64 {
	if yes {
		return a
	}
	return b
}

// patternSizes are the numbers of rows that are tried: the published 5 and 10
// answers; of records the fewest first, as faults fade with their number.
func patternSizes(answers bool, fewest, most int) []int {
	tried := []int{fewest, fewest + 1, 5, 10, most}
	if answers {
		tried = []int{5, 10, most, fewest}
	}
	var sizes []int
	for _, n := range tried {
		if n = min(max(n, fewest), most); !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func patternPairs(r core.Relation, d core.Domain) []core.Pair {
	if r == core.LInfinity {
		return answerPatternPairs(d)
	}
	return recordPatternPairs(r, d)
}

// answerPatternPairs put the published numbers 0 and 1 half a reach below and
// above a level: the middle of the domain (for mechanisms with a threshold, the
// threshold), then as low and as high as the domain allows.
func answerPatternPairs(d core.Domain) []core.Pair {
	s, err := newSpace(core.LInfinity, d)
	if err != nil {
		panic("finder: the domain was checked")
	}
	reach := d.Reach
	if d.Integer {
		reach = math.Floor(reach)
	}
	levels := []struct {
		label string
		of    func(low, high, k float64) float64
	}{
		{"the middle", func(low, high, k float64) float64 { return mix(low, high, 0.5) + float64((k-0.5)*reach) }},
		{"the lower end", func(low, _, k float64) float64 { return low + float64(k*reach) }},
		{"the upper end", func(_, high, k float64) float64 { return high - float64((2-k)*reach) }},
	}
	var pairs []core.Pair
	for _, level := range levels {
		for _, n := range patternSizes(true, s.fewest, s.most) {
			for _, pattern := range answerPatterns {
				p := core.Pair{Label: fmt.Sprintf("%s, %d answers at %s of the domain", pattern.label, n, level.label),
					First: core.Dataset{Columns: d.Columns}, Second: core.Dataset{Columns: d.Columns}}
				for i := range n {
					k1, k2 := pattern.at(i, n)
					for c := range d.Columns {
						low, high := s.bounds(c)
						a := level.of(low, high, k1)
						if d.Integer {
							a = math.Floor(a + 0.5)
						}
						a = min(max(a, low), high)
						b := min(max(a+float64((k2-k1)*reach), low), high)
						for math.Abs(b-a) > d.Reach { // by rounding
							b = math.Nextafter(b, a)
						}
						p.First.Values, p.Second.Values = append(p.First.Values, a), append(p.Second.Values, b)
					}
				}
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// recordPatternPairs put the record that changes last.
func recordPatternPairs(r core.Relation, d core.Domain) []core.Pair {
	s, err := newSpace(r, d)
	if err != nil {
		panic("finder: the domain was checked")
	}
	row := func(t float64) []float64 {
		v := make([]float64, d.Columns)
		for c := range v {
			low, high := s.bounds(c)
			v[c] = min(max(mix(low, high, t), low), high)
			if d.Integer {
				v[c] = math.Floor(v[c])
			}
		}
		return v
	}
	var pairs []core.Pair
	for _, n := range patternSizes(false, s.fewest, s.most) {
		stay := n
		if r == core.Replace {
			stay--
		}
		for _, pattern := range recordPatterns {
			if stay == 0 && pattern.label != recordPatterns[0].label && pattern.label != recordPatterns[1].label {
				continue // nothing to stand against
			}
			base := make([]float64, 0, (n+1)*d.Columns)
			for i := range stay {
				base = append(base, row(pattern.other(i, stay))...)
			}
			p := core.Pair{First: core.Dataset{Columns: d.Columns, Values: base},
				Second: core.Dataset{Columns: d.Columns, Values: append(slices.Clone(base), row(pattern.to)...)}}
			p.Label = fmt.Sprintf("%s, added to %d rows", pattern.label, n)
			if r == core.Replace {
				p.First.Values = append(slices.Clone(base), row(pattern.from)...)
				p.Label = fmt.Sprintf("%s, replaced among %d rows", pattern.label, n)
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}
