package stream

import "math"

// The logarithms follow FreeBSD's lib/msun/src/e_log.c and s_log1p.c, which
// came with this notice:
//
// ====================================================
// Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//
// Developed at SunPro, a Sun Microsystems, Inc. business.
// Permission to use, copy, modify, and distribute this
// software is freely granted, provided that this notice
// is preserved.
// ====================================================
//
// log(2^k (1+f)) = k ln 2 + log(1+f) with sqrt(1/2) < 1+f < sqrt(2), and, with
// s = f/(2+f), log(1+f) = f - f^2/2 + s (f^2/2 + R(s^2)), where R is a minimax
// polynomial with error below 2^-58.45.
const (
	ln2Hi = 6.93147180369123816490e-01 // 21 trailing zeros, so k*ln2Hi is exact
	ln2Lo = 1.90821492927058770002e-10

	lg1 = 6.666666666666735130e-01
	lg2 = 3.999999999940941908e-01
	lg3 = 2.857142874366239149e-01
	lg4 = 2.222219843214978396e-01
	lg5 = 1.818357216161805012e-01
	lg6 = 1.531383769920937332e-01
	lg7 = 1.479819860511658591e-01

	mantissa = 1<<52 - 1
	oneBits  = 0x3ff0000000000000 // bits of 1
	sqrtHalf = 0x3fe6a09e00000000 // bits of sqrt(1/2), cut short
	normal   = 0x1p-1022          // smallest normal number
	toNormal = 54                 // subnormals are scaled by 2^54
)

// The next three are one logarithm, so that each can be inlined: a call costs as much as the
// arithmetic.

// logSplit writes a normal positive number, given by its bits, as 2^k (1+f).
func logSplit(b uint64) (k int64, f float64) {
	b += oneBits - sqrtHalf
	k = int64(b>>52) - 1023
	return k, math.Float64frombits(b&mantissa+sqrtHalf) - 1
}

// logRatio returns R(s^2).
func logRatio(s float64) float64 {
	z := s * s
	w := z * z
	return float64(z*(lg1+float64(w*(lg3+float64(w*(lg5+float64(w*lg7))))))) +
		float64(w*(lg2+float64(w*(lg4+float64(w*lg6)))))
}

func logSum(k, f, s, r, lo float64) float64 {
	h := float64(0.5 * f * f)
	return float64(s*(h+r)) + lo - h + f + float64(k*ln2Hi)
}

// Log returns the natural logarithm of x, to within 1 ulp, with the same bits on every platform:
// NaN for x < 0.
func Log(x float64) float64 {
	var k int64
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	case x < normal:
		x *= 1 << toNormal
		k = -toNormal
	}
	e, f := logSplit(math.Float64bits(x))
	s := f / (2 + f)
	n := float64(k + e)
	return logSum(n, f, s, logRatio(s), float64(n*ln2Lo))
}

// Log1p returns log(1+x), to within 1 ulp, also for x near 0, with the same bits everywhere: NaN
// for x < -1. ±0 stays.
func Log1p(x float64) float64 {
	switch {
	case x != x || x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	case math.Abs(x) < 0x1p-53:
		return x
	}
	if -0.2928 < x && x < 0.4142 { // no reduction needed: f = x is exact
		s := x / (2 + x)
		return logSum(0, x, s, logRatio(s), 0)
	}
	u := 1 + x
	k, f := logSplit(math.Float64bits(u))
	// What rounding u lost, relative to u. Past 2^53 it is nothing.
	n := float64(k)
	var lost float64
	if u < 0x1p53 {
		if k >= 2 {
			lost = 1 - (u - x)
		} else {
			lost = x - (u - 1)
		}
		lost /= u
	}
	s := f / (2 + f)
	return logSum(n, f, s, logRatio(s), float64(n*ln2Lo)+lost)
}
