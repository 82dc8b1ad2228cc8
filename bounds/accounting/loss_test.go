package accounting

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpscope/dpscope/internal/testsize"
)

// brackets checks that a bracket holds the truth and is no wider than it may be. The
// truth is known to 1e-9 relative.
func brackets(t *testing.T, what string, lower, upper, truth, width float64) {
	t.Helper()
	if slack := 1e-9 * math.Max(truth, 1e-300); lower > truth+slack || upper < truth-slack {
		t.Errorf("%s: [%v, %v] without %v", what, lower, upper, truth)
	}
	if upper-lower > width {
		t.Errorf("%s: [%v, %v] is wider than %v", what, lower, upper, width)
	}
}

// pairOf is an output's probability on either side.
type pairOf struct{ p, q float64 }

func enumerated(entries Composition, reverse bool) []pairOf {
	all := []pairOf{{1, 1}}
	for _, e := range entries {
		f := e.Mechanism.(Finite)
		for range e.Count {
			var next []pairOf
			for _, a := range all {
				for i := range f.P {
					next = append(next, pairOf{a.p * f.P[i], a.q * f.Q[i]})
				}
			}
			all = next
		}
	}
	for i := range all {
		if reverse {
			all[i].p, all[i].q = all[i].q, all[i].p
		}
	}
	return all
}

func deltaOf(all []pairOf, eps float64) float64 {
	sum := 0.0
	for _, a := range all {
		sum += math.Max(0, a.p-math.Exp(eps)*a.q)
	}
	return sum
}

func randomLaw(r *rand.Rand, n int, some bool) []float64 {
	law := make([]float64, n)
	for i := range law {
		law[i] = math.Exp(3 * r.NormFloat64())
		if some && r.IntN(6) == 0 {
			law[i] = 0
		}
	}
	sum := floats.Sum(law)
	if sum == 0 {
		return randomLaw(r, n, some)
	}
	floats.Scale(1/sum, law)
	return law
}

// By enumeration of all outputs, for finite laws of any kind: of several mechanisms,
// with outputs that only one dataset can give.
func TestCompositionAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 4))
	widest := 0.0
	for range testsize.Of(8, 1000) {
		var c Composition
		for range 1 + r.IntN(2) {
			n := 2 + r.IntN(3)
			c = append(c, Entry{Finite{randomLaw(r, n, true), randomLaw(r, n, true)}, 1 + r.IntN(4)})
		}
		all, back := enumerated(c, false), enumerated(c, true)
		for _, eps := range []float64{0, 0.1, 1, 3, 10, 40} {
			lower, upper := c.Delta(eps)
			truth := math.Max(deltaOf(all, eps), deltaOf(back, eps))
			brackets(t, "delta", lower, upper, truth, 0.05)
			widest = math.Max(widest, upper-lower)
		}
		for _, delta := range []float64{0.3, 1e-2, 1e-5, 1e-11} {
			lower, upper := c.Epsilon(delta)
			truth := func(eps float64) float64 { return math.Max(deltaOf(all, eps), deltaOf(back, eps)) }
			if v := truth(upper); upper < 1e6 && v > delta*(1+1e-9) {
				t.Errorf("%v: epsilon %v at delta %v, where delta is %v", c, upper, delta, v)
			}
			if v := truth(lower * (1 - 1e-9)); lower > 0 && v < delta*(1-1e-9) {
				t.Errorf("%v: epsilon at least %v at delta %v, where delta is %v", c, lower, delta, v)
			}
		}
	}
}

