package published

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/bounds"
)

// Table 1 of RenyiTester; the figures to the last digit come from the printed
// formula, and agree with the table's to its rounding.
func TestTableOfRenyiTester(t *testing.T) {
	for _, k := range []struct {
		eps, alpha, eta float64
		want, printed   float64 // thousands
	}{
		{0.01, 1.5, 0.00348, 521, 520},
		{0.1, 1.5, 0.0086, 360, 360},
		{0.01, 2, 0.00348, 611, 610},
		{0.1, 2, 0.0086, 1783, 1800},
	} {
		got := RenyiSamples(k.alpha, 16*k.eps, k.eta, 1.0/3) / 1000
		if math.Abs(got-k.want) > 0.5 {
			t.Errorf("eps %v alpha %v: %.1f thousand, want %v", k.eps, k.alpha, got, k.want)
		}
		if math.Abs(got/k.printed-1) > 0.011 {
			t.Errorf("eps %v alpha %v: %.1f thousand, the table has %v", k.eps, k.alpha, got, k.printed)
		}
	}
	// The second term, in millions.
	for _, k := range []struct{ alpha, want float64 }{{1.5, 5.9}, {2, 29}} {
		if got := CorrectedRenyiSamples(k.alpha, 1.6, 0.0086, 1.0/3) / 1e6; math.Abs(got-k.want) > 0.5 {
			t.Errorf("corrected at alpha %v: %.2f million, want %v", k.alpha, got, k.want)
		}
	}
	// aDPTester, thousands, m = 10; ten times as many for each factor of ten.
	for _, k := range []struct{ eps, want, printed float64 }{{0.01, 808, 810}, {0.1, 889, 890}} {
		for _, m := range []int{10, 100, 1000} {
			const n = 1_000_000
			eta := ADPTesterEta(m, k.eps, n)
			got := n * eta * eta / (0.01 * 0.01) / 1000 / float64(m/10)
			if math.Abs(got-k.want) > 0.5 || math.Abs(got/k.printed-1) > 0.005 {
				t.Errorf("aDPTester eps %v m %d: %.1f thousand, want %v, printed %v", k.eps, m, got, k.want, k.printed)
			}
		}
	}
}

// Exact enumeration, no false alarms: on the counterexample the published bound
// exceeds the divergence with probability .92 at nominal .05, the corrected one with
// at most .05.
func TestPublishedRenyiFails(t *testing.T) {
	k, h := renyiCounterexample()
	const alpha, n, beta = counterexampleAlpha, counterexampleN, 0.05
	truth := k.renyi(alpha)
	eta := RenyiEta(alpha, h[0], n, beta)
	if math.Abs(h[0]-3.97) > 0.01 || math.Abs(eta-0.546) > 0.002 {
		t.Fatalf("C = %v, eta = %v, want 3.97 and .546", h[0], eta)
	}
	published, corrected := 0.0, 0.0
	mean, deviation := n*k.p[0], math.Sqrt(n*k.p[0])
	for y := range 6 {
		wy := choose(n, y, k.q[0])
		for x := int(mean - 6*deviation); x <= int(mean+6*deviation); x += 4 {
			// Four neighbouring x stand for one another; the bounds do not
			// change sign within them except at one place.
			weight := 0.0
			for d := range 4 {
				weight += choose(n, x+d, k.p[0])
			}
			sample := bounds.NewTable(2)
			sample.N = []int{0, x, y, n - x - y}
			if Renyi(sample, h, alpha, beta) > truth {
				published += wy * weight
			}
			if CorrectedRenyi(sample, h, alpha, beta) > truth {
				corrected += wy * weight
			}
		}
	}
	t.Logf("D = %.4f, failures %v published, %v corrected", truth, published, corrected)
	if published < 0.9 || published > 0.93 {
		t.Errorf("published bound fails with probability %v, want .915", published)
	}
	if corrected > beta {
		t.Errorf("corrected bound fails with probability %v", corrected)
	}
}

