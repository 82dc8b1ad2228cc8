package finders

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

const (
	mostRuns    = 4  // distinct rows of a dataset, beside the one that changes
	mostColumns = 16 // coordinates of a row; more columns share them

	// lattice is the step of coordinates: computed ones, whose last bits differ between platforms, are
	// rounded to it and stand for the same pair everywhere.
	lattice = 0x1p-12

	sizeMargin   = 1.0 / 16 // of an axis, at either end, that stands for that end
	placeMargin  = 1.0 / 8
	recordMargin = 1.0 / 4 // half of all values are at a corner
	answerMargin = 1.0 / 16
	aloneShare   = 1.0 / 4 // of the place axis, on which no answer stands alone
)

type axisKind int

const (
	shapeAxis axisKind = iota // size, number of runs, place of the row that changes
	valueAxis                 // a value of a row
	moveAxis                  // how far an answer moves
	axisKinds
)

// space is the neighbouring pairs of a domain as points of a unit box. Its coordinates, as far as the
// domain needs them:
//
//	size    rows of the smaller dataset, on a geometric scale
//	runs    number of runs, at most mostRuns: rows of one run are equal
//	place   which row is added or replaced; for answers, which one stands alone, or none
//	changed the row that is added, or that takes the place; the lone answer
//	rows    one row for each run
//
// An answer has two coordinates, the middle of its values and its move; so has, under bounded-replace,
// the row that changes.
type space struct {
	relation     audit.Relation
	domain       audit.Domain
	fewest, most int // rows of the smaller dataset
	runs         int // most runs
	columns      int // coordinates of a row's values
	axes         []axis

	// First coordinate of each part; -1 where a part is left out.
	sizeAt, runsAt, placeAt, changedAt, rowsAt int
}

type axis struct {
	kind   axisKind
	run    int // from 0, or onlyChanged
	column int
	margin float64
}

const onlyChanged = -1

func newSpace(r audit.Relation, d audit.Domain) (*space, error) {
	if err := d.Check(r); err != nil {
		return nil, err
	}
	s := &space{relation: r, domain: d, columns: min(d.Columns, mostColumns), sizeAt: -1, runsAt: -1, placeAt: -1, changedAt: -1}
	s.fewest, s.most = smallerSizes(r, d)
	s.runs = min(mostRuns, s.most)
	add := func(axes ...axis) int {
		s.axes = append(s.axes, axes...)
		return len(s.axes) - len(axes)
	}
	row := func(run int, moves bool) int {
		at := len(s.axes)
		for c := range s.columns {
			add(axis{valueAxis, run, c, audit.Pick(moves, answerMargin, recordMargin)})
		}
		for c := range audit.Pick(moves, s.columns, 0) {
			add(axis{kind: moveAxis, run: run, column: c})
		}
		return at
	}
	if s.fewest < s.most {
		s.sizeAt = add(axis{margin: sizeMargin})
	}
	if s.runs > 1 {
		s.runsAt = add(axis{})
	}
	if s.most > 1 || r == audit.AddRemove && s.most > 0 {
		s.placeAt = add(axis{})
	}
	if r != audit.LInfinity || s.most > 1 {
		s.changedAt = row(onlyChanged, r.HasReach())
	}
	s.rowsAt = len(s.axes)
	for run := range s.runs {
		row(run, r == audit.LInfinity)
	}
	return s, nil
}

// Points are what a search begins with, and what a point stands for, false where that is no pair.
func Points(r audit.Relation, d audit.Domain) (openings [][]float64, pair func([]float64) (audit.Pair, bool), err error) {
	s, err := newSpace(r, d)
	if err != nil {
		return nil, nil, err
	}
	return s.openings(), s.pair, nil
}

func onLattice(x float64) float64 {
	return min(max(float64(math.Floor(float64(x/lattice)+0.5)*lattice), 0), 1)
}

// stretched cuts off a margin at either end of the unit interval, which stands for that end.
func stretched(x, margin float64) float64 { return min(max((x-margin)/(1-2*margin), 0), 1) }

// staircase is a move in [-1, 1]: whole moves and none have most of the axis.
func staircase(x float64) float64 {
	switch {
	case x < 0.5:
		return -staircase(1 - x)
	case x <= 0.6:
		return 0
	case x >= 0.7:
		return 1
	}
	return min((x-0.6)/(0.7-0.6), 1)
}

type shapeOf struct {
	rows  int // of the smaller dataset
	runs  int // at most rows
	place int // -1: no answer stands alone
}

