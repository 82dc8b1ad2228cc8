package command

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// blocks remembers the numbers that seeds gave.
type blocks struct {
	mu     sync.Mutex
	seen   map[uint64]uint64 // seeds, by the hash of their numbers
	hasher maphash.Seed
}

func newBlocks() *blocks { return &blocks{seen: map[uint64]uint64{}, hasher: maphash.MakeSeed()} }

// note remembers the numbers of a seed. Where another seed gave the same before, it
// returns that.
func (b *blocks) note(seed uint64, numbers []float64) (other uint64, repeated bool) {
	text, _ := binary.Append(nil, binary.LittleEndian, numbers)
	h := maphash.Bytes(b.hasher, text)
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.seen[h]; ok && other != seed {
		return other, true
	}
	b.seen[h] = seed
	return 0, false
}
