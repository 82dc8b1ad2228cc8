package stream

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// alarm is the false-alarm rate of each single check in this file; with some 100
// checks the file as a whole raises a false alarm with probability below 1e-4
// over the choice of the seeds, which are fixed.
const alarm = 1e-6

// samplesFor is the size of most samples.
const samplesFor = 200000

// requireKS fails if the empirical distribution of x is farther from cdf than
// chance allows: P(sup |F_n - F| > d) <= 2 exp(-2 n d^2) (Massart 1990).
func requireKS(t *testing.T, name string, x []float64, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(x)
	n := float64(len(x))
	var d float64
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	if limit := math.Sqrt(math.Log(2/alarm) / (2 * n)); d > limit {
		t.Errorf("%s: Kolmogorov-Smirnov distance %g, limit %g", name, d, limit)
	}
}

// requireChiSquare fails if the counts are farther from the probabilities than
// chance allows: P(X >= k + 2 sqrt(k u) + 2u) <= e^-u for a chi-square X with k
// degrees of freedom (Laurent and Massart 2000, lemma 1).
func requireChiSquare(t *testing.T, name string, counts []int, prob []float64) {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	var x, total float64
	for i, c := range counts {
		e := prob[i] * float64(n)
		if e < 20 {
			t.Fatalf("%s: cell %d expects %v", name, i, e)
		}
		x += (float64(c) - e) * (float64(c) - e) / e
		total += prob[i]
	}
	if math.Abs(total-1) > 1e-9 {
		t.Fatalf("%s: probabilities add up to %v", name, total)
	}
	k, u := float64(len(counts)-1), -math.Log(alarm)
	if limit := k + 2*math.Sqrt(k*u) + 2*u; x > limit {
		t.Errorf("%s: chi-square %v on %v degrees of freedom, limit %v", name, x, k, limit)
	}
}

// requireEven is for cells that are equally likely.
func requireEven(t *testing.T, name string, counts []int) {
	t.Helper()
	requireChiSquare(t, name, counts, slices.Repeat([]float64{1 / float64(len(counts))}, len(counts)))
}

// requireCount fails if a binomial (n, p) count is in a tail of probability below
// alarm/2.
func requireCount(t *testing.T, name string, count, n int, p float64) {
	t.Helper()
	law := distuv.Binomial{N: float64(n), P: p}
	if lower, upper := law.CDF(float64(count)), law.Survival(float64(count-1)); min(lower, upper) < alarm/2 {
		t.Errorf("%s: %d of %d, expected %v: tails %g, %g", name, count, n, p*float64(n), lower, upper)
	}
}

func TestContinuousDistributions(t *testing.T) {
	for i, c := range []struct {
		name string
		fill func(s *Stream, dst []float64)
		cdf  func(x float64) float64
	}{
		{"uniform(0,1)", func(s *Stream, dst []float64) { s.Uniform(dst, 0, 1) }, func(x float64) float64 { return x }},
		{"uniform(-3,10)", func(s *Stream, dst []float64) { s.Uniform(dst, -3, 10) }, func(x float64) float64 { return (x + 3) / 13 }},
		{"laplace(1)", func(s *Stream, dst []float64) { s.Laplace(dst, 1) }, distuv.Laplace{Scale: 1}.CDF},
		{"laplace(40)", func(s *Stream, dst []float64) { s.Laplace(dst, 40) }, distuv.Laplace{Scale: 40}.CDF},
		{"gaussian(1)", func(s *Stream, dst []float64) { s.Gaussian(dst, 1) }, distuv.UnitNormal.CDF},
		{"gaussian(0.1)", func(s *Stream, dst []float64) { s.Gaussian(dst, 0.1) }, distuv.Normal{Sigma: 0.1}.CDF},
		{"exponential(1)", func(s *Stream, dst []float64) { s.Exponential(dst, 1) }, func(x float64) float64 { return -math.Expm1(-x) }},
		{"exponential(7)", func(s *Stream, dst []float64) { s.Exponential(dst, 7) }, func(x float64) float64 { return -math.Expm1(-x / 7) }},
	} {
		dst := make([]float64, samplesFor)
		c.fill(New(Key{Purpose: "ks", Trial: i}), dst)
		requireKS(t, c.name, dst, c.cdf)
	}
}

// The two halves of a Gaussian pair are independent: the angle between them is
// uniform and so is exp(-r^2/2).
func TestGaussianPairs(t *testing.T) {
	z := make([]float64, 2*samplesFor)
	New(Key{Purpose: "pairs"}).Gaussian(z, 1)
	angle, radius := make([]float64, samplesFor), make([]float64, samplesFor)
	for i := range angle {
		x, y := z[2*i], z[2*i+1]
		angle[i] = math.Atan2(y, x)/(2*math.Pi) + 0.5
		radius[i] = math.Exp(-(x*x + y*y) / 2)
	}
	requireKS(t, "angle", angle, func(x float64) float64 { return x })
	requireKS(t, "radius", radius, func(x float64) float64 { return x })
}

