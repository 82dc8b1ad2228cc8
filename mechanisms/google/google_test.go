package google

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/differential-privacy/go/v3/noise"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

var catalogue = audit.Catalogue{Mechanisms: All(), Learners: estimators.Registry(), Finders: finders.All}

// draw makes n outputs.
func draw(t *testing.T, name string, params audit.Params, d audit.Dataset, n int) []float64 {
	t.Helper()
	spec := must.Get(catalogue.Mechanism(name))(t)
	m := must.Get(spec.Build(params))(t)
	out := make([]float64, n*audit.Width(m.Columns()))
	must.Do(t, m.Sample(d, nil, out))
	return out
}

// column is output column j of so many.
func column(out []float64, j, width int) []float64 {
	var c []float64
	for ; j < len(out); j += width {
		c = append(c, out[j])
	}
	return c
}

// slack is how far a share of n independent outcomes, or an empirical
// distribution of n, may be from the truth: it is farther with probability below
// 1e-9 (Dvoretzky, Kiefer and Wolfowitz with Massart's constant).
func slack(n int) float64 { return math.Sqrt(math.Log(2e9) / float64(2*n)) }

// follows compares the distribution of outputs with a cumulative distribution
// function. Lattice outputs are compared between their points.
func follows(t *testing.T, what string, values []float64, lattice bool, cdf func(float64) float64) {
	t.Helper()
	slices.Sort(values)
	n := float64(len(values))
	worst := 0.0
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		below, above := values[i], values[i]
		if lattice {
			below, above = below-0.5, above+0.5
		}
		worst = max(worst, math.Abs(float64(i)/n-cdf(below)), math.Abs(float64(j)/n-cdf(above)))
		i = j
	}
	if worst > slack(len(values)) {
		t.Errorf("%s: the distributions are %.4f apart, with more than %.4f", what, worst, slack(len(values)))
	}
}

func params(assignments ...string) audit.Params {
	p := audit.Params{}
	for _, a := range assignments {
		name, value, err := audit.ParseParam(a)
		if err != nil {
			panic(err)
		}
		p[name] = value
	}
	return p
}

// Every parameter reaches the library: outputs follow the law that its
// documentation gives for them. A correct test fails with probability below 2e-8.
func TestOutputsFollowTheLibrarysLaws(t *testing.T) {
	const n = 4000
	rows := func(columns int, values ...float64) audit.Dataset {
		return audit.Dataset{Columns: columns, Values: values}
	}
	out := draw(t, "google-laplace", params("epsilon=2", "l0-sensitivity=3", "linf-sensitivity=5"), rows(3, 1, 2, 3, 4, 4, -4), n)
	for j, sum := range []float64{5, 6, -1} {
		follows(t, "laplace", column(out, j, 3), false, distuv.Laplace{Mu: sum, Scale: 7.5}.CDF)
	}
	for _, name := range []string{"google-gaussian", "google-gaussian-float64"} {
		out = draw(t, name, params("epsilon=0.5", "delta=0.001", "l0-sensitivity=2", "linf-sensitivity=3"), rows(2, 1, -3), n)
		for j, sum := range []float64{1, -3} {
			follows(t, name, column(out, j, 2), name == "google-gaussian", distuv.Normal{Mu: sum, Sigma: noise.SigmaForGaussian(2, 3, 0.5, 0.001)}.CDF)
		}
	}
	// Noise on whole numbers is rounded: between two of them the law is as before.
	out = draw(t, "google-count", params("epsilon=0.5", "max-partitions-contributed=2"), rows(2, 1, 0, 1, 0, 1, 1), n)
	for j, count := range []float64{3, 1} {
		follows(t, "count", column(out, j, 2), true, distuv.Laplace{Mu: count, Scale: 4}.CDF)
	}
	out = draw(t, "google-count", params("noise=gaussian", "delta=0.01"), rows(1, 1), n)
	follows(t, "gaussian count", out, true, distuv.Normal{Mu: 1, Sigma: noise.SigmaForGaussian(1, 1, 1, 0.01)}.CDF)
	out = draw(t, "google-count-repeated", params("epsilon=1"), rows(1, 3, 2), n)
	follows(t, "repeated count", out, true, distuv.Laplace{Mu: 5, Scale: 1}.CDF)
	out = draw(t, "google-bounded-sum", params("lower=-4", "upper=2"), rows(1, -9, 7, 1), n)
	follows(t, "sum", out, false, distuv.Laplace{Mu: -1, Scale: 4}.CDF)
	out = draw(t, "google-bounded-sum", params("type=int64", "lower=-1", "upper=6"), rows(1, -9, 7, 1), n)
	follows(t, "whole sum", out, true, distuv.Laplace{Mu: 6, Scale: 6}.CDF)
	for kind, lattice := range map[string]bool{"type=float64": false, "type=int64": true} { // in two partitions
		out = draw(t, "google-bounded-sum", params(kind, "lower=-1", "upper=3", "max-partitions-contributed=2"), rows(2, 2, -9, 1, 1), n)
		for j, sum := range []float64{3, 0} {
			follows(t, "sums, "+kind, column(out, j, 2), lattice, distuv.Laplace{Mu: sum, Scale: 6}.CDF)
		}
	}
	out = draw(t, "google-bounded-sum-unbounded-contribution", params("contributed=3"), rows(3, 1, 0, 1), n)
	for j, sum := range []float64{1, 0, 1} {
		follows(t, "sums", column(out, j, 3), false, distuv.Laplace{Mu: sum, Scale: 1}.CDF)
	}
	out = draw(t, "google-bounded-mean-budget-twice", params("upper=2"), rows(1, 3, 1), n)
	follows(t, "sum of the mean", column(out, 0, 2), false, distuv.Laplace{Mu: 3, Scale: 2}.CDF)
	follows(t, "count of the mean", column(out, 1, 2), true, distuv.Laplace{Mu: 2, Scale: 1}.CDF)
}

