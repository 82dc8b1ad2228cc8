package accounting

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/must"
)

func TestAnswer(t *testing.T) {
	a := must.Get(Answer(Query{Mechanism: KindGaussian, Sigma: new(1.0), Rate: new(0.01), Steps: new(1000), AtEpsilon: new(2.0), Delta: new(1e-5)}))(t)
	c := Repeat{SubsampledGaussian{1, 1, 0.01}, 1000}
	by := func(all []Guarantee, m Method) Guarantee {
		return all[slices.IndexFunc(all, func(g Guarantee) bool { return g.Method == m })]
	}
	want := BestEpsilon(c, 1e-5, Tight)
	if got := by(a.Epsilons, MethodTight).Epsilon; got < want.Epsilon || got > want.Epsilon*(1+2e-6) {
		t.Errorf("epsilon %v, want %v rounded up", got, want.Epsilon)
	}
	if delta, got := BestDelta(c, 2, Tight).Delta, by(a.Deltas, MethodTight).Delta; got < delta || got > delta*(1+2e-6) {
		t.Errorf("delta %v, want %v rounded up", got, delta)
	}
	// The law of the loss is the least way, from both sides.
	losses := Composition{{SubsampledGaussian{1, 1, 0.01}, 1000}}
	lower, upper := losses.Epsilon(1e-5)
	if g := by(a.Epsilons, MethodLosses); g.Epsilon != *a.Epsilon || g.Epsilon < upper || g.Epsilon > upper*(1+2e-6) || *g.AtLeast > lower || *g.AtLeast < lower*(1-2e-6) {
		t.Errorf("%+v at least %v, want [%v, %v]", g, *g.AtLeast, lower, upper)
	}
	lower, upper = losses.Delta(2)
	if g := by(a.Deltas, MethodLosses); g.Delta != *a.Delta || g.Delta < upper || g.Delta > upper*(1+2e-6) || *g.AtLeast > lower || *g.AtLeast < lower*(1-2e-6) {
		t.Errorf("%+v, want [%v, %v]", g, lower, upper)
	}
	if len(a.Curve) != len(defaultOrders) || a.MaxDivergence != nil || a.KL == nil {
		t.Errorf("%d points, max %v, kl %v", len(a.Curve), a.MaxDivergence, a.KL)
	}
	if a.Title != "1000 steps of Gaussian noise, sigma 1, sensitivity 1, Poisson sampling at rate 0.01" {
		t.Error(a.Title)
	}

	// A composition of Gaussians is one: exact, whatever the split.
	once := must.Get(Answer(Query{Mechanism: KindGaussian, Sigma: new(2.0)}))(t)
	often := must.Get(Answer(Query{Mechanism: KindGaussian, Sigma: new(20.0), Steps: new(100)}))(t)
	dp := must.Get(Answer(Query{Mechanism: KindGaussianDP, Mu: new(0.25), Group: new(2)}))(t)
	if exact := GaussianEpsilon(2, 1, 1e-5); math.Abs(*once.Epsilon-exact) > 2e-6*exact || *often.Epsilon != *once.Epsilon || *dp.Epsilon != *once.Epsilon {
		t.Errorf("epsilon %v, %v in 100 steps, %v as mu, want %v", *once.Epsilon, *often.Epsilon, *dp.Epsilon, exact)
	}

	// Pure privacy of one step is itself; delta 0 suffices.
	pure := must.Get(Answer(Query{Mechanism: KindLaplace, Scale: new(2.0), Sensitivity: new(4.0)}))(t)
	i := slices.IndexFunc(pure.Epsilons, func(g Guarantee) bool { return g.Method == MethodBasic })
	if i < 0 || pure.Epsilons[i].Epsilon != 2 || pure.Epsilons[i].Delta != 0 || *pure.MaxDivergence != 2 {
		t.Errorf("%+v", pure)
	}

	// No curve without a Renyi guarantee; no answer where delta is spent.
	rough, err := Answer(Query{Mechanism: KindApproximate, Epsilon: new(0.1), StepDelta: new(1e-3), Steps: new(50)})
	if err != nil || len(rough.Curve) != 0 || rough.Epsilon != nil || len(rough.Epsilons) != 0 || !strings.Contains(strings.Join(rough.Notes, " "), "No finite epsilon") {
		t.Errorf("%+v, %v", rough, err)
	}
	rough, err = Answer(Query{Mechanism: KindApproximate, Epsilon: new(0.1), StepDelta: new(1e-9), Steps: new(50), Group: new(2)})
	if err != nil || rough.Epsilon == nil || rough.Epsilons[0].Method != MethodOptimal || rough.Epsilons[0].Exact {
		t.Errorf("%+v, %v", rough, err)
	}
}

func TestAnswerOrders(t *testing.T) {
	a, err := Answer(Query{Mechanism: KindRenyi, Alpha: new(8.0), Epsilon: new(0.5), Orders: []float64{2, 4, 8, 16}})
	if err != nil || len(a.Curve) != 3 {
		t.Fatalf("%+v, %v", a.Curve, err)
	}
	for _, g := range a.Epsilons {
		if g.Order == nil || *g.Order != 8 {
			t.Errorf("%s takes order %v, want 8", g.Method, g.Order)
		}
	}
}

