package finders

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// patterns are the pairs that StatDP and DP-Sniper try, and more of their kind: the first of each
// family, then the second of each, and so on.
var patterns = audit.FinderSpec{
	Name:  "patterns",
	Title: "Patterns of one against the rest, halves and all alike",
	Source: "Ding, Wang, Wang, Zhang and Kifer, Detecting violations of differential privacy (2018), table 1;" +
		" Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper (2021), section VI",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		if err := p.Domain.Check(p.Relation); err != nil {
			return nil, err
		}
		all := families(p.Relation, p.Domain)
		if p.Relation == audit.LInfinity {
			all = append(all, answerAllBelow.pairs(p.Domain))
		}
		s := search{problem: p, seen: seenPairs{}}
		out := new(audit.PairList)
		for k := range slices.Max(audit.Each(all, func(f []audit.Pair) int { return len(f) })) {
			for _, family := range all {
				if k < len(family) && s.fresh(family[k]) {
					s.seen.add(family[k])
					*out = append(*out, family[k])
				}
			}
		}
		return out, nil
	},
}

// answerPattern is the two answers to query i of m, in steps of the reach.
type answerPattern struct {
	label string
	at    func(i, m int) (first, second float64)
}

// recordPattern is where the record that is added or replaced stands against the rest. Values are
// shares of the way up the domain.
type recordPattern struct {
	label         string
	first, others float64 // half of the records that stay, and the other half
	from, to      float64 // where records are replaced; under add-remove, to is added
	least         int     // rows of the smaller dataset that it needs
}

const outOfTheRace = -1e9

// answerPatterns are StatDP's table 1 with its pairs of patterns, but answerAllBelow, and three more.
var answerPatterns = []answerPattern{
	{"X shape", func(i, m int) (float64, float64) { return audit.Pick(2*i < m, 1.0, 0), audit.Pick(2*i < m, 0.0, 1) }},
	{"all above", func(int, int) (float64, float64) { return 1, 2 }},
	{"one below, the rest above", func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 0.0, 2) }},
	{"one alone, the rest at the lower end", func(i, _ int) (float64, float64) {
		return audit.Pick(i == 0, 0, outOfTheRace), audit.Pick(i == 0, 1, outOfTheRace)
	}},
	{"half below, half above", func(i, m int) (float64, float64) { return 1, audit.Pick(2*i < m, 0.0, 2) }},
	{"one above, the rest below", func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 2.0, 0) }},
	// A technique that stops at the first positive answer has its rarest event here.
	{"the last above, the rest below", func(i, m int) (float64, float64) {
		return audit.Pick(i == m-1, 0.0, 1), audit.Pick(i == m-1, 1.0, 0)
	}},
	{"one above", func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 2.0, 1) }},
	{"three below, two above, the rest at the lower end", func(i, _ int) (float64, float64) {
		switch {
		case i < 3:
			return 1, 0
		case i < 5:
			return 0, 1
		}
		return outOfTheRace, outOfTheRace
	}},
	{"one below", func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 0.0, 1) }},
}

// answerAllBelow differs from all above the other way round at the ends of the domain.
var answerAllBelow = answerPattern{"all below", func(int, int) (float64, float64) { return 1, 0 }}

var answerLevels = []float64{0.5, 0, 1, 0.25, 0.75}

