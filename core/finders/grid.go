package finders

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// grid is over size, values and moves. The last record alone differs from the others; answers are two
// halves.
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
		// In steps of about a golden section: few trials are spread over all.
		order := audit.Listed(points, func(k int) int { return k })
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(golden(a), golden(b)) })
		open := audit.Each(order, func(k int) []float64 { return s.gridPoint(axes, k) })
		pairs := audit.PairList(newLedger(s, "grid", open).next(points, nil))
		return &pairs, nil
	},
}

const assumedTrials = 50

func budget(p audit.FinderProblem) int { return cmp.Or(max(p.Trials, 0), assumedTrials) }

type gridAxis struct {
	at     int
	levels int
	most   int // of levels that differ
}

// gridAxes are at the fewest levels that say anything: the smallest size, the middle of the answers,
// both ends of values and moves. Rows that stay are of one run, answers of two.
func gridAxes(s *space) []gridAxis {
	answers := s.relation == audit.LInfinity
	var axes []gridAxis
	for i, a := range s.axes {
		g := gridAxis{at: i, levels: 2, most: math.MaxInt}
		switch {
		case i == s.sizeAt:
			g.levels, g.most = 1, s.most-s.fewest+1
		case a.kind == shapeAxis || answers && (a.run == onlyChanged || a.run > 1) || !answers && a.run > 0:
			continue
		case a.kind == valueAxis:
			low, high := ends(s.domain, a.column)
			if s.domain.Integer && high-low < 1<<30 {
				g.most = int(high-low) + 1
			} else if low == high {
				g.most = 1
			}
			g.levels = min(audit.Pick(answers, 1, 2), g.most)
		}
		axes = append(axes, g)
	}
	return axes
}

// refine adds levels, one axis after the other; points is how many the grid then has.
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

func golden(k int) float64 {
	_, part := math.Modf(float64(float64(k) * 0.6180339887498949))
	return part
}

func (s *space) gridPoint(axes []gridAxis, k int) []float64 {
	u := make([]float64, len(s.axes))
	switch {
	case s.relation != audit.LInfinity && s.placeAt >= 0:
		u[s.placeAt] = 1
	case s.runsAt >= 0 && s.relation == audit.LInfinity:
		u[s.runsAt] = 1.5 / float64(s.runs) // two runs
	}
	for _, a := range axes {
		t, kind := 0.5, s.axes[a.at].kind
		if a.levels > 1 {
			t = float64(k%a.levels) / float64(a.levels-1)
		} else if kind == shapeAxis {
			t = 0
		}
		k /= a.levels
		if kind == moveAxis {
			u[a.at] = stairAt(2*t - 1)
		} else {
			u[a.at] = unstretched(t, s.axes[a.at].margin)
		}
	}
	return u
}

// unstretched is what stretched takes to t.
func unstretched(t, margin float64) float64 {
	if t == 0 || t == 1 {
		return t
	}
	return onLattice(margin + float64(t*(1-2*margin)))
}

// stairAt is what staircase takes to x.
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
