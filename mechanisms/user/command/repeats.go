package command

import (
	"hash/maphash"
	"math"
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
	h := b.hash(numbers)
	b.mu.Lock()
	defer b.mu.Unlock()
	if other, ok := b.seen[h]; ok && other != seed {
		return other, true
	}
	b.seen[h] = seed
	return 0, false
}

func (b *blocks) hash(numbers []float64) uint64 {
	var h maphash.Hash
	h.SetSeed(b.hasher)
	var buf [512]byte
	for len(numbers) > 0 {
		k := min(len(numbers), len(buf)/8)
		for i, v := range numbers[:k] {
			bits := math.Float64bits(v)
			for j := range 8 {
				buf[8*i+j] = byte(bits >> (8 * j))
			}
		}
		h.Write(buf[:8*k])
		numbers = numbers[k:]
	}
	return h.Sum64()
}