// The noise that a target needs, and the account of it.
func TestAnswerTarget(t *testing.T) {
	for _, q := range []Query{
		{Mechanism: KindGaussian, Rate: new(0.01), Steps: new(1000), TargetEpsilon: new(2.0), Sensitivity: new(3.0)},
		{Mechanism: KindLaplace, Steps: new(20), TargetEpsilon: new(1.0), Delta: new(1e-4), Group: new(2)},
		{Mechanism: KindGaussian, Steps: new(16), TargetEpsilon: new(1.0)},
	} {
		a := must.Get(Answer(q))(t)
		if noise := **a.Query.noise(); noise != a.Needed.Noise || a.Needed.Parameter != q.Mechanism.Parameters()[0] {
			t.Errorf("%+v, accounted at %v", a.Needed, noise)
		}
		if !(*a.Epsilon <= *q.TargetEpsilon*(1+2e-6) && *a.Epsilon > *q.TargetEpsilon*0.999) {
			t.Errorf("%+v gives epsilon %v, asked %v", a.Needed, *a.Epsilon, *q.TargetEpsilon)
		}
		// Noise that is given stays, and what is needed is the same.
		given := q
		*given.noise() = new(7.0)
		b, err := Answer(given)
		if err != nil || **b.Query.noise() != 7 || *b.Needed != *a.Needed {
			t.Errorf("%+v, %v", b, err)
		}
	}
	// 4 steps of sigma 4 are one of sigma 1: analytic.
	if a, _ := Answer(Query{Mechanism: KindGaussian, Steps: new(16), TargetEpsilon: new(1.0)}); math.Abs(a.Needed.Noise-4*3.730631634816162) > 1e-5 {
		t.Errorf("%+v", a.Needed)
	}
}

