package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestClaimPValueAgreesWithExact(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 60))
	rejected := 0
	for range 400 {
		n := 10 + r.IntN(400)
		c := Counts{r.IntN(n + 1), n, r.IntN(n/2 + 1), n}
		delta := []float64{0, 1e-5, 0.05}[r.IntN(3)]
		beta := []float64{0.05, 1.0 / 3, 1e-3}[r.IntN(3)]
		bound := Exact(c, delta, beta)
		for _, eps := range []float64{0, 0.3, 1, bound - 1e-5, bound, bound + 1e-5} {
			if math.IsInf(eps, -1) {
				continue
			}
			p := ClaimPValue(c, eps, delta, beta)
			if (p <= beta) != (bound > eps) {
				t.Errorf("%+v eps %v delta %v: p-value %v at beta %v, bound %v", c, eps, delta, p, beta, bound)
			}
			if p <= beta {
				rejected++
			}
			if !(p > 0 && p <= 1) {
				t.Errorf("%+v: p-value %v", c, p)
			}
			if p < 0.9 && math.Abs(eps-bound) > 1e-4 {
				// Near its definition, by the slow twin's for th.
				if n < 40 {
					want := math.Min(1, slowTail(c, delta, beta)(math.Exp(eps)))
					if deep := 2 * beta * nuisanceShare; want <= deep {
						if p > deep {
							t.Errorf("%+v eps %v delta %v beta %v: p-value %v, at most %v by definition", c, eps, delta, beta, p, want)
						}
					} else if p < want*(1-1e-6) || p > want*1.03+1e-5 {
						t.Errorf("%+v eps %v delta %v beta %v: p-value %v, by definition %v", c, eps, delta, beta, p, want)
					}
				}
			}
		}
	}
	if rejected < 100 {
		t.Errorf("only %d rejections compared", rejected)
	}
}

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

// P(p-value <= b) <= b under the claim for every b, by enumeration.
func TestClaimPValueIsValid(t *testing.T) {
	const n, eps, delta, beta = 25, 0.8, 0.02, 0.05
	var table [n + 1][n + 1]float64
	for y := range table {
		for x := range table[y] {
			table[y][x] = ClaimPValue(Counts{x, n, y, n}, eps, delta, beta)
		}
	}
	for _, b := range []float64{1e-12, 1e-9, 1e-7, 4e-6, 3e-5, 1e-4, 3e-4, 0.005, 0.02, 0.05, 0.2, 0.5} {
		worst := 0.0
		for p0 := 0.005; p0 < 0.44; p0 += 0.01 {
			wx, wy := pmf(n, math.Exp(eps)*p0+delta), pmf(n, p0)
			got := 0.0
			for y := range table {
				for x, p := range table[y] {
					if p <= b {
						got += wx[x] * wy[y]
					}
				}
			}
			worst = math.Max(worst, got)
		}
		if worst > b {
			t.Errorf("P(p-value <= %v) = %v", b, worst)
		}
	}
}
