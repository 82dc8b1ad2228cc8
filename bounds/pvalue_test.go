package bounds

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The p-value by definition, on a fine grid of p0.
func TestExactPValueAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const gamma = 1e-3
	compared := 0
	for range 150 {
		c := Counts{N1: 2 + r.IntN(20), N0: 2 + r.IntN(20)}
		c.X, c.Y = r.IntN(c.N1+1), r.IntN(c.N0+1)
		delta := []float64{0, 1e-3, 0.1}[r.IntN(3)]
		eps := 2*r.Float64() - 0.5
		th := math.Exp(eps)
		got := ExactPValue(c, eps, delta, gamma)
		z := newNullFit(c, delta).score(th)
		if z == 0 {
			if got != 1 {
				t.Errorf("%+v eps %v delta %v satisfies the claim, p-value %v, want 1", c, eps, delta, got)
			}
			continue
		}
		compared++
		in := inRegion(c, delta, th, z)
		b := nuisance(c, gamma)
		worst := 0.0
		for i := range 2001 {
			p0 := b.low0 + (b.high0-b.low0)*float64(i)/2000
			if p1 := math.Min(b.high1, th*p0+delta); p1 >= b.low1 {
				worst = math.Max(worst, slowProb(in, c.N1, c.N0, p1, p0))
			}
		}
		want := math.Min(1, worst+gamma)
		if got < want*(1-1e-9) || got > want*1.02+1e-5 {
			t.Errorf("ExactPValue(%+v, %v, %v) = %v, by definition %v", c, eps, delta, got, want)
		}
	}
	if compared < 25 {
		t.Errorf("only %d p-values compared", compared)
	}
}

// P(p-value <= b) <= b under H0, by enumeration.
func TestExactPValueIsValid(t *testing.T) {
	const n, eps, delta, gamma = 25, 0.8, 0.02, 1e-3
	var table [n + 1][n + 1]float64
	for y := range table {
		for x := range table[y] {
			table[y][x] = ExactPValue(Counts{x, n, y, n}, eps, delta, gamma)
		}
	}
	for _, b := range []float64{0.01, 0.05, 0.2, 0.5} {
		for p0 := 0.005; p0 < 0.44; p0 += 0.01 {
			for _, share := range []float64{0.9, 1} {
				wx, wy := pmf(n, share*(math.Exp(eps)*p0+delta)), pmf(n, p0)
				got := 0.0
				for y := range table {
					for x, p := range table[y] {
						if p <= b {
							got += wx[x] * wy[y]
						}
					}
				}
				if got > b {
					t.Errorf("p0 %v: P(p-value <= %v) = %v", p0, b, got)
				}
			}
		}
	}
}

func TestExactPValueFallsWithEvidence(t *testing.T) {
	last := 1.0
	for x := 100; x <= 500; x += 50 {
		p := ExactPValue(Counts{x, 1000, 100, 1000}, 0.5, 1e-5, 1e-4)
		if p > last {
			t.Errorf("x = %d: p-value %v, at %d it was %v", x, p, x-50, last)
		}
		last = p
	}
	if last > 1.1e-4 {
		t.Errorf("p-value at 500 against 100 of 1000 is %v, want gamma and next to nothing", last)
	}
}

// ExactPValue returns an upper bound of the exact p-value of
// H0: p1 <= e^eps p0 + delta for one eps that was fixed in advance, such as a
// claim: gamma plus the supremum, over the box of level gamma around the counts
// (see [Exact]), of the probability that the score statistic at eps is at least
// as large as observed. Under H0 it is at most b with probability at most b,
// for every b (Berger and Boos 1994). Above the supremum by at most one per
// cent; 1 if the estimate satisfies H0.
//
// It orders the counts by the score statistic at this eps, [Exact] by the score
// limit; so "p-value <= beta" and "Exact > eps" agree up to the granularity of
// the counts, not always. For a verdict use Exact.
//
// It panics on arguments out of range; gamma must lie in (0, 1).
func ExactPValue(c Counts, eps, delta, gamma float64) float64 {
	mustBeSound(c, delta, gamma)
	if CheckEpsilon(eps) != nil {
		panic("bounds: epsilon is not finite")
	}
	th := math.Exp(eps)
	z := newNullFit(c, delta).score(th)
	if z < 1e-6 {
		return 1
	}
	// Equal statistics are in, whatever the rounding.
	z *= 1 - 1e-9
	around := nuisance(c, gamma)
	r := newRegion(c, ratioFamily(delta).edge(c, th, z), around.low0, around.high0, 44)
	s := sweep{region: r, box: around, family: ratioFamily(delta), th: th}
	return math.Min(1, gamma+s.peak(gamma/100))
}
