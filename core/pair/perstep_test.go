package pair

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// TestPerStepCovers: the bound of a group exceeds the truth with no more than the allowed
// error, by enumerating all counts, at truths that use all of the group's claim.
func TestPerStepCovers(t *testing.T) {
	const n, beta = 12, 0.1
	const delta = 0.01
	choose := func(k int, p float64) float64 {
		a, _ := math.Lgamma(n + 1)
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return math.Exp(a-b-c) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
	}
	positive := 0
	for _, k := range []int{2, 4} {
		for _, claim := range []float64{0.3, 1} {
			var lower [n + 1][n + 1]float64
			known := map[[3]float64]float64{}
			for x := range n + 1 {
				for y := range n + 1 {
					lower[x][y], _ = perStep(audit.DPClaim(claim, delta), k, func(d float64) float64 {
						key := [3]float64{float64(x), float64(y), d}
						if _, ok := known[key]; !ok {
							known[key] = bounds.Exact(bounds.Counts{X: x, N1: n, Y: y, N0: n}, d, beta)
						}
						return known[key]
					})
					if lower[x][y] > 0 {
						positive++
					}
				}
			}
			for _, epsilon := range []float64{0.01, 0.1, 0.3, 0.5, 1, 1.5} {
				group := audit.DPClaim(epsilon, delta).Group(k)
				for _, p0 := range []float64{0, 0.001, 0.01, 0.05, 0.1, 0.2} {
					p1 := math.Exp(group.Epsilon)*p0 + group.Delta
					if p1 > 1 {
						continue
					}
					wrong := 0.0
					for x := range n + 1 {
						for y := range n + 1 {
							if lower[x][y] > epsilon {
								wrong += choose(x, p1) * choose(y, p0)
							}
						}
					}
					if wrong > beta {
						t.Errorf("k = %d, claim %g: at epsilon = %g, p0 = %g the bound is wrong with probability %g", k, claim, epsilon, p0, wrong)
					}
				}
			}
		}
	}
	if positive < 100 {
		t.Errorf("%d bounds above 0", positive)
	}
}

// TestPerStepDivides: at delta = 0 a group's bound is divided by its size, at delta > 0
// it lies just below where the group's inequality is met.
func TestPerStepDivides(t *testing.T) {
	if b, above := perStep(audit.DPClaim(1, 0), 4, func(float64) float64 { return 3 }); b != 0.75 || above {
		t.Errorf("3 by 4 rows is %v", b)
	}
	if b, above := perStep(audit.DPClaim(1, 0.005), 4, func(float64) float64 { return math.Inf(-1) }); b != 0 || above {
		t.Errorf("of nothing seen the bound is %v, above it: %v", b, above)
	}
	of := func(delta float64) float64 { return math.Log((0.6 - delta) / 0.05) }
	b, _ := perStep(audit.DPClaim(1, 0.005), 4, of)
	root := 0.0
	for e := 0.0; e < 2; e += 1e-4 {
		if of(audit.DPClaim(e, 0.005).Group(4).Delta) > 4*e {
			root = e
		}
	}
	if b > root+1e-4 || b < root-0.005 {
		t.Errorf("the bound is %v, the inequality is met at %v", b, root)
	}
}
