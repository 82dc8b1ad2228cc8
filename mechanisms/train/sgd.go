package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/bounds/accounting"
)

// step is what an auditor sees of one step of a training, until the next step.
type step struct {
	released []float64 // the noisy sum
	data     []float64 // what the examples that are no canaries gave to it
	canaries []float64 // what the canaries gave to it
	present  []float64 // 1 for every canary that took part, else 0
}

// Rows are examples: features, an example a row, and numbers of classes.
type Rows struct {
	X      []float64
	Labels []int32
}

// Model is a training by DP-SGD, done again and again, on common rows and on further ones or
// canaries. It is for one goroutine.
type Model struct {
	config   Config
	data     *Dataset
	model    *network
	start    []float64 // the public first weights
	pool     points    // that tail canaries are drawn from
	common   points    // the examples that are no canaries
	expected int       // see [NewModel]
	further  pointScratch

	mask    []float64
	factors []float64
	draws   []float64
	s       step
}

// NewModel makes a model of a resolved configuration. The examples of d, which may be none, are
// the common rows. A step divides by the rate times expected, which is the same for neighbours.
func NewModel(c Config, d *Dataset, expected int) *Model {
	t := &Model{config: c, data: d, expected: expected, model: newNetwork(c.sizes(d), c.Activation)}
	t.model.initialise(stream.New(stream.Key{Purpose: "train/initial"}))
	t.start = slices.Clone(t.model.theta)
	t.common = points{Rows{d.X, d.Labels}, len(d.Features), &pointScratch{}}
	for _, list := range []*[]float64{&t.draws, &t.s.released, &t.s.data, &t.s.canaries} {
		*list = make([]float64, len(t.start))
	}
	return t
}

func (c Config) move(examples int) float64 {
	return c.LearningRate / float64(c.Rate*float64(examples))
}

// run trains from the first weights, with these canaries among the examples and noise of
// deviation sigma C. Each step draws who takes part, the examples first, then the noise, and
// is watched before the weights move.
func (t *Model) run(st *stream.Stream, inside canaries, sigma float64, watch func(step), check func() error) (finite bool, err error) {
	c, m, n := t.config, t.model, t.data.Len()
	copy(m.theta, t.start)
	scale := -c.move(t.expected)
	t.mask = matmul.Resized(t.mask, n+inside.count())
	for range c.Steps {
		if check != nil {
			if err := check(); err != nil {
				return false, err
			}
		}
		m.ready()
		st.Bernoulli(t.mask, c.Rate)
		t.common.add(t, t.mask[:n], t.s.data)
		t.s.present = t.mask[n:]
		inside.add(t, t.s.present, t.s.canaries)
		st.Gaussian(t.draws, float64(sigma*c.Clip))
		for i, v := range t.s.data {
			t.s.released[i] = v + t.s.canaries[i] + t.draws[i]
		}
		if watch != nil {
			watch(t.s)
		}
		matmul.AddScaled(m.theta, t.s.released, scale)
		if slices.ContainsFunc(m.theta, func(w float64) bool { return w-w != 0 }) { // NaN or infinite
			return false, nil
		}
	}
	m.ready()
	return true, nil
}

// ClippedSum writes the sum of the rows' gradients, clipped where the training does not forget it.
func (t *Model) ClippedSum(rows Rows, sum []float64) {
	m := t.model
	m.forward(rows.X, rows.Labels)
	m.backward(rows.Labels)
	if !t.config.NoClipping {
		t.factors = m.clip(t.config.Clip, t.factors)
	}
	m.sum(sum)
}

// Start is the model's first weights, which may be written to: the guarantee is of all.
func (t *Model) Start() []float64 { return t.start }

// Weights are those after a training.
func (t *Model) Weights() []float64 { return t.model.theta }

// Train trains with these rows beside the common ones, with noise unless st is nil, and reports
// whether the weights stayed finite. See, if not nil, is called at every step, before the
// weights move, with the noisy sum and what the common rows gave to it.
func (t *Model) Train(st *stream.Stream, further Rows, see func(released, common []float64)) (finite bool) {
	noise := t.noise()
	if st == nil {
		st, noise = stream.New(stream.Key{Purpose: "train/noiseless"}), 0
	}
	var watch func(step)
	if see != nil {
		watch = func(s step) { see(s.released, s.data) }
	}
	inside := points{further, len(t.data.Features), &t.further}
	finite, _ = t.run(st, inside, noise, watch, nil) // without a check there is no error
	return finite
}

// At puts the model at these weights.
func (t *Model) At(weights []float64) {
	copy(t.model.theta, weights)
	t.model.ready()
}

// LogOdds is the logarithm of the odds of class 1 against class 0 for one example.
func (t *Model) LogOdds(features []float64) float64 {
	n := t.model
	n.forward(features, []int32{0})
	against := n.losses[0]
	n.forward(features, []int32{1})
	return against - n.losses[0]
}

const (
	leastSigma   = accounting.MinNoise
	largestSigma = 1e6
)

// guarantee is the epsilon at Delta with this sigma, by Rényi accounting and the tight conversion:
// under replacement of two examples, which is exact at rate 1 and else generous.
func (c Config) guarantee(sigma float64) float64 {
	var step accounting.Curve = accounting.SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: c.Rate}
	if c.Rate == 1 {
		step = accounting.Gaussian{Sigma: sigma, Sensitivity: 1}
	}
	if c.Relation == Replace {
		step = accounting.Group(step, 2)
	}
	return accounting.BestEpsilon(accounting.Repeat{Curve: step, K: c.Steps}, c.Delta, accounting.Tight).Epsilon
}

// Guarantee is the epsilon that a resolved configuration has at Delta, were it not for its faults.
func (c Config) Guarantee() float64 { return c.guarantee(c.Sigma) }

// calibrate finds the least sigma that keeps the claim, rounded up to four digits.
func (c Config) calibrate() (float64, error) {
	lo, hi := leastSigma, 1.0
	for c.guarantee(hi) > c.Epsilon {
		lo = hi
		if hi *= 4; hi > largestSigma {
			return 0, &audit.InputError{Field: "epsilon", Found: fmt.Sprintf("%g over %d steps", c.Epsilon, c.Steps), Want: "reachable with some noise at this delta", Remedy: "take a larger epsilon or delta, or fewer steps"}
		}
	}
	if c.guarantee(lo) <= c.Epsilon {
		return lo, nil
	}
	for hi/lo > 1+1e-6 {
		if mid := math.Sqrt(lo * hi); c.guarantee(mid) <= c.Epsilon {
			hi = mid
		} else {
			lo = mid
		}
	}
	unit := math.Pow(10, math.Floor(math.Log10(hi))-3)
	return strconv.ParseFloat(strconv.FormatFloat(math.Ceil(hi/unit)*unit, 'g', 4, 64), 64)
}
