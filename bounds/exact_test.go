package bounds

import (
	"math"
	"testing"
)

func TestExactEdges(t *testing.T) {
	for _, k := range []struct {
		c     Counts
		delta float64
	}{{Counts{0, 50, 0, 50}, 0}, {Counts{5, 50, 0, 50}, 0.99}, {Counts{50, 50, 0, 50}, 0.99}} {
		if got := Exact(k.c, k.delta, 0.05); !math.IsInf(got, -1) {
			t.Errorf("%+v: %v, want -Inf", k, got)
		}
	}
	// At X = N1, Y = 0 the region is one point, of probability
	// (th p0)^n1 (1-p0)^n0, largest at p0 = n1/(n1+n0) or, if that is smaller, at
	// th p0 = 1: the bound is known in closed form.
	for _, size := range [][2]int{{1, 1}, {1, 100}, {100, 1}, {50, 50}, {200, 20}, {20, 200}, {10000, 10000}, {1000000, 1000000}} {
		c := Counts{size[0], size[0], 0, size[1]}
		const beta = 0.05
		got := Exact(c, 0, beta)
		n1, n0, goal := float64(c.N1), float64(c.N0), math.Log(beta-beta*nuisanceShare)
		p0 := -math.Expm1(goal / n0)
		want := -math.Log(p0)
		if inner := n1 / (n1 + n0); inner < p0 {
			want = (goal-n0*math.Log1p(-inner))/n1 - math.Log(inner)
		}
		if got > want || got < want-0.004 {
			t.Errorf("Exact(%+v) = %v, want %v", c, got, want)
		}
	}
	if got := Exact(Counts{40, 40, 40, 40}, 0, 0.05); !(got < 0 && got > -0.2) {
		t.Errorf("X = N1, Y = N0: %v, want a little below 0", got)
	}
	if got := Exact(Counts{30, 1000, 100, 100}, 0, 0.05); !(got < -3.5 && got > -4.2) {
		t.Errorf("an event rarer on the first side: %v, want somewhat below log .03 = -3.5", got)
	}
	// The bound tends to the estimate.
	if got := Exact(Counts{500_000, 1_000_000, 100_000, 1_000_000}, 0.1, 0.05); math.Abs(got-math.Log(4)) > 0.02 || got > math.Log(4) {
		t.Errorf("large n, delta .1: %v, want just below %v", got, math.Log(4))
	}
}

// More hits on the first side, or fewer on the second where the bound is
// positive, do not weaken it.
func TestExactIsMonotone(t *testing.T) {
	const slack = 0.02
	for x := 1; x <= 30; x++ {
		for y := 0; y <= 20; y += 2 {
			c := Counts{x, 30, y, 40}
			v := Exact(c, 0.01, 0.05)
			if math.IsInf(v, -1) {
				continue
			}
			if x < 30 {
				if w := Exact(Counts{x + 1, 30, y, 40}, 0.01, 0.05); w < v-slack {
					t.Errorf("%+v: %v, with one more hit %v", c, v, w)
				}
			}
			if y > 1 && v > 0 {
				if w := Exact(Counts{x, 30, y - 2, 40}, 0.01, 0.05); w < v-slack {
					t.Errorf("%+v: %v, with two fewer on the second side %v", c, v, w)
				}
			}
		}
	}
}

// The rounding makes the bound the same number wherever it is computed: these
// are compared without tolerance, on every platform that the tests run on.
func TestSameBitsOfExact(t *testing.T) {
	for _, k := range []struct {
		c           Counts
		delta, beta float64
		want        float64
	}{
		{Counts{36, 40, 16, 80}, 0, 0.05, 1.143238},
		{Counts{200, 500, 0, 500}, 0, 0.05, 4.302534},
		{Counts{94, 500, 10, 500}, 1e-5, 0.05, 1.722914},
		{Counts{400, 1000, 30, 1000}, 0.01, 0.05, 2.269954},
		{Counts{6224, 10000, 2291, 10000}, 0, 1.0 / 3, 0.990664},
		{Counts{9820, 10000, 180, 10000}, 0, 1e-6, 3.666782},
		{Counts{500_000, 1_000_000, 300_000, 1_000_000}, 1e-5, 0.05, 0.507797},
		{Counts{70, 1_000_000, 3, 100_000}, 1e-5, 0.05, -0.225427},
		{Counts{900, 1000, 1, 1000}, 0, 1e-100, 1.37616},
	} {
		if got := Exact(k.c, k.delta, k.beta); got != k.want {
			t.Errorf("Exact(%+v, %v, %v) = %v, want %v", k.c, k.delta, k.beta, got, k.want)
		}
		// A claim of the bound itself stands, one below it falls.
		if at, below := ClaimPValue(k.c, k.want, k.delta, k.beta), ClaimPValue(k.c, k.want-1e-6, k.delta, k.beta); at <= k.beta || below > k.beta {
			t.Errorf("%+v at delta %v: p-values %v at the bound and %v below it, beta is %v", k.c, k.delta, at, below, k.beta)
		}
	}
}