func TestDiscreteDistributions(t *testing.T) {
	for _, p := range []float64{0.02, 0.3, 0.5, 0.9} {
		dst := make([]float64, samplesFor)
		New(Key{Purpose: "geometric"}).Geometric(dst, p)
		// Cells 0, 1, ... while the rest expects enough.
		var prob []float64
		rest := 1.0
		for min(rest*p, rest*(1-p))*samplesFor > 50 {
			prob = append(prob, rest*p)
			rest *= 1 - p
		}
		prob = append(prob, rest)
		counts := make([]int, len(prob))
		for _, x := range dst {
			if x != math.Floor(x) || x < 0 {
				t.Fatalf("geometric(%v) gave %v", p, x)
			}
			counts[min(int(x), len(counts)-1)]++
		}
		requireChiSquare(t, fmt.Sprintf("geometric(%v)", p), counts, prob)
	}
	for _, p := range []float64{0x1p-10, 0.1, 0.5, 0.75, 0.999} {
		dst := make([]float64, samplesFor)
		New(Key{Purpose: "bernoulli"}).Bernoulli(dst, p)
		var counts [2]int
		for _, x := range dst {
			counts[int(x)]++
		}
		requireChiSquare(t, fmt.Sprintf("bernoulli(%v)", p), counts[:], []float64{1 - p, p})
	}
	for _, n := range []int{2, 3, 6, 100} {
		s, counts := New(Key{Purpose: "intn"}), make([]int, n)
		for range samplesFor {
			counts[s.Intn(n)]++
		}
		requireEven(t, fmt.Sprintf("intn(%d)", n), counts)
	}
	// Every order of four.
	s, orders := New(Key{Purpose: "perm"}), make([]int, 256)
	for range samplesFor {
		p := s.Perm(4)
		orders[p[0]|p[1]<<2|p[2]<<4|p[3]<<6]++
	}
	orders = slices.DeleteFunc(orders, func(c int) bool { return c == 0 })
	if len(orders) != 24 {
		t.Fatalf("perm: %d orders of 4 occur, want 24", len(orders))
	}
	requireEven(t, "perm", orders)
}

// The tails: how many of 2e6 samples exceed t, on each side.
func TestTails(t *testing.T) {
	const n = 2_000_000
	tail := func(name string, x []float64, thresholds []float64, survival func(float64) float64) {
		for _, at := range thresholds {
			count := 0
			for _, v := range x {
				if v > at {
					count++
				}
			}
			requireCount(t, fmt.Sprintf("%s beyond %v", name, at), count, len(x), survival(at))
		}
	}
	both := func(name string, x []float64, thresholds []float64, survival func(float64) float64) {
		tail(name+" above", x, thresholds, survival)
		for i := range x {
			x[i] = -x[i]
		}
		tail(name+" below", x, thresholds, survival)
	}
	x := make([]float64, n)
	s := New(Key{Purpose: "tails"})
	s.Laplace(x, 1)
	both("laplace", x, []float64{5, 7.5, 10, 12, 14}, func(t float64) float64 { return math.Exp(-t) / 2 })
	s.Exponential(x, 1)
	tail("exponential", x, []float64{6, 8, 10, 12, 14}, func(t float64) float64 { return math.Exp(-t) })
	s.Gaussian(x, 1)
	both("gaussian", x, []float64{3, 4, 4.5, 5, 5.5}, func(t float64) float64 { return math.Erfc(t/math.Sqrt2) / 2 })
	s.Geometric(x, 0.01)
	tail("geometric", x, []float64{599, 999, 1399}, func(t float64) float64 { return math.Exp((t + 1) * math.Log1p(-0.01)) })
	// The near end of the exponential: P(E < 2^-k) = 1 - exp(-2^-k).
	s.Exponential(x, 1)
	for i := range x {
		x[i] = 1 / x[i]
	}
	tail("1/exponential", x, []float64{1 << 10, 1 << 14, 1 << 18, 1 << 21}, func(t float64) float64 { return -math.Expm1(-1 / t) })
}

// The lowest bits of samples are as even as their distribution lets them be.
func TestLowBits(t *testing.T) {
	even := func(name string, k int, bits func(i int) uint64) {
		counts := make([]int, 1<<k)
		for i := range samplesFor {
			counts[bits(i)&(1<<k-1)]++
		}
		requireEven(t, name, counts)
	}
	x := make([]float64, samplesFor)
	s := New(Key{Purpose: "bits"})
	even("words", 10, func(int) uint64 { return s.Uint64() })
	even("words, high", 10, func(int) uint64 { return s.Uint64() >> 54 })
	s.Uniform(x, 0, 1)
	even("uniform", 10, func(i int) uint64 { return uint64(x[i] * 0x1p53) })
	for _, c := range []struct {
		name string
		fill func([]float64)
	}{
		{"laplace", func(dst []float64) { s.Laplace(dst, 1) }},
		{"exponential", func(dst []float64) { s.Exponential(dst, 1) }},
		{"gaussian", func(dst []float64) { s.Gaussian(dst, 1) }},
	} {
		c.fill(x)
		// Bits worth 2^-25 to 2^-32 at |x| about 1: below any structure of the
		// density, above the steps of the support.
		even(c.name, 8, func(i int) uint64 { return uint64(int64(math.Floor(x[i] * 0x1p32))) })
		if c.name != "exponential" {
			even(c.name+" sign and size", 2, func(i int) uint64 {
				b := math.Float64bits(x[i])
				return b>>63 | b>>20&1<<1
			})
		}
		if c.name == "gaussian" {
			even("gaussian, successive signs", 2, func(i int) uint64 {
				return math.Float64bits(x[i])>>63 | math.Float64bits(x[i^1])>>63<<1
			})
		}
	}
}
