package train

import (
	"github.com/dpscope/dpscope/audit/stream"
)

// Rows are examples: features, an example a row, and numbers of classes.
type Rows struct {
	X      []float64
	Labels []int32
}

// Model is a training on rows that are common to two datasets and on further ones,
// those in which the datasets differ: the training that a [Source] plants canaries in.
// It is for one goroutine.
type Model struct {
	t     *trainer
	extra pointScratch
}

// NewModel makes a model of a resolved configuration. Features and classes of data say
// how large the model is; its examples are the common ones, and may be none. A step
// divides by the rate times expected, which is the same for neighbours.
func NewModel(c Config, data *Dataset, expected int) *Model {
	m := &Model{t: newTrainer(c, data)}
	m.t.expected = expected
	return m
}

// Start is the model's first weights, which may be written to: the guarantee is of
// every choice that does not depend on the noise.
func (m *Model) Start() []float64 { return m.t.start }

// Weights are those after a training.
func (m *Model) Weights() []float64 { return m.t.model.theta }

// Train trains with these rows beside the common ones, with noise unless st is nil, and
// reports whether the weights stayed finite. See, if not nil, is called at every step,
// before the weights move, with the noisy sum and with what the common examples gave to
// it, both until it returns.
func (m *Model) Train(st *stream.Stream, further Rows, see func(released, common []float64)) (finite bool) {
	noise := m.t.noise()
	if st == nil {
		st, noise = stream.New(stream.Key{Purpose: "train/noiseless"}), 0
	}
	var watch watcher
	if see != nil {
		watch = func(s step) { see(s.released, s.data) }
	}
	inside := points{x: further.X, labels: further.Labels, features: len(m.t.data.Features), scratch: &m.extra}
	finite, _ = m.t.run(st, inside, noise, watch, nil) // without a check there is no error
	return finite
}

// At puts the model at these weights.
func (m *Model) At(weights []float64) {
	copy(m.t.model.theta, weights)
	m.t.model.ready()
}

// ClippedSum writes the sum of the rows' clipped gradients at the model's weights.
func (m *Model) ClippedSum(rows Rows, sum []float64) {
	m.t.clippedSum(rows.X, rows.Labels, sum)
}

// LogOdds is the logarithm of the odds of class 1 against class 0 at the model's
// weights, for the features of one example.
func (m *Model) LogOdds(features []float64) float64 {
	n := m.t.model
	n.forward(features, []int32{0})
	against := n.losses[0]
	n.forward(features, []int32{1})
	return against - n.losses[0]
}