// Composed Gaussian noise is one Gaussian mechanism.
func TestCompositionAgainstGaussian(t *testing.T) {
	for _, k := range []struct {
		c     Composition
		sigma float64 // of the whole
	}{
		{Composition{{Gaussian{1, 1}, 1}}, 1},
		{Composition{{Gaussian{50, 1}, 1}}, 50},
		{Composition{{Gaussian{0.2, 1}, 1}}, 0.2},
		{Composition{{Gaussian{30, 3}, 100}}, 1},
		{Composition{{Gaussian{100, 1}, 10_000}}, 1},
		{Composition{{Gaussian{math.Sqrt2, 1}, 1}, {Gaussian{2, 1}, 2}}, 1},
	} {
		for _, delta := range testsize.Of([]float64{1e-5, 1e-40}, []float64{0.2, 1e-3, 1e-5, 1e-10, 1e-40, 1e-90}) {
			lower, upper := k.c.Epsilon(delta)
			truth := GaussianEpsilon(k.sigma, 1, delta)
			brackets(t, "epsilon", lower, upper, truth, math.Max(1e-3*truth, 1e-3))
			if truth > 0 {
				lower, upper = k.c.Delta(truth)
				brackets(t, "delta", lower, upper, delta, 0.2*delta)
			}
		}
	}
}

// One Laplace mechanism, and one Poisson-sampled: the event that sees the record is
// beyond the shift, where the log ratio is largest.
func TestCompositionAgainstLaplace(t *testing.T) {
	for _, s := range testsize.Of([]float64{0.01, 1, 60}, []float64{0.01, 0.5, 1, 8, 60}) {
		for _, share := range testsize.Of([]float64{0, 0.5, 1.01}, []float64{0, 0.1, 0.5, 0.99, 1.01}) {
			eps := share * s
			truth := math.Max(0, -math.Expm1((eps-s)/2))
			lower, upper := (Composition{{Laplace{3, 3 * s}, 1}}).Delta(eps)
			brackets(t, "laplace", lower, upper, truth, 1e-3)
			for _, rate := range testsize.Of([]float64{0.2}, []float64{1e-4, 0.2, 0.9}) {
				top := sampledLoss(rate, s)
				eps := share * top
				lower, upper := (Composition{{SubsampledLaplace{3, 3 * s, rate}, 1}}).Delta(eps)
				brackets(t, "sampled laplace", lower, upper, sampledDelta(rate, eps, func(eps float64) float64 {
					return math.Max(0, -math.Expm1((eps-s)/2))
				}), 1e-3)
			}
		}
	}
}

// sampledDelta is delta of a Poisson-sampled mechanism whose own delta is
// given (Balle, Barthe and Gaboardi 2018, theorem 8): of a record that is there over one
// that is not, rate delta(e'); the other way round, by the pair reversed.
func sampledDelta(rate, eps float64, delta func(float64) float64) float64 {
	there := rate * delta(unsampledLoss(rate, eps))
	// P - e^eps ((1-rate) P + rate Q): a multiple of P - e^x Q.
	if share := 1 - math.Exp(eps)*(1-rate); share > 0 {
		there = math.Max(there, share*delta(eps+math.Log(rate/share)))
	}
	return there
}

func TestCompositionAgainstSampledGaussian(t *testing.T) {
	for _, rate := range testsize.Of([]float64{1e-6, 0.5}, []float64{1e-6, 0.01, 0.5, 0.999}) {
		for _, sigma := range []float64{0.2, 1, 10} {
			for _, eps := range testsize.Of([]float64{1e-3, 1}, []float64{1e-3, 0.1, 1, 4}) {
				truth := sampledDelta(rate, eps, func(eps float64) float64 { return GaussianDelta(sigma, 1, math.Max(0, eps)) })
				lower, upper := (Composition{{SubsampledGaussian{sigma, 1, rate}, 1}}).Delta(eps)
				width := math.Max(0.02*truth, 1e-12)
				if rate*eps < 1e-3 { // loss of another order than what most records lose
					width = 1
				}
				brackets(t, "sampled", lower, upper, truth, width)
			}
		}
	}
}

// The optimal composition is exact for randomised response.
func TestCompositionAgainstOptimal(t *testing.T) {
	for _, m := range []ApproximateDP{{0.1, 0}, {0.1, 1e-8}, {2, 0}, {1e-3, 1e-4}, {0, 0.01}} {
		for _, k := range testsize.Of([]int{3, 1000}, []int{1, 3, 100, 5000}) {
			c := Composition{{m, k}}
			for _, eps := range []float64{0, 0.5 * m.Epsilon * math.Sqrt(float64(k)), 2 * m.Epsilon * math.Sqrt(float64(k))} {
				lower, upper := c.Delta(eps)
				truth := OptimalDelta(m.Epsilon, m.Delta, k, eps)
				brackets(t, "delta", lower, upper, truth, 1e-4*truth+1e-13)
			}
		}
	}
}

