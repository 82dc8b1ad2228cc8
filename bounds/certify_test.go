package bounds

import (
	"math"
	"testing"
)

func TestBoundsAreRoundedDown(t *testing.T) {
	for _, c := range []Counts{{300, 1000, 30, 1000}, {7, 10, 1, 10}, {20, 1000, 900, 1000}} {
		v := Exact(c, 0, 0.05)
		if six := math.Round(v*1e6) / 1e6; math.Abs(six-v) > 1e-12 {
			t.Errorf("%+v: %v has more than six decimals", c, v)
		}
	}
	if got := RoundDown(-0.1234567); got != -0.123457 {
		t.Errorf("rounded to %v, want -0.123457", got)
	}
	if got := RoundDown(math.Inf(-1)); !math.IsInf(got, -1) {
		t.Errorf("rounded to %v, want -Inf", got)
	}
}

func TestMaxCertifiable(t *testing.T) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		limit := math.Log(float64(n)) - math.Log(math.Log(20))
		if got := MaxCertifiable(n, n, 0, 0.05); got > limit+0.02 || got < limit-0.02 {
			t.Errorf("MaxCertifiable(%d) = %v, want about %v", n, got, limit)
		}
	}
	if a, b := MaxCertifiable(1000, 1000, 0, 0.05), MaxCertifiable(1000, 1000, 0.5, 0.05); math.Abs(a-b-math.Ln2) > 0.01 {
		t.Errorf("delta = 1/2 lowers %v to %v, want by log 2", a, b)
	}
}

func TestSmallestDetectable(t *testing.T) {
	const claim, delta, beta, n, p0 = 1.0, 1e-5, 0.05, 10_000, 0.1
	got := SmallestDetectable(claim, delta, beta, n, n, p0)
	if got < claim || got > claim+0.2 {
		t.Fatalf("smallest epsilon %v, want a little above %v", got, claim)
	}
	// The counts it stands for show the violation, one fewer do not.
	x := int(math.Round((math.Exp(got)*p0 + delta) * n))
	if v := Exact(Counts{x, n, 1000, n}, delta, beta); v <= claim {
		t.Errorf("at %v the bound is %v", got, v)
	}
	if v := Exact(Counts{x - 1, n, 1000, n}, delta, beta); v > claim {
		t.Errorf("just below %v the bound is already %v", got, v)
	}
	if v := SmallestDetectable(claim, delta, beta, 100*n, 100*n, p0); v >= got {
		t.Errorf("with a hundred times the samples %v, before %v", v, got)
	}
	for _, p := range []float64{0, 0.4, 1} {
		if v := SmallestDetectable(claim, delta, beta, n, n, p); !math.IsInf(v, 1) {
			t.Errorf("p0 = %v: %v, want +Inf", p, v)
		}
	}
	if v := SmallestDetectable(9, 0, beta, n, n, 1e-5); !math.IsInf(v, 1) {
		t.Errorf("claim above MaxCertifiable: %v, want +Inf", v)
	}
}
