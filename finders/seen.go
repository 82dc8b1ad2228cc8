package finders

import (
	"encoding/binary"
	"github.com/dpscope/dpscope/audit"
	"math"
	"slices"
)

// seenPairs remembers pairs, in the order of their rows and of their sides.
type seenPairs map[string]bool

// add reports whether the pair is new, and remembers it.
func (s seenPairs) add(p audit.Pair) bool {
	if s.has(p) {
		return false
	}
	s[pairKey(p)] = true
	return true
}

func (s seenPairs) has(p audit.Pair) bool { return s[pairKey(p)] }

// swapped is the pair the other way round.
func swapped(p audit.Pair) audit.Pair { return audit.Pair{First: p.Second, Second: p.First} }

// pairKey is one text for one pair: sizes, then the bits of all values.
func pairKey(p audit.Pair) string {
	var b []byte
	for _, d := range []audit.Dataset{p.First, p.Second} {
		b = binary.BigEndian.AppendUint64(b, uint64(d.Columns))
		b = binary.BigEndian.AppendUint64(b, uint64(len(d.Values)))
		for _, v := range d.Values {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v+0)) // -0 is 0
		}
	}
	return string(b)
}

// same reports whether both sides of a pair are one dataset, value by value.
func same(p audit.Pair) bool {
	return p.First.Columns == p.Second.Columns && slices.Equal(p.First.Values, p.Second.Values)
}
