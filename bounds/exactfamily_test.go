package bounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/internal/testsize"
)

// worstOf enumerates all counts: the largest probability, over a grid of p0 and of true
// values a hair below attained bounds above least, where failures jump up, that the bound
// exceeds the truth. edge is the p1 of a truth at p0.
func worstOf(n1, n0, truths int, least float64, bound func(Counts) float64, edge func(truth, p0 float64) float64) (worst float64, where string) {
	table := make([][]float64, n0+1)
	values := []float64{}
	for y := range table {
		table[y] = make([]float64, n1+1)
		for x := range table[y] {
			v := bound(Counts{x, n1, y, n0})
			table[y][x] = v
			if v > least {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	if values = slices.Compact(values); len(values) == 0 {
		return 0, "" // nothing can be said
	}
	for i := range truths {
		truth := values[i*(len(values)-1)/(truths-1)] - 1e-9
		for u := -4.0; u <= 3; u += 0.125 {
			p0 := normalCDF(u)
			p1 := min(1, edge(truth, p0))
			wx, wy := pmf(n1, p1), pmf(n0, p0)
			failed := 0.0
			for y, w := range wy {
				for x, v := range table[y] {
					if v > truth {
						failed += w * wx[x]
					}
				}
			}
			if failed > worst {
				worst, where = failed, fmt.Sprintf("p1 = %.5g, p0 = %.5g, truth %.5g", p1, p0, truth)
			}
		}
	}
	return worst, where
}

// Everything here is exact enumeration: no simulation, no false alarms.
func TestExactFamilyCoverage(t *testing.T) {
	testsize.Native(t)
	sizes := [][2]int{{20, 20}, {7, 20}, {20, 9}, {3, 5}}
	if testsize.All() {
		sizes = append(sizes, [][2]int{{1, 1}, {2, 19}, {13, 13}, {60, 20}, {45, 45}}...)
	}
	for _, n := range sizes {
		for _, beta := range testsize.Of([]float64{0.05}, []float64{0.05, 0.3, 0.005}) {
			check := func(what string, bound func(Counts) float64, edge func(truth, p0 float64) float64) {
				worst, where := worstOf(n[0], n[1], 25, 0, bound, edge)
				if worst > beta {
					t.Errorf("%s, n %v, beta %v: failure %v at %s", what, n, beta, worst, where)
				}
				if n[0] == 20 && n[1] == 20 && beta >= 0.05 && where != "" && worst < 0.6*beta {
					t.Errorf("%s, n %v, beta %v: failure at most %v, far from sharp", what, n, beta, worst)
				}
			}
			check("mu", func(c Counts) float64 { return ExactMu(c, beta) }, gaussian{}.rise)
			for _, eps := range []float64{-0.3, 0, 1, 4} {
				check(fmt.Sprintf("delta at %v", eps), func(c Counts) float64 { return ExactDelta(c, eps, beta) },
					func(truth, p0 float64) float64 { return math.Exp(eps)*p0 + truth })
			}
		}
	}
}

// slowGaussianRoot is T of the Gaussian family by searching the restricted likelihood.
func slowGaussianRoot(x, n1, y, n0, mu float64) float64 {
	l := func(k, n, p float64) float64 { return k*math.Log(p) + (n-k)*math.Log1p(-p) }
	x, y, n1, n0 = x+0.25, y+0.25, n1+0.5, n0+0.5
	if x/n1 <= normalCDF(mathext.NormalQuantile(y/n0)+mu) {
		return 0
	}
	at := func(u float64) float64 { return l(x, n1, normalCDF(u+mu)) + l(y, n0, normalCDF(u)) }
	return math.Sqrt(2 * max(0, l(x, n1, x/n1)+l(y, n0, y/n0)-at(summit(-8, 8, at))))
}

// slowBound is the bound by definition: for growing th the supremum over a grid of p0 in
// the box, of the region of all counts whose limit is not below the observed one.
func slowBound(c Counts, beta, top float64, root func(c Counts, th float64) float64, edge func(th, p0 float64) float64) float64 {
	z := scoreCut(beta)
	limit := func(c Counts) float64 {
		th, _ := Bisect(0, top, 1e-9, func(th float64) bool { return root(c, th) >= z })
		return th
	}
	observed := limit(c)
	if observed == 0 {
		return 0
	}
	in := make([][]bool, c.N0+1)
	for y := range in {
		in[y] = make([]bool, c.N1+1)
		for x := range in[y] {
			in[y][x] = limit(Counts{x, c.N1, y, c.N0}) >= observed-1e-7
		}
	}
	gamma := beta * nuisanceShare
	b := nuisance(c, gamma)
	th, _ := Bisect(0, top, 1e-5, func(th float64) bool {
		for i := range 401 {
			p0 := b.low0 + (b.high0-b.low0)*float64(i)/400
			if p1 := min(b.high1, edge(th, p0)); p1 >= b.low1 && gamma+slowProb(in, c.N1, c.N0, p1, p0) > beta {
				return false
			}
		}
		return true
	})
	return th
}

func TestExactFamilyAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	shown := 0
	for range testsize.Of(30, 400) {
		c := Counts{N1: 2 + r.IntN(16), N0: 2 + r.IntN(16)}
		c.X, c.Y = 1+r.IntN(c.N1), r.IntN(c.N0)
		beta := []float64{0.05, 0.3, 0.6, 1e-3}[r.IntN(4)]
		eps := []float64{-0.5, 0, 1, 3}[r.IntN(4)]
		// compare allows what one per cent of beta, or half of it, and the grid can make: p-values
		// are not monotone.
		compare := func(what string, got float64, definition func(beta float64) float64) {
			want := definition(beta)
			if want > 0 {
				shown++
			}
			if got > want+2e-4 || got < want-0.012 && got < min(definition(beta*0.995), definition(beta*0.99))-2e-4 {
				t.Errorf("%s of %+v at beta %v: %v, by definition %v", what, c, beta, got, want)
			}
		}
		compare("mu", ExactMu(c, beta), func(beta float64) float64 {
			return slowBound(c, beta, 12, func(c Counts, th float64) float64 {
				return slowGaussianRoot(float64(c.X), float64(c.N1), float64(c.Y), float64(c.N0), th)
			}, gaussian{}.rise)
		})
		// An epsilon below log .01 counts as that.
		delta := []float64{0, 1e-3, 0.1}[r.IntN(3)]
		compare(fmt.Sprintf("epsilon with %v", delta), max(Exact(c, delta, beta), math.Log(0.01)), func(beta float64) float64 {
			return math.Log(max(0.01, slowBound(c, beta, 1e4, func(c Counts, th float64) float64 {
				return newNullFit(c, delta).score(max(th, 1e-9))
			}, func(th, p0 float64) float64 { return th*p0 + delta })))
		})
		slope := math.Exp(eps)
		compare(fmt.Sprintf("delta at %v", eps), ExactDelta(c, eps, beta), func(beta float64) float64 {
			return slowBound(c, beta, 1, func(c Counts, th float64) float64 {
				return newNullFit(c, th).score(slope) // T of the lines
			}, func(th, p0 float64) float64 { return slope*p0 + th })
		})
	}
	if shown < 15 {
		t.Errorf("only %d bounds were above 0", shown)
	}
}

// The statistic by Newton's steps is the one by search, and the curve is where it is z.
func TestGaussianFit(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for range 300 {
		n1, n0 := 1+r.IntN(500), 1+r.IntN(500)
		x, y, mu := float64(r.IntN(n1+1)), float64(r.IntN(n0+1)), 3*r.Float64()
		got, want := fitted(x, n1, y, n0).root(mu), slowGaussianRoot(x, float64(n1), y, float64(n0), mu)
		if math.Abs(got-want) > 1e-6*(1+want) {
			t.Fatalf("T(%v of %d, %v of %d; %v) = %v, by search %v", x, n1, y, n0, mu, got, want)
		}
		z := 0.3 + 2*r.Float64()
		k := gaussianCurve{n1: n1, n0: n0, th: mu, z: z}
		if r.IntN(2) == 0 {
			k.last = 3 * r.Float64()
		}
		if at, ok := k.at(y); ok {
			if back := fitted(at, n1, y, n0).root(mu); math.Abs(back-z) > 1e-7 || at > float64(n1) {
				t.Fatalf("T(%v of %d, %v of %d; %v) = %v, want %v", at, n1, y, n0, mu, back, z)
			}
		} else if slowGaussianRoot(float64(n1), float64(n1), y, float64(n0), mu) > z+1e-6 {
			t.Fatalf("no x of %d for y = %v of %d, mu %v, z %v", n1, y, n0, mu, z)
		}
	}
	for u := -40.0; u < 12; u += 0.37 {
		if d := drag(u); !(d >= 0 && d <= 1) || u > -9 && drag(u+0.1) > d {
			t.Errorf("drag(%v) = %v, drag(%v) = %v", u, d, u+0.1, drag(u+0.1))
		}
	}
}

// Under the claim the p-values are at most b with probability at most b, and at beta
// they say what the bounds say.
func TestPValues(t *testing.T) {
	const n1, n0, beta = 14, 17, 0.05
	for _, k := range []struct {
		what   string
		pValue func(Counts) float64
		bound  func(Counts) float64
		claim  float64
		edge   func(p0 float64) float64
	}{
		{"epsilon", func(c Counts) float64 { return ClaimPValue(c, 0.8, 0.02, beta) }, func(c Counts) float64 { return Exact(c, 0.02, beta) }, 0.8,
			func(p0 float64) float64 { return math.Exp(0.8)*p0 + 0.02 }},
		{"mu", func(c Counts) float64 { return MuPValue(c, 0.8, beta) }, func(c Counts) float64 { return ExactMu(c, beta) }, 0.8,
			func(p0 float64) float64 { return gaussian{}.rise(0.8, p0) }},
	} {
		var values [n0 + 1][n1 + 1]float64
		for y := range values {
			for x := range values[y] {
				c := Counts{x, n1, y, n0}
				values[y][x] = k.pValue(c)
				if refuted := k.bound(c) > k.claim; refuted != (values[y][x] <= beta) {
					t.Errorf("%s, %+v: p-value %v, refuted %v", k.what, c, values[y][x], refuted)
				}
			}
		}
		for _, b := range []float64{0.001, 0.01, 0.05, 0.2, 0.5} {
			for p0 := 0.005; p0 < 1; p0 += 0.01 {
				wx, wy := pmf(n1, min(1, k.edge(p0))), pmf(n0, p0)
				got := 0.0
				for y := range values {
					for x, p := range values[y] {
						if p <= b {
							got += wx[x] * wy[y]
						}
					}
				}
				if got > b {
					t.Errorf("%s, p0 %v: P(p-value <= %v) = %v", k.what, p0, b, got)
				}
			}
		}
	}
}

// What exactness is for: the mean bound on mu at n = 40 is that of a bound without box and
// slack (.518 and 1.454), where Clopper-Pearson limits give .195 and 1.033.
func TestExactMuIsSharp(t *testing.T) {
	const n = 40
	for _, k := range []struct{ p, mu, least float64 }{{0.3, 1, 0.51}, {0.16, 2, 1.44}} {
		mean, wx := 0.0, pmf(n, gaussian{}.rise(k.mu, k.p))
		for y, w := range pmf(n, k.p) {
			for x, v := range wx {
				if w*v > 1e-6 {
					mean += w * v * ExactMu(Counts{x, n, y, n}, nominal)
				}
			}
		}
		if mean < k.least {
			t.Errorf("mu %v: mean bound %v, want %v", k.mu, mean, k.least)
		}
	}
}
