package stream

import "math"

// The exponentials follow FreeBSD's lib/msun/src/e_exp.c and s_expm1.c, which
// came with this notice:
//
// ====================================================
// Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All rights reserved.
//
// Permission to use, copy, modify, and distribute this
// software is freely granted, provided that this notice
// is preserved.
// ====================================================
//
// exp(k ln 2 + r) = 2^k exp(r) with |r| <= ln(2)/2; exp(r) by a rational
// approximation in r^2 with error below 2^-59, expm1(r) by another below 2^-61.
const (
	log2e = 1.44269504088896338700e+00

	expMax = 7.09782712893383973096e+02  // past it Exp overflows
	expMin = -7.45133219101941108420e+02 // below it Exp is 0

	p1 = 1.66666666666666657415e-01
	p2 = -2.77777777770155933842e-03
	p3 = 6.61375632143793436117e-05
	p4 = -1.65339022054652515390e-06
	p5 = 4.13813679705723846039e-08

	q1 = -3.33333333333331316428e-02
	q2 = 1.58730158725481460165e-03
	q3 = -7.93650757867487942473e-05
	q4 = 4.00821782732936239552e-06
	q5 = -2.01099218183624371326e-07

	expm1Minus1 = 38.816242111135692 // 56 ln 2: for x below minus this, exp(x) - 1 rounds to -1
)

// Exp returns e^x, to within 1 ulp, with the same bits on every platform: 0 below expMin. Results
// below 2^-1022 are rounded twice, so to within 1 unit of 2^-1074.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	case math.Abs(x) < 0x1p-28:
		return 1 + x
	}
	k, hi, lo := reduceLn2(x)
	r := hi - lo
	t := r * r
	c := r - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return timesPow2(y, k)
}

// Expm1 returns e^x - 1, to within 1 ulp, also for x near 0, with the same bits everywhere. ±0
// stays.
func Expm1(x float64) float64 {
	switch {
	case x != x:
		return math.NaN()
	case x > expMax:
		return math.Inf(1)
	case x < -expm1Minus1:
		return -1
	case math.Abs(x) < 0x1p-54:
		return x
	}
	var k int
	var c float64 // what rounding the reduced x lost
	if math.Abs(x) > 0.5*math.Ln2 {
		var hi, lo float64
		k, hi, lo = reduceLn2(x)
		x = hi - lo
		c = (hi - x) - lo
	}
	half := float64(0.5 * x)
	h := float64(x * half)
	r := 1 + float64(h*(q1+float64(h*(q2+float64(h*(q3+float64(h*(q4+float64(h*q5)))))))))
	t := 3 - float64(r*half)
	e := float64(h * ((r - t) / (6 - float64(x*t))))
	if k == 0 {
		return x - (float64(x*e) - h)
	}
	e = (float64(x*(e-c)) - c) - h
	switch {
	case k == -1:
		return float64(0.5*(x-e)) - 0.5
	case k == 1:
		if x < -0.25 {
			return -2 * (e - (x + 0.5))
		}
		return 1 + float64(2*(x-e))
	case k <= -2 || k > 56:
		return timesPow2(1-(e-x), k) - 1
	case k < 20:
		return timesPow2((1-pow2(-k))-(e-x), k)
	default:
		return timesPow2((x-(e+pow2(-k)))+1, k)
	}
}

// Logistic returns 1/(1+e^-x), to within 2 ulp in either tail, with the same bits everywhere.
func Logistic(x float64) float64 {
	if x < 0 {
		e := Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + Exp(-x))
}

// reduceLn2 writes x, |x| < 2^20, as k ln 2 + hi - lo with |hi - lo| at most about ln(2)/2.
func reduceLn2(x float64) (k int, hi, lo float64) {
	n := math.Floor(float64(log2e*x) + 0.5)
	return int(n), x - float64(n*ln2Hi), float64(n * ln2Lo)
}

func pow2(k int) float64 { return math.Float64frombits(uint64(1023+k) << 52) }

// timesPow2 returns y * 2^k for |y| in [1/2, 4] and |k| < 1100, rounded once if subnormal.
func timesPow2(y float64, k int) float64 {
	half := k / 2
	return float64(float64(y*pow2(half)) * pow2(k-half))
}
