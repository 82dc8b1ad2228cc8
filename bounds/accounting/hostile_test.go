package accounting

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/internal/testsize"
)

// nasty are values at which arithmetic ends.
var nasty = []float64{0, math.Copysign(0, -1), 5e-324, 1e-310, 1e-300, 1e-200, 1e-155, 1e-100, 1e-50, 1e-20, 1e-16, 1e-9, 0.01, 0.049, 0.05, 0.5, 1 - 0x1p-53, 1, 1 + 0x1p-52, 2, 10, 700, 745, 1e4, 1e6, 1e9, 1e16, 1e50, 1e100, 1e155, 1e200, 1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), -1, -1e-300, -1e300}

// field is a parameter of a query.
func field(q *Query, name string) **float64 {
	return map[string]**float64{"sigma": &q.Sigma, "scale": &q.Scale, "p": &q.P, "epsilon": &q.Epsilon, "stepDelta": &q.StepDelta, "alpha": &q.Alpha, "rho": &q.Rho, "mu": &q.Mu}[name]
}

// anyQuery draws a query of a kind: most of its values are usual ones, so that
// most queries are answered.
func anyQuery(r *rand.Rand) Query {
	kinds := append(Kinds(), "", "Gaussian")
	q := Query{Mechanism: kinds[r.IntN(len(kinds))]}
	value := func() *float64 {
		switch r.IntN(4) {
		case 0:
			return new(nasty[r.IntN(len(nasty))])
		case 1:
			return new(math.Pow(10, 640*r.Float64()-320))
		case 2:
			return new(r.Float64())
		}
		return new(math.Pow(10, 6*r.Float64()-3))
	}
	perhaps := func(p **float64, share float64) {
		if r.Float64() < share {
			*p = value()
		}
	}
	for _, name := range []string{"sigma", "scale", "p", "epsilon", "stepDelta", "alpha", "rho", "mu"} {
		perhaps(field(&q, name), 0.002)
	}
	for _, name := range q.Mechanism.Parameters() {
		*field(&q, name) = value()
	}
	if q.Mechanism == KindGaussian || q.Mechanism == KindLaplace {
		perhaps(&q.Sensitivity, 0.3)
	}
	if q.Mechanism.noise() {
		perhaps(&q.Rate, 0.3)
		perhaps(&q.TargetEpsilon, 0.05)
	}
	perhaps(&q.Delta, 0.3)
	perhaps(&q.AtEpsilon, 0.5)
	counts := []int{1, 2, 3, 7, 100, 1000, 1 << 20, 1<<20 + 1, 10_000_000, 1 << 40, 1<<40 + 1, math.MaxInt, 0, -1, math.MinInt}
	if r.IntN(2) == 0 {
		q.Steps = new(counts[r.IntN(len(counts))])
	}
	if r.IntN(4) == 0 {
		q.Group = new(counts[r.IntN(len(counts))])
	}
	if r.IntN(8) == 0 {
		q.Orders = []float64{}
		for range r.IntN(4) {
			q.Orders = append(q.Orders, *value())
		}
	}
	return q
}

// checkAnswer reports an answer that is no answer: one that is no JSON, whose query does
// not give it again, or whose best is not the least of its ways.
func checkAnswer(t *testing.T, q Query, twice bool) (answered bool) {
	t.Helper()
	defer func() {
		if why := recover(); why != nil {
			t.Errorf("%s: panic: %v", q.Command(), why)
		}
	}()
	a, err := Answer(q)
	if err != nil {
		if !audit.IsInput(err) {
			t.Errorf("%s: %v", q.Command(), err)
		}
		return false
	}
	data, err := json.Marshal(a) // which refuses NaN and infinities
	var back Account
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Errorf("%s: %v: %+v", q.Command(), err, a)
	}
	if twice {
		again, err := Answer(back.Query)
		if data2, _ := json.Marshal(again); err != nil || string(data2) != string(data) {
			t.Errorf("%s\nagain %s, %v", data, data2, err)
		}
	}
	for _, g := range a.Epsilons {
		if g.Epsilon < *a.Epsilon || g.Delta > *a.Query.Delta*(1+1e-6) || g.Source == "" {
			t.Errorf("%s: %+v", data, g)
		}
	}
	for _, g := range a.Deltas {
		if g.Delta < *a.Delta || g.Source == "" {
			t.Errorf("%s: %+v", data, g)
		}
	}
	for _, g := range append(a.Epsilons, a.Deltas...) {
		if !(g.Epsilon >= 0 && g.Delta >= 0 && g.Delta <= 1) || g.Delta == 1 && g.Method != MethodOptimal && len(a.Deltas) == 0 {
			t.Errorf("%s: %+v", q.Command(), g)
		}
	}
	last := 0.0
	for _, p := range a.Curve {
		if p.Divergence < last*(1-1e-6) {
			t.Errorf("%s: the curve falls: %v", q.Command(), a.Curve)
			break
		}
		last = p.Divergence
	}
	return true
}

// TestAnyQuery: whatever is asked, the answer is finite, is JSON and gives itself again, or
// says what is wrong with the question.
func TestAnyQuery(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 4))
	answered, all := map[Kind]int{}, 0
	queries := testsize.Of(250, 2000)
	for i := range queries {
		if q := anyQuery(r); checkAnswer(t, q, i%4 == 0) {
			answered[q.Mechanism]++
			all++
		}
	}
	for _, k := range Kinds() {
		if answered[k] < 2 || all < queries/10 {
			t.Errorf("%s: %d of %d answered, in all %d", k, answered[k], queries, all)
		}
	}
}

// The pairs that a walk at random may miss: each kind with each of the values.
func TestNastyValues(t *testing.T) {
	for at, k := range Kinds() {
		every := testsize.Of(3, 1)
		if k.noise() {
			every = testsize.Of(7, 1) // their answers take some 50 ms
		}
		for i, v := range nasty {
			if (i+at)%every > 0 {
				continue
			}
			for _, delta := range testsize.Of([]float64{1e-5}, []float64{1e-5, 5e-324, 1 - 0x1p-53}) {
				q := Query{Mechanism: k, Delta: new(delta), AtEpsilon: new(1.0)}
				for _, name := range k.Parameters() {
					value, fixed := map[string]float64{"alpha": 8, "stepDelta": 1e-7}[name]
					if !fixed {
						value = v
					}
					*field(&q, name) = &value
				}
				checkAnswer(t, q, false)
				q.AtEpsilon = new(v)
				checkAnswer(t, q, false)
				if k == KindGaussian {
					q.Rate, q.Steps = new(0.3), new(1000)
					checkAnswer(t, q, false)
					q.Sigma, q.Rate = new(1.0), new(v)
					checkAnswer(t, q, false)
				}
			}
		}
	}
}