func TestQueryRefuses(t *testing.T) {
	good := func(change func(*Query)) Query {
		q := Query{Mechanism: KindGaussian, Sigma: new(1.0)}
		change(&q)
		return q
	}
	for _, k := range []struct {
		q           Query
		field, want string
	}{
		{Query{}, "mechanism", "known kind"},
		{Query{Mechanism: "gausian"}, "mechanism", "known kind"},
		{Query{Mechanism: KindGaussian}, "sigma", "it for"},
		{good(func(q *Query) { q.Sigma = new(0.0) }), "sigma", "above 0"},
		{good(func(q *Query) { q.Sigma = new(math.Inf(1)) }), "sigma", "finite"},
		{good(func(q *Query) { q.Sigma = new(math.NaN()) }), "sigma", "finite"},
		{good(func(q *Query) { q.Scale = new(1.0) }), "scale", "absent for gaussian"},
		{good(func(q *Query) { q.Sensitivity = new(-1.0) }), "sensitivity", "above 0"},
		{good(func(q *Query) { q.Rate = new(0.0) }), "rate", "above 0 and at most 1"},
		{good(func(q *Query) { q.Rate = new(1.5) }), "rate", "above 0 and at most 1"},
		{good(func(q *Query) { q.Rate = new(math.NaN()) }), "rate", "above 0 and at most 1"},
		{good(func(q *Query) { q.Rate, q.Sigma = new(0.5), new(0.01) }), "sigma/sensitivity", "0.05"},
		{good(func(q *Query) { q.Steps = new(0) }), "steps", "[1,"},
		{good(func(q *Query) { q.Group = new(0) }), "group", "[1,"},
		{good(func(q *Query) { q.Group = new(1 << 21) }), "group", "[1,"},
		{good(func(q *Query) { q.Delta = new(0.0) }), "delta", "above 0"},
		{good(func(q *Query) { q.Delta = new(1.0) }), "delta", "below 1"},
		{good(func(q *Query) { q.Delta = new(math.NaN()) }), "delta", "below 1"},
		{good(func(q *Query) { q.AtEpsilon = new(-0.1) }), "atEpsilon", "at least 0"},
		{good(func(q *Query) { q.Orders = []float64{2, 0.5} }), "orders[1]", "at least 1"},
		{good(func(q *Query) { q.Orders = []float64{2, 1} }), "orders[1]", "above the previous order"},
		{good(func(q *Query) { q.Event = []float64{0.5, 1} }), "event[1]", "below 1"},
		{good(func(q *Query) { q.Odds = []float64{1} }), "odds[0]", "above 1"},
		{good(func(q *Query) { q.Odds = make([]float64, 101) }), "odds", "at most 100"},
		{good(func(q *Query) { q.With = "laplac scale=1" }), "with[0].mechanism", "a known kind"},
		{good(func(q *Query) { q.With = "laplace scale=1;" }), "with[1].mechanism", "a kind and its parameters"},
		{good(func(q *Query) { q.With = "laplace scale=0" }), "with[0].scale", "above 0"},
		{good(func(q *Query) { q.With = "laplace scale=1 delta=0.1" }), "with[0].setting", "a known name"},
		{good(func(q *Query) { q.With, q.TargetEpsilon = "laplace scale=1", new(1.0) }), "targetEpsilon", "absent beside with"},
		{good(func(q *Query) { q.Orders = []float64{2, 2} }), "orders[1]", "above the previous order"},
		{good(func(q *Query) { q.Orders = []float64{math.Inf(1)} }), "orders[0]", "at least 1"},
		{good(func(q *Query) { q.Orders = make([]float64, 1001) }), "orders", "at most 1000"},
		{Query{Mechanism: KindRandomisedResponse, P: new(0.7), Rate: new(0.5)}, "rate", "absent for randomised"},
		{Query{Mechanism: KindRandomisedResponse, P: new(0.7), TargetEpsilon: new(0.5)}, "targetEpsilon", "absent for randomised"},
		{good(func(q *Query) { q.TargetEpsilon = new(0.0) }), "targetEpsilon", "in ["},
		{good(func(q *Query) { q.TargetEpsilon, q.Rate, q.Group = new(1.0), new(0.5), new(2) }), "targetEpsilon", "groups"},
		{Query{Mechanism: KindPure, Epsilon: new(1.0), Sensitivity: new(1.0)}, "sensitivity", "absent for pure"},
		{Query{Mechanism: KindRandomisedResponse, P: new(1.0)}, "p", "below 1"},
		{Query{Mechanism: KindPure, Epsilon: new(-1.0)}, "epsilon", "at least 0"},
		{Query{Mechanism: KindApproximate, Epsilon: new(1.0)}, "stepDelta", "it for"},
		{Query{Mechanism: KindApproximate, Epsilon: new(1.0), StepDelta: new(1.0)}, "stepDelta", "below 1"},
		{Query{Mechanism: KindApproximate, Epsilon: new(math.Inf(1)), StepDelta: new(0.1)}, "epsilon", "finite"},
		{Query{Mechanism: KindRenyi, Alpha: new(1.0), Epsilon: new(1.0)}, "alpha", "above 1"},
		{Query{Mechanism: KindRenyi, Alpha: new(3.0), Epsilon: new(1.0), Group: new(2)}, "alpha", "at least 4"},
		{Query{Mechanism: KindConcentrated, Rho: new(math.NaN())}, "rho", "at least 0"},
		{Query{Mechanism: KindGaussianDP, Mu: new(0.0)}, "mu", "above 0"},
	} {
		_, err := Answer(k.q)
		var in *audit.InputError
		if !errors.As(err, &in) || in.Field != k.field || !strings.Contains(in.Want, k.want) || in.Found == "" {
			t.Errorf("%+v: %v, want a fault of %s: %s", k.q, err, k.field, k.want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for x, want := range map[float64]float64{
		10.000000000000002: 10, 0.1: 0.1, 1.2345670001: 1.234568, 1.234567: 1.234567, 123456789: 123456800, 9.99999995: 10, 0: 0,
		3.14159265e-20: 3.141593e-20, 2.000001e12: 2.000001e12, 2.0000011e12: 2.000002e12,
	} {
		if got := roundUp(x); math.Abs(got-want) > 1e-15*want {
			t.Errorf("%v rounds up to %v, want %v", x, got, want)
		}
	}
	r := rand.New(rand.NewPCG(17, 18))
	for range 10_000 {
		x := math.Exp(200*r.Float64() - 100)
		if got := roundUp(x); got < x || got > x*(1+1.1e-6) {
			t.Errorf("%v rounds up to %v", x, got)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"order":     func() { Gaussian{1, 1}.At(0.5) },
		"order NaN": func() { PureDP{1}.At(math.NaN()) },
		"delta":     func() { BestEpsilon(PureDP{1}, 0, Tight) },
		"epsilon":   func() { BestDelta(PureDP{1}, -1, Tight) },
		"convert":   func() { Tight.epsilon(-1, 2, 0.1, math.Inf(1)) },
		"NaN":       func() { Tight.Delta(math.NaN(), 2, 1) },
		"steps":     func() { OptimalDelta(1, 0, 0, 1) },
		"group":     func() { Group(PureDP{1}, 0) },
		"noise":     func() { GaussianDelta(0, 1, 1) },
		"preserve":  func() { Preserve(2, 1, 2) },
	} {
		must.Panic(t, name, call)
	}
}

// BenchmarkAnswer accounts for 10^4 steps of DP-SGD: epsilon at a delta, the noise for a
// target, and the curve.
func BenchmarkAnswer(b *testing.B) {
	for _, asked := range []struct {
		name string
		q    Query
	}{{"epsilon", Query{}}, {"noise", Query{TargetEpsilon: new(2.0)}}, {"curve", Query{Profile: true}}} {
		for _, rate := range []float64{1e-4, 0.01, 0.5} {
			b.Run(fmt.Sprintf("%s/rate=%v", asked.name, rate), func(b *testing.B) {
				q := asked.q
				q.Mechanism, q.Sigma, q.Rate, q.Steps = KindGaussian, new(1.1), &rate, new(10_000)
				for b.Loop() {
					must.Get(Answer(q))(b)
				}
			})
		}
	}
}