func (s *space) shape(u []float64) shapeOf {
	sh := shapeOf{rows: s.most, runs: 1, place: -1}
	if s.sizeAt >= 0 {
		t := stretched(u[s.sizeAt], sizeMargin)
		if span := s.most - s.fewest; t < 1 {
			sh.rows = s.fewest + min(int(stream.Exp(float64(t*stream.Log(float64(span+1)))))-1, span)
		}
	}
	if s.runsAt >= 0 {
		sh.runs = 1 + step(u[s.runsAt], s.runs)
	}
	sh.runs = min(sh.runs, sh.rows)
	switch {
	case s.placeAt < 0:
		sh.place = audit.Pick(s.relation == audit.LInfinity, -1, 0)
	case s.relation == audit.AddRemove:
		sh.place = step(stretched(u[s.placeAt], placeMargin), sh.rows+1)
	case s.relation != audit.LInfinity:
		sh.place = step(stretched(u[s.placeAt], placeMargin), sh.rows)
	case u[s.placeAt] >= aloneShare && sh.rows > 1:
		sh.place = step(stretched((u[s.placeAt]-aloneShare)/(1-aloneShare), placeMargin), sh.rows)
	}
	return sh
}

// step is which of n equal parts of [0, 1] x lies in.
func step(x float64, n int) int { return min(int(float64(x*float64(n))), n-1) }

func (sh shapeOf) run(i int) int { return i * sh.runs / sh.rows }

func (s *space) pair(u []float64) (audit.Pair, bool) {
	sh := s.shape(u)
	d := s.domain
	first := audit.Dataset{Columns: d.Columns, Values: make([]float64, 0, (sh.rows+1)*d.Columns)}
	second := audit.Dataset{Columns: d.Columns}
	if s.relation != audit.LInfinity {
		for i := range sh.rows {
			first.Values = append(first.Values, s.row(u, s.rowAt(sh.run(i)))...)
		}
		second.Values = slices.Clone(first.Values)
	}
	how := "rows, one moved"
	switch s.relation {
	case audit.LInfinity:
		how = "answers moved"
		for i := range sh.rows {
			at := audit.Pick(i == sh.place, s.changedAt, s.rowAt(sh.run(i)))
			for c := range d.Columns {
				a, b := s.answers(u, at, c)
				first.Values, second.Values = append(first.Values, a), append(second.Values, b)
			}
		}
	case audit.AddRemove:
		how = "rows, one added"
		second.Values = slices.Insert(second.Values, sh.place*d.Columns, s.row(u, s.changedAt)...)
	case audit.Replace:
		how = "rows, one replaced"
		copy(second.Row(sh.place), s.row(u, s.changedAt))
	default:
		for c := range d.Columns {
			first.Row(sh.place)[c], second.Row(sh.place)[c] = s.answers(u, s.changedAt, c)
		}
	}
	p := audit.Pair{Label: fmt.Sprintf("%d %s", sh.rows, how), First: first, Second: second}
	return p, !same(p) && s.relation.Check(p, d) == nil
}

func (s *space) rowAt(run int) int {
	return s.rowsAt + run*audit.Pick(s.relation == audit.LInfinity, 2*s.columns, s.columns)
}

func (s *space) sharedBy(c int) int { return c * s.columns / s.domain.Columns }

func (s *space) row(u []float64, at int) []float64 {
	return audit.Listed(s.domain.Columns, func(c int) float64 { return along(s.domain, c, stretched(u[at+s.sharedBy(c)], recordMargin)) })
}

func (s *space) answers(u []float64, at, c int) (first, second float64) {
	low, high := ends(s.domain, c)
	reach := s.domain.Reach
	k := s.sharedBy(c)
	middle := mix(low, high, stretched(u[at+k], answerMargin))
	move := float64(staircase(u[at+s.columns+k]) * reach)
	first = middle - float64(move/2)
	if s.domain.Integer {
		first, move = math.Floor(first+0.5), math.Trunc(move)
	}
	first = min(max(first, low), high)
	return first, toward(s.domain, c, first, first+move)
}

// mix is the point a share t of the way from a to b; b - a may overflow.
func mix(a, b, t float64) float64 { return float64(a*(1-t)) + float64(b*t) }