// What docs/findings/gaussian-doubles.md proves: an odd multiple of the granularity is never an
// output on a sum of 1, and one in 19 is on a sum of 0. Fewer than half as many of so many are by a
// chance below 1e-12.
func TestLastBitsOfGaussianNoise(t *testing.T) {
	const n = 4000
	sigma := noise.SigmaForGaussian(1, 1, 1, 1e-5)
	if granularity := math.Exp2(math.Ceil(math.Log2(2 * sigma / math.Exp2(57)))); sigma != 3.732421875 || granularity != math.Exp2(-54) {
		t.Fatalf("sigma is %v, the granularity %v", sigma, granularity)
	}
	for _, sum := range []float64{0, 1} {
		odd := 0
		for _, v := range draw(t, "google-gaussian-float64", nil, audit.Dataset{Columns: 1, Values: []float64{sum}}, n) {
			if math.Abs(math.Mod(math.Ldexp(v, 54), 2)) == 1 {
				odd++
			}
		}
		if none := odd == 0; none != (sum == 1) || !none && odd < n/40 {
			t.Errorf("on a sum of %v %d of %d outputs are odd", sum, odd, n)
		}
	}
}

// The mean of c contributions is its lower end where the noisy sum is below
// -max(1, noisy count) times half the range: a sum over the count's law. The
// quantile between two leaves is in the middle where no noisy count is above 0.
// A correct test fails with probability below 1e-8.
func TestSharesOfMeanAndQuantiles(t *testing.T) {
	const n = 4000
	share := func(what string, values []float64, at, want float64) {
		t.Helper()
		k := 0
		for _, v := range values {
			if v == at {
				k++
			}
		}
		if got := float64(k) / float64(len(values)); math.Abs(got-want) > slack(len(values)) {
			t.Errorf("%s: a share of %.4f at %v, want %.4f", what, got, at, want)
		}
	}
	// epsilon is halved; the sum's sensitivity is 2 contributions times half the range of 4.
	for _, units := range []float64{0, 1} {
		sum, count := distuv.Laplace{Mu: units * 2 * 2, Scale: 4 / 0.5}.CDF, distuv.Laplace{Mu: units * 2, Scale: 2 / 0.5}.CDF
		lower := 0.0
		for k := -400.0; k < 400; k++ {
			lower += (count(k+0.5) - count(k-0.5)) * sum(-2*max(1, k))
		}
		d := audit.Dataset{Columns: 2}
		if units > 0 {
			d.Values = []float64{9, 1}
		}
		share("mean", draw(t, "google-bounded-mean", params("lower=-3", "upper=1", "max-contributions-per-partition=2"), d, n), -3, lower)
	}
	// Of two partitions each gets half of epsilon.
	sum, count, lower := distuv.Laplace{Scale: 4 / 0.5}.CDF, distuv.Laplace{Scale: 2 / 0.5}.CDF, 0.0
	for k := -400.0; k < 400; k++ {
		lower += (count(k+0.5) - count(k-0.5)) * sum(-2*max(1, k))
	}
	share("mean of two partitions", column(draw(t, "google-bounded-mean", params("lower=-3", "upper=1", "max-partitions-contributed=2"), audit.Dataset{Columns: 2}, n), 0, 2), -3, lower)
	for _, c := range []struct {
		param string
		d     audit.Dataset
		want  float64
	}{
		{"ranks=1", audit.Records(1), math.Exp(-1) / 4},
		{"max-partitions-contributed=2", audit.Dataset{Columns: 2, Values: []float64{1, 0}}, math.Exp(-0.5) / 4},
		{"max-contributions-per-partition=2", audit.Dataset{Columns: 2, Values: []float64{1, 0}}, math.Exp(-1) / 4}, // one in each leaf
	} {
		out := draw(t, "google-quantiles", params("ranks=1", c.param), c.d, 4*n)
		share("quantile, "+c.param, column(out, 0, len(out)/(4*n)), 0.5, c.want)
	}
	// One object answers all ranks from the same counts, one for every rank does not.
	both := func(out []float64) []float64 {
		var v []float64
		for i := 0; i < len(out); i += 2 {
			if out[i] == 1./3 && out[i+1] == 2./3 {
				v = append(v, 1)
			} else {
				v = append(v, 0)
			}
		}
		return v
	}
	share("quantiles", both(draw(t, "google-quantiles", nil, audit.Dataset{Columns: 1}, n)), 1, 0.25)
	share("quantiles anew", both(draw(t, "google-quantiles-budget-twice", nil, audit.Dataset{Columns: 1}, n)), 1, 0.0625)
}

