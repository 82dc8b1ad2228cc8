package stream

// faint is a scale below which samples may underflow to -0.
const faint = 0x1p-900

// Laplace fills dst with Laplace samples of mean 0 and the given scale, density
// exp(-|x|/scale) / (2 scale). It takes one word a sample, so that cutting dst
// into pieces changes nothing.
//
// A sample is ±scale * E, with E in [2^-53, 44.4] as for Exponential. It is never
// infinite nor NaN, never -0, and 0 only where scale is subnormal or 0; a scale
// of 0 gives zeros and takes the same words. These are plain doubles, made for
// simulating, not for releasing: their low bits carry what Mironov (2012) found.
//
// Laplace panics unless 0 <= scale <= 2^1000.
func (s *Stream) Laplace(dst []float64, scale float64) {
	if !(scale >= 0 && scale <= largest) {
		panic("stream: Laplace: scale must be between 0 and 2^1000")
	}
	for rest := dst; len(rest) > 0; {
		raw := s.take(len(rest))
		logBlock(rest, raw, scale, 1)
		rest = rest[len(raw):]
	}
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
