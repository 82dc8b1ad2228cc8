package finders

import (
	"fmt"
	"github.com/dpscope/dpscope/audit"
	"math"
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
