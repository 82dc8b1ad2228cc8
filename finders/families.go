package finders

import (
	"github.com/dpscope/dpscope/audit"
	"slices"
)

// Further patterns, beside the published ones.
var (
	// One answer moves, beyond all others.
	answerAlone = answerPattern{"one alone, the rest at the lower end", func(i, _ int) (float64, float64) {
		if i > 0 {
			return outOfTheRace, outOfTheRace
		}
		return 0, 1
	}}
	// A technique that stops at the first positive answer has its rarest event here.
	answerLast = answerPattern{"the last above, the rest below", func(i, m int) (float64, float64) {
		if i == m-1 {
			return 0, 1
		}
		return 1, 0
	}}
	answerFew = answerPattern{"three below, two above, the rest at the lower end", func(i, _ int) (float64, float64) {
		switch {
		case i < 3:
			return 1, 0
		case i < 5:
			return 0, 1
		}
		return outOfTheRace, outOfTheRace
	}}
)

// An answerFamily is tried at all levels, and then at other sizes.
var answerFamilies = []*answerPattern{
	&answerPatterns[7], // X shape
	&answerPatterns[5], // all above
	&answerPatterns[3], // one below, the rest above
	&answerAlone,
	&answerPatterns[4], // half below, half above
	&answerPatterns[2], // one above, the rest below
	&answerLast,
	&answerPatterns[0], // one above
	&answerFew,
	&answerPatterns[1], // one below
}

var answerLevels = []float64{0.5, 0, 1, 0.25, 0.75}

// A recordFamily is tried at all sizes, from the first that says something.
type recordFamily struct {
	recordPattern
	least int // rows of the smaller dataset
}

// Where the rest stand inside, no clip has cut off what the record moves; see
// [space.openings]. Where they stand near the end, a mechanism that ranks outputs
// among the records prefers the few below them, and after the replacement the many
// above: the fewer, the louder, and the rarer.
var (
	addedFamilies = []recordFamily{ // one of them in the middle early: rounding shows between the ends alone
		{recordPattern{"at the upper end", [2]float64{0, 0}, 0, 1}, 0},
		{recordPattern{"one below", [2]float64{1, 1}, 1, 0}, 1},
		{recordPattern{"one above", [2]float64{0, 0}, 0, 1}, 1},
		{recordPattern{"one above others inside", [2]float64{inside, inside}, 0, 1}, 1},
		{recordPattern{"in the middle", [2]float64{0, 0}, 1, 0.5}, 0},
		{recordPattern{"at the lower end", [2]float64{0, 0}, 1, 0}, 0},
		{recordPattern{"half below, half above, one below", [2]float64{0, 1}, 1, 0}, 2},
		{recordPattern{"all above", [2]float64{1, 1}, 0, 1}, 1},
		{recordPattern{"one below others inside", [2]float64{1 - inside, 1 - inside}, 1, 0}, 1},
		{recordPattern{"across the middle", [2]float64{0.5, 0.5}, 0, 1}, 1},
		{recordPattern{"all below", [2]float64{0, 0}, 0.5, 0}, 1},
		{recordPattern{"half below, half above, one above", [2]float64{0, 1}, 0, 1}, 2},
	}
	replacedFamilies = []recordFamily{
		{recordPattern{"one above", [2]float64{0, 0}, 0, 1}, 1},
		{recordPattern{"one above", [2]float64{0, 0}, 0, 1}, 2},
		{recordPattern{"one below", [2]float64{1, 1}, 1, 0}, 2},
		{recordPattern{"one above others inside", [2]float64{inside, inside}, 0, 1}, 2},
		{recordPattern{"one above others near the end", [2]float64{inside / 2, inside / 2}, 0, 1}, 2},
		{recordPattern{"all above", [2]float64{1, 1}, 0.5, 1}, 1},
		{recordPattern{"half below, half above, one above", [2]float64{0, 1}, 0, 1}, 3},
		{recordPattern{"all below", [2]float64{0, 0}, 0.5, 0}, 1},
		{recordPattern{"across the middle", [2]float64{0.5, 0.5}, 0, 1}, 2},
		{recordPattern{"one below others inside", [2]float64{1 - inside, 1 - inside}, 1, 0}, 2},
	}
	movedFamilies = []recordFamily{
		{recordPattern{"in the middle", [2]float64{0.5, 0.5}, 0.5, 1}, 1},
		{recordPattern{"one above", [2]float64{0, 0}, 0, 1}, 1},
		{recordPattern{"one below", [2]float64{1, 1}, 1, 0}, 1},
		{recordPattern{"above others at the upper end", [2]float64{1, 1}, 0, 1}, 2},
		{recordPattern{"below others at the lower end", [2]float64{0, 0}, 1, 0}, 2},
		{recordPattern{"half below, half above, one in the middle", [2]float64{0, 1}, 0.5, 1}, 3},
		{recordPattern{"in the middle, others at the lower end", [2]float64{0, 0}, 0.5, 1}, 2},
		{recordPattern{"in the middle, others at the upper end", [2]float64{1, 1}, 0.5, 1}, 2},
	}
)

// families are the pairs of each family, the first of each the most telling. Not
// all are neighbours, and some are there twice.
func families(r audit.Relation, d audit.Domain) [][]audit.Pair {
	fewest, most := smallerSizes(r, d)
	var out [][]audit.Pair
	if r == audit.LInfinity {
		sizes := slices.Compact([]int{min(most, max(fewest, 10)), fewest, most})
		for _, f := range answerFamilies {
			var pairs []audit.Pair
			for _, n := range sizes {
				for _, level := range answerLevels {
					pairs = append(pairs, f.pair(d, n, level))
				}
			}
			out = append(out, pairs)
		}
		return out
	}
	records := addedFamilies
	switch r {
	case audit.Replace:
		records = replacedFamilies
	case audit.BoundedReplace:
		records = movedFamilies
	}
	for _, f := range records {
		var pairs []audit.Pair
		for _, n := range []int{f.least, f.least + 1, most, 5, 10, fewest} {
			if n = min(max(n, fewest), most); n >= f.least {
				pairs = append(pairs, f.pair(r, d, n))
			}
		}
		out = append(out, pairs)
	}
	return out
}