// The acceptance of the issue: below the Renyi figure, within .01.
func TestCompositionOfTraining(t *testing.T) {
	lower, upper := (Composition{{SubsampledGaussian{1, 1, 0.01}, 1000}}).Epsilon(1e-5)
	renyi := BestEpsilon(Repeat{SubsampledGaussian{1, 1, 0.01}, 1000}, 1e-5, Tight).Epsilon
	if !(upper < renyi) || upper-lower > 0.01 || !(lower > 1.82) {
		t.Errorf("[%v, %v], Renyi %v", lower, upper, renyi)
	}
	// The same in pieces of two mechanisms.
	l2, u2 := (Composition{{SubsampledGaussian{1, 1, 0.01}, 300}, {SubsampledGaussian{2, 2, 0.01}, 700}}).Epsilon(1e-5)
	if l2 > upper || u2 < lower || u2-l2 > 0.01 {
		t.Errorf("in pieces [%v, %v]", l2, u2)
	}
	// More steps, a larger rate or less noise cost more.
	for _, c := range []Composition{{{SubsampledGaussian{1, 1, 0.01}, 1100}}, {{SubsampledGaussian{1, 1, 0.011}, 1000}}, {{SubsampledGaussian{0.97, 1, 0.01}, 1000}}} {
		if l, _ := c.Epsilon(1e-5); !(l > upper) {
			t.Errorf("%v: at least %v, below %v", c, l, upper)
		}
	}
}

// Values in the tests of google/differential-privacy at commit
// b5b0286e313b64a692abfc8c528d54ef47d960a0, python/dp_accounting/dp_accounting/pld, and the
// tolerance that the test there has.
func TestCompositionAgainstDPAccounting(t *testing.T) {
	// pld_privacy_accountant_test.py.
	for _, k := range []struct {
		test                         string
		c                            Composition
		eps, delta, within, epsilons float64
	}{
		{"test_gaussian_basic", Composition{{Gaussian{math.Sqrt(3), 1}, 1}, {Gaussian{math.Sqrt(3), 1}, 2}}, 1, 0.126936, 1e-3, 1e-3},
		{"test_poisson_subsampled_gaussian", Composition{{SubsampledGaussian{0.5, 1, 0.2}, 1}, {SubsampledGaussian{0.5, 1, 0.2}, 2}}, 1, 0.15594, 1e-3, 1e-3},
		{"test_self_composed_subsampled_gaussian", Composition{{SubsampledGaussian{0.5, 1, 0.2}, 3}}, 1, 0.15594, 1e-3, 1e-3},
		{"test_laplace_basic", Composition{{Laplace{1, 1}, 3}, {Laplace{2, 1}, 2}}, 4, 1e-14, 1e-6, 1e-4},
		{"test_poisson_subsampled_laplace", Composition{{SubsampledLaplace{0.5, 1, 0.2}, 3}}, 2.46964, 1e-14, 1e-6, 1e-3},
		{"test_epsilon_basic", Composition{{ApproximateDP{1, 0}, 1}, {ApproximateDP{2, 0}, 1}}, 3, 1e-14, 1e-6, 1e-3},
		{"test_epsilon_delta_basic", Composition{{ApproximateDP{1, 0.1}, 1}, {ApproximateDP{2, 0.2}, 1}}, 3, 0.28, 1e-6, math.Inf(1)},
	} {
		if lower, upper := k.c.Delta(k.eps); lower > k.delta+k.within || upper < k.delta-k.within {
			t.Errorf("%s: delta in [%v, %v], there %v", k.test, lower, upper, k.delta)
		}
		if lower, upper := k.c.Epsilon(k.delta); lower > k.eps+k.epsilons || upper < k.eps-k.epsilons {
			t.Errorf("%s: epsilon in [%v, %v], there %v", k.test, lower, upper, k.eps)
		}
	}
	// accountant_test.py, test_get_smallest_laplace_noise: within .1.
	if got := LeastNoise(1, 1e-4, func(b float64) Composition { return Composition{{Laplace{b, 1}, 500}} }); math.Abs(got-71) > 0.1 {
		t.Errorf("scale %v, there 71", got)
	}
	// test_get_smallest_subsampled_gaussian_noise; its rounding is upwards, as ours, of
	// another grid. The second one, at sensitivity 6, is 25 steps.
	for _, k := range []struct {
		rate        float64
		steps       int
		sensitivity float64
		want        float64
	}{{0.01, 1, 1, 0.67379294682}, {0.001, 25, 6, 3.20956502598}} {
		got := LeastNoise(1, 1e-5, func(sigma float64) Composition {
			return Composition{{SubsampledGaussian{sigma, k.sensitivity, k.rate}, k.steps}}
		})
		if math.Abs(got/k.want-1) > 3e-4 {
			t.Errorf("sigma %v, there %v", got, k.want)
		}
		if lower, _ := (Composition{{SubsampledGaussian{k.want, k.sensitivity, k.rate}, k.steps}}).Epsilon(1e-5); lower > 1 {
			t.Errorf("their sigma %v gives epsilon %v at least", k.want, lower)
		}
	}
}

