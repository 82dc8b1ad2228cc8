package mechanisms

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// mean is a meanFamily at fixed parameters.
type mean struct {
	meanFamily
	scale, sigma float64
}

func (f meanFamily) at(p audit.Params) *mean {
	scale, sigma := f.scales(p)
	return &mean{f, scale, sigma}
}

// density is the exact density of a mean's output at x, on records with this
// sum and number, by quadrature over the noisy count. It leaves out the count
// of 1e-12, whose outputs are out of sight.
func (m *mean) density(x, sum, n float64) float64 {
	noise := func(z float64) float64 {
		if m.gaussian {
			return math.Exp(-z*z/(2*m.sigma*m.sigma)) / (m.sigma * math.Sqrt(2*math.Pi))
		}
		return math.Exp(-math.Abs(z)/m.scale) / (2 * m.scale)
	}
	switch {
	case m.rawNoise:
		return n * noise(n*x-sum)
	case m.rawMean:
		return m.overCounts(n, func(count float64) float64 { return count * noise(count*(x-sum/n)) })
	}
	return m.overCounts(n, func(count float64) float64 { return count * noise(count*x-sum) })
}

// overCounts is the expectation of g(n + Lap(scale)) where that is positive.
func (m *mean) overCounts(n float64, g func(count float64) float64) float64 {
	// For large x all happens near a count of zero: pieces that shrink there.
	ends := []float64{-n}
	for piece := 1e-7; piece < 1; piece *= 4 {
		ends = append(ends, -n+piece)
	}
	var total float64
	overRho(16, m.scale, ends, 0, func(z, weight float64) {
		if n+z > 0 {
			total += weight * g(n+z)
		}
	})
	return total
}

// hockeyStick is the divergence of the outputs on a from those on b, records in
// [0, 1]. Outputs are spread over many orders of magnitude, so x = sinh(u) with
// the midpoint rule in u; |x| beyond 2e4 is left out.
func (m *mean) hockeyStick(a, b audit.Dataset, epsilon float64) float64 {
	const step = 0.04
	var h float64
	sumA, sumB := clippedSum(a.Values), clippedSum(b.Values)
	for u := -11 + step/2; u < 11; u += step {
		x := math.Sinh(u)
		p, q := m.density(x, sumA, float64(a.Len())), m.density(x, sumB, float64(b.Len()))
		h += step * math.Cosh(u) * math.Max(0, p-math.Exp(epsilon)*q)
	}
	return h
}

// loudness is the larger of the two directions' divergences.
func (m *mean) loudness(p audit.Pair, epsilon float64) float64 {
	return math.Max(m.hockeyStick(p.First, p.Second, epsilon), m.hockeyStick(p.Second, p.First, epsilon))
}

// The divergences at the default pair, against an independent computation
// rounded to two or three digits; and that no other pair of the list is louder.
func TestMeansAreAsLoudAsKnown(t *testing.T) {
	const digits = 6e-4 // half a unit of the third digit, and quadrature
	for _, c := range []struct {
		family  meanFamily
		epsilon float64
		want    float64
		within  float64
	}{
		{laplaceMean, 1, 0, digits},
		{laplaceMeanRawCount, 1, 0.104, digits},
		{laplaceMeanRawCount, 0.01, 0.25, 6e-3},
		{laplaceMeanRawDenominator, 1, 0.019, digits},
		{laplaceMeanRawDenominator, 0.01, 0.10, 6e-3},
		{gaussianMeanRawCount, 0.01, 0.32, 6e-3},
		{gaussianMeanRawDenominator, 1, 0, digits},
		{gaussianMeanRawDenominator, 0.01, 0.03, 6e-3},
	} {
		m := c.family.at(numbers("epsilon", c.epsilon, "delta", 0.01))
		pairs := c.family.pairs(nil, audit.AddRemove).of(1)
		first := m.loudness(pairs[0], c.epsilon)
		if math.Abs(first-c.want) > c.within {
			t.Errorf("%s at epsilon %g, %s: divergence %.5f, want %g within %g", c.family.Name, c.epsilon, pairs[0].Label, first, c.want, c.within)
		}
		for _, p := range pairs[1:] {
			if h := m.loudness(p, c.epsilon); h > first+digits {
				t.Errorf("%s at epsilon %g: pair %q has divergence %.5f, the first pair only %.5f", c.family.Name, c.epsilon, p.Label, h, first)
			}
		}
	}
}

