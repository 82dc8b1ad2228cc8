package estimators

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// trainedFor is what a witness is trained for. The zero value: the logistic loss, sides weighted alike;
// under a Rényi claim, from there, the Rényi objective at its alpha.
type trainedFor int

const (
	// The logistic loss with the second side counting e^epsilon times, at the claimed epsilon (1 where
	// there is none, 10 at most).
	hockeyStickLoss trainedFor = iota + 1
	// The Rényi objective at the claimed alpha from the start; at 1.5, as Kong et al. 2023 test pure
	// privacy, where there is none.
	renyiLoss
)

// mlpOptions set up a perceptron. Zero values mean the defaults.
type mlpOptions struct {
	hidden   [2]int  // units of the two hidden layers
	bound    float64 // C: witnesses are C tanh(x/C); at most 700/alpha with the Rényi objective; default 8, or half of that if less
	loss     trainedFor
	epochs   int     // most passes over the training outputs
	rate     float64 // first step of Adam
	batch    int     // outputs a side in a step
	patience int     // epochs without gain on the held-out outputs that end training

	perEpsilon float64 // bound in units of the claimed epsilon, cut to what the objective bears
}

const (
	unitsMost     = 256
	batchMost     = 4096
	epochsMost    = 1000
	boundMost     = 1000
	largestPower  = 700 // alpha times bound: e^709 overflows
	defaultBound  = 8
	testerAlpha   = 1.5
	weightingMost = 10 // epsilon up to which the sides are weighted
)

// mlp trains a perceptron with two hidden layers of rectified linear units and an output bounded by tanh,
// by Adam on mini-batches, stopped early by every fifth output, which training does not see.
//
// The network, not only its scores, has the same bits on every platform.
func mlp(name string, o mlpOptions) audit.LearnerSpec {
	o.hidden, o.rate = cmp.Or(o.hidden, [2]int{32, 32}), cmp.Or(o.rate, 0.001)
	o.epochs, o.batch, o.patience = cmp.Or(o.epochs, 12), cmp.Or(o.batch, 128), cmp.Or(o.patience, 3)
	return audit.LearnerSpec{
		Name:    name,
		Title:   fmt.Sprintf("Perceptron with hidden layers of %d and %d units", o.hidden[0], o.hidden[1]),
		Source:  "Two hidden layers and a scaled tanh as in RényiTester and DP-Auditorium (Kong et al. 2023), Adam (Kingma and Ba 2015), early stopping",
		ByName:  true,
		Applies: needs(anyColumn, "a perceptron needs at least one output column"),
		Learn:   learner(func(ex audit.Exploration) *mlpModel { return learnMLP(ex, o) }),
		Decode:  decoder[mlpModel],
	}
}

// perceptron is the learner of these options, which can be set, under what spec says of it.
func perceptron(spec audit.LearnerSpec, o mlpOptions) audit.LearnerSpec {
	bound := audit.ParamSpec{Name: "cap", Doc: "C: scores lie in [-C, C]; 0: 8, or half of 700/alpha if less", Max: boundMost}
	if o.perEpsilon > 0 {
		bound = audit.ParamSpec{Name: "cap", Doc: "C: scores lie in [-C, C], in units of the claimed epsilon", Default: o.perEpsilon, Max: boundMost, Open: true}
	}
	return settable([]audit.ParamSpec{
		{Name: "units", Doc: "units in each hidden layer", Default: float64(o.hidden[0]), Min: 1, Max: unitsMost, Integer: true},
		{Name: "epochs", Doc: "largest number of passes over the training outputs", Default: 12, Min: 1, Max: epochsMost, Integer: true},
		{Name: "patience", Doc: "epochs without gain on held-out outputs before training stops", Default: 3, Min: 1, Max: epochsMost, Integer: true},
		{Name: "batch", Doc: "outputs a side in a step", Default: float64(o.batch), Min: 1, Max: batchMost, Integer: true},
		{Name: "rate", Doc: "first step of Adam", Default: 0.001, Max: 1, Open: true},
		bound,
	}, func(p audit.Params) audit.LearnerSpec {
		o := o
		o.hidden = [2]int{p.Int("units"), p.Int("units")}
		o.epochs, o.patience, o.batch, o.rate = p.Int("epochs"), p.Int("patience"), p.Int("batch"), p.Num("rate")
		if o.perEpsilon > 0 {
			o.perEpsilon = p.Num("cap")
		} else {
			o.bound = p.Num("cap")
		}
		l := mlp(spec.Name, o)
		l.Tester = spec.Tester
		l.Title, l.Source = cmp.Or(spec.Title, l.Title), cmp.Or(spec.Source, l.Source)
		return l
	})
}

