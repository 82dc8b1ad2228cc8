package estimators

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// quick are the learners that are used by name, networks cut to a size that
// tests can afford.
var quick = []audit.LearnerSpec{
	mlp("mlp-small", MLPOptions{Hidden: [2]int{9, 6}, Epochs: 2}),
	mlp("mlp-small-renyi", MLPOptions{Hidden: [2]int{5, 7}, Epochs: 2, Loss: RenyiLoss, Rate: 0.01}),
	chebyshev,
	logisticVector(),
	kernelMean("kernel-mean-small", 20, 1),
	histogramTester,
	floatBits,
}

// The learners of these options, as they are registered.
var (
	usualNetwork = mlp("mlp", MLPOptions{})
	usualKernels = mmdTester()
)

// correlated is a pair of normal coordinates whose correlation is 0.6 on the
// first side and -0.6 on the second: each coordinate alone says nothing.
func correlated() scenario {
	const rho = 0.6
	rest := math.Sqrt(1 - rho*rho)
	return scenario{
		name: "correlated", columns: realColumns(2),
		draw: func(s *stream.Stream, side int, out []float64) {
			s.Gaussian(out, 1)
			sign := float64(1 - 2*side)
			for i := 0; i < len(out); i += 2 {
				out[i+1] = sign*rho*out[i] + rest*out[i+1]
			}
		},
		ratio: func(row []float64) float64 { return 2 * rho * row[0] * row[1] / (1 - rho*rho) },
	}
}

// halfShift is N(0, 1) against N(0.5, 1).
func halfShift() scenario {
	return scenario{
		name: "half", columns: realColumns(1),
		draw: func(s *stream.Stream, side int, out []float64) {
			s.Gaussian(out, 1)
			for i := range out {
				out[i] += float64(side) * 0.5
			}
		},
		ratio: func(row []float64) float64 { return 0.5 * (0.25 - row[0]) },
	}
}

// TestNamedLearnersReachTheOptimum is TestLearnersReachTheOptimum for learners
// that are used by name. Over seeds 1 to 40 no row failed, so that a row's
// false-alarm rate under another seed is below 8 %, with 95 % confidence.
func TestNamedLearnersReachTheOptimum(t *testing.T) {
	nativetest.Only(t)
	for _, c := range namedOptima {
		if !gear.All() && c.learner.Name == "mlp" && c.scenario.name != "laplace" {
			continue // a network learns for seconds
		}
		got, best := found(t, c.scenario, c.learner, 20000)
		if got < c.fraction*best {
			t.Errorf("%s on %s: %.4f, want at least %.2f of %.4f", c.learner.Name, c.scenario.name, got, c.fraction, best)
		}
	}
}

var namedOptima = []struct {
	learner  audit.LearnerSpec
	scenario scenario
	fraction float64
}{
	{usualNetwork, laplaceShift(1), 0.93},
	{usualNetwork, halfShift(), 0.85},
	{usualNetwork, svt6(5, 1), 0.80},
	{usualNetwork, mixedScenario(), 0.90},
	{chebyshev, laplaceShift(1), 0.93},
	{chebyshev, halfShift(), 0.60},
	{logisticVector(), svt6(5, 1), 0.85},
	{usualKernels, laplaceShift(1), 0.85},
	{usualKernels, svt6(5, 1), 0.45},
	{histogramTester, laplaceShift(1), 0.85},
	{histogramTester, discrete(), 0.90},
}

// A sum over columns sees of a correlation only that x - y spreads more on one
// side; the network sees the product. Seeds 1 to 40 gave at most 0.87 and at
// least 0.93 of the two ratios: a false alarm under another seed is below 8 %, with 95 %
// confidence.
func TestNetworkSeesCorrelations(t *testing.T) {
	c := correlated()
	sum, best := found(t, c, logistic, 20000)
	network, _ := found(t, c, usualNetwork, 20000)
	if sum > 0.9*network || network < 0.85*best {
		t.Errorf("logistic %.4f and network %.4f of %.4f; want the network well ahead", sum, network, best)
	}
}

// The papers' 2 x 100 network with their objective; one small run, as it takes a
// second.
func TestPublishedNetwork(t *testing.T) {
	gear.Long(t)
	got, best := found(t, laplaceShift(1), renyiTester(), 1500)
	if got < 0.8*best {
		t.Errorf("%s: %.4f of %.4f", renyiTester().Name, got, best)
	}
}

// renyiOf is R^h of fresh outputs, 2*10^5 a side.
func renyiOf(t *testing.T, c scenario, m audit.Model, alpha float64) float64 {
	t.Helper()
	const n = 200000
	var log [2]float64
	for side, rate := range [2]float64{alpha - 1, alpha} {
		h := make([]float64, n)
		m.Score(c.samples("renyi", side, n).Rows, h)
		log[side] = softmax(h, rate, make([]float64, n))
	}
	return alpha/(alpha-1)*log[0] - log[1]
}