// pytorch/opacus at commit 4d0ebc84613d214fbfd37fbfd1390e3747a625ce,
// opacus/tests/accountants_test.py, test_prv_accountant: an upper bound with an error of
// .01 in epsilon.
func TestCompositionAgainstOpacus(t *testing.T) {
	lower, upper := (Composition{{SubsampledGaussian{1.5, 1, 0.04}, 2249}}).Epsilon(1e-5)
	const theirs = 6.777395712150674
	if lower > theirs || upper < theirs-0.02 || upper > theirs {
		t.Errorf("[%v, %v], there at most %v", lower, upper, theirs)
	}
}

// The least noise holds, and a little less does not by the lower bound.
func TestLeastNoise(t *testing.T) {
	for _, eps := range testsize.Of([]float64{0, 2}, []float64{0, 0.3, 2, 10}) {
		compose := func(sigma float64) Composition { return Composition{{SubsampledGaussian{sigma, 1, 0.02}, 200}} }
		sigma := LeastNoise(eps, 1e-5, compose)
		if eps == 0 {
			if _, upper := compose(sigma).Delta(0); !(upper <= 1e-5*(1+1e-3)) {
				t.Errorf("sigma %v gives delta %v at 0", sigma, upper)
			}
			continue
		}
		if _, upper := compose(sigma).Epsilon(1e-5); !(upper <= eps) {
			t.Errorf("sigma %v gives %v, more than %v", sigma, upper, eps)
		}
		less := math.Floor(sigma*1e4-0.5) / 1e4 // five digits at least, of what is below 10
		if _, upper := compose(less).Epsilon(1e-5); sigma > 1 && upper <= eps {
			t.Errorf("sigma %v is not the least of five digits for %v: %v is enough", sigma, eps, less)
		}
		if lower, _ := compose(sigma * 0.997).Epsilon(1e-5); !(lower > eps) {
			t.Errorf("sigma %v is too much for %v: a little less gives %v", sigma, eps, lower)
		}
	}
	if got := LeastNoise(1, 1e-9, func(x float64) Composition { return Composition{{ApproximateDP{1 / x, 1e-3}, 1}} }); !math.IsInf(got, 1) {
		t.Errorf("no noise is enough: %v", got)
	}
}

