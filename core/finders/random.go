package finders

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// random proposes random neighbouring pairs over the whole domain. A pair the
// other way round counts as proposed: both directions of a pair are explored.
var random = audit.FinderSpec{
	Name:   "random",
	Title:  "Random neighbouring pairs over the domain, with a preference for corners",
	Source: "Random search of DP-Auditorium (Kong et al. 2023); few distinct moves as in StatDP (Ding et al. 2018), table 1",
	New:    func(p audit.FinderProblem) (audit.Finder, error) { return newSearch(p, seenPairs{}) },
}

const (
	cornerShare = 0.5  // chance that a value is at a corner of the domain
	copyShare   = 0.3  // chance that a row repeats the row before
	largestSize = 0.15 // chance that a dataset is as large as the domain allows
	attempts    = 200  // draws for one pair before the search gives up
)

// search draws random pairs. A pair that was proposed before is drawn again.
type search struct {
	problem audit.FinderProblem
	seen    seenPairs
	draws   int
}

func newSearch(p audit.FinderProblem, seen seenPairs) (*search, error) {
	if p.Stream == nil {
		panic("finder: random search needs a stream")
	}
	if err := searchable(p.Relation, p.Domain); err != nil {
		return nil, err
	}
	return &search{problem: p, seen: seen}, nil
}

// fault is an error about a domain.
func fault(field, found, want, remedy string) error {
	return &audit.InputError{Field: "domain." + field, Found: found, Want: want, Remedy: remedy}
}

// wellFormed reports why d is no domain at all.
func wellFormed(d audit.Domain) error {
	if d.Columns < 1 {
		return fault("columns", fmt.Sprint(d.Columns), "at least 1", "")
	}
	if len(d.Lower) != d.Columns || len(d.Upper) != d.Columns {
		return fault("bounds", fmt.Sprintf("%d lower and %d upper", len(d.Lower), len(d.Upper)), fmt.Sprintf("one of each for every column: %d", d.Columns), "")
	}
	if d.MinRows < 0 || d.MinRows > d.MaxRows {
		return fault("rows", fmt.Sprintf("%d to %d", d.MinRows, d.MaxRows), "an ascending range from 0", "give the fewest rows first")
	}
	for c, low := range d.Lower {
		high := d.Upper[c]
		field, found := fmt.Sprintf("bounds[%d]", c), fmt.Sprintf("[%g, %g]", low, high)
		if low-low != 0 || high-high != 0 {
			return fault(field, found, "finite and ascending", "")
		}
		if low > high {
			return fault(field, found, "finite and ascending", "the lower end lies above the upper; exchange them")
		}
		if d.Integer && math.Ceil(low) > math.Floor(high) {
			return fault(field, found, "wide enough for a whole number", "")
		}
	}
	return nil
}

// searchable reports why a domain holds no two neighbours.
func searchable(r audit.Relation, d audit.Domain) error {
	if err := wellFormed(d); err != nil {
		return err
	}
	room := false
	for c, low := range d.Lower {
		room = room || (low < d.Upper[c] && (!d.Integer || math.Ceil(low) < math.Floor(d.Upper[c])))
	}
	switch r {
	case audit.AddRemove:
		if d.MinRows == d.MaxRows {
			return fault("rows", fmt.Sprintf("fixed at %d", d.MinRows), "a range: under add-remove the datasets differ in size", "allow one row more, or use relation replace")
		}
		return nil
	case audit.Replace, audit.LInfinity, audit.BoundedReplace:
		if d.MaxRows == 0 {
			return fault("rows", "0", "at least 1 under relation "+string(r), "an empty dataset has no row that could change")
		}
		if !room {
			return fault("bounds", "one point", "a range: no value can differ", "widen a column")
		}
		if r.HasReach() && !(d.Reach > 0) {
			return fault("reach", fmt.Sprint(d.Reach), "above 0", "it is how far one value may move")
		}
		if r.HasReach() && d.Integer && d.Reach < 1 {
			return fault("reach", fmt.Sprint(d.Reach), "at least 1 where values are whole numbers", "")
		}
		return nil
	}
	return &audit.InputError{Field: "relation", Found: fmt.Sprintf("%q", string(r)), Want: audit.Searchable}
}

