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
		x, want := make([]float64, n), make([]complex128, n/2+1)
		norm := 0.0
		for i := range x {
			x[i] = r.Float64() - 0.3
			norm += x[i] * x[i]
		}
		for k := range want {
			for i, v := range x {
				want[k] += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(k*i%n)/float64(n))
			}
		}
		f := newFourier(n)
		got := f.forward(x)
		gap := 0.0
		for k := range got {
			d := cmplx.Abs(got[k] - want[k])
			gap += 2 * d * d // the conjugate too
		}
		// The slow one errs by some n u of each term.
		if limit := (math.Log2(float64(n))*fourierError + float64(n)) * unit * math.Sqrt(float64(n)*norm); math.Sqrt(gap) > limit {
			t.Errorf("length %d: off by %v, at most %v", n, math.Sqrt(gap), limit)
		}
		for i, back := range f.inverse(got) {
			if math.Abs(back-x[i]) > 1e-14 {
				t.Errorf("length %d: %v came back as %v", n, x[i], back)
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
	power := func(z complex128, k int) complex128 {
		all := []complex128{z}
		raise(all, k)
		return all[0]
	}
	for k := 1; k < 50; k++ {
		if z, want := power(cmplx.Rect(0.99, 0.7), k), cmplx.Rect(math.Pow(0.99, float64(k)), 0.7*float64(k)); cmplx.Abs(z-want) > float64(k+1)*1e-15 {
			t.Errorf("power %d: %v, want %v", k, z, want)
		}
	}
	if near, far := power(0.9, 900), power(0.9, 1000); near == 0 || far != 0 {
		t.Errorf("e^-95 is %v, e^-105 %v", near, far)
	}
}
