package finders

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

var random = audit.FinderSpec{
	Name:   "random",
	Title:  "Random neighbouring pairs over the domain, with a preference for corners",
	Source: "Random search of DP-Auditorium (Kong et al. 2023); few distinct moves as in StatDP (Ding et al. 2018), table 1",
	New:    func(p audit.FinderProblem) (audit.Finder, error) { return newSearch(p, seenPairs{}) },
}

const (
	cornerShare = 0.5  // chance of a value at a corner
	copyShare   = 0.3  // chance of a row like the one before
	largestSize = 0.15 // chance of the largest dataset
	attempts    = 200  // draws for one pair at most
)

type search struct {
	problem audit.FinderProblem
	seen    seenPairs
	draws   int
}

func newSearch(p audit.FinderProblem, seen seenPairs) (*search, error) {
	return &search{problem: p, seen: seen}, p.Domain.Check(p.Relation)
}

func (s *search) Propose(_ []audit.Trial, budget int) []audit.Pair {
	var pairs []audit.Pair
	for len(pairs) < budget {
		p, ok := s.next()
		if !ok {
			break
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func (s *search) next() (audit.Pair, bool) {
	for range attempts {
		if p := s.draw(); s.fresh(p) {
			s.seen.add(p)
			s.draws++
			p.Label = fmt.Sprintf("random pair %d: %s", s.draws, p.Label)
			return p, true
		}
	}
	return audit.Pair{}, false
}

// fresh reports whether p is a pair of neighbours, new either way round.
func (s *search) fresh(p audit.Pair) bool {
	return !same(p) && !s.seen[pairKey(p)] && s.problem.Relation.Check(p, s.problem.Domain) == nil
}

func (s *search) draw() audit.Pair {
	r := s.problem.Stream
	d := s.problem.Domain
	fewest, most := smallerSizes(s.problem.Relation, d)
	n := size(r, fewest, most)
	first := dataset(r, d, n)
	second := audit.Dataset{Columns: d.Columns, Values: slices.Clone(first.Values)}
	how := "answers moved"
	switch s.problem.Relation {
	case audit.AddRemove:
		at := r.Intn(n + 1)
		how, second.Values = "rows, one added", slices.Insert(second.Values, at*d.Columns, row(r, d)...)
		if r.Intn(2) != 0 {
			how, n, first, second = "rows, one removed", n+1, second, first
		}
	case audit.Replace:
		how = "rows, one replaced"
		copy(second.Row(r.Intn(n)), row(r, d))
	case audit.BoundedReplace:
		how = "rows, one moved"
		move(r, d, second.Row(r.Intn(n)))
	default:
		move(r, d, second.Values)
	}
	return audit.Pair{Label: fmt.Sprintf("%d %s", n, how), First: first, Second: second}
}

func size(r *stream.Stream, low, high int) int {
	if low == high || r.Float64() < largestSize {
		return high
	}
	span := 1
	for span < high-low+1 && r.Intn(2) == 0 {
		span *= 2
	}
	return low + r.Intn(min(span, high-low+1))
}

func dataset(r *stream.Stream, d audit.Domain, n int) audit.Dataset {
	values := make([]float64, 0, n*d.Columns)
	for i := range n {
		if i > 0 && r.Float64() < copyShare {
			values = append(values, values[(i-1)*d.Columns:i*d.Columns]...)
			continue
		}
		values = append(values, row(r, d)...)
	}
	return audit.Dataset{Columns: d.Columns, Values: values}
}

func row(r *stream.Stream, d audit.Domain) []float64 {
	return audit.Listed(d.Columns, func(c int) float64 { return value(r, d, c) })
}

func smallerSizes(r audit.Relation, d audit.Domain) (fewest, most int) {
	if r == audit.AddRemove {
		return d.MinRows, d.MaxRows - 1
	}
	return max(1, d.MinRows), d.MaxRows
}

// ends are the ends of column c, whole numbers where its values are.
func ends(d audit.Domain, c int) (low, high float64) {
	low, high = d.Lower[c], d.Upper[c]
	if d.Integer {
		low, high = math.Ceil(low), math.Floor(high)
	}
	return low, high
}

func value(r *stream.Stream, d audit.Domain, c int) float64 {
	low, high := ends(d, c)
	if r.Float64() < cornerShare {
		return audit.Pick(r.Intn(2) == 0, low, high)
	}
	return along(d, c, r.Float64())
}

// along is a share t of the way up column c; whole numbers have equal shares.
func along(d audit.Domain, c int, t float64) float64 {
	low, high := ends(d, c)
	v := mix(low, high, t)
	if d.Integer {
		v = math.Floor(mix(low, high+1, t))
	}
	return min(max(v, low), high)
}

// move moves coordinates: one, all alike, two halves against each other, or each in its own way.
func move(r *stream.Stream, d audit.Domain, values []float64) {
	n := len(values)
	reach := audit.Pick(d.Integer, math.Floor(d.Reach), d.Reach)
	whole := float64(float64(2*r.Intn(2)-1) * reach)
	cut := r.Intn(n + 1)
	pattern, one := r.Intn(4), r.Intn(n)
	for i, from := range values {
		step := whole
		switch {
		case pattern == 0 && i != one:
			step = 0
		case pattern == 2 && i >= cut:
			step = -whole
		case pattern == 3:
			way := r.Intn(4)
			if step = [4]float64{reach, -reach}[way]; way == 2 {
				step = float64((float64(2*r.Float64()) - 1) * reach)
				step = audit.Pick(d.Integer, math.Trunc(step), step)
			}
		}
		values[i] = toward(d, i%d.Columns, from, from+step)
	}
}