// Propose draws up to budget pairs; fewer where the domain seems to hold no
// more that are new.
func (s *search) Propose(_ []audit.Trial, budget int) []audit.Pair {
	var pairs []audit.Pair
	for len(pairs) < budget {
		p, err := s.next()
		if err != nil {
			break
		}
		pairs = append(pairs, p)
	}
	return pairs
}

var errExhausted = errors.New("no new pair found")

func (s *search) next() (audit.Pair, error) {
	for range attempts {
		p := s.draw()
		if !s.fresh(p) {
			continue
		}
		s.seen.add(p)
		s.draws++
		p.Label = fmt.Sprintf("random pair %d: %s", s.draws, p.Label)
		return p, nil
	}
	return audit.Pair{}, errExhausted
}

// fresh reports whether p is a pair of neighbours that was not seen either way round.
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
	switch s.problem.Relation {
	case audit.AddRemove:
		at := r.Intn(n + 1)
		second.Values = slices.Insert(second.Values, at*d.Columns, row(r, d)...)
		if r.Intn(2) == 0 {
			return audit.Pair{Label: fmt.Sprintf("%d rows, one added", n), First: first, Second: second}
		}
		return audit.Pair{Label: fmt.Sprintf("%d rows, one removed", n+1), First: second, Second: first}
	case audit.Replace:
		copy(second.Row(r.Intn(n)), row(r, d))
		return audit.Pair{Label: fmt.Sprintf("%d rows, one replaced", n), First: first, Second: second}
	case audit.BoundedReplace:
		move(r, d, second.Row(r.Intn(n)))
		return audit.Pair{Label: fmt.Sprintf("%d rows, one moved", n), First: first, Second: second}
	}
	move(r, d, second.Values)
	return audit.Pair{Label: fmt.Sprintf("%d answers moved", n), First: first, Second: second}
}

// size is a number of rows: as many as allowed, or small ones as likely as all
// larger ones (a geometric scale).
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

// dataset is n random rows, some of them repeated.
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

// row is a row of the domain, its values at the corners or uniform.
func row(r *stream.Stream, d audit.Domain) []float64 {
	v := make([]float64, d.Columns)
	for c := range v {
		v[c] = value(r, d, c)
	}
	return v
}

// smallerSizes are the fewest and the most rows of the smaller dataset of a pair.
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

// value is an end of column c, or uniform between them.
func value(r *stream.Stream, d audit.Domain, c int) float64 {
	low, high := ends(d, c)
	if r.Float64() < cornerShare {
		return pick(r.Intn(2) == 0, low, high)
	}
	u := r.Float64()
	v := mix(low, high, u)
	if d.Integer {
		v = math.Floor(mix(low, high+1, u))
	}
	return min(max(v, low), high)
}

// move moves coordinates of rows by up to the domain's reach: one of them, all
// alike, two halves against each other, or each in its own way.
func move(r *stream.Stream, d audit.Domain, values []float64) {
	n := len(values)
	reach := pick(d.Integer, math.Floor(d.Reach), d.Reach)
	sign := float64(2*r.Intn(2) - 1)
	cut := r.Intn(n + 1)
	pattern, one := r.Intn(4), r.Intn(n)
	for i, from := range values {
		var step float64
		switch pattern {
		case 0: // one coordinate
			if i == one {
				step = float64(sign * reach)
			}
		case 1: // all alike
			step = float64(sign * reach)
		case 2: // up to a cut one way, past it the other
			step = float64(sign * reach)
			if i >= cut {
				step = -step
			}
		default:
			switch r.Intn(4) {
			case 0:
				step = reach
			case 1:
				step = -reach
			case 2:
				step = float64((float64(2*r.Float64()) - 1) * reach)
				if d.Integer {
					step = math.Trunc(step)
				}
			}
		}
		low, high := ends(d, i%d.Columns)
		to := min(max(from+step, low), high)
		if math.Abs(to-from) > d.Reach { // by rounding
			to = math.Nextafter(to, from)
		}
		values[i] = to
	}
}
