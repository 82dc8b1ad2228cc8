package stream

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
	s1 = -1.66666666666666324348e-01 // bfc55555 55555549
	s2 = 8.33333333332248946124e-03  // 3f811111 1110f8a6
	s3 = -1.98412698298579493134e-04 // bf2a01a0 19c161d5
	s4 = 2.75573137070700676789e-06  // 3ec71de3 57b1fe7d
	s5 = -2.50507602534068634195e-08 // be5ae5e6 8a2b9ceb
	s6 = 1.58969099521155010221e-10  // 3de5d93a 5acfd57c

	c1 = 4.16666666666666019037e-02  // 3fa55555 5555554c
	c2 = -1.38888888888741095749e-03 // bf56c16c 16c15177
	c3 = 2.48015872894767294178e-05  // 3efa01a0 19cb1590
	c4 = -2.75573143513906633035e-07 // be927e4f 809c52ad
	c5 = 2.08757232129817482790e-09  // 3e21ee9e bdb4b1c4
	c6 = -1.13596475577881948265e-11 // bda8fae9 be8838d4
)

// sinKernel returns sin(y) for |y| <= pi/4, z = y*y.
func sinKernel(y, z float64) float64 {
	return y + float64(float64(y*z)*(s1+float64(z*(s2+float64(z*(s3+float64(z*(s4+float64(z*(s5+float64(z*s6)))))))))))
}

// cosKernel returns cos(y) for |y| <= pi/4, z = y*y.
func cosKernel(z float64) float64 {
	r := float64(z * (c1 + float64(z*(c2+float64(z*(c3+float64(z*(c4+float64(z*(c5+float64(z*c6)))))))))))
	h := float64(0.5 * z)
	w := 1 - h
	return w + (((1 - w) - h) + float64(z*r))
}
