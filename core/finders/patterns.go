package finders

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// patterns proposes the pairs that StatDP and DP-Sniper try, at the middle of
// the domain and then at its ends.
var patterns = audit.FinderSpec{
	Name:  "patterns",
	Title: "Patterns of one against the rest, halves and all alike",
	Source: "Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy (2018), table 1;" +
		" Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper (2021), section VI",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		if err := searchable(p.Relation, p.Domain); err != nil {
			return nil, err
		}
		all := patternPairs(p.Relation, p.Domain)
		seen := seenPairs{}
		var pairs []audit.Pair
		for _, c := range all {
			if !same(c) && !seen.has(swapped(c)) && p.Relation.Check(c, p.Domain) == nil && seen.add(c) {
				pairs = append(pairs, c)
			}
		}
		return &list{pairs: pairs}, nil
	},
}

type answerPattern struct {
	label string
	at    func(i, m int) (first, second float64)
}

type recordPattern struct {
	label    string
	rest     [2]float64 // the first half of the records that stay, and the others
	from, to float64    // where records are replaced; under add-remove, to is added
}

// outOfTheRace is far below: the lower end of the domain.
const outOfTheRace = -1e9

// answerPatterns are the two answers to query i of m, in steps of the reach:
// StatDP's table 1 with each of its pairs of patterns, and "all below".
var answerPatterns = [...]answerPattern{
	{"one above", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2.0, 1) }},
	{"one below", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0.0, 1) }},
	{"one above, the rest below", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2.0, 0) }},
	{"one below, the rest above", func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0.0, 2) }},
	{"half below, half above", func(i, m int) (float64, float64) { return 1, pick(2*i < m, 0.0, 2) }},
	{"all above", func(int, int) (float64, float64) { return 1, 2 }},
	{"all below", func(int, int) (float64, float64) { return 1, 0 }},
	{"X shape", func(i, m int) (float64, float64) { return pick(2*i < m, 1.0, 0), pick(2*i < m, 0.0, 1) }},
}

// recordPatterns are the same where one record is added, or takes the place of
// another: where it stands against the others. Values are shares of the way
// from the domain's lower end to its upper end.
var recordPatterns = []recordPattern{
	{"one above", [2]float64{0, 0}, 0, 1},
	{"one below", [2]float64{1, 1}, 1, 0},
	{"all above", [2]float64{1, 1}, 0.5, 1},
	{"all below", [2]float64{0, 0}, 0.5, 0},
	{"half below, half above, one above", [2]float64{0, 1}, 0, 1},
	{"half below, half above, one below", [2]float64{0, 1}, 1, 0},
	{"across the middle", [2]float64{0.5, 0.5}, 0, 1},
	{"X shape, one below", [2]float64{0.5, 0.5}, 1, 0},
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// patternSizes are the numbers of rows that are tried: the published 5 and 10
// answers; of records the fewest first, as faults fade with their number.
func patternSizes(answers bool, fewest, most int) []int {
	tried := pick(answers, []int{5, 10, most, fewest}, []int{fewest, fewest + 1, 5, 10, most})
	var sizes []int
	for _, n := range tried {
		if n = min(max(n, fewest), most); !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

func patternPairs(r audit.Relation, d audit.Domain) []audit.Pair {
	fewest, most := smallerSizes(r, d)
	var pairs []audit.Pair
	if r == audit.LInfinity {
		for _, level := range []float64{0.5, 0, 1} {
			for _, n := range patternSizes(true, fewest, most) {
				for _, pattern := range answerPatterns {
					pairs = append(pairs, pattern.pair(d, n, level))
				}
			}
		}
		return pairs
	}
	for _, n := range patternSizes(false, fewest, most) {
		for i, pattern := range recordPatterns {
			if n == 0 || n == 1 && r != audit.AddRemove {
				if i > 1 {
					continue // nothing to stand against
				}
			}
			pairs = append(pairs, pattern.pair(r, d, n))
		}
	}
	return pairs
}

// pair puts the published numbers 0 and 1 half a reach below and above a level, a
// share of the way up the domain: for mechanisms with a threshold in its middle,
// that is the threshold. Ends of the domain hold 0 or 2.
func (a answerPattern) pair(d audit.Domain, n int, level float64) audit.Pair {
	p := audit.Pair{Label: fmt.Sprintf("%s, %d answers at %s of the domain", a.label, n, levelWords(level)),
		First: audit.Dataset{Columns: d.Columns}, Second: audit.Dataset{Columns: d.Columns}}
	for i := range n {
		k1, k2 := a.at(i, n)
		for c := range d.Columns {
			low, high := ends(d, c)
			zero := max(min(mix(low, high, level)-float64(d.Reach/2), high-float64(2*d.Reach)), low)
			x := min(max(zero+float64(k1*d.Reach), low), high)
			if d.Integer {
				x = min(math.Floor(x+0.5), high)
			}
			p.First.Values = append(p.First.Values, x)
			p.Second.Values = append(p.Second.Values, toward(d, c, x, x+float64((k2-k1)*d.Reach)))
		}
	}
	return p
}

func levelWords(level float64) string {
	switch level {
	case 0.5:
		return "the middle"
	case 0:
		return "the lower end"
	case 1:
		return "the upper end"
	}
	return fmt.Sprintf("%g %%", 100*level)
}

// pair puts the record that changes last, of n in the smaller dataset.
func (a recordPattern) pair(r audit.Relation, d audit.Domain, n int) audit.Pair {
	row := func(t float64) []float64 {
		v := make([]float64, d.Columns)
		for c := range v {
			low, high := ends(d, c)
			v[c] = min(max(mix(low, high, t), low), high)
			if d.Integer {
				v[c] = math.Floor(v[c])
			}
		}
		return v
	}
	stay := n
	if r != audit.AddRemove {
		stay--
	}
	base := make([]float64, 0, (n+1)*d.Columns)
	for i := range stay {
		base = append(base, row(pick(2*i < stay, a.rest[0], a.rest[1]))...)
	}
	p := audit.Pair{First: audit.Dataset{Columns: d.Columns, Values: base}, Label: fmt.Sprintf("%s, added to %d rows", a.label, n)}
	to := row(a.to)
	if r != audit.AddRemove {
		from := row(a.from)
		p.First.Values = append(slices.Clone(base), from...)
		p.Label = fmt.Sprintf("%s, replaced among %d rows", a.label, n)
		if r.HasReach() {
			p.Label = fmt.Sprintf("%s, moved among %d rows", a.label, n)
			for c := range to {
				to[c] = toward(d, c, from[c], to[c])
			}
		}
	}
	p.Second = audit.Dataset{Columns: d.Columns, Values: append(slices.Clone(base), to...)}
	return p
}

// toward is as near to a value of column c as the reach allows from x.
func toward(d audit.Domain, c int, x, to float64) float64 {
	low, high := ends(d, c)
	reach := pick(d.Integer, math.Floor(d.Reach), d.Reach)
	y := min(max(to, x-reach, low), x+reach, high)
	for math.Abs(y-x) > reach { // by rounding
		y = math.Nextafter(y, x)
	}
	return y
}
