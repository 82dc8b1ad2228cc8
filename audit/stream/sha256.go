package stream

import (
	"encoding/binary"
	"math/bits"
)

// SHA256 is the SHA-256 hash of data, for what must not link crypto/sha256.
func SHA256(data []byte) [32]byte {
	d := NewDigest()
	d.Write(data)
	return [32]byte(d.Sum(nil))
}

// Digest is SHA-256 (FIPS 180-4) of what is written to it. A test holds it to
// crypto/sha256, which is not used here because it brings the whole FIPS module
// along: 39 KB of the WebAssembly core's 1 MB, for one hash of sixty bytes a
// stream.
type Digest struct {
	state [8]uint32
	block [64]byte // not full
	n     uint64   // bytes so far
}

// NewDigest returns the digest of nothing.
func NewDigest() *Digest {
	return &Digest{state: [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}}
}

// Write takes the next bytes; it never fails.
func (d *Digest) Write(p []byte) (int, error) {
	n := len(p)
	if at := int(d.n % 64); at > 0 {
		took := copy(d.block[at:], p)
		p = p[took:]
		if at+took == 64 {
			d.compress(d.block[:])
		}
	}
	whole := len(p) / 64 * 64
	d.compress(p[:whole])
	copy(d.block[:], p[whole:]) // nothing where the block is not full
	d.n += uint64(n)
	return n, nil
}

// Sum appends the hash to b; the digest may go on.
func (d *Digest) Sum(b []byte) []byte {
	end := *d
	// Padding: a one bit, zeros to 56 bytes past a multiple of 64, the length in
	// bits.
	pad := make([]byte, 1+(119-d.n%64)%64, 72)
	pad[0] = 0x80
	end.Write(binary.BigEndian.AppendUint64(pad, 8*d.n))
	for _, v := range end.state {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// compress takes whole blocks. Eight rounds a turn: in WebAssembly a jump back
// costs as much as a round.
func (d *Digest) compress(p []byte) {
	var w [64]uint32
	s := d.state
	for ; len(p) >= 64; p = p[64:] {
		block := (*[64]byte)(p)
		for i := 0; i < 16; i += 4 {
			x, b := (*[4]uint32)(w[i:i+4]), (*[16]byte)(block[4*i:4*i+16])
			x[0], x[1], x[2], x[3] = binary.BigEndian.Uint32(b[0:]), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
		}
		for i := 0; i < 48; i += 8 {
			x := (*[24]uint32)(w[i : i+24]) // those from the 17th on are new
			x[16] = x[0] + mix0(x[1]) + x[9] + mix1(x[14])
			x[17] = x[1] + mix0(x[2]) + x[10] + mix1(x[15])
			x[18] = x[2] + mix0(x[3]) + x[11] + mix1(x[16])
			x[19] = x[3] + mix0(x[4]) + x[12] + mix1(x[17])
			x[20] = x[4] + mix0(x[5]) + x[13] + mix1(x[18])
			x[21] = x[5] + mix0(x[6]) + x[14] + mix1(x[19])
			x[22] = x[6] + mix0(x[7]) + x[15] + mix1(x[20])
			x[23] = x[7] + mix0(x[8]) + x[16] + mix1(x[21])
		}
		a, b, c, d, e, f, g, h := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
		for i := 0; i < 64; i += 8 {
			k, x := (*[8]uint32)(sha256K[i:i+8]), (*[8]uint32)(w[i:i+8])
			h += sum1(e) + (g ^ e&(f^g)) + k[0] + x[0]
			d += h
			h += sum0(a) + (a&b | c&(a|b))
			g += sum1(d) + (f ^ d&(e^f)) + k[1] + x[1]
			c += g
			g += sum0(h) + (h&a | b&(h|a))
			f += sum1(c) + (e ^ c&(d^e)) + k[2] + x[2]
			b += f
			f += sum0(g) + (g&h | a&(g|h))
			e += sum1(b) + (d ^ b&(c^d)) + k[3] + x[3]
			a += e
			e += sum0(f) + (f&g | h&(f|g))
			d += sum1(a) + (c ^ a&(b^c)) + k[4] + x[4]
			h += d
			d += sum0(e) + (e&f | g&(e|f))
			c += sum1(h) + (b ^ h&(a^b)) + k[5] + x[5]
			g += c
			c += sum0(d) + (d&e | f&(d|e))
			b += sum1(g) + (a ^ g&(h^a)) + k[6] + x[6]
			f += b
			b += sum0(c) + (c&d | e&(c|d))
			a += sum1(f) + (h ^ f&(g^h)) + k[7] + x[7]
			e += a
			a += sum0(b) + (b&c | d&(b|c))
		}
		s = [8]uint32{s[0] + a, s[1] + b, s[2] + c, s[3] + d, s[4] + e, s[5] + f, s[6] + g, s[7] + h}
	}
	d.state = s
}

// The functions of section 4.1.2.

func sum0(x uint32) uint32 {
	return bits.RotateLeft32(x, -2) ^ bits.RotateLeft32(x, -13) ^ bits.RotateLeft32(x, -22)
}

func sum1(x uint32) uint32 {
	return bits.RotateLeft32(x, -6) ^ bits.RotateLeft32(x, -11) ^ bits.RotateLeft32(x, -25)
}

func mix0(x uint32) uint32 { return bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3 }

func mix1(x uint32) uint32 { return bits.RotateLeft32(x, -17) ^ bits.RotateLeft32(x, -19) ^ x>>10 }

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
