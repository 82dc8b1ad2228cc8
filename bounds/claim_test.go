package bounds

import (
	"math"
	"testing"
)

// A p-value is not held up by what the box of the nuisance parameters costs at beta.
func TestClaimPValueHasNoFloorAbove(t *testing.T) {
	for _, k := range []struct {
		c    Counts
		most float64
	}{{Counts{1649, 100_000, 31, 100_000}, 1e-59}, {Counts{60, 1000, 2, 1000}, 3e-5}, {Counts{90, 1000, 2, 1000}, 1e-7}} {
		// At least the chance that so much is seen at the edge, which is in the null set.
		least := 0.0
		n, m := k.c.N1, k.c.N0
		p0 := float64(k.c.X+k.c.Y) / float64(n+m) / (1 + math.E) * 2
		if n <= 1000 {
			wx, wy := pmf(n, math.E*p0), pmf(m, p0)
			least = wx[k.c.X] * wy[k.c.Y]
		}
		if p := ClaimPValue(k.c, 1, 0, 0.05); !(p <= k.most && p >= least) {
			t.Errorf("%+v: %v, not in [%v, %v]", k.c, p, least, k.most)
		}
	}
}
