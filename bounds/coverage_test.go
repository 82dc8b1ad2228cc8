package bounds

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// Everything here is exact enumeration: no simulation, no false alarms.

// worstFailure computes the bound of every pair of counts, then the largest
// probability, over a grid of p0 and of true epsilons, that it exceeds the
// truth. The true epsilons lie a hair below attained bounds, where failures jump
// up.
func worstFailure(n1, n0 int, delta float64, truths int, bound func(Counts) float64) (worst float64, where string) {
	table := make([][]float64, n0+1)
	var values []float64
	for y := range table {
		table[y] = make([]float64, n1+1)
		for x := range table[y] {
			v := bound(Counts{x, n1, y, n0})
			table[y][x] = v
			if v > -2.5 {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	for i := range truths {
		truth := values[i*(len(values)-1)/(truths-1)] - 1e-9
		for p0 := 2e-4; p0 <= 1; p0 *= 1.25 {
			p1 := math.Exp(truth)*p0 + delta
			if p1 > 1 {
				// The corner p1 = 1 of this truth instead.
				if p0 = (1 - delta) / math.Exp(truth); p0 > 1 {
					break
				}
				p1 = 1
			}
			wx, wy := pmf(n1, p1), pmf(n0, p0)
			failed := 0.0
			for y, w := range wy {
				if w < 1e-12 {
					continue
				}
				for x, v := range table[y] {
					if v > truth {
						failed += w * wx[x]
					}
				}
			}
			if failed > worst {
				worst = failed
				where = fmt.Sprintf("p1 = %.5g, p0 = %.5g, epsilon = %.5g", p1, p0, truth)
			}
			if p1 == 1 {
				break
			}
		}
	}
	return worst, where
}

const nominal = 0.05

func TestExactCoverage(t *testing.T) {
	nativetest.Only(t)
	for _, k := range []struct {
		n1, n0 int
		delta  float64
	}{
		{30, 30, 0}, {30, 30, 0.01}, {30, 30, 0.2}, {12, 120, 0}, {120, 12, 0.02}, {80, 80, 0.01}, {90, 70, 1e-5},
	} {
		worst, where := worstFailure(k.n1, k.n0, k.delta, 60, func(c Counts) float64 {
			return Exact(c, k.delta, nominal)
		})
		t.Logf("n %d, %d delta %v: worst failure %.4f at %s", k.n1, k.n0, k.delta, worst, where)
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
			worst, where := worstFailure(150, 40, delta, 40, func(c Counts) float64 {
				return ClopperPearson(c, delta, nominal, split)
			})
			t.Logf("split %v delta %v: worst failure %.4f at %s", split, delta, worst, where)
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
		lo, hi := -1, n+1 // bound <= truth at lo, > truth at hi
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; bound(Counts{mid, n, y, n}) > truth {
				hi = mid
			} else {
				lo = mid
			}
		}
		failed += w * above[hi]
	}
	return failed
}

// Worst one-sided failures at nominal .05 over a grid of p0 and epsilon: what
// the comment of Score warns of, and that Exact does not share it.
func TestScoreFails(t *testing.T) {
	nativetest.Only(t)
	worst := func(n int, delta float64, bound func(c Counts, delta, beta float64) float64) float64 {
		worst := 0.0
		for _, p0 := range []float64{0.0003, 0.001, 0.002, 0.004, 0.01, 0.03, 0.1, 0.3} {
			for _, eps := range []float64{0.1, 0.7, 1.5, 2.5, 4} {
				if p1 := math.Exp(eps)*p0 + delta; p1 < 1 {
					worst = math.Max(worst, failureAt(n, p1, p0, delta, func(c Counts) float64 {
						return bound(c, delta, nominal)
					}))
				}
			}
		}
		return worst
	}
	for _, k := range []struct {
		name     string
		n        int
		delta    float64
		bound    func(Counts, float64, float64) float64
		low, top float64
	}{
		{"score", 500, 0, Score, 0.052, 0.075},
		{"score", 500, 0.01, Score, 0.055, 0.085},
		{"exact", 500, 0, Exact, 0.03, nominal},
		{"exact", 500, 0.01, Exact, 0.03, nominal},
	} {
		if !gear.All() && k.name == "exact" {
			continue // its coverage is other tests' too
		}
		got := worst(k.n, k.delta, k.bound)
		t.Logf("%s n %d delta %v: %.4f", k.name, k.n, k.delta, got)
		if got < k.low || got > k.top {
			t.Errorf("%s at n = %d, delta = %v fails with probability %v, want %v to %v", k.name, k.n, k.delta, got, k.low, k.top)
		}
	}
}

// Rare and common events at n = 10^4, where the windows no longer hold all
// counts.
func TestExactCoverageAtTenThousand(t *testing.T) {
	for _, k := range []struct{ p0, eps, delta float64 }{
		{0.0003, 3, 0}, {0.001, 0.1, 0.01}, {0.001, 5, 1e-5}, {0.0001, 9, 0},
	} {
		p1 := math.Exp(k.eps)*k.p0 + k.delta
		got := failureAt(10_000, p1, k.p0, k.delta, func(c Counts) float64 { return Exact(c, k.delta, nominal) })
		t.Logf("%+v: failure %.4f", k, got)
		if got > nominal {
			t.Errorf("%+v: failure %v", k, got)
		}
	}
}
