package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Stream is a stream of random numbers for one goroutine, and a math/rand/v2.Source.
type Stream struct {
	source   rand.ChaCha8
	raw      [words]uint64 // raw[next:] is unread
	next     int
	spare    float64 // second half of a Gaussian pair, unit variance
	hasSpare bool
}

// words is how many are made at once: samplers read them without a call a word.
const words = 128

// FromSeed returns the stream whose Uint64s are those of math/rand/v2.NewChaCha8(seed).
func FromSeed(seed [32]byte) *Stream {
	s := &Stream{next: words}
	s.source.Seed(seed)
	return s
}

func (s *Stream) refill() {
	for i := range s.raw {
		s.raw[i] = s.source.Uint64()
	}
	s.next = 0
}

// take returns between 1 and n unread words, n >= 1, valid until the next call.
func (s *Stream) take(n int) []uint64 {
	if s.next >= words {
		s.refill()
	}
	n = min(n, words-s.next)
	raw := s.raw[s.next : s.next+n]
	s.next += n
	return raw
}

// fill makes dst of unread words, one a number, block by block; dst is the rest of it then.
func (s *Stream) fill(dst []float64, block func(dst []float64, raw []uint64)) {
	for len(dst) > 0 {
		raw := s.take(len(dst))
		block(dst, raw)
		dst = dst[len(raw):]
	}
}

// Uint64 returns the next word of the stream.
func (s *Stream) Uint64() uint64 {
	if s.next >= words {
		s.refill()
	}
	r := s.raw[s.next&(words-1)]
	s.next++
	return r
}

// Float64 returns one number uniform on the multiples of 2^-53 in [0, 1), from one word.
func (s *Stream) Float64() float64 { return float64(float64(int64(s.Uint64()>>11)) * 0x1p-53) }

// Intn returns a number uniform on {0, ..., n-1}, n >= 1, without bias (D. Lemire, Fast random
// integer generation in an interval, ACM TOMACS 29(1), 2019). It takes one word, and another with
// probability below n/2^64, again and again.
func (s *Stream) Intn(n int) int {
	if n < 1 {
		panic("stream: Intn: n must be at least 1")
	}
	m := uint64(n)
	hi, lo := bits.Mul64(s.Uint64(), m)
	if lo < m {
		for reject := -m % m; lo < reject; {
			hi, lo = bits.Mul64(s.Uint64(), m)
		}
	}
	return int(hi)
}

// Perm returns a random permutation of 0, ..., n-1, by Shuffle.
func (s *Stream) Perm(n int) []int {
	if n < 0 {
		panic("stream: Perm: n must be at least 0")
	}
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	s.Shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}

// Shuffle puts n elements into uniformly random order (Fisher and Yates).
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	if n < 0 {
		panic("stream: Shuffle: n must be at least 0")
	}
	for i := n - 1; i > 0; i-- {
		swap(i, s.Intn(i+1))
	}
}

// domain separates these seeds from every other use of SHA-256. Its version is that of the encoding
// below.
const domain = "dpscope/stream/v1"

// Key names a stream. Keys that differ in any field name streams that are independent for every
// practical purpose.
type Key struct {
	Seed    uint64
	Purpose string // a short word: what the numbers are for, such as "explore" or "certify"
	Trial   int
	Side    int
	Shard   int // part of the budget, numbered without regard to workers
}

// Sum returns the stream's 32-byte seed: SHA-256 over
//
//	"dpscope/stream/v1"   17 bytes
//	0x00                   1 byte
//	Seed                   8 bytes
//	len(Purpose)           8 bytes
//	Purpose                len(Purpose) bytes
//	Trial, Side, Shard     8 bytes each, two's complement
//
// with integers big-endian: the length of Purpose before it makes different keys differ.
func (k Key) Sum() [32]byte {
	b := make([]byte, 0, len(domain)+1+5*8+len(k.Purpose))
	b = append(b, domain...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, k.Seed)
	b = binary.BigEndian.AppendUint64(b, uint64(len(k.Purpose)))
	b = append(b, k.Purpose...)
	for _, v := range [...]int{k.Trial, k.Side, k.Shard} {
		b = binary.BigEndian.AppendUint64(b, uint64(int64(v)))
	}
	return sha256.Sum256(b)
}

// New returns the stream that k names, at its beginning.
func New(k Key) *Stream { return FromSeed(k.Sum()) }

// Uniform fills dst with lo + (hi-lo) u, rounded, where u is uniform on the multiples of 2^-53 in
// [0, 1), of one word a sample.
//
// Samples lie in [lo, hi): what would round up to hi becomes the double below it. They are never -0
// but where the only double in the range is.
func (s *Stream) Uniform(dst []float64, lo, hi float64) {
	width := hi - lo
	if !(width >= 0 && width <= math.MaxFloat64) {
		panic("stream: Uniform: lo <= hi must be finite, and so must hi-lo")
	}
	last := math.Nextafter(hi, math.Inf(-1))
	if lo == hi {
		last = lo
	}
	s.fill(dst, func(dst []float64, raw []uint64) { uniformBlock(dst, raw, lo, width, last) })
}

func uniformBlock(dst []float64, raw []uint64, lo, width, last float64) {
	dst = dst[:len(raw)]
	for i, r := range raw {
		u := float64(float64(int64(r>>11)) * 0x1p-53)
		x := lo + float64(width*u)
		if x > last {
			x = last
		}
		dst[i] = x
	}
}