// Under a Rényi claim, witnesses reach the divergence of Gaussians, alpha mu^2
// / 2 = 0.25, but for 8 %. The estimate of R^h from 2*10^5 outputs a side has a
// standard error of 1.2 % of it (E e^{4h} / (E e^{2h})^2 = e^{1.0} at h = log
// p/q), so at most 8.8 % are lost by accident with probability 1e-6 where the
// witness itself loses 3 %.
func TestRenyiWitness(t *testing.T) {
	nativetest.Only(t)
	c := halfShift()
	ex := c.exploration(20000)
	ex.Claim = audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 0.25}
	small, err := MLP("mlp-renyi", MLPOptions{Loss: RenyiLoss, Batch: 512})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range gear.Of([]audit.LearnerSpec{chebyshev}, []audit.LearnerSpec{usualNetwork, small, chebyshev}) {
		m, err := spec.Learn(ex)
		if err != nil {
			t.Fatal(err)
		}
		got := renyiOf(t, c, m, 2)
		t.Logf("%s: %.4f of 0.25", spec.Name, got)
		if got < 0.92*0.25 || got > 1.06*0.25 {
			t.Errorf("%s: R^h = %.4f, want 0.25 but for 8 %%", spec.Name, got)
		}
	}
}

// The grid of a double tells what its noise was added to, where its value does
// not: the mechanisms' exact noise, added in floating point.
func TestFloatBitsSeeTheGrid(t *testing.T) {
	c := laplaceShift(1)
	got, best := found(t, c, floatBits, 10000)
	if got < 3*best {
		t.Errorf("bits show %.4f, the value %.4f at best; want at least three times as much", got, best)
	}
}

func TestNamedLearnersFindNothingInNothing(t *testing.T) {
	c := gaussianVector()
	for _, spec := range []audit.LearnerSpec{usualNetwork, usualKernels, logisticVector()} {
		m, err := spec.Learn(exploring(c.samples("a", 0, 10000), c.samples("b", 0, 10000)))
		if err != nil {
			t.Fatal(err)
		}
		var scores [2][]float64
		for side, purpose := range []string{"c", "d"} {
			scores[side] = make([]float64, 10000)
			m.Score(c.samples(purpose, 0, 10000).Rows, scores[side])
		}
		// The best of thousands of bounds at two standard errors: noise.
		if got, _, _ := sweep(scores[0], scores[1]); got > 0.3 {
			t.Errorf("%s: shows %.4f between equal distributions", spec.Name, got)
		}
	}
}

func TestWhoIsInThePortfolio(t *testing.T) {
	for _, s := range All {
		if s.ByName {
			t.Errorf("%s is in the portfolio's registry, but by name only", s.Name)
		}
	}
	c := laplaceShift(1)
	for _, s := range Named() {
		if !s.ByName {
			t.Errorf("%s would be in the portfolio", s.Name)
		}
		if _, err := s.Learn(exploring(c.samples("train", 0, 10), c.samples("train", 1, 0))); err == nil || !strings.Contains(err.Error(), "10 and 0 outputs") {
			t.Errorf("%s: error %v", s.Name, err)
		}
	}
}

func TestLearnerOptionsAreChecked(t *testing.T) {
	network := func(o MLPOptions) error { _, err := MLP("x", o); return err }
	for _, c := range []struct {
		err  error
		says string
	}{
		{network(MLPOptions{Hidden: [2]int{0, 8}}), "x.hidden is 0"},
		{network(MLPOptions{Hidden: [2]int{8, 257}}), "in [1, 256]"},
		{network(MLPOptions{Bound: -1}), "x.bound is -1"},
		{network(MLPOptions{Bound: math.NaN()}), "NaN"},
		{network(MLPOptions{Epochs: -1}), "x.epochs"},
		{network(MLPOptions{Rate: math.Inf(1)}), "x.rate"},
		{network(MLPOptions{Batch: 1 << 20}), "x.batch"},
		{network(MLPOptions{Loss: "square"}), "hockey-stick"},
	} {
		if c.err == nil || !audit.IsInput(c.err) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("error %v, want one that says %q", c.err, c.says)
		}
	}
}

// A bound past what alpha bears is refused, and the largest said; presets cut
// theirs.
func TestBoundsFitAlpha(t *testing.T) {
	ex := laplaceShift(1).exploration(200)
	ex.Claim = audit.Claim{Kind: audit.Renyi, Alpha: 20, Epsilon: 10}
	wide, _ := MLP("wide", MLPOptions{Bound: 50})
	if _, err := wide.Learn(ex); err == nil || !strings.Contains(err.Error(), "at most 35 at alpha 20") {
		t.Errorf("error %v", err)
	}
	small := MLPOptions{Hidden: [2]int{4, 4}, Loss: RenyiLoss, perEpsilon: 16}
	cut, _ := MLP("cut", small)
	m, err := cut.Learn(ex)
	if err != nil || m.(*mlpModel).Bound != 35 {
		t.Errorf("bound %v, error %v; want 16 epsilon cut to 35", m, err)
	}
	ex.Claim.Alpha = 1e9
	for _, spec := range []audit.LearnerSpec{usualNetwork, chebyshev} {
		if _, err := spec.Learn(ex); err == nil || !strings.Contains(err.Error(), "in (1, 700]") {
			t.Errorf("%s at alpha 1e9: error %v", spec.Name, err)
		}
	}
}

func TestDivergenceIsSaid(t *testing.T) {
	for _, loss := range []Loss{AutoLoss, RenyiLoss} {
		spec, err := MLP("hot", MLPOptions{Rate: 1e5, Loss: loss, Hidden: [2]int{8, 8}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := spec.Learn(laplaceShift(1).exploration(500)); err == nil || !strings.Contains(err.Error(), "diverges in epoch 1") {
			t.Errorf("loss %q at rate 1e5: error %v", loss, err)
		}
	}
}