// The Gaussian mean with the raw denominator keeps (1, 0.01): densities of up to five
// records differ by at most e^0.65, also where the sums differ by less than 1. Its default claim of
// 0.1 it breaks under both relations, most where a record is replaced, as it comes first.
func TestGaussianRawDenominator(t *testing.T) {
	spec := gaussianMeanRawDenominator.complete().spec()
	loudest := func(epsilon, delta float64, r audit.Relation) float64 {
		m := gaussianMeanRawDenominator.at(numbers("epsilon", epsilon, "delta", delta))
		most := 0.0
		for _, p := range gaussianMeanRawDenominator.pairs(nil, r).of(1) {
			most = math.Max(most, m.loudness(p, epsilon))
		}
		return most
	}
	p := defaults(spec)
	if r := spec.Relations(p); p.Num("epsilon") != smallEpsilon || p.Num("delta") != smallDelta || r[0] != audit.Replace {
		t.Fatalf("defaults %v, relations %v", p, r)
	}
	for _, c := range []struct{ epsilon, delta, replace, add float64 }{
		{smallEpsilon, smallDelta, 0.0440, 0.0229}, {smallEpsilon, 1e-9, 0.0111, 0.0056}, {1, smallDelta, 0, 0},
	} {
		for r, want := range map[audit.Relation]float64{audit.Replace: c.replace, audit.AddRemove: c.add} {
			if h := loudest(c.epsilon, c.delta, r); math.Abs(h-want) > 6e-4 {
				t.Errorf("epsilon %v, delta %v, %s: divergence %.5f, want %v", c.epsilon, c.delta, r, h, want)
			}
		}
	}
	m := gaussianMeanRawDenominator.at(numbers("epsilon", 1, "delta", smallDelta))
	for n := 1.0; n <= 5; n++ {
		for _, more := range []float64{0, 1} {
			for part := 0.25; part <= 1; part += 0.25 {
				for u := -8.0; u < 8; u += 0.1 {
					x := math.Sinh(u)
					if loss := math.Log(m.density(x, 0, n) / m.density(x, part, n+more)); math.Abs(loss) > 0.65 {
						t.Fatalf("%v records against %v, sums %v apart: loss %v at %v", n, n+more, part, loss, x)
					}
				}
			}
		}
	}
}

// renyiDivergence is the order-alpha divergence of the outputs on a from those
// on b. It leaves out outputs beyond 2e4 from counts near 0 that are
// not 1e-12, so that it errs downwards by what is there.
func (m *mean) renyiDivergence(a, b audit.Dataset, alpha float64) float64 {
	const step = 0.04
	var integral float64
	sumA, sumB := clippedSum(a.Values), clippedSum(b.Values)
	for u := -11 + step/2; u < 11; u += step {
		x := math.Sinh(u)
		p, q := m.density(x, sumA, float64(a.Len())), m.density(x, sumB, float64(b.Len()))
		if p > 0 && q > 0 {
			integral += step * math.Cosh(u) * math.Exp(alpha*math.Log(p)+(1-alpha)*math.Log(q))
		}
	}
	if !m.rawNoise {
		// The count of 1e-12, far from all other outputs.
		clamped := func(n int) float64 { return math.Exp(-float64(n)/m.scale) / 2 }
		gap := sumA - sumB
		if m.rawMean {
			gap = 0
		}
		integral += math.Pow(clamped(a.Len()), alpha) * math.Pow(clamped(b.Len()), 1-alpha) * math.Exp(alpha*(alpha-1)*gap*gap/(2*m.sigma*m.sigma))
	}
	return math.Log(integral) / (alpha - 1)
}

