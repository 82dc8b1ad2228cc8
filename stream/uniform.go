package stream

import "math"

// Uniform fills dst with lo + (hi-lo) u, rounded, where u is uniform on the
// multiples of 2^-53 in [0, 1). It takes one word a sample, so that cutting dst
// into pieces changes nothing; Uniform(dst, 0, 1) gives what Float64 gives.
//
// Samples lie in [lo, hi): what would round up to hi becomes the double below it.
// They are never -0 unless lo is below 0 and the only double in the range is -0.
// If lo = hi they are all lo.
//
// Uniform panics unless lo <= hi, both finite, and hi-lo does not overflow.
func (s *Stream) Uniform(dst []float64, lo, hi float64) {
	width := hi - lo
	if !(width >= 0 && width <= math.MaxFloat64) {
		panic("stream: Uniform: lo <= hi must be finite, and so must hi-lo")
	}
	last := math.Nextafter(hi, math.Inf(-1))
	if lo == hi {
		last = lo
	}
	for rest := dst; len(rest) > 0; {
		raw := s.take(len(rest))
		uniformBlock(rest, raw, lo, width, last)
		rest = rest[len(raw):]
	}
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
