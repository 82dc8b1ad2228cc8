package accounting

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// coins is D_alpha of coins of p and q.
func coins(p, q, alpha float64) float64 {
	return math.Log(math.Pow(p, alpha)*math.Pow(q, 1-alpha)+math.Pow(1-p, alpha)*math.Pow(1-q, 1-alpha)) / (alpha - 1)
}

// The optimal conversion holds for every pair of coins, is attained by one, and is nowhere
// above the tight one.
func TestOptimalConversion(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 5))
	for range testsize.Of(500, 3000) {
		p, q, alpha := r.Float64(), r.Float64(), 1+math.Exp(8*r.Float64()-4)
		eps := 2 * r.Float64()
		d := coins(p, q, alpha)
		if math.IsInf(d, 0) || math.IsNaN(d) || d < 1e-9 {
			continue
		}
		delta := Optimal.Delta(d, alpha, eps)
		if tight := Tight.Delta(d, alpha, eps); delta > tight*(1+1e-9) {
			t.Errorf("d %v alpha %v eps %v: optimal delta %v above tight %v", d, alpha, eps, delta, tight)
		}
		if seen := p - math.Exp(eps)*q; seen > delta*(1+1e-7)+1e-12 {
			t.Errorf("coins %v %v alpha %v eps %v: %v seen, at most %v allowed", p, q, alpha, eps, seen, delta)
		} else if seen > 1e-6 && seen < 0.999 {
			if least := p - math.Exp(Optimal.epsilon(d, alpha, seen, math.Inf(1)))*q; least > seen*(1+1e-6)+1e-9 {
				t.Errorf("coins %v %v alpha %v: epsilon at delta %v does not hold: %v", p, q, alpha, seen, least)
			}
		}
	}
	for _, k := range []struct{ d, alpha, eps float64 }{{0.5, 2, 0.01}, {0.3, 1.1, 0.2}, {1, 10, 1e-6}, {3, 2, 1}, {0.01, 64, 0.05}} {
		met := 0.0
		for p := 0.002; p < 1; p += 0.002 {
			_, q := bounds.Bisect(0, p, 1e-12, func(q float64) bool { return !(coins(p, q, k.alpha) <= k.d) })
			met = math.Max(met, p-math.Exp(k.eps)*q) // of the least q whose coin is not too far
		}
		if delta := Optimal.Delta(k.d, k.alpha, k.eps); math.Abs(delta-met) > 2e-3*delta {
			t.Errorf("%+v: delta %v, coins attain %v", k, delta, met)
		} else if eps := Optimal.epsilon(k.d, k.alpha, delta, math.Inf(1)); math.Abs(eps-k.eps) > 1e-6 {
			t.Errorf("%+v: epsilon %v at its delta", k, eps)
		}
	}
	for _, sigma := range []float64{0.5, 1, 4} {
		for _, eps := range []float64{0, 0.1, 1, 3} {
			curve, exact := Gaussian{sigma, 1}, GaussianDelta(sigma, 1, eps)
			if v := BestDelta(curve, eps, Optimal).Delta; v < exact || v > BestDelta(curve, eps, Tight).Delta*(1+1e-9) {
				t.Errorf("sigma %v eps %v: %v, exact %v", sigma, eps, v, exact)
			}
		}
	}
}

// A list of parts is accounted as the mechanisms that it is made of.
func TestAnswerList(t *testing.T) {
	answer := func(q Query) Account { return must.Get(Answer(q))(t) }
	by := func(a Account, m Method) Guarantee {
		for _, g := range a.Epsilons {
			if g.Method == m {
				return g
			}
		}
		t.Fatalf("%s: no %s in %+v", a.Title, m, a.Epsilons)
		return Guarantee{}
	}
	whole := answer(Query{Mechanism: KindGaussian, Sigma: new(3.0), Steps: new(10)})
	parted := answer(Query{Mechanism: KindGaussian, Sigma: new(3.0), Steps: new(4), With: "gaussian sigma=3 steps=5; gaussian-dp mu=0.3333333333333333"})
	for _, m := range []Method{MethodGaussian, MethodTight} {
		near(t, string(m), by(parted, m).Epsilon, by(whole, m).Epsilon, 1e-6)
	}
	near(t, "curve", parted.Curve[0].Divergence, whole.Curve[0].Divergence, 1e-6)

	if first := answer(Query{Mechanism: KindPure, Epsilon: new(0.1), Orders: []float64{1, 2}}); len(first.Curve) != 1 || first.Curve[0].Alpha != 2 || *first.KL != roundUp(0.1*math.Tanh(0.05)) {
		t.Errorf("orders 1 and 2: %+v", first)
	}

	pure := answer(Query{Mechanism: KindPure, Epsilon: new(0.1), Steps: new(20)})
	list := answer(Query{Mechanism: KindPure, Epsilon: new(0.1), Steps: new(5), With: "pure epsilon=0.1 steps=15"})
	for _, m := range []Method{MethodBasic, MethodAdvanced, MethodTight} {
		near(t, string(m), by(list, m).Epsilon, by(pure, m).Epsilon, 1e-9)
	}
	if loss, optimal := by(list, MethodLosses), by(pure, MethodOptimal); *loss.AtLeast > optimal.Epsilon || loss.Epsilon < optimal.Epsilon*(1-1e-6) {
		t.Errorf("losses in [%v, %v], optimal %v", *loss.AtLeast, loss.Epsilon, optimal.Epsilon)
	}

	// Two answers by randomised response, by enumeration of what they put out.
	mixed := answer(Query{Mechanism: KindPure, Epsilon: new(0.5), With: "randomised-response p=0.8", AtEpsilon: new(1.0)})
	a, b, delta := 1/(1+math.Exp(-0.5)), 0.8, 0.0
	for _, out := range [][2]float64{{a * b, (1 - a) * (1 - b)}, {a * (1 - b), (1 - a) * b}, {(1 - a) * b, a * (1 - b)}, {(1 - a) * (1 - b), a * b}} {
		delta += math.Max(0, out[0]-math.E*out[1])
	}
	if g := mixed.Deltas[0]; g.Method != MethodLosses || *g.AtLeast > delta || g.Delta < delta || g.Delta > delta*1.001 {
		t.Errorf("%+v, by enumeration %v", g, delta)
	}
	if approximate := answer(Query{Mechanism: KindGaussian, Sigma: new(2.0), With: "approximate epsilon=0.1 step-delta=1e-7"}); len(approximate.Curve) > 0 || by(approximate, MethodLosses).Epsilon < by(whole, MethodGaussian).Epsilon/4 {
		t.Errorf("%+v", approximate)
	}
}

