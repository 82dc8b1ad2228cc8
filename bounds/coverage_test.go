package bounds

import (
	"math"
	"sort"
	"testing"

	"github.com/dpscope/dpscope/internal/testsize"
)

const nominal = 0.05

// straight is the edge of pure privacy with delta.
func straight(delta float64) func(eps, p0 float64) float64 {
	return func(eps, p0 float64) float64 { return math.Exp(eps)*p0 + delta }
}

func TestExactCoverage(t *testing.T) {
	testsize.Native(t)
	type size struct {
		n1, n0 int
		delta  float64
	}
	sizes := []size{{30, 30, 0}, {30, 30, 0.01}, {12, 120, 0}, {120, 12, 0.02}}
	if testsize.All() {
		sizes = append(sizes, size{30, 30, 0.2}, size{80, 80, 0.01}, size{90, 70, 1e-5})
	}
	for _, k := range sizes {
		worst, where := worstOf(k.n1, k.n0, 60, -2.5, func(c Counts) float64 { return Exact(c, k.delta, nominal) }, straight(k.delta))
		if worst > nominal {
			t.Errorf("n %d, %d delta %v: failure %v at %s", k.n1, k.n0, k.delta, worst, where)
		}
		if worst < 0.03 {
			t.Errorf("n %d, %d delta %v: failure at most %v, far from sharp", k.n1, k.n0, k.delta, worst)
		}
	}
}

func TestClopperPearsonCoverage(t *testing.T) {
	for _, split := range []float64{0.02, 0.5, 0.9} {
		for _, delta := range []float64{0, 0.05} {
			worst, where := worstOf(150, 40, 40, -2.5, func(c Counts) float64 { return ClopperPearson(c, delta, nominal, split) }, straight(delta))
			if worst > nominal {
				t.Errorf("split %v delta %v: failure %v at %s", split, delta, worst, where)
			}
		}
	}
}

// failureAt returns the probability that a bound that grows with x exceeds
// log((p1-delta)/p0), looking for the first such x of each likely y.
func failureAt(n int, p1, p0, delta float64, bound func(Counts) float64) float64 {
	truth := math.Log((p1 - delta) / p0)
	wx := pmf(n, p1)
	above := make([]float64, n+2)
	for x := n; x >= 0; x-- {
		above[x] = above[x+1] + wx[x]
	}
	failed := 0.0
	for y, w := range pmf(n, p0) {
		if w < 1e-9 {
			continue
		}
		first := sort.Search(n+1, func(x int) bool { return bound(Counts{x, n, y, n}) > truth })
		failed += w * above[first]
	}
	return failed
}

// Rare and common events at n = 10^4, where the windows no longer hold all
// counts.
func TestExactCoverageAtTenThousand(t *testing.T) {
	for _, k := range []struct{ p0, eps, delta float64 }{
		{0.0003, 3, 0}, {0.001, 0.1, 0.01}, {0.001, 5, 1e-5}, {0.0001, 9, 0},
	} {
		p1 := math.Exp(k.eps)*k.p0 + k.delta
		got := failureAt(10_000, p1, k.p0, k.delta, func(c Counts) float64 { return Exact(c, k.delta, nominal) })
		if got > nominal {
			t.Errorf("%+v: failure %v", k, got)
		}
	}
}
