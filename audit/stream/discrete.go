package stream

import (
	"math"
	"math/bits"
)

// leastGeometric is the smallest p of Geometric: samples reach 44.4/p.
const leastGeometric = 0x1p-1000

// Geometric fills dst with the numbers of failures before the first success in
// trials of probability p: P(k) = p (1-p)^k for k = 0, 1, .... It takes one word a
// sample, so that cutting dst into pieces changes nothing.
//
// A sample is floor(E / -log(1-p)) with E as for Exponential, at most
// 44.4 / -log(1-p). Rounding moves a share of about 2^-52 (k+1) of the probability
// of k to a neighbour. Below 2^53 all whole numbers occur; beyond, where p is
// below about 1e-14, samples are rounded to doubles. p = 1 gives zeros.
//
// Geometric panics unless 2^-1000 <= p <= 1.
func (s *Stream) Geometric(dst []float64, p float64) {
	if !(p >= leastGeometric && p <= 1) {
		panic("stream: Geometric: p must be between 2^-1000 and 1")
	}
	mean := -1 / Log1p(-p) // 0 for p = 1
	s.fill(dst, func(dst []float64, raw []uint64) {
		logBlock(dst, raw, mean, 0)
		floorBlock(dst[:len(raw)])
	})
}

func floorBlock(x []float64) {
	for i, v := range x {
		x[i] = math.Floor(v)
	}
}

// Bernoulli fills dst with 1 with probability p and else 0. It takes one word a
// sample, so that cutting dst into pieces changes nothing.
//
// The probability is p rounded to a multiple of 2^-64: exact for p = 0, p = 1 and
// p >= 2^-12, else within 2^-65, so that p <= 2^-65 gives zeros only.
//
// Bernoulli panics unless 0 <= p <= 1.
func (s *Stream) Bernoulli(dst []float64, p float64) {
	if !(p >= 0 && p <= 1) {
		panic("stream: Bernoulli: p must be between 0 and 1")
	}
	threshold := uint64(0)
	if p < 1 {
		threshold = uint64(math.RoundToEven(float64(p * 0x1p64)))
	}
	s.fill(dst, func(dst []float64, raw []uint64) { bernoulliBlock(dst, raw, threshold) })
	if p == 1 {
		for i := range dst {
			dst[i] = 1
		}
	}
}

func bernoulliBlock(dst []float64, raw []uint64, threshold uint64) {
	dst = dst[:len(raw)]
	for i, r := range raw {
		_, below := bits.Sub64(r, threshold, 0)
		dst[i] = float64(int64(below))
	}
}