// No mechanism is flagged, and every misuse is. A bound is above a claim that is
// kept with probability at most 1e-6. Bounds of misuses were on average eight or
// more of their standard deviations above the claim, and never below 1.4, in 12 runs
// each.
func TestEveryMechanism(t *testing.T) {
	testsize.Native(t)
	type settings struct {
		samples int
		params  audit.Params
	}
	of := map[string]settings{ // others: 3000, or fewer in the short tests, at default parameters
		"google-laplace-wrong-sensitivity":          {4000, params("most=3")},
		"google-gaussian-float64":                   {5000, nil},
		"google-gaussian-wrong-sensitivity":         {12_000, params("most=6")},
		"google-count-repeated":                     {3000, nil},
		"google-bounded-sum-unbounded-contribution": {5000, params("contributed=3")},
		"google-bounded-mean-budget-twice":          {9000, nil},
		"google-quantiles-budget-twice":             {8000, params("ranks=3")},
	}
	for _, spec := range All() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			set := of[spec.Name]
			p := must.Get(audit.ResolveParams(spec.Params, set.params, audit.Claim{}))(t)
			samples := max(set.samples, testsize.Of(1000, 3000))
			neighbours := spec.Pairs(p, audit.AddRemove)[0]
			r := dptest.TestMechanism(t, spec, pair.Plan{Parameters: set.params, Pair: &neighbours, Trials: 1, Samples: samples, Explore: samples, Beta: 1e-6})
			if r.Inputs.Unseeded == "" || !strings.Contains(r.Reproduce.Note, "takes no seed") {
				t.Errorf("the report does not say that it cannot be replayed: %+v", r.Reproduce)
			}
		})
	}
}

// What the library refuses is refused before anything runs.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		p    audit.Params
		says string
	}{
		{"google-bounded-sum", params("lower=2", "upper=1"), "lower 2 and upper 1"},
		{"google-bounded-mean", params("lower=1", "upper=1"), "lower 1 and upper 1"},
		{"google-quantiles", params("lower=1", "upper=0"), "lower 1 and upper 0"},
		{"google-bounded-sum", params("type=int64", "upper=0.5"), "whole numbers"},
		{"google-count", params("noise=cauchy"), "noise"},
		{"google-laplace", params("linf-sensitivity=0"), "linf-sensitivity"},
	} {
		spec := must.Get(catalogue.Mechanism(c.name))(t)
		must.Input(t, must.Err(spec.Build(c.p)), c.says, c.name, c.p)
	}
	spec := countSpec.spec()
	m := must.Get(spec.Build(nil))(t)
	for _, d := range []audit.Dataset{{Columns: 2}, audit.Records(math.NaN())} {
		must.Refuse(t, m.Sample(d, stream.New(stream.Key{}), make([]float64, 1)), "", d, "was taken")
	}
}
