package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

func mustTune(t *testing.T, explore Table, h []float64, alpha float64, n int, beta float64) RenyiPlan {
	t.Helper()
	p := must.Get(TuneRenyi(explore, h, alpha, n, beta))(t)
	must.Do(t, p.Validate())
	return p
}

// The witness is learned on exploration pairs, 48 bins of the true score. The
// targets lie 5 standard errors or more below the means over 20 runs, so a
// false alarm is rarer than one in a million.
func TestRenyiCertifies(t *testing.T) {
	testsize.Native(t)
	for _, k := range []struct {
		pair   pair
		alpha  float64
		truth  float64
		n      int
		target float64
	}{
		{gaussianPair(0.5, 48), 2, 0.25, 50_000, 0.85},
		{laplacePair(1, 48), 2, laplaceRenyi(2), 100_000, 0.93},
	} {
		r := rand.New(rand.NewPCG(31, 32))
		sum, squares := 0.0, 0.0
		const runs = 20
		for range runs {
			explore := k.pair.draw(r, 50_000)
			plan := mustTune(t, explore, CalibrateRenyi(explore, k.alpha), k.alpha, k.n, 0.05)
			v := Renyi(k.pair.draw(r, k.n), plan, 0.05) / k.truth
			sum += v
			squares += v * v
		}
		mean := sum / runs
		t.Logf("%s alpha %v n %d: %.4f of the divergence (deviation %.4f); the bins have %.4f",
			k.pair.name, k.alpha, k.n, mean, math.Sqrt(squares/runs-mean*mean), k.pair.renyi(k.alpha)/k.truth)
		if mean < k.target {
			t.Errorf("%s: %.4f of the divergence certified, want %v", k.pair.name, mean, k.target)
		}
	}
}

// laplaceRenyi is D_alpha of unit Laplace laws shifted by 1 (Mironov 2017).
func laplaceRenyi(alpha float64) float64 {
	return math.Log(alpha/(2*alpha-1)*math.Exp(alpha-1)+(alpha-1)/(2*alpha-1)*math.Exp(-alpha)) / (alpha - 1)
}

func TestRenyiCoverage(t *testing.T) {
	counterexample, h := renyiCounterexample()
	runs := testsize.Of(200, 600)
	for _, k := range []struct {
		pair     pair
		h        []float64 // nil: the exact log ratio
		alpha    float64
		n, runs  int
		explored int
	}{
		{gaussianPair(0.5, 16), nil, 2, 4000, runs, 4000},
		{gaussianPair(1, 16), nil, 4, 4000, runs, 4000},
		{rarePair(), nil, 2, 4000, runs, 4000},
		{rarePair(), nil, 8, 4000, runs, 400},
		{counterexample, h, counterexampleAlpha, counterexampleN, runs / 4, 4000},
		{pair{"equal", []float64{0.01, 0.99}, []float64{0.01, 0.99}}, []float64{1, 0}, 2, 4000, runs, 4000},
	} {
		if k.h == nil {
			for i := range k.pair.p {
				k.h = append(k.h, math.Log(k.pair.p[i]/k.pair.q[i]))
			}
		}
		truth := k.pair.renyi(k.alpha)
		r := rand.New(rand.NewPCG(33, 34))
		plan := mustTune(t, k.pair.draw(r, k.explored), k.h, k.alpha, k.n, 0.05)
		wrong, wrongP := 0, 0
		for range k.runs {
			sample := k.pair.draw(r, k.n)
			if Renyi(sample, plan, 0.05) > truth {
				wrong++
			}
			if RenyiPValue(sample, plan, truth) <= 0.05 {
				wrongP++
			}
		}
		testsize.Chance(t, k.pair.name, wrong, k.runs, 0.05, 1e-6)
		testsize.Chance(t, k.pair.name+" p-value", wrongP, k.runs, 0.05, 1e-6)
	}
}

// slowRenyi scans the divergence upwards and goes through the pairs one by one.
func slowRenyi(x, y []float64, alpha, lambda, beta float64) float64 {
	k := alpha / (alpha - 1)
	last := 0.0
	for e0 := 0.0; ; e0 += 1e-4 {
		wealth := 0.0
		for i := range x {
			w := math.Exp(-e0/k)*math.Exp((alpha-1)*x[i]) - math.Exp(alpha*y[i])/k - 1/alpha
			wealth += math.Log(1 + lambda*w)
		}
		if wealth < math.Log(1/beta) {
			return last
		}
		last = e0
	}
}

func TestRenyiAgainstSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for _, alpha := range []float64{1.2, 2, 5} {
		k := gaussianPair(1, 6)
		explore := k.draw(r, 500)
		plan := mustTune(t, explore, CalibrateRenyi(explore, alpha), alpha, 400, 0.05)
		sample := k.draw(r, 400)
		x, y := expand(sample, plan.H, plan.H)
		want, got := slowRenyi(x, y, alpha, plan.Lambda, 0.05), Renyi(sample, plan, 0.05)
		if got > want+1.001e-4 || got < want-3e-6 {
			t.Errorf("alpha %v: %v, slow twin %v to %v", alpha, got, want, want+1e-4)
		}
		if got > 0 {
			if p := RenyiPValue(sample, plan, got); p > 0.05 {
				t.Errorf("alpha %v: p-value %v at the bound", alpha, p)
			}
			if p := RenyiPValue(sample, plan, got+1e-5); p < 0.05 {
				t.Errorf("alpha %v: p-value %v above the bound", alpha, p)
			}
		}
	}
}