// Under a Rényi claim the private mean keeps it on every pair, in both
// directions, and is not far below; the others break it, raw-denominator at
// small epsilon only.
func TestMeansUnderARenyiClaim(t *testing.T) {
	for _, c := range []struct {
		family         meanFamily
		alpha, epsilon float64
		breaks         bool
	}{
		{gaussianMeanRenyi, 2, 1, false},
		{gaussianMeanRenyi, 1.5, 0.1, false},
		{gaussianMeanRenyi, 4, 3, false},
		{gaussianMeanRawCountRenyi, 1.25, 1, true},
		{gaussianMeanRawCountRenyi, 2, 1, true},
		{gaussianMeanRawCountRenyi, 1.5, 0.01, true},
		{gaussianMeanRawDenominatorRenyi, 2, 1, false},
		{gaussianMeanRawDenominatorRenyi, 2, 0.5, true},
	} {
		p := numbers("epsilon", c.epsilon, "alpha", c.alpha)
		m := c.family.at(p)
		if want := (audit.Claim{Kind: audit.Renyi, Alpha: c.alpha, Epsilon: c.epsilon}); c.family.claim(p) != want {
			t.Errorf("%s claims %+v", c.family.Name, c.family.claim(p))
		}
		worst := 0.0
		for _, r := range []audit.Relation{audit.AddRemove, audit.Replace} {
			for _, pair := range c.family.pairs(p, r).of(1) {
				worst = math.Max(worst, math.Max(m.renyiDivergence(pair.First, pair.Second, c.alpha), m.renyiDivergence(pair.Second, pair.First, c.alpha)))
			}
		}
		if !c.breaks && worst < c.epsilon/3 {
			t.Errorf("%s at alpha = %g, epsilon = %g: divergence %.4f is far below", c.family.Name, c.alpha, c.epsilon, worst)
		}
		if (worst > c.epsilon*(1+1e-6)) != c.breaks {
			t.Errorf("%s at alpha = %g, epsilon = %g: divergence %.4f", c.family.Name, c.alpha, c.epsilon, worst)
		}
	}
	// raw-count on {1} against {1, 0}: N(1, s²) and N(1/2, s²/4). At order alpha the
	// divergence is finite for alpha < 4/3, and then has a closed form (Gil,
	// Alajaji and Linder 2013, table 2).
	const alpha, epsilon = 1.25, 1.0
	m := gaussianMeanRawCountRenyi.at(numbers("epsilon", epsilon, "alpha", alpha))
	s1, s2 := m.sigma, m.sigma/2
	v := alpha*s2*s2 + (1-alpha)*s1*s1
	want := math.Log(s2/s1) + math.Log(s2*s2/v)/(2*(alpha-1)) + alpha*0.25/(2*v)
	if got := m.renyiDivergence(audit.Records(1), audit.Records(1, 0), alpha); math.Abs(got-want) > 1e-6 {
		t.Errorf("divergence %v by quadrature, %v in closed form", got, want)
	}
}

// Where the noisy count is negative, with probability e^(-n epsilon/2)/2, the
// noise of clamped-scale is of scale 1e-12: outputs within 1e-9 of 0 are as
// frequent on a sum of 0, and do not come up on a sum of 1. The private mean has
// none on either. Each count errs with probability 1e-9 at most, by Hoeffding's
// inequality.
func TestClampedScaleVanishes(t *testing.T) {
	const rows, within = 40_000, 1e-9
	near := func(family meanFamily, epsilon float64, d audit.Dataset) float64 {
		m := mustNew(t, family.complete().spec(), numbers("epsilon", epsilon))
		k := 0
		for _, v := range sample(t, m, d, rows, 0).Rows {
			if math.Abs(v) <= within {
				k++
			}
		}
		return float64(k) / rows
	}
	allowed := math.Sqrt(math.Log(2/1e-9) / (2 * rows))
	for _, epsilon := range []float64{0.1, 1, 2} {
		if got, want := near(laplaceMeanClampedScale, epsilon, audit.Records(0)), math.Exp(-epsilon/2)/2; math.Abs(got-want) > allowed {
			t.Errorf("epsilon %g, {0}: %v near 0, want %v", epsilon, got, want)
		}
		if got := near(laplaceMeanClampedScale, epsilon, audit.Records(0, 1)); got != 0 {
			t.Errorf("epsilon %g, {0, 1}: %v near 0", epsilon, got)
		}
		for _, d := range []audit.Dataset{audit.Records(0), audit.Records(0, 1)} {
			if got := near(laplaceMean, epsilon, d); got != 0 {
				t.Errorf("epsilon %g, the private mean of %v: %v near 0", epsilon, d.Values, got)
			}
		}
	}
}