func learnMLP(ex audit.Exploration, o mlpOptions) *mlpModel {
	phases, alpha := o.losses(ex.Claim)
	bound := o.witnessBound(ex.Claim, alpha)
	r := variedInputs(ex)
	t := newTraining(ex, o, bound, r)
	for i, loss := range phases {
		rate := o.rate
		if i > 0 {
			rate /= 4 // a network that is trained is only bent
		}
		t.run(loss, rate)
	}
	m := &mlpModel{inputReader: r, Hidden: o.hidden, Bound: bound, Weights: t.network.params}
	m.prepare()
	return m
}

// losses are what to train for in turn, and the largest alpha among them (1 for logistic losses).
func (o mlpOptions) losses(c audit.Claim) ([]witnessLoss, float64) {
	alpha := renyiOrder(c, testerAlpha, "a perceptron")
	switch {
	case o.loss == hockeyStickLoss:
		return []witnessLoss{{theta: stream.Exp(min(claimedEpsilon(c), weightingMost))}}, 1
	case o.loss == renyiLoss:
		return []witnessLoss{{alpha: alpha}}, alpha
	case c.Kind == audit.Renyi:
		return []witnessLoss{{theta: 1}, {alpha: alpha}}, alpha
	}
	return []witnessLoss{{theta: 1}}, 1
}

func claimedEpsilon(c audit.Claim) float64 { return cmp.Or(c.Epsilon, 1) }

// witnessBound is C, refused where e^(alpha C) overflows.
func (o mlpOptions) witnessBound(c audit.Claim, alpha float64) float64 {
	most := min(boundMost, largestPower/alpha)
	switch {
	case o.perEpsilon > 0:
		return min(float64(o.perEpsilon*claimedEpsilon(c)), most)
	case o.bound == 0:
		return min(defaultBound, most/2)
	}
	stopOn(audit.Remedy("e^(alpha C) overflows beyond it", audit.Require(o.bound <= most, "bound", o.bound, "at most %.4g at alpha %g", most, alpha)))
	return o.bound
}

// mlpModel scores by a network: an estimate of the log likelihood ratio within [-bound, bound].
type mlpModel struct {
	inputReader
	Hidden  [2]int    `json:"hidden"`
	Bound   float64   `json:"bound"`
	Weights floatList `json:"weights"` // in the order of shape.weights

	ready network[float32] // parameters packed; scratch is not used
}

func (m *mlpModel) prepare() {
	m.ready = network[float32]{shape: m.shape(), params: m.Weights}
	m.ready.ready()
}

func (m *mlpModel) shape() shape { return shape{len(m.Inputs), m.Hidden[0], m.Hidden[1]} }

func (m *mlpModel) Score(rows, out []float64) {
	run := m.ready // its scratch is this call's
	var raw [block]float32
	in := make([]float32, min(block, len(out))*len(m.Inputs))
	for len(out) > 0 {
		n := min(block, len(out))
		m.read(rows, n, in)
		run.forward(in, n, raw[:])
		for i, x := range raw[:n] {
			out[i], _ = bounded(float64(x), m.Bound)
		}
		rows, out = rows[n*m.width:], out[n:]
	}
}

// Describe names the inputs that the first layer weighs most.
func (m *mlpModel) Describe(threshold float64, above bool) string {
	weight := make([]float64, len(m.Inputs))
	order := audit.Listed(len(m.Inputs), func(i int) int { return i })
	for i := range order {
		for _, w := range m.Weights[i*m.Hidden[0] : (i+1)*m.Hidden[0]] {
			weight[i] += math.Abs(float64(w))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	var names []string
	for _, i := range order {
		name := columnName(m.columns, m.Inputs[i].Column)
		if m.Inputs[i].Kind == isFeature {
			name = phrase(m.columns, m.Inputs[i].feature)
		}
		if !slices.Contains(names, name) && len(names) < featuresShown {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("network of %d and %d units on %d inputs %s %s, with the largest weights on %s",
		m.Hidden[0], m.Hidden[1], len(m.Inputs), side(above), figure(threshold), strings.Join(names, ", "))
}

func (m *mlpModel) open(columns []audit.Column) {
	m.inputReader.open(columns)
	stopOn(audit.First(audit.Within("model.hidden[0]", m.Hidden[0], 1, unitsMost), audit.Within("model.hidden[1]", m.Hidden[1], 1, unitsMost)))
	checkBound(m.Bound)
	m.Weights.validate("model.weights", m.shape().weights(), weightMost)
	m.prepare()
}

func checkBound(c float64) {
	require(c > 0 && c <= boundMost, "model.bound", c, "in (0, %d]", boundMost)
}