// features are coordinates in [0, 1] in which points of one pair are close; 1/2 where it does not matter.
func (s *space) features(u []float64) []float64 {
	sh := s.shape(u)
	f := make([]float64, len(s.axes))
	for i, a := range s.axes {
		switch {
		case i == s.sizeAt:
			f[i] = stream.Log(float64(sh.rows-s.fewest+1)) / stream.Log(float64(s.most-s.fewest+1))
		case i == s.runsAt:
			f[i] = float64(max(sh.runs, 1)-1) / float64(s.runs-1)
		case i == s.placeAt:
			f[i] = (float64(sh.place) + 1) / float64(sh.rows+1)
		case a.run == onlyChanged && sh.place < 0, a.run >= sh.runs:
			f[i] = 0.5
		case a.kind == moveAxis:
			f[i] = (1 + staircase(u[i])) / 2
		default:
			f[i] = stretched(u[i], a.margin)
		}
	}
	return f
}

func (s *space) anywhere(r *stream.Stream) []float64 {
	return audit.Listed(len(s.axes), func(i int) float64 { return onLattice(r.Float64()) })
}

// inside is how far a record inside is, as a share of the domain, from the end away from what changes.
const inside = 0.25

// openings are the largest change in the smallest dataset. The record that changes stands at an end of the
// domain, above the rest and then below. The rest stand at the other end, where a difference, a sum or a
// mean moves farthest; and inside: at an end, a clip may have cut off what the change could move, and in
// the middle, often 0, a record may count for nothing.
//
// Under replace the record moves from end to end: alone, and beside one inside. Under bounded-replace it
// moves in the middle and at either end, with the rest. Answers all move one way from the middle.
func (s *space) openings() [][]float64 {
	u := audit.Each(s.axes, func(a axis) float64 { return audit.Pick(a.kind == moveAxis, 0.85, 0.5) })
	if s.runsAt >= 0 {
		u[s.runsAt] = 0
	}
	s.setRows(u, 1)
	if s.placeAt >= 0 {
		u[s.placeAt] = audit.Pick(s.relation == audit.LInfinity, 0.0, 1)
	}
	if s.relation == audit.LInfinity {
		return [][]float64{u}
	}
	put := func(u []float64, at int, t float64) { // a record that share of the way up the domain
		x := unstretched(t, recordMargin)
		switch t {
		case 0:
			x = s.axes[at].margin / 2
		case 1:
			x = 1 - float64(s.axes[at].margin/2)
		}
		for i := at; i < at+s.columns; i++ {
			u[i] = x
		}
	}
	var points [][]float64
	if s.relation == audit.BoundedReplace {
		for _, at := range []float64{0.5, 0, 1} {
			v := slices.Clone(u)
			put(v, s.changedAt, at)
			for i := range s.columns {
				v[s.changedAt+s.columns+i] = audit.Pick(at == 1, 0.15, 0.85) // a whole move, into the domain
			}
			for run := range s.runs {
				put(v, s.rowAt(run), at)
			}
			points = append(points, v)
		}
		return points
	}
	for _, stand := range []float64{0, inside} {
		if stand > 0 && (s.most < 1 || s.relation == audit.Replace && s.most < 2) {
			break // there is no rest
		}
		for _, to := range []float64{1, 0} {
			rest := audit.Pick(to == 1, stand, 1-stand)
			v := slices.Clone(u)
			put(v, s.changedAt, to)
			for run := range s.runs {
				put(v, s.rowAt(run), rest)
			}
			if stand > 0 && s.relation == audit.Replace {
				s.setRows(v, 2)
				v[s.runsAt] = 1.5 / float64(s.runs) // two: the last row of the second is replaced
				put(v, s.rowAt(1), 1-to)
			}
			points = append(points, v)
		}
	}
	return points
}

func (s *space) setRows(u []float64, n int) {
	switch {
	case s.sizeAt < 0:
	case n <= s.fewest:
		u[s.sizeAt] = 0
	case n >= s.most:
		u[s.sizeAt] = 1
	default:
		t := stream.Log(float64(n-s.fewest)+1.5) / stream.Log(float64(s.most-s.fewest+1))
		u[s.sizeAt] = unstretched(min(t, 1), sizeMargin)
	}
}

// spread is the openings, and others, one in each of as many equal parts of every axis (a Latin
// hypercube: McKay, Beckman and Conover 1979). They are n in all, 2 or more, and the openings inside.
func (s *space) spread(r *stream.Stream, n int) [][]float64 {
	points := s.openings()
	n -= min(len(points), 2)
	rest := audit.Listed(n, func(int) []float64 { return make([]float64, len(s.axes)) })
	for i := range s.axes {
		for k, part := range r.Perm(n) {
			rest[k][i] = onLattice((float64(part) + r.Float64()) / float64(n))
		}
	}
	return append(points, rest...)
}
