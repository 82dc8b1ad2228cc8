package stream

import (
	"math"
	"math/bits"
)

const (
	// largest is the largest scale: 45 of it are still finite.
	largest = 0x1p1000

	// unitBits is the binary exponent by which 2^63 u exceeds u.
	unitBits = 63
)

// Exponential fills dst with exponential samples of the given mean in [0, 2^1000]. It takes one
// word a sample: cutting dst into pieces changes nothing.
//
// A sample is mean * E with E = -log(u), u one of the 2^63 numbers of unitSplit, so that E lies in
// [2^-53, 44.4] and the tail is right to P(E > 43), beyond which steps of 2^-64 in probability
// show. A sample is 0 only where mean is subnormal or 0.
func (s *Stream) Exponential(dst []float64, mean float64) {
	if !(mean >= 0 && mean <= largest) {
		panic("stream: Exponential: mean must be between 0 and 2^1000")
	}
	s.fill(dst, func(dst []float64, raw []uint64) { logBlock(dst, raw, mean, 0) })
}

// logBlock makes dst[0:len(raw)] of raw: -scale log u, u by unitSplit, negative where the lowest
// bit of the word and signed, which is 0 or 1, are both set.
//
// Four at a time, through array pointers: in wasm a turn of the loop costs half as much as the
// logarithm. A turn calls nothing.
func logBlock(dst []float64, raw []uint64, scale float64, signed uint64) {
	dst = dst[:len(raw)]
	for len(raw) >= 4 && len(dst) >= 4 {
		d, w := (*[4]float64)(dst), (*[4]uint64)(raw)
		n0, f0 := unitSplit(w[0])
		q0 := f0 / (2 + f0)
		d[0] = withSign(float64(-scale*logSum(n0, f0, q0, logRatio(q0), float64(n0*ln2Lo))), w[0]&signed)

		n1, f1 := unitSplit(w[1])
		q1 := f1 / (2 + f1)
		d[1] = withSign(float64(-scale*logSum(n1, f1, q1, logRatio(q1), float64(n1*ln2Lo))), w[1]&signed)

		n2, f2 := unitSplit(w[2])
		q2 := f2 / (2 + f2)
		d[2] = withSign(float64(-scale*logSum(n2, f2, q2, logRatio(q2), float64(n2*ln2Lo))), w[2]&signed)

		n3, f3 := unitSplit(w[3])
		q3 := f3 / (2 + f3)
		d[3] = withSign(float64(-scale*logSum(n3, f3, q3, logRatio(q3), float64(n3*ln2Lo))), w[3]&signed)

		dst, raw = dst[4:], raw[4:]
	}
	for i, r := range raw {
		n, f := unitSplit(r)
		q := f / (2 + f)
		dst[i] = withSign(float64(-scale*logSum(n, f, q, logRatio(q), float64(n*ln2Lo))), r&signed)
	}
}

// unitSplit writes u = 2^n (1+f), where u in [2^-64, 1-2^-53] is uniform: 2^-63 times the upper 63
// bits of r plus a half. One part in 2^53 is taken off first, which keeps the largest from rounding
// up to 1.
func unitSplit(r uint64) (n, f float64) {
	k, f := logSplit(math.Float64bits(float64(int64(r>>1-r>>54)) + 0.5))
	return float64(k - unitBits), f
}

// withSign returns x, or -x if bit is 1 and not 0.
func withSign(x float64, bit uint64) float64 {
	return math.Float64frombits(math.Float64bits(x) ^ bit<<63)
}

// faint is a scale below which samples may underflow to -0.
const faint = 0x1p-900

// Laplace fills dst with Laplace samples of mean 0 and scale in [0, 2^1000], ±scale * E as for
// Exponential, never -0. It takes one word a sample. These are for simulating, not for releasing:
// their low bits carry what Mironov (2012) found.
func (s *Stream) Laplace(dst []float64, scale float64) {
	if !(scale >= 0 && scale <= largest) {
		panic("stream: Laplace: scale must be between 0 and 2^1000")
	}
	s.fill(dst, func(dst []float64, raw []uint64) { logBlock(dst, raw, scale, 1) })
	if scale < faint {
		clearNegativeZeros(dst)
	}
}

// clearNegativeZeros turns -0 into 0 and leaves all else.
func clearNegativeZeros(dst []float64) {
	for i, x := range dst {
		if x == 0 {
			dst[i] = 0
		}
	}
}

// leastGeometric is the smallest p of Geometric: samples reach 44.4/p.
const leastGeometric = 0x1p-1000

// Geometric fills dst with failures before the first success of probability p in [2^-1000, 1]: P(k)
// = p (1-p)^k for k = 0, 1, .... It takes one word a sample.
//
// A sample is floor(E / -log(1-p)) with E as for Exponential, at most 44.4 / -log(1-p). Rounding
// moves a share of about 2^-52 (k+1) of the probability of k to a neighbour.
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

// Bernoulli fills dst with 1 with probability p and else 0. It takes one word a sample. p is
// rounded to a multiple of 2^-64: exact for p = 0, p = 1 and p >= 2^-12, else within 2^-65.
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