// Exact enumeration, no false alarms: where the published bound exceeds the divergence
// with probability .92 at nominal .05, Renyi does with at most .05.
func TestRenyiOnTheCounterexample(t *testing.T) {
	k, h := renyiCounterexample()
	const alpha, n, beta = counterexampleAlpha, counterexampleN, 0.05
	truth := k.renyi(alpha)
	plan := RenyiPlan{Alpha: alpha, Method: MethodRenyiBetting, H: clipAbove(h, h[0], alpha, k.q)}
	plan.Lambda = 0.95 / newRenyiWager(plan.H, alpha).floor()
	failed, above, below := 0.0, pmf(n, k.p[0]), pmf(n, k.q[0])
	lowX, highX := window(n, k.p[0], 12)
	for y := range 6 {
		wy := below[y]
		for x := lowX; x <= highX; x += 4 {
			// Four neighbouring x stand for one another; the bounds do not
			// change sign within them except at one place.
			weight := 0.0
			for d := range 4 {
				weight += above[x+d]
			}
			sample := NewTable(2)
			sample.N = []int{0, x, y, n - x - y}
			if Renyi(sample, plan, beta) > truth {
				failed += wy * weight
			}
		}
	}
	if failed > beta {
		t.Errorf("it fails with probability %v", failed)
	}
}

func TestRenyiBadInput(t *testing.T) {
	explore := NewTable(2)
	explore.N = []int{10, 10, 10, 10}
	for _, k := range []struct {
		h     []float64
		alpha float64
		want  string
	}{
		{[]float64{0, 1}, 1, "alpha is 1"},
		{[]float64{0, 1}, 0.5, "alpha is 0.5"},
		{[]float64{0, 1}, math.Inf(1), "alpha is +Inf"},
		{[]float64{0, 1}, math.NaN(), "alpha is NaN"},
		{[]float64{0, math.NaN()}, 2, "not a finite number"},
		{[]float64{0, math.Inf(1)}, 2, "not a finite number"},
		{[]float64{-400, 400}, 2, "it may span 300 (C = 150)"},
		{[]float64{-400, 400}, 2, "alpha may be 0.75"},
		{[]float64{0, 1, 2}, 2, "one value for each bin"},
		{nil, 2, "no values"},
	} {
		must.Refuse(t, must.Err(TuneRenyi(explore, k.h, k.alpha, 100, 0.05)), k.want, k.h, k.alpha)
	}
	// The widest that is allowed gives numbers.
	for _, h := range [][]float64{{-149, 149}, {0, 0}, {-299, 0}} {
		plan := mustTune(t, explore, h, 2, 100, 0.05)
		if v := Renyi(explore, plan, 0.05); v != 0 {
			t.Errorf("h %v: bound %v on equal sides, want 0", h, v)
		}
		if p := RenyiPValue(explore, plan, 1); !(p > 0 && p <= 1) {
			t.Errorf("h %v: p-value %v", h, p)
		}
	}
	bad := mustTune(t, explore, []float64{1, 0}, 2, 100, 0.05)
	for _, spoil := range []func(*RenyiPlan){
		func(p *RenyiPlan) { p.Method = "guess" },
		func(p *RenyiPlan) { p.Lambda = 5 },
		func(p *RenyiPlan) { p.Lambda = math.NaN() },
		func(p *RenyiPlan) { p.H = []float64{999, 999.5} },
	} {
		p := bad
		spoil(&p)
		if p.Validate() == nil {
			t.Errorf("%+v passes", p)
		}
	}
}

// With two bins there are no values between to clip at, and without clipping the
// rare bin makes the range of exp(alpha h) so large that nothing is certified.
func TestTuneRenyiClipsFewBins(t *testing.T) {
	pair, h := renyiCounterexample()
	r := rand.New(rand.NewPCG(37, 38))
	plan := mustTune(t, pair.draw(r, 20_000), h, counterexampleAlpha, 20_000, 0.05)
	sum := 0.0
	const runs = 10
	for range runs {
		sum += Renyi(pair.draw(r, 20_000), plan, 0.05)
	}
	if sum/runs < 0.1 {
		t.Errorf("%v certified on average, want .1 or more", sum/runs)
	}
}

// CalibrateRenyi is [CalibrateRenyiOrdered] bin by bin, without pooling.
func CalibrateRenyi(explore Table, alpha float64) []float64 {
	p, q := Smoothed(explore.First()), Smoothed(explore.Second())
	for i := range p {
		p[i] = max(-maxExponent/alpha/4, min(maxExponent/alpha/4, math.Log(p[i]/q[i])))
	}
	return p
}
