package stream

import "math"

// Gaussian fills dst with normal samples of mean 0 and standard deviation
// sigma, by the method of Box and Muller (1958): two words give a pair. When dst
// ends within a pair the stream keeps the second half, and the next call of
// Gaussian, with whatever sigma, begins with it; other methods leave it alone.
// So cutting dst into pieces changes nothing as long as nothing else is drawn
// between them.
//
// With E and u as for Exponential, the radius sqrt(2E) reaches 9.42: samples lie
// within 9.42 sigma, where P(|Z| > 9.42) = 4.5e-21. They are never infinite nor
// NaN, never -0, and 0 only where sigma is subnormal or 0; a sigma of 0 gives
// zeros and takes the same words.
//
// Gaussian panics unless 0 <= sigma <= 2^1000.
func (s *Stream) Gaussian(dst []float64, sigma float64) {
	if !(sigma >= 0 && sigma <= largest) {
		panic("stream: Gaussian: sigma must be between 0 and 2^1000")
	}
	rest := dst
	if s.hasSpare && len(rest) > 0 {
		rest[0] = float64(s.spare * sigma)
		s.hasSpare = false
		rest = rest[1:]
	}
	for len(rest) >= 2 {
		if usable-s.next == 1 { // the pair straddles two buffers
			raw := [2]uint64{s.Uint64(), s.Uint64()}
			gaussianBlock(rest, raw[:], sigma)
			rest = rest[2:]
			continue
		}
		raw := s.take(len(rest) &^ 1)
		if len(raw)&1 != 0 { // leave the buffer's last word for such a pair
			raw = raw[:len(raw)-1]
			s.next--
		}
		gaussianBlock(rest, raw, sigma)
		rest = rest[len(raw):]
	}
	if len(rest) == 1 {
		raw := [2]uint64{s.Uint64(), s.Uint64()}
		var pair [2]float64
		gaussianBlock(pair[:], raw[:], 1)
		rest[0] = float64(pair[0] * sigma)
		s.spare, s.hasSpare = pair[1], true
	}
	if sigma < faint {
		clearNegativeZeros(dst)
	}
}

// gaussianBlock makes dst[0:len(raw)] of raw, whose length is even. Of each pair
// of words the first gives the radius; the second the angle, as a point of the
// quarter circle about 0 (lower 62 bits), mirrored at the diagonal (highest bit)
// and at the origin (next bit).
func gaussianBlock(dst []float64, raw []uint64, sigma float64) {
	for len(raw) >= 2 && len(dst) >= 2 {
		d, w := (*[2]float64)(dst), (*[2]uint64)(raw)

		n, f := unitSplit(w[0])
		q := f / (2 + f)
		radius := math.Sqrt(float64(-2 * logSum(n, f, q, logRatio(q), float64(n*ln2Lo))))

		r := w[1]
		// The 2 keeps the angle from 0, where the sample would be 0.
		y := float64(float64(int64(r<<2|2)) * (2 * math.Pi * 0x1p-66))
		z := float64(y * y)
		radius = withSign(radius, r>>62&1)
		a := math.Float64bits(float64(radius * cosKernel(z)))
		b := math.Float64bits(float64(radius * sinKernel(y, z)))
		swap := (a ^ b) & -(r >> 63)
		d[0] = float64(math.Float64frombits(a^swap) * sigma)
		d[1] = float64(math.Float64frombits(b^swap) * sigma)

		dst, raw = dst[2:], raw[2:]
	}
}