// The published bounds on an event and on the lemma hold for composed randomised response,
// and the exact curve says more.
func TestEventOfComposedSteps(t *testing.T) {
	for _, k := range []struct {
		eps   float64
		steps int
	}{{0.1, 100}, {1, 10}, {0.3, 3}} {
		p, q := []float64{1}, []float64{1} // of how many answers are true
		yes := 1 / (1 + math.Exp(-k.eps))
		convolved := func(law []float64, yes float64) []float64 {
			out := make([]float64, len(law)+1)
			for i, v := range law {
				out[i], out[i+1] = out[i]+v*(1-yes), out[i+1]+v*yes
			}
			return out
		}
		for range k.steps {
			p, q = convolved(p, yes), convolved(q, 1-yes)
		}
		sumP, sumQ := 0.0, 0.0
		for i := k.steps; i > 0; i-- {
			sumP, sumQ = sumP+p[i], sumQ+q[i]
			a := must.Get(Answer(Query{Mechanism: KindPure, Epsilon: &k.eps, Steps: &k.steps, Event: []float64{sumQ}}))(t)
			o := a.Outcomes[0]
			if sumP > o.Upper*(1+1e-9) || o.Upper > *o.Composed*(1+1e-6) && o.Upper < 1 {
				t.Errorf("%+v: event of %v is %v on the neighbour, at most %v by the curve, %v as published", k, sumQ, sumP, o.Upper, *o.Composed)
			}
			for _, r := range o.Orders {
				if r.Lower > o.Lower*(1+1e-6) || r.Upper < o.Upper*(1-1e-6) {
					t.Errorf("order %v says more than all orders: %+v %+v", r.Alpha, r, o.Range)
				}
			}
			for _, point := range a.Curve {
				if point.Divergence > *point.Lemma {
					t.Errorf("the lemma fails at order %v", point.Alpha)
				}
			}
			if i > 4 && k.steps > 20 {
				i -= 9 // cheaper
			}
		}
	}
}

// Posterior odds over prior odds: the bound holds for Gaussian noise, and the one that the
// slides print, e^epsilon/beta^(1/(alpha-1)), fails below order 2.
func TestFactorHolds(t *testing.T) {
	for _, sigma := range []float64{0.5, 1, 3} {
		a := must.Get(Answer(Query{Mechanism: KindGaussian, Sigma: &sigma, Odds: []float64{1.5, 2, 10}}))(t)
		for _, f := range a.Factors {
			exact := math.Erfc((sigma*math.Log(f.Odds)-0.5/sigma)/math.Sqrt2) / 2
			if exact > f.Probability || f.Probability > 1 {
				t.Errorf("sigma %v: more than %v times with probability %v, at most %v", sigma, f.Odds, exact, f.Probability)
			}
			for _, x := range f.Orders {
				if x.Probability < f.Probability*(1-1e-6) {
					t.Errorf("order %v says more than all", x.Alpha)
				}
			}
		}
	}
	const eps, alpha = 3.0, 1.5
	truth := 1 / (1 + math.Exp(-eps)) // of the true answer, which multiplies the odds by e^eps
	beta, d := math.Exp(eps)*0.999, PureDP{eps}.At(alpha)
	if printed := math.Exp(d) / math.Pow(beta, 1/(alpha-1)); !(printed < 0.2 && truth > 0.9) {
		t.Errorf("printed %v against %v", printed, truth)
	}
	if ours := Classical.Delta(d, alpha, math.Log(beta)); ours < truth {
		t.Errorf("Markov's inequality gives %v against %v", ours, truth)
	}
}
