package finders

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// grid proposes a grid of pairs, as fine as the budget allows. Records are all
// alike but the one that is added or replaced, the last; answers are two
// halves. Its axes are the size, the values and the moves.
var grid = audit.FinderSpec{
	Name:   "grid",
	Title:  "A grid over sizes, values and moves, as fine as the trials allow",
	Source: "Grid search of DP-Auditorium (Kong et al. 2023), section 5",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		s, err := newSpace(p.Relation, p.Domain)
		if err != nil {
			return nil, err
		}
		axes := gridAxes(s)
		points, err := refine(axes, budget(p))
		if err != nil {
			return nil, err
		}
		return &lattices{ledger: newLedger(s, "grid"), axes: axes, points: points, stride: coprime(points)}, nil
	},
}

// assumedTrials is the budget of a problem that names none.
const assumedTrials = 50

func budget(p audit.FinderProblem) int {
	if p.Trials > 0 {
		return p.Trials
	}
	return assumedTrials
}

// gridAxis is one axis of a grid.
type gridAxis struct {
	at     int // coordinate
	levels int
	most   int // of levels that differ
	kind   axisKind
}

// gridAxes are the axes of a space at the fewest levels that say anything: one
// size (the smallest) and one middle of the answers (the domain's), but both
// ends of values and moves.
func gridAxes(s *space) []gridAxis {
	var axes []gridAxis
	addRow := func(at int, moves bool) {
		for c := range s.columns {
			levels, most := 2, math.MaxInt
			if s.relation == audit.LInfinity {
				levels = 1
			}
			low, high := s.bounds(c)
			if s.domain.Integer && high-low < 1<<30 {
				most = int(high-low) + 1
			} else if low == high {
				most = 1
			}
			axes = append(axes, gridAxis{at: at + c, levels: min(levels, most), most: most, kind: valueAxis})
			if moves {
				axes = append(axes, gridAxis{at: at + s.columns + c, levels: 2, most: math.MaxInt, kind: moveAxis})
			}
		}
	}
	if s.sizeAt >= 0 {
		axes = append(axes, gridAxis{at: s.sizeAt, levels: 1, most: s.most - s.fewest + 1, kind: shapeAxis})
	}
	if s.relation != audit.LInfinity {
		addRow(s.changedAt, s.relation == audit.BoundedReplace)
	}
	if s.runs > 0 {
		addRow(s.rowAt(0), s.relation == audit.LInfinity)
	}
	if s.relation == audit.LInfinity && s.runs > 1 {
		addRow(s.rowAt(1), true)
	}
	return axes
}

// refine adds levels, one axis after the other, while the grid has at most
// budget points, and returns how many it has.
func refine(axes []gridAxis, budget int) (points int, err error) {
	count := 1.0
	for _, a := range axes {
		count *= float64(a.levels)
	}
	if count > float64(budget) {
		return 0, &audit.InputError{Field: "trials", Found: fmt.Sprint(budget), Want: fmt.Sprintf("at least %.0f for finder grid", count),
			Remedy: fmt.Sprintf("the coarsest grid over %d axes has %.0f points; give as many trials, or use finder random", len(axes), count)}
	}
	points = int(count)
	for grown := true; grown; {
		grown = false
		for i := range axes {
			a := &axes[i]
			next := min(a.levels+1, a.most)
			if more := points / a.levels * next; a.levels < next && more <= budget {
				points, a.levels, grown = more, next, true
			}
		}
	}
	return points, nil
}

// lattices proposes the points of a grid. It visits them in steps of about a
// golden section of their number, so that few trials are spread over all.
type lattices struct {
	*ledger
	axes    []gridAxis
	points  int
	stride  int
	visited int
}

// coprime is the number nearest above n/φ that has no factor in common with n.
func coprime(n int) int {
	k := max(1, int(0.6180339887498949*float64(n)))
	for gcd(k, n) != 1 {
		k++
	}
	return k
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Propose returns the next points, at most budget of them; none at the end of
// the grid.
func (g *lattices) Propose(_ []audit.Trial, budget int) []audit.Pair {
	var pairs []audit.Pair
	for ; len(pairs) < budget && g.visited < g.points; g.visited++ {
		if p, ok := g.propose(g.point(int(int64(g.visited) * int64(g.stride) % int64(g.points)))); ok {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// point is point k of the grid, its axes counted like digits.
func (g *lattices) point(k int) []float64 {
	s := g.space
	u := make([]float64, s.dim())
	switch {
	case s.relation != audit.LInfinity && s.placeAt >= 0:
		u[s.placeAt] = 1
	case s.runsAt >= 0 && s.relation == audit.LInfinity:
		u[s.runsAt] = 1.5 / float64(s.runs) // two runs
	}
	for _, a := range g.axes {
		level := k % a.levels
		k /= a.levels
		t := 0.5
		switch {
		case a.levels > 1:
			t = float64(level) / float64(a.levels-1)
		case a.kind == shapeAxis:
			t = 0
		}
		switch {
		case a.kind == moveAxis:
			u[a.at] = stairAt(2*t - 1)
		case a.kind == shapeAxis:
			u[a.at] = unstretched(t, sizeMargin)
		default:
			u[a.at] = unstretched(t, s.margin(a.at))
		}
	}
	return u
}

// unstretched is a coordinate that stretched takes to t.
func unstretched(t, margin float64) float64 {
	switch t {
	case 0, 1:
		return t
	}
	return onLattice(margin + float64(t*(1-2*margin)))
}

// stairAt is a coordinate at which the move is x.
func stairAt(x float64) float64 {
	switch {
	case x < 0:
		return 1 - stairAt(-x)
	case x == 0:
		return 0.5
	case x == 1:
		return 1
	}
	return onLattice(0.6 + float64(0.1*x))
}

// candidates proposes the mechanism's own pairs, the best first.
var candidates = audit.FinderSpec{
	Name:   "candidates",
	Title:  "The mechanism's own pairs, the best first",
	Source: "Pairs known to show each mechanism's fault or its full budget",
	New: func(p audit.FinderProblem) (audit.Finder, error) {
		pairs, err := checked(p)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return nil, &audit.InputError{Field: "finder", Found: `"candidates"`, Want: "one that needs no candidates",
				Remedy: fmt.Sprintf(`the mechanism names no pair for relation %s; use "random"`, p.Relation)}
		}
		return &list{pairs: pairs}, nil
	},
}

// list proposes the pairs of a list in order.
type list struct{ pairs []audit.Pair }

// Propose returns the next pairs, at most budget of them.
func (l *list) Propose(_ []audit.Trial, budget int) []audit.Pair {
	n := min(max(budget, 0), len(l.pairs))
	next := l.pairs[:n:n]
	l.pairs = l.pairs[n:]
	return next
}

// checked returns the candidates without repeats; an error if the domain is none,
// or one of them is no pair of neighbours in it.
func checked(p audit.FinderProblem) ([]audit.Pair, error) {
	if err := wellFormed(p.Domain); err != nil {
		return nil, err
	}
	seen := seenPairs{}
	var pairs []audit.Pair
	for i, c := range p.Candidates {
		if _, err := p.Relation.Steps(c, p.Domain, max(1, p.Group)); err != nil {
			return nil, fmt.Errorf("candidate pair %d (%s): %w", i, c.Label, err)
		}
		if seen.add(c) {
			pairs = append(pairs, c)
		}
	}
	return pairs, nil
}

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
