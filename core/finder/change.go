package finder

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/stream"
)

// entry is a row of a pair: in the first dataset and in the second. Of one that is
// added or removed, one side is nil.
type entry [2][]float64

func (e entry) alike() bool { return e[0] != nil && slices.Equal(e[0], e[1]) }

// entriesOf lines the rows of a pair up. Rows that come in another order than
// those of a finder do may line up badly, and then not be a pair again.
func entriesOf(r core.Relation, p core.Pair) []entry {
	var out []entry
	i, j := 0, 0
	for i < p.First.Len() || j < p.Second.Len() {
		var e entry
		switch short := p.First.Len() - p.Second.Len(); {
		case r != core.AddRemove, i-j == short && i < p.First.Len(), i < p.First.Len() && j < p.Second.Len() && slices.Equal(p.First.Row(i), p.Second.Row(j)):
			e = entry{slices.Clone(p.First.Row(i)), slices.Clone(p.Second.Row(j))}
			i, j = i+1, j+1
		case short > 0:
			e[0] = slices.Clone(p.First.Row(i))
			i++
		default:
			e[1] = slices.Clone(p.Second.Row(j))
			j++
		}
		out = append(out, e)
	}
	return out
}

// pairOf is the pair of such rows, their values brought into the domain.
func pairOf(r core.Relation, d core.Domain, entries []entry) core.Pair {
	p := core.Pair{First: core.Dataset{Columns: d.Columns, Values: []float64{}}, Second: core.Dataset{Columns: d.Columns, Values: []float64{}}}
	for _, e := range entries {
		for side, row := range e {
			for c := range row {
				low, high := ends(d, c)
				if d.Integer {
					row[c] = math.Floor(row[c] + 0.5)
				}
				if row[c] = min(max(row[c], low), high); side == 1 && r.HasReach() {
					row[c] = toward(d, c, e[0][c], row[c])
				}
			}
		}
		p.First.Values, p.Second.Values = append(p.First.Values, e[0]...), append(p.Second.Values, e[1]...)
	}
	return p
}

// change makes one random change to a pair: of its size, of a value, of what
// moves, or of where that stands.
func change(r *stream.Stream, relation core.Relation, d core.Domain, entries []entry) []entry {
	if len(entries) == 0 {
		return entries
	}
	out := make([]entry, len(entries))
	for i, e := range entries {
		out[i] = entry{slices.Clone(e[0]), slices.Clone(e[1])}
	}
	at, other, c := r.Intn(len(out)), r.Intn(len(out)), r.Intn(d.Columns)
	if moving := slices.IndexFunc(out, func(e entry) bool { return !e.alike() }); relation != core.LInfinity && moving >= 0 {
		other = moving
	}
	low, high := ends(d, c)
	free := relation == core.LInfinity
	switch kind := r.Intn(8); kind {
	case 0: // one row more
		if free || out[at].alike() {
			out = slices.Insert(out, at, entry{slices.Clone(out[at][0]), slices.Clone(out[at][1])})
		}
	case 1: // one row less
		if free || out[at].alike() {
			out = slices.Delete(out, at, at+1)
		}
	case 2: // twice the rows that stay
		for i := len(out) - 1; i >= 0 && len(out) < d.MaxRows; i-- {
			if free || out[i].alike() {
				out = slices.Insert(out, i, entry{slices.Clone(out[i][0]), slices.Clone(out[i][1])})
			}
		}
	case 3, 4: // another value of a row that stays, or of all of them
		v := value(r, d.Lower[c], d.Upper[c], d.Integer)
		for i, e := range out {
			if (kind == 4 || i == at) && (free || e.alike()) {
				e[1][c] += v - e[0][c]
				e[0][c] = v
			}
		}
	case 5: // another value, or move, of what changes
		v := value(r, d.Lower[c], d.Upper[c], d.Integer)
		e := out[other]
		side := r.Intn(2)
		if e[side] == nil {
			side = 1 - side
		}
		e[side][c] = v
	case 6: // it stands elsewhere
		if relation == core.LInfinity {
			at, other = r.Intn(len(out)+1), len(out)
			for i := at; i < other; i++ { // all beyond move the other way
				out[i][0], out[i][1] = out[i][1], out[i][0]
			}
			break
		}
		out[at], out[other] = out[other], out[at]
	default: // all values move
		by := float64((high - low) / 8)
		if relation.HasReach() {
			by = d.Reach / 2
		}
		by *= float64(r.Intn(9) - 4)
		for _, e := range out {
			for side := range e {
				if e[side] != nil {
					e[side][c] += by
				}
			}
		}
	}
	return out
}