// Whatever the numbers, bounds are in order and none is not a number.
func TestCompositionExtremes(t *testing.T) {
	values := testsize.Of([]float64{1e-50, 0.05}, []float64{1e-50, 1e-20, 1e-9, 1e-3, 0.049, 0.3, 1, 30, 1e6, 1e20, 1e50})
	for _, noise := range values {
		for _, rate := range testsize.Of([]float64{1e-50, 1e-3}, []float64{1e-50, 1e-12, 1e-3, 0.5, 1 - 0x1p-53, 1}) {
			for _, steps := range []int{1, 1000, testsize.Of(10_000, 100_000_000)} {
				for _, m := range []Lossy{SubsampledGaussian{noise, 1, rate}, SubsampledLaplace{noise, 1, rate}} {
					if steps > 1000 && (noise != 0.05 && noise != 1 || rate == 0.5) {
						continue // the transform is as long as it gets
					}
					c := Composition{{m, steps}}
					if lower, upper := c.Epsilon(1e-5); !(lower >= 0 && lower <= upper) {
						t.Errorf("%v: epsilon in [%v, %v]", c, lower, upper)
					}
					if noise != 1e6 && steps > 1 {
						continue
					}
					if lower, upper := c.Delta(1); !(lower >= 0 && lower <= upper && upper <= 1) {
						t.Errorf("%v: delta in [%v, %v]", c, lower, upper)
					}
				}
			}
		}
	}
}

// normalMass is relatively exact, in the tails too: against thousand parts of it.
func TestNormalMass(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 16))
	for range testsize.Of(500, 3000) {
		a := 36 * (2*r.Float64() - 1)
		w := math.Exp(-20 * r.Float64())
		if r.IntN(2) == 0 {
			w = 3 * r.Float64()
		}
		b := a + w
		want, n := 0.0, 1000
		for i := range n {
			lo, hi := a+(b-a)*float64(i)/float64(n), a+(b-a)*float64(i+1)/float64(n)
			for j, x := range legendreAt {
				for _, x := range []float64{x, -x} {
					z := (lo+hi)/2 + x*(hi-lo)/2
					want += legendreWeight[j] * (hi - lo) / 2 * math.Exp(-z*z/2)
				}
			}
		}
		want /= math.Sqrt(2 * math.Pi)
		if got := normalMass(a, b); math.Abs(got/want-1) > lossError/2 {
			t.Errorf("[%v, %v]: %v, want %v", a, b, got, want)
		}
	}
	inf := math.Inf(1)
	for _, k := range []struct {
		mass       func(a, b float64) float64
		a, b, want float64
	}{
		{normalMass, -inf, inf, 1}, {normalMass, -inf, 0, 0.5}, {normalMass, 1, inf, 0.15865525393145705}, {normalMass, 2, 2, 0},
		{laplaceMass, -inf, inf, 1}, {laplaceMass, -1, 2, 1 - math.Exp(-1)/2 - math.Exp(-2)/2},
		{laplaceMass, 2, 3, (math.Exp(-2) - math.Exp(-3)) / 2}, {laplaceMass, -3, -2, (math.Exp(-2) - math.Exp(-3)) / 2},
	} {
		if got := k.mass(k.a, k.b); math.Abs(got-k.want) > 1e-15 {
			t.Errorf("[%v, %v]: %v, want %v", k.a, k.b, got, k.want)
		}
	}
}

// TestTailsCount: at a coarse tail the law that dominates has all of P, and no less delta than the
// exact one of the Gaussian; the law that is dominated has no more.
func TestTailsCount(t *testing.T) {
	for _, tail := range []float64{1e-2, 1e-4, 1e-9} {
		c := newCells(Gaussian{1, 1}.losses(false), 0.01, tail, false)
		for eps := 0.0; eps < 4; eps += 0.25 {
			delta := func(l *lossLaw) float64 {
				sum := l.infinite
				for i, at := range l.at {
					sum += l.mass[i] * max(0, -math.Expm1(eps-l.offset-float64(at)*l.step))
				}
				return sum
			}
			exact := GaussianDelta(1, 1, eps)
			if above, below := delta(c.above()), delta(c.below(false)); above < exact*(1-1e-9) || below > exact*(1+1e-9) || above > exact+2*tail+1e-4 {
				t.Errorf("tail %v, epsilon %v: delta in [%v, %v], exactly %v", tail, eps, below, above, exact)
			}
		}
	}
	rare := newCells(Finite{P: []float64{0.5, 0.5}, Q: []float64{1e-295, 1}}.losses(false), 0.01, 1e-9, false).above()
	all := rare.infinite
	for _, p := range rare.mass {
		all += p
	}
	if math.Abs(all-1) > 1e-9 {
		t.Errorf("outputs that Q hardly has: P adds up to %v", all)
	}
}
