package stream

import (
	"encoding/binary"
	"math/bits"
)

// SHA256 is the SHA-256 hash of data, for what must not link crypto/sha256.
func SHA256(data []byte) [32]byte { return sha256Sum(data) }

// sha256Sum is SHA-256 (FIPS 180-4) of a message. A test holds it to
// crypto/sha256, which is not used here because it brings the whole FIPS module
// along: 39 KB of the WebAssembly core's 1 MB, for one hash of sixty bytes a
// stream.
func sha256Sum(message []byte) [32]byte {
	h := NewHash()
	h.Write(message)
	return h.Sum()
}

// Hash is SHA-256 of a message that comes in pieces.
type Hash struct {
	h     [8]uint32
	block [64]byte // the beginning of one that is not whole
	bytes uint64
}

// NewHash is the hash of nothing yet.
func NewHash() *Hash {
	return &Hash{h: [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}}
}

// Write takes the next piece. It never fails.
func (h *Hash) Write(piece []byte) (int, error) {
	n := len(piece)
	if held := int(h.bytes % 64); held > 0 {
		took := copy(h.block[held:], piece)
		h.bytes += uint64(took)
		if piece = piece[took:]; held+took < 64 {
			return n, nil
		}
		sha256Block(&h.h, h.block[:])
	}
	h.bytes += uint64(len(piece))
	for ; len(piece) >= 64; piece = piece[64:] {
		sha256Block(&h.h, piece[:64])
	}
	copy(h.block[:], piece)
	return n, nil
}

// Sum ends the message: nothing may be written any more.
func (h *Hash) Sum() [32]byte {
	// Padding: a one bit, zeros to 56 bytes past a multiple of 64, the length
	// in bits.
	length := 8 * h.bytes
	pad := make([]byte, 1+(119-h.bytes%64)%64, 72)
	pad[0] = 0x80
	h.Write(binary.BigEndian.AppendUint64(pad, length))
	var sum [32]byte
	for i, v := range h.h {
		binary.BigEndian.PutUint32(sum[4*i:], v)
	}
	return sum
}

func sha256Block(h *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	for i := 16; i < 64; i++ {
		s0 := bits.RotateLeft32(w[i-15], -7) ^ bits.RotateLeft32(w[i-15], -18) ^ w[i-15]>>3
		s1 := bits.RotateLeft32(w[i-2], -17) ^ bits.RotateLeft32(w[i-2], -19) ^ w[i-2]>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	v := *h
	for i := range 64 {
		a, e := v[0], v[4]
		s1 := bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)
		t1 := v[7] + s1 + (e&v[5] ^ ^e&v[6]) + sha256K[i] + w[i]
		s0 := bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)
		t2 := s0 + (a&v[1] ^ a&v[2] ^ v[1]&v[2])
		v = [8]uint32{t1 + t2, a, v[1], v[2], v[3] + t1, e, v[5], v[6]}
	}
	for i := range h {
		h[i] += v[i]
	}
}

// sha256K are the first 32 bits of the fractional parts of the cube roots of
// the first 64 primes.
var sha256K = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
