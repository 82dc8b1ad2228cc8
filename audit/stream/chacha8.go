package stream

import (
	"encoding/binary"
	"math/bits"
)

const (
	chunk  = 32            // uint64s from one call of the block function: four ChaCha8 blocks
	words  = 4 * chunk     // uint64s from one key
	rekey  = 4             // of them, the last ones are the next key
	usable = words - rekey // and these are output
	blocks = 4             // ChaCha blocks in a chunk
)

// chacha8 is the generator of the C2SP chacha8rand specification
// (https://c2sp.org/chacha8rand), word for word the output of
// math/rand/v2.ChaCha8, which a test holds it to. It exists for speed: the
// standard library has assembly on amd64 and arm64 but none for wasm, where its
// portable code takes 16 ns a word; this takes 8, since a block's sixteen
// words stay in wasm locals, and it hands out its buffer without a call a word.
type chacha8 struct {
	raw  [words]uint64 // raw[next:usable] is unread output; raw[usable:] the next key
	next int
}

func (c *chacha8) init(seed [32]byte) {
	for i := range rekey {
		c.raw[usable+i] = binary.LittleEndian.Uint64(seed[8*i:])
	}
	c.refill()
}

// refill replaces the buffer with the output of the key at its end.
func (c *chacha8) refill() {
	var key [8]uint32
	for i := range rekey {
		w := c.raw[usable+i]
		key[2*i], key[2*i+1] = uint32(w), uint32(w>>32)
	}
	for i := range words / chunk {
		chacha8Blocks(&key, (*[chunk]uint64)(c.raw[i*chunk:]), uint32(i*blocks))
	}
	c.next = 0
}

// take returns between 1 and n unread words, n >= 1, and marks them as read.
// They are valid until the next call.
func (c *chacha8) take(n int) []uint64 {
	if c.next >= usable {
		c.refill()
	}
	n = min(n, usable-c.next)
	raw := c.raw[c.next : c.next+n]
	c.next += n
	return raw
}

// chacha8Blocks computes the ChaCha8 blocks ctr to ctr+3 of a key and
// interlaces them: word k of block j is half j%2 of out[2k+j/2].
// As the specification says, only the key words are added to the result.
func chacha8Blocks(key *[8]uint32, out *[chunk]uint64, ctr uint32) {
	for j := range uint32(4) {
		b0, b1, b2, b3 := uint32(0x61707865), uint32(0x3320646e), uint32(0x79622d32), uint32(0x6b206574)
		b4, b5, b6, b7 := key[0], key[1], key[2], key[3]
		b8, b9, b10, b11 := key[4], key[5], key[6], key[7]
		b12, b13, b14, b15 := ctr+j, uint32(0), uint32(0), uint32(0)

		// Eight rounds, four to a turn: jumps backwards are dear in wasm.
		for range 2 {
			b0, b4, b8, b12 = quarterRound(b0, b4, b8, b12)
			b1, b5, b9, b13 = quarterRound(b1, b5, b9, b13)
			b2, b6, b10, b14 = quarterRound(b2, b6, b10, b14)
			b3, b7, b11, b15 = quarterRound(b3, b7, b11, b15)
			b0, b5, b10, b15 = quarterRound(b0, b5, b10, b15)
			b1, b6, b11, b12 = quarterRound(b1, b6, b11, b12)
			b2, b7, b8, b13 = quarterRound(b2, b7, b8, b13)
			b3, b4, b9, b14 = quarterRound(b3, b4, b9, b14)

			b0, b4, b8, b12 = quarterRound(b0, b4, b8, b12)
			b1, b5, b9, b13 = quarterRound(b1, b5, b9, b13)
			b2, b6, b10, b14 = quarterRound(b2, b6, b10, b14)
			b3, b7, b11, b15 = quarterRound(b3, b7, b11, b15)
			b0, b5, b10, b15 = quarterRound(b0, b5, b10, b15)
			b1, b6, b11, b12 = quarterRound(b1, b6, b11, b12)
			b2, b7, b8, b13 = quarterRound(b2, b7, b8, b13)
			b3, b4, b9, b14 = quarterRound(b3, b4, b9, b14)
		}

		// Pushing each word in at the top leaves the even block in the low
		// half and the odd one in the high half after two turns, and what was
		// in out before falls off.
		h := j >> 1
		push(&out[0+h], b0)
		push(&out[2+h], b1)
		push(&out[4+h], b2)
		push(&out[6+h], b3)
		push(&out[8+h], b4+key[0])
		push(&out[10+h], b5+key[1])
		push(&out[12+h], b6+key[2])
		push(&out[14+h], b7+key[3])
		push(&out[16+h], b8+key[4])
		push(&out[18+h], b9+key[5])
		push(&out[20+h], b10+key[6])
		push(&out[22+h], b11+key[7])
		push(&out[24+h], b12)
		push(&out[26+h], b13)
		push(&out[28+h], b14)
		push(&out[30+h], b15)
	}
}

func push(w *uint64, half uint32) { *w = *w>>32 | uint64(half)<<32 }

func quarterRound(a, b, c, d uint32) (_, _, _, _ uint32) {
	a += b
	d = bits.RotateLeft32(d^a, 16)
	c += d
	b = bits.RotateLeft32(b^c, 12)
	a += b
	d = bits.RotateLeft32(d^a, 8)
	c += d
	b = bits.RotateLeft32(b^c, 7)
	return a, b, c, d
}
