package accounting

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

//go:embed testdata/subsampled.json
var subsampledGolden []byte

// Integrals with 60 digits; testdata/subsampled.py made them.
func TestSubsampledGolden(t *testing.T) {
	var rows []struct{ Rate, Sigma, Alpha, Divergence float64 }
	if err := json.Unmarshal(subsampledGolden, &rows); err != nil || len(rows) < 15 {
		t.Fatal(err, len(rows))
	}
	for _, r := range rows {
		if got := (SubsampledGaussian{r.Sigma, 1, r.Rate}).At(r.Alpha); math.Abs(got/r.Divergence-1) > 1e-10 {
			t.Errorf("q %v sigma %v alpha %v: %v, want %v", r.Rate, r.Sigma, r.Alpha, got, r.Divergence)
		}
	}
}

// google/differential-privacy, dp_accounting/rdp/rdp_privacy_accountant_test.py,
// test_compute_rdp_poisson_sampled_gaussian: sigma 2.5, rate .01, 50 steps; five
// digits as printed.
func TestSubsampledAgainstDPAccounting(t *testing.T) {
	c := Repeat{SubsampledGaussian{2.5, 1, 0.01}, 50}
	for alpha, want := range map[float64]float64{1.5: 6.5007e-4, 2.5: 1.0854e-3, 5: 2.1808e-3, 50: 2.3846e-2, 100: 1.6742e2} {
		near(t, "five digits", c.At(alpha), want, 5e-5)
	}
}

// pytorch/opacus, opacus/tests/accountants_test.py, test_rdp_accountant: noise 1.5,
// rate .04, 2250 steps, delta 1e-5 and its default orders give 7.32911117143.
func TestSubsampledAgainstOpacus(t *testing.T) {
	c, grid := Repeat{SubsampledGaussian{1.5, 1, 0.04}, 2250}, math.Inf(1)
	for i := 1; i < 152; i++ { // 1.1 to 10.9 by tenths, 12 to 63
		alpha := 1 + float64(i)/10
		if i >= 100 {
			alpha = float64(i - 88)
		}
		grid = math.Min(grid, Tight.epsilon(c.At(alpha), alpha, 1e-5, math.Inf(1)))
	}
	near(t, "epsilon", grid, 7.32911117143, 1e-11)
	if free := BestEpsilon(c, 1e-5, Tight); free.Epsilon > grid || free.Epsilon < grid-0.01 {
		t.Errorf("over all orders %+v, over a grid %v", free, grid)
	}
}

// The finite sum as printed in the paper, with 300 bits, is the slow twin at
// whole orders.
func slowSum(q, noise float64, alpha int) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	rest := new(big.Float).Sub(f(1), f(q))
	sum := f(0)
	for k := 0; k <= alpha; k++ {
		// e^x to double precision is enough: what is cancelled is subtracted before.
		x := float64(k) * float64(k-1) / (2 * noise * noise)
		term := f(math.Expm1(x))
		term.Mul(term, new(big.Float).SetPrec(300).SetInt(new(big.Int).Binomial(int64(alpha), int64(k))))
		for range k {
			term.Mul(term, f(q))
		}
		for range alpha - k {
			term.Mul(term, rest)
		}
		sum.Add(sum, term)
	}
	v, _ := sum.Float64()
	return math.Log1p(v) / float64(alpha-1)
}

func TestSubsampledWholeOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		q, noise, alpha := math.Exp(-12*r.Float64()), math.Exp(6*r.Float64()-1), 2+r.IntN(60)
		if float64(alpha*alpha)/(2*noise*noise) > 650 {
			continue
		}
		want := slowSum(q, noise, alpha)
		near(t, "sum", SubsampledGaussian{3 * noise, 3, q}.At(float64(alpha)), want, 1e-11)
		mean := logMean(noise, q, float64(alpha), quadratureStep(noise))
		near(t, "quadrature", softplus(mean+math.Log(float64(alpha-1)))/float64(alpha-1), want, 1e-10)
	}
}

// Halving the step changes nothing, so neither does the leaping; and the curve
// lies between that without sampling, G, and G + alpha log(q)/(alpha-1), what the
// sampled part alone gives.
func TestSubsampledStep(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		q, noise, alpha := 1-math.Exp(-14*r.Float64()), math.Exp(8*r.Float64()-3), 1+math.Exp(12*r.Float64()-5)
		if r.IntN(2) == 0 {
			q = 1 - q
		}
		if !(q > 0 && q < 1) {
			continue
		}
		h := quadratureStep(noise)
		got, want := logMean(noise, q, alpha, h), logMean(noise, q, alpha, h/2)
		if math.Abs(got-want) > 1e-11*math.Max(1, math.Abs(want)) {
			t.Errorf("q %v noise %v alpha %v: %v, with half the step %v", q, noise, alpha, got, want)
		}
		v, full := SubsampledGaussian{noise, 1, q}.At(alpha), Gaussian{noise, 1}.At(alpha)
		if low := full + alpha*math.Log(q)/(alpha-1); v > full*(1+1e-10) || v < low-1e-10*math.Abs(low) {
			t.Errorf("q %v noise %v alpha %v: %v outside [%v, %v]", q, noise, alpha, v, low, full)
		}
	}
}

// By definition, both ways round: the curve is the larger one (theorem 5), and
// sampling never costs.
func TestSubsampledDirections(t *testing.T) {
	for _, q := range []float64{0.01, 0.3, 0.95} {
		for _, sigma := range []float64{0.7, 2} {
			plain := func(x float64) float64 { return -x*x/(2*sigma*sigma) - math.Log(sigma) - math.Log(2*math.Pi)/2 }
			mixed := func(x float64) float64 {
				return plain(x) + math.Log1p(q*math.Expm1((2*x-1)/(2*sigma*sigma)))
			}
			for _, alpha := range []float64{1, 1.2, 2, 5.5} {
				lo, hi := -14*sigma-alpha, 14*sigma+alpha
				c := SubsampledGaussian{sigma, 1, q}.At(alpha)
				near(t, "added", c, divergence(alpha, mixed, plain, lo, hi), 1e-7)
				if back := divergence(alpha, plain, mixed, lo, hi); back > c*(1+1e-9) {
					t.Errorf("q %v sigma %v alpha %v: removed %v, added %v", q, sigma, alpha, back, c)
				}
				if full := (Gaussian{sigma, 1}).At(alpha); c > full {
					t.Errorf("q %v sigma %v alpha %v: %v, without sampling %v", q, sigma, alpha, c, full)
				}
			}
		}
	}
}
