package stream

import "math/bits"

// Stream is a stream of random numbers. It is not safe for use from more than
// one goroutine. It is a math/rand/v2.Source.
type Stream struct {
	chacha8
	spare    float64 // second half of a Gaussian pair, unit variance
	hasSpare bool
}

// FromSeed returns the stream with the given 32-byte seed: its Uint64s are
// those of math/rand/v2.NewChaCha8(seed).
func FromSeed(seed [32]byte) *Stream {
	s := new(Stream)
	s.init(seed)
	return s
}

// Uint64 returns the next word of the stream.
func (s *Stream) Uint64() uint64 {
	if s.next >= usable {
		s.refill()
	}
	r := s.raw[s.next&(words-1)]
	s.next++
	return r
}

// Float64 returns one number uniform on the multiples of 2^-53 in [0, 1).
// It takes one word.
func (s *Stream) Float64() float64 {
	return float64(float64(int64(s.Uint64()>>11)) * 0x1p-53)
}

// Intn returns a number uniform on {0, ..., n-1}, without bias, the same on 32-
// and 64-bit platforms. It takes one word, and another with probability below
// n/2^64, again and again. It panics if n < 1.
//
// D. Lemire, Fast random integer generation in an interval, ACM TOMACS 29(1),
// 2019.
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

// Perm returns a uniformly random permutation of 0, ..., n-1, by Shuffle.
// It panics if n < 0.
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

// Shuffle puts n elements into uniformly random order, swapping i with
// Intn(i+1) for i = n-1, ..., 1 (Fisher and Yates). It panics if n < 0.
func (s *Stream) Shuffle(n int, swap func(i, j int)) {
	if n < 0 {
		panic("stream: Shuffle: n must be at least 0")
	}
	for i := n - 1; i > 0; i-- {
		swap(i, s.Intn(i+1))
	}
}
