package accounting

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fourier is the discrete Fourier transform of a length that is a power of two, by
// radix 2 with decimation in time. The one of gonum takes any length and is several
// times as large in the browser.
//
// With t = log2 of the length and u = 2^-53 the relative error of a transform in the
// Euclidean norm is at most t fourierError u to first order: each level multiplies
// by twiddles whose error is below 6u and adds, an error of 6u + (sqrt 2 + 6u) 4u/(1-4u)
// (Higham 2002, Accuracy and Stability of Numerical Algorithms, theorem 24.2).
type fourier struct{ twiddles []complex128 }

const (
	unit         = 0x1p-53
	fourierError = 16
)

// newFourier makes the twiddles e^(-2 pi i j/n), j < n/2, each from an angle of
// at most pi/4, so that its rounding stays below 3u.
func newFourier(n int) fourier {
	w := make([]complex128, n/2)
	for j := range w {
		// The eighth of the circle, and how far into it.
		octant, rest := 8*j/n, 8*j%n
		angle := float64(rest) / float64(n) * (math.Pi / 4)
		if octant%2 == 1 {
			angle = float64(n-rest) / float64(n) * (math.Pi / 4)
		}
		s, c := math.Sincos(angle)
		switch octant {
		case 1:
			s, c = c, s
		case 2:
			s, c = c, -s
		case 3:
			c = -c
		}
		w[j] = complex(c, -s)
	}
	return fourier{w}
}

// forward transforms x in place; twice, with reverse between and divided by its
// length, it is the identity.
func (f fourier) forward(x []complex128) {
	n := len(x)
	shift := bits.UintSize - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse(uint(i)) >> shift); i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		stride := n / (2 * half)
		for start := 0; start < n; start += 2 * half {
			low, high := x[start:start+half], x[start+half:start+2*half]
			for j := range low {
				v := high[j] * f.twiddles[j*stride]
				low[j], high[j] = low[j]+v, low[j]-v
			}
		}
	}
}

// inverse undoes forward.
func (f fourier) inverse(x []complex128) {
	f.forward(x)
	n := len(x)
	for i, j := 1, n-1; i < j; i, j = i+1, j-1 {
		x[i], x[j] = x[j], x[i]
	}
	for i := range x {
		x[i] *= complex(1/float64(n), 0)
	}
}

// power is z^k by squaring: relative error at most k sqrt(5) u (Brent, Percival and
// Zimmermann 2007), for |z| near 1 or below.
func power(z complex128, k int) complex128 {
	result := complex(1, 0)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			result *= z
		}
		z *= z
	}
	if cmplx.IsNaN(result) {
		return 0 // of an underflow
	}
	return result
}
