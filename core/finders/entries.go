package finders

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

type seenPairs map[string]bool

// add reports whether the pair is new either way round, and remembers it.
func (s seenPairs) add(p audit.Pair) bool {
	key := pairKey(p)
	known := s[key]
	s[key] = true
	return !known
}

// pairKey is one text for a pair either way round.
func pairKey(p audit.Pair) string {
	var sides [2]string
	for i, d := range []audit.Dataset{p.First, p.Second} {
		b := binary.BigEndian.AppendUint64(nil, uint64(d.Columns))
		b = binary.BigEndian.AppendUint64(b, uint64(len(d.Values)))
		for _, v := range d.Values {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
		}
		sides[i] = string(b)
	}
	return min(sides[0], sides[1]) + max(sides[0], sides[1])
}

func same(p audit.Pair) bool {
	return p.First.Columns == p.Second.Columns && slices.Equal(p.First.Values, p.Second.Values)
}

// entry is a row in the first dataset and in the second; nil where it is not.
type entry [2][]float64

func (e entry) alike() bool { return e[0] != nil && slices.Equal(e[0], e[1]) }

// entriesOf lines the rows of a pair up, in an order that finders give: others may then be no pair.
func entriesOf(r audit.Relation, p audit.Pair) []entry {
	var out []entry
	i, j := 0, 0
	for i < p.First.Len() || j < p.Second.Len() {
		var e entry
		switch short := p.First.Len() - p.Second.Len(); {
		case r != audit.AddRemove, i-j == short && i < p.First.Len(), i < p.First.Len() && j < p.Second.Len() && slices.Equal(p.First.Row(i), p.Second.Row(j)):
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

func pairOf(r audit.Relation, d audit.Domain, entries []entry) audit.Pair {
	p := audit.Pair{First: audit.Dataset{Columns: d.Columns, Values: []float64{}}, Second: audit.Dataset{Columns: d.Columns, Values: []float64{}}}
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

// change makes one random change to a pair, some of it in place.
func change(r *stream.Stream, relation audit.Relation, d audit.Domain, entries []entry) []entry {
	if len(entries) == 0 {
		return entries
	}
	answers := relation == audit.LInfinity // all of which may change
	at, moving, c := r.Intn(len(entries)), r.Intn(len(entries)), r.Intn(d.Columns)
	for i, e := range entries {
		if !answers && !e.alike() {
			moving = i
			break
		}
	}
	kind := r.Intn(8)
	var v float64
	if kind >= 3 && kind <= 5 {
		v = value(r, d, c)
	}
	switch kind {
	case 0, 1, 2: // one row that stays more, or less, or all of them twice
		var out []entry
		for i, e := range slices.Backward(entries) {
			chosen := (answers || e.alike()) && (kind == 2 && len(out)+i+1 < d.MaxRows || kind < 2 && i == at)
			if !chosen || kind != 1 {
				out = append(out, e)
			}
			if chosen && kind != 1 {
				out = append(out, entry{slices.Clone(e[0]), slices.Clone(e[1])})
			}
		}
		slices.Reverse(out)
		return out
	case 3, 4: // another value of a row that stays, or of all of them
		for i, e := range entries {
			if (kind == 4 || i == at) && (answers || e.alike()) {
				e[1][c] += v - e[0][c]
				e[0][c] = v
			}
		}
	case 5: // another value, or move, of what changes
		side := r.Intn(2)
		if entries[moving][side] == nil {
			side = 1 - side
		}
		entries[moving][side][c] = v
	case 6: // it stands elsewhere; of answers, all from one on move the other way
		if !answers {
			entries[at], entries[moving] = entries[moving], entries[at]
			break
		}
		for i := r.Intn(len(entries) + 1); i < len(entries); i++ {
			entries[i][0], entries[i][1] = entries[i][1], entries[i][0]
		}
	default:
		by := audit.Pick(relation.HasReach(), d.Reach/2, float64((d.Upper[c]-d.Lower[c])/8))
		by = float64(by * float64(r.Intn(9)-4)) // rounded before it is added, on every platform
		for _, e := range entries {
			for _, row := range e {
				if row != nil {
					row[c] += by
				}
			}
		}
	}
	return entries
}