// Where the rest stand inside, no clip has cut off what the record moves; see [space.openings]. Near the
// end, a mechanism that ranks outputs among records prefers the few below, and then the many above.
var recordPatterns = map[audit.Relation][]recordPattern{
	audit.AddRemove: { // one of them in the middle early: rounding shows between the ends alone
		{"at the upper end", 0, 0, 0, 1, 0},
		{"one below", 1, 1, 1, 0, 1},
		{"one above", 0, 0, 0, 1, 1},
		{"one above others inside", inside, inside, 0, 1, 1},
		{"in the middle", 0, 0, 1, 0.5, 0},
		{"at the lower end", 0, 0, 1, 0, 0},
		{"half below, half above, one below", 0, 1, 1, 0, 2},
		{"all above", 1, 1, 0, 1, 1},
		{"one below others inside", 1 - inside, 1 - inside, 1, 0, 1},
		{"across the middle", 0.5, 0.5, 0, 1, 1},
		{"all below", 0, 0, 0.5, 0, 1},
		{"half below, half above, one above", 0, 1, 0, 1, 2},
	},
	audit.Replace: {
		{"one above", 0, 0, 0, 1, 1},
		{"one above", 0, 0, 0, 1, 2},
		{"one below", 1, 1, 1, 0, 2},
		{"one above others inside", inside, inside, 0, 1, 2},
		{"one above others near the end", inside / 2, inside / 2, 0, 1, 2},
		{"all above", 1, 1, 0.5, 1, 1},
		{"half below, half above, one above", 0, 1, 0, 1, 3},
		{"all below", 0, 0, 0.5, 0, 1},
		{"across the middle", 0.5, 0.5, 0, 1, 2},
		{"one below others inside", 1 - inside, 1 - inside, 1, 0, 2},
	},
	audit.BoundedReplace: {
		{"in the middle", 0.5, 0.5, 0.5, 1, 1},
		{"one above", 0, 0, 0, 1, 1},
		{"one below", 1, 1, 1, 0, 1},
		{"above others at the upper end", 1, 1, 0, 1, 2},
		{"below others at the lower end", 0, 0, 1, 0, 2},
		{"half below, half above, one in the middle", 0, 1, 0.5, 1, 3},
		{"in the middle, others at the lower end", 0, 0, 0.5, 1, 2},
		{"in the middle, others at the upper end", 1, 1, 0.5, 1, 2},
	},
}

func (a answerPattern) pairs(d audit.Domain) (pairs []audit.Pair) {
	fewest, most := smallerSizes(audit.LInfinity, d)
	for _, n := range slices.Compact([]int{min(most, max(fewest, 10)), fewest, most}) {
		for _, level := range answerLevels {
			pairs = append(pairs, a.pair(d, n, level))
		}
	}
	return pairs
}

// families are the pairs of each pattern, the most telling first: some no neighbours, some twice.
func families(r audit.Relation, d audit.Domain) [][]audit.Pair {
	if r == audit.LInfinity {
		return audit.Each(answerPatterns, func(a answerPattern) []audit.Pair { return a.pairs(d) })
	}
	fewest, most := smallerSizes(r, d)
	return audit.Each(recordPatterns[r], func(f recordPattern) (pairs []audit.Pair) {
		for _, n := range []int{f.least, f.least + 1, most, 5, 10, fewest} {
			if n = min(max(n, fewest), most); n >= f.least {
				pairs = append(pairs, f.pair(r, d, n))
			}
		}
		return pairs
	})
}

// pair puts the published 0 and 1 half a reach below and above a level, a share of the way up the
// domain, where mechanisms have a threshold. Ends hold 0 or 2.
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
	if words := map[float64]string{0: "the lower end", 0.5: "the middle", 1: "the upper end"}[level]; words != "" {
		return words
	}
	return fmt.Sprintf("%g %%", 100*level)
}

func (a recordPattern) pair(r audit.Relation, d audit.Domain, n int) audit.Pair {
	row := func(t float64) []float64 {
		return audit.Listed(d.Columns, func(c int) float64 {
			low, high := ends(d, c)
			v := min(max(mix(low, high, t), low), high)
			return audit.Pick(d.Integer, math.Floor(v), v)
		})
	}
	stay := audit.Pick(r == audit.AddRemove, n, n-1)
	rest := make([]float64, 0, stay*d.Columns)
	for i := range stay {
		rest = append(rest, row(audit.Pick(2*i < stay, a.first, a.others))...)
	}
	from, to, how := row(a.from), row(a.to), audit.Pick(r == audit.AddRemove, "added to", "replaced among")
	if r.HasReach() {
		how = "moved among"
		for c := range to {
			to[c] = toward(d, c, from[c], to[c])
		}
	}
	return changedLast(r, fmt.Sprintf("%s, %s %d rows", a.label, how, n), d.Columns, rest, from, to)
}

func changedLast(r audit.Relation, label string, columns int, rest, from, to []float64) audit.Pair {
	p := audit.Pair{Label: label, First: audit.Dataset{Columns: columns, Values: rest}, Second: audit.Dataset{Columns: columns, Values: slices.Concat(rest, to)}}
	if r != audit.AddRemove {
		p.First.Values = slices.Concat(rest, from)
	}
	return p
}

// toward is as near to a value of column c as the reach from x allows.
func toward(d audit.Domain, c int, x, to float64) float64 {
	low, high := ends(d, c)
	reach := audit.Pick(d.Integer, math.Floor(d.Reach), d.Reach)
	y := min(max(to, x-reach, low), x+reach, high)
	for math.Abs(y-x) > reach { // by rounding
		y = math.Nextafter(y, x)
	}
	return y
}
