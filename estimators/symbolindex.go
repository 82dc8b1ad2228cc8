package estimators

import (
	"math"
	"sort"
)

// block is how many rows are worked on at a time: the scratch of a block stays
// in the first-level cache.
const block = 512

type (
	floats = [block]float64
	codes  = [block]uint32
)

const (
	slotBits    = 10
	mostHashed  = 64 // symbols that the perfect hash takes
	hashTrials  = 256
	firstFactor = 0x9e3779b97f4a7c15 // odd, bits spread evenly (2^64 over the golden ratio)
)

type slot struct {
	key  uint64
	code uint32
}

// symbolIndex finds the position of a symbol in a list. Up to 64 symbols go
// through a perfect hash without branches, more through a search.
type symbolIndex struct {
	symbols []float64 // ascending, distinct
	unknown uint32    // code of what is not in the list
	factor  uint64
	slots   *[1 << slotBits]slot // nil: search
}

// newSymbolIndex indexes symbols, ascending and distinct.
func newSymbolIndex(symbols []float64, unknown uint32) *symbolIndex {
	x := &symbolIndex{symbols: symbols, unknown: unknown}
	if len(symbols) > mostHashed {
		return x
	}
	factor := uint64(firstFactor)
	for range hashTrials {
		if slots := perfectSlots(symbols, factor, unknown); slots != nil {
			x.factor, x.slots = factor, slots
			return x
		}
		factor = factor*6364136223846793005 + 1442695040888963407 | 1 // Knuth's MMIX generator
	}
	return x
}

// perfectSlots is the hash table with this factor, or nil if two symbols fall
// on one slot.
func perfectSlots(symbols []float64, factor uint64, unknown uint32) *[1 << slotBits]slot {
	slots := new([1 << slotBits]slot)
	empty := math.Float64bits(math.NaN())
	for i := range slots {
		slots[i] = slot{empty, unknown}
	}
	for i, v := range symbols {
		b := math.Float64bits(v + 0)
		s := &slots[b*factor>>(64-slotBits)]
		if s.key != empty {
			return nil
		}
		*s = slot{b, uint32(i)}
	}
	return slots
}

// find writes the code of rows[offset + i*width] into out[i] for i < n.
func (x *symbolIndex) find(rows []float64, width, offset, n int, out *codes) {
	if x.slots == nil {
		x.search(rows, width, offset, n, out)
		return
	}
	slots, factor, unknown := x.slots, x.factor, x.unknown
	out = (*codes)(out[:])
	j := offset
	for i := range out[:n] {
		b := math.Float64bits(rows[j] + 0) // -0 is 0
		j += width
		s := &slots[b*factor>>(64-slotBits)]
		c := s.code
		if s.key != b {
			c = unknown
		}
		out[i] = c
	}
}

func (x *symbolIndex) search(rows []float64, width, offset, n int, out *codes) {
	for i := range out[:n] {
		v := rows[offset+i*width]
		k := sort.SearchFloat64s(x.symbols, v)
		if k < len(x.symbols) && x.symbols[k] == v {
			out[i] = uint32(k)
		} else {
			out[i] = x.unknown
		}
	}
}
