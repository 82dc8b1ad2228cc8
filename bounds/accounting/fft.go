package accounting

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// fourier is the discrete Fourier transform of n real numbers, n a power of two, at least 2. They
// go as n/2 complex ones through radix 2 with decimation in time, and one more level takes even and
// odd places apart (Sorensen, Jones, Heideman and Burrus 1987). gonum's is several times as large
// in the browser.
//
// With t = log2 n and u = 2^-53 the relative error of a transform in the Euclidean norm is at most
// t fourierError u to first order: each level multiplies by twiddles whose error is below 6u and
// adds, an error of 6u + (sqrt 2 + 6u) 4u/(1-4u) (Higham 2002, Accuracy and Stability of Numerical
// Algorithms, theorem 24.2); the last also adds what comes in, u more.
type fourier struct{ twiddles []complex128 }

const (
	unit         = 0x1p-53
	fourierError = 16
)

// newFourier makes the twiddles e^(-2 pi i j/n), j < n/2, each from an angle of at most pi/4:
// rounding below 3u.
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

// forward is the transform's first n/2+1 numbers. The others are their conjugates; the first and
// the last are real.
func (f fourier) forward(x []float64) []complex128 {
	half := len(x) / 2
	z := make([]complex128, half+1)
	for i := range half {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	f.transform(z[:half])
	first := z[0]
	z[0], z[half] = complex(real(first)+imag(first), 0), complex(real(first)-imag(first), 0)
	for i, j := 1, half-1; i <= j; i, j = i+1, j-1 {
		a, b := z[i], cmplx.Conj(z[j])
		even, odd := (a+b)*0.5, f.twiddles[i]*complex(imag(a-b)/2, -real(a-b)/2)
		z[i], z[j] = even+odd, cmplx.Conj(even-odd)
	}
	return z
}

// inverse undoes forward, and takes its argument for room.
func (f fourier) inverse(z []complex128) []float64 {
	half := len(z) - 1
	z[0] = complex(real(z[0]+z[half])/2, real(z[0]-z[half])/2)
	for i, j := 1, half-1; i <= j; i, j = i+1, j-1 {
		a, b := z[i], cmplx.Conj(z[j])
		even, odd := (a+b)*0.5, cmplx.Conj(f.twiddles[i])*complex(real(a-b)/2, imag(a-b)/2)
		z[i], z[j] = even+complex(-imag(odd), real(odd)), cmplx.Conj(even-complex(-imag(odd), real(odd)))
	}
	f.transform(z[:half])
	x := make([]float64, 2*half)
	for i := range half { // backwards: that is the inverse
		v := z[(half-i)%half]
		x[2*i], x[2*i+1] = real(v)/float64(half), imag(v)/float64(half)
	}
	return x
}

// transform is the transform of complex numbers in place, half as many as f is for.
func (f fourier) transform(x []complex128) {
	n := len(x)
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> (64 - bits.Len(uint(n-1)))); i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		stride := n / half
		for start := 0; start < n; start += 2 * half {
			low, high := x[start:start+half], x[start+half:start+2*half]
			for j := range low {
				v := high[j] * f.twiddles[j*stride]
				low[j], high[j] = low[j]+v, low[j]-v
			}
		}
	}
}

// raise takes the k-th power of each number by squaring: relative error at most k sqrt(5) u (Brent,
// Percival and Zimmermann 2007), for |z| near 1 or below. What would be below e^-100 is 0.
func raise(all []complex128, k int) {
	least := math.Exp(-200 / float64(k))
	for i, z := range all {
		if real(z)*real(z)+imag(z)*imag(z) < least {
			all[i] = 0
			continue
		}
		result := complex(1, 0)
		for k := k; k > 0; k >>= 1 {
			if k&1 == 1 {
				result *= z
			}
			z *= z
		}
		all[i] = result
	}
}