// The published form is that of the centred witness: moving the witness changes nothing,
// and from a range of .41 on, where both of its terms are the smaller ones, it is nowhere
// below the corrected form.
func TestPublishedRenyiIsAboveCorrected(t *testing.T) {
	sample := bounds.NewTable(3)
	sample.N = []int{400, 900, 50, 800, 30_000, 700, 60, 500, 500}
	for _, alpha := range []float64{1.25, 2, 8, 32} {
		for _, h := range [][]float64{{0, 0.1, 0.3}, {-0.2, 0, 0.25}, {-0.02, 0.4, 0.1}} {
			moved := []float64{h[0] + 2, h[1] + 2, h[2] + 2}
			v, w := Renyi(sample, h, alpha, 0.05), Renyi(sample, moved, alpha, 0.05)
			if v != w && !(math.Abs(v-w) < 1e-9) {
				t.Errorf("alpha %v: %v, with the witness moved %v", alpha, v, w)
			}
			if c := CorrectedRenyi(sample, h, alpha, 0.05); !math.IsInf(v, -1) && math.Max(0, v) < c && slices.Max(h)-slices.Min(h) > 0.41 {
				t.Errorf("alpha %v: published %v below corrected %v", alpha, v, c)
			}
		}
	}
}

// choose is the binomial probability of k.
func choose(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// RenyiTester's theorem 4.3 takes the true means for granted and drops the
// factor k = alpha/(alpha-1) = 11: with h constant under Q and C, -C under P with
// probability .3, .7 it fails with probability .22 at nominal .05. The exponents
// with the factor in place do not. Exact enumeration.
func TestFirstRenyiTheoremFails(t *testing.T) {
	const alpha, c, p, beta = 1.1, 30.0, 0.3, 0.05
	k := alpha / (alpha - 1)
	high, low := math.Exp((alpha-1)*c), math.Exp(-(alpha-1)*c)
	mean := p*high + (1-p)*low
	worst, worstCorrected := 0.0, 0.0
	for _, gamma := range []float64{0.3, 0.4, 0.5, 0.6, 0.7} {
		n := int(math.Ceil(3 * high / mean * math.Log(2/beta) / (gamma * gamma)))
		failed, corrected := 0.0, 0.0
		for x, w := range pmf(n, p) {
			estimate := (float64(x)*high + float64(n-x)*low) / float64(n)
			// R^{h,n} - R^h; the second mean is exact.
			excess := k * math.Log(estimate/mean)
			if excess > math.Log((1+gamma)/(1-gamma)) {
				failed += w
			}
			if excess > k*math.Log1p(gamma)-math.Log1p(-gamma) {
				corrected += w
			}
		}
		worst, worstCorrected = math.Max(worst, failed), math.Max(worstCorrected, corrected)
	}
	t.Logf("published %.3f, with the factor %.4f", worst, worstCorrected)
	if worst < 0.18 || worst > 0.3 {
		t.Errorf("published form fails with probability %v, want about .22", worst)
	}
	if worstCorrected > beta {
		t.Errorf("corrected form fails with probability %v", worstCorrected)
	}
}

// The corrected theorem by its formula, on a sample large enough to say
// something, and silent where its condition on eta fails.
func TestCorrectedRenyi(t *testing.T) {
	sample := bounds.NewTable(2)
	sample.N = []int{180_000, 420_000, 120_000, 280_000} // first: .6, .4; second: .3, .7
	h := []float64{math.Ln2, math.Log(4.0 / 7)}
	const alpha, beta = 2.0, 0.05
	n, osc := 1e6, h[0]-h[1]
	estimate := 2*math.Log(0.6*math.Exp(h[0])+0.4*math.Exp(h[1])) - math.Log(0.3*math.Exp(2*h[0])+0.7*math.Exp(2*h[1]))
	eta1, eta2 := math.Sqrt(3*math.Exp(osc)*math.Log(40)/n), math.Sqrt(2*math.Exp(2*osc)*math.Log(40)/n)
	want := estimate - 2*math.Log(1+eta1) - math.Log(1/(1-eta2))
	got := CorrectedRenyi(sample, h, alpha, beta)
	if got > want || got < want-2e-6 {
		t.Errorf("corrected bound %v, want %v rounded down", got, want)
	}
	if got > estimate*0.98 || got < estimate*0.8 {
		t.Errorf("corrected bound %v of an estimate %v", got, estimate)
	}
	if v := CorrectedRenyi(sample, []float64{5, -5}, alpha, beta); v != 0 {
		t.Errorf("wide witness: %v, want 0", v)
	}
	if v := Renyi(sample, []float64{8, -8}, alpha, beta); !math.IsInf(v, -1) {
		t.Errorf("published, wide witness: %v, want -Inf", v)
	}
}
