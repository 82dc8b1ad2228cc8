package accounting

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// By definition, and within the error that convolve counts on.
func TestFourier(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 16))
	for n := 2; n <= 512; n *= 2 {
		x, want := make([]complex128, n), make([]complex128, n)
		norm := 0.0
		for i := range x {
			x[i] = complex(r.Float64(), 0)
			norm += real(x[i]) * real(x[i])
		}
		for k := range want {
			for i, v := range x {
				want[k] += v * cmplx.Rect(1, -2*math.Pi*float64(k*i%n)/float64(n))
			}
		}
		f, got := newFourier(n), append([]complex128(nil), x...)
		f.forward(got)
		gap := 0.0
		for k := range got {
			d := cmplx.Abs(got[k] - want[k])
			gap += d * d
		}
		// The slow one errs by some n u of each term.
		if limit := (math.Log2(float64(n))*fourierError + float64(n)) * unit * math.Sqrt(float64(n)*norm); math.Sqrt(gap) > limit {
			t.Errorf("length %d: off by %v, at most %v", n, math.Sqrt(gap), limit)
		}
		f.inverse(got)
		for i := range got {
			if cmplx.Abs(got[i]-x[i]) > 1e-14 {
				t.Errorf("length %d: %v came back as %v", n, x[i], got[i])
			}
		}
	}
}

// Twiddles and powers, on their own.
func TestFourierTwiddles(t *testing.T) {
	const n = 1 << 16
	f := newFourier(n)
	for j := 0; j < n/2; j += 37 {
		s, c := math.Sincos(2 * math.Pi * float64(j) / n)
		if cmplx.Abs(f.twiddles[j]-complex(c, -s)) > 1e-15 {
			t.Fatalf("twiddle %d is %v", j, f.twiddles[j])
		}
	}
	for k := range 50 {
		if z, want := power(cmplx.Rect(0.99, 0.7), k), cmplx.Rect(math.Pow(0.99, float64(k)), 0.7*float64(k)); cmplx.Abs(z-want) > float64(k+1)*1e-15 {
			t.Errorf("power %d: %v, want %v", k, z, want)
		}
	}
}
