package stream

import "math"

// Gaussian fills dst with normal samples of mean 0 and standard deviation sigma in [0, 2^1000], by
// the method of Box and Muller (1958): two words give a pair. When dst ends within a pair the
// stream keeps the second half for the next call of Gaussian, with whatever sigma. So cutting dst
// into pieces changes nothing as long as nothing else is drawn between them.
//
// With E as for Exponential, the radius sqrt(2E) reaches 9.42, where P(|Z| > 9.42) = 4.5e-21.
// Samples are never -0, and 0 only where sigma is subnormal or 0.
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
		if words-s.next == 1 { // the pair straddles two buffers
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

// gaussianBlock makes dst[0:len(raw)] of raw, whose length is even. Of each pair of words the first
// gives the radius; the second the angle, as a point of the quarter circle about 0 (lower 62 bits),
// mirrored at the diagonal (highest bit) and the origin (next bit).
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

// The kernels follow FreeBSD's lib/msun/src/k_sin.c and k_cos.c, which came with
// this notice:
//
// ====================================================
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//
// Developed at SunSoft, a Sun Microsystems, Inc. business.
// Permission to use, copy, modify, and distribute this
// software is freely granted, provided that this notice
// is preserved.
// ====================================================
//
// Minimax polynomials on [-pi/4, pi/4] with errors below 2^-58.
const (
	s1 = -1.66666666666666324348e-01
	s2 = 8.33333333332248946124e-03
	s3 = -1.98412698298579493134e-04
	s4 = 2.75573137070700676789e-06
	s5 = -2.50507602534068634195e-08
	s6 = 1.58969099521155010221e-10

	c1 = 4.16666666666666019037e-02
	c2 = -1.38888888888741095749e-03
	c3 = 2.48015872894767294178e-05
	c4 = -2.75573143513906633035e-07
	c5 = 2.08757232129817482790e-09
	c6 = -1.13596475577881948265e-11
)

func sinKernel(y, z float64) float64 {
	return y + float64(float64(y*z)*(s1+float64(z*(s2+float64(z*(s3+float64(z*(s4+float64(z*(s5+float64(z*s6)))))))))))
}

func cosKernel(z float64) float64 {
	r := float64(z * (c1 + float64(z*(c2+float64(z*(c3+float64(z*(c4+float64(z*(c5+float64(z*c6)))))))))))
	h := float64(0.5 * z)
	w := 1 - h
	return w + (((1 - w) - h) + float64(z*r))
}
