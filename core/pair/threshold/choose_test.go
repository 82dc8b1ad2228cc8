package threshold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/bounds"
)

// slowCut tries every threshold between scores by counting, and returns the
// best ratio.
func slowCut(first, second []float64, delta float64) (best float64) {
	count := func(xs []float64, t float64) (n int) {
		for _, x := range xs {
			if x > t {
				n++
			}
		}
		return n
	}
	for _, t := range append(slices.Clone(first), second...) {
		a, b := count(first, t), count(second, t)
		n, m := len(first), len(second)
		for _, c := range []bounds.Counts{{X: a, N1: n, Y: b, N0: m}, {X: n - a, N1: n, Y: m - b, N0: m}, {X: b, N1: m, Y: a, N0: n}, {X: m - b, N1: m, Y: n - a, N0: n}} {
			if c.X == 0 || c.X == c.N1 && c.Y == c.N0 {
				continue
			}
			lo, _ := Wilson(c.X, c.N1)
			_, up := Wilson(c.Y, c.N0)
			best = max(best, (lo-delta)/up)
		}
	}
	return best
}

func TestBestCutAgainstAllCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, m := 20+rng.IntN(60), 20+rng.IntN(60)
		shift, discrete, delta := rng.NormFloat64(), rng.IntN(2) == 0, 0.05*float64(rng.IntN(2))
		draw := func(k int, mu float64) []float64 {
			xs := make([]float64, k)
			for i := range xs {
				if xs[i] = mu + rng.NormFloat64(); discrete {
					xs[i] = math.Round(xs[i])
				}
			}
			return xs
		}
		first, second := draw(n, shift), draw(m, 0)
		got := bestCut(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(second)), delta)
		want := slowCut(first, second, delta)
		if want <= 0 {
			continue
		}
		if math.Abs(got.Value-math.Log(want)) > 1e-9 {
			t.Fatalf("value %v, all cuts give %v (n=%d m=%d discrete=%v)", got.Value, math.Log(want), n, m, discrete)
		}
		// The counts are those of the event.
		in := func(xs []float64) (k int) {
			for _, x := range xs {
				if (x > got.Threshold) == got.above {
					k++
				}
			}
			return k
		}
		a, b := in(first), in(second)
		if got.reversed {
			a, b = b, a
		}
		if c := got.CountsOf(slices.Sorted(slices.Values(first)), slices.Sorted(slices.Values(second))); c.X != a || c.Y != b {
			t.Fatalf("counts %+v, the event holds %d and %d", c, a, b)
		}
	}
}

func TestBestCutOnConstantScores(t *testing.T) {
	got := bestCut([]float64{3, 3, 3}, []float64{3, 3}, 0)
	if c := got.CountsOf([]float64{3, 3, 3}, []float64{3, 3}); got.Value != Worthless || c.X != 0 || c.Y != 0 {
		t.Errorf("constant scores give %+v, want an empty event that is worth nothing", got)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, math.Nextafter(1, 2)}, {-1e308, 1e308}, {-2, -1}, {0, 5e-324}} {
		if m := between(c[0], c[1]); !(m >= c[0] && m < c[1]) {
			t.Errorf("between(%v, %v) = %v", c[0], c[1], m)
		}
	}
}
