package learners

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// dpSGD is DP-SGD by package train. Proof sketch: a row moves the sum of the clipped gradients
// of a step by at most the clipping norm, or is not in the step; so a step is the
// Poisson-sampled Gaussian mechanism, whatever the weights before it, and steps compose. Sigma
// is the least that keeps the claim: exactly where every row is in every step (Balle and Wang,
// ICML 2018, theorem 8), else by the distribution of the privacy loss where a row is added or
// removed, and by Rényi accounting of two rows where one is replaced.
//
// What the auditor sees is a ladder (Nasr et al., Adversary Instantiation, S&P 2021):
//
//	odds         log odds of class 1 at x* and at the zero vector, by the last weights
//	predictions  the same, and at eight rows of the table
//	gradient     how far the last weights have moved along the clipped gradients, at the
//	             first weights, of the rows in which the datasets differ
//	steps        the log likelihood ratio of all noisy sums, given the rows that the
//	             datasets share and which of them took part in which step
//
// The bound is of the sums, for every outcome of the sampling of other rows and for all first
// weights, also the worst-case ones of Annamalai and De Cristofaro (2024). A training that
// diverges gives -1e9 in every column.
type dpSGD struct {
	name, title, fault, mended string

	model      string
	noClipping bool
	noise      float64
}

const descentSource = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016, algorithm 1; Nasr et al., Adversary Instantiation: Lower Bounds for Differentially Private Machine Learning, S&P 2021"

var (
	sgdLinear     = dpSGD{name: "sgd-linear", title: "Linear model trained by DP-SGD", model: train.Linear}
	sgdPerceptron = dpSGD{name: "sgd-perceptron", title: "Perceptron trained by DP-SGD", model: train.Perceptron}
	sgdNoClipping = dpSGD{name: "sgd-linear-no-clipping", title: "Linear model trained by DP-SGD that does not clip", model: train.Linear, noClipping: true,
		fault: "sums unclipped gradients, but accounts for clipped ones", mended: "sgd-linear"}
	sgdQuarterNoise = dpSGD{name: "sgd-linear-quarter-noise", title: "Linear model trained by DP-SGD with a quarter of the noise", model: train.Linear, noise: 0.25,
		fault: "adds a quarter of the noise that it accounts for", mended: "sgd-linear"}
)

func (f *dpSGD) spec(tables []*Table) audit.MechanismSpec {
	params := []audit.ParamSpec{
		{Name: "epsilon", Doc: "privacy parameter that sets the noise", Default: 2, Min: 0.01, Max: 100, Noise: true},
		{Name: "delta", Doc: "privacy parameter that sets the noise", Default: 1e-5, Min: 1e-12, Max: 0.1},
		{Name: "steps", Doc: "steps of a training", Default: 5, Min: 1, Max: 1000, Integer: true},
		{Name: "rate", Doc: "probability that a row takes part in a step", Default: 1, Min: 0.001, Max: 1},
		{Name: "clip", Doc: "largest norm of a row's gradient", Default: audit.Pick(f.noClipping, 0.1, 1.0), Min: 0.001, Max: 1000},
		{Name: "learning-rate", Doc: "factor on the mean gradient", Default: 1, Min: 0.001, Max: 1000},
		{Name: "summary", Doc: "what the auditor sees: log odds of the last model at x* and zero, those and its odds at eight rows of the table, how far its weights moved, or every step", Choices: []string{"odds", "predictions", "gradient", "steps"}},
		{Name: "start", Doc: "first weights: the model's own, or worst-case ones, trained on the rows that the datasets share", Choices: []string{"own", "worst-case"}},
		{Name: "neighbours", Doc: "relation of the claim: one row added or removed, or one row replaced", Choices: []string{train.AddRemove, train.Replace}},
	}
	if f.model == train.Perceptron {
		params = append(params, audit.ParamSpec{Name: "hidden", Doc: "units in each of two hidden layers", Default: 8, Min: 1, Max: 16, Integer: true})
	}
	if f.fault != "" {
		slices.Reverse(params[6].Choices)
	}
	return spec{
		MechanismSpec: audit.MechanismSpec{Name: f.name, Title: f.title, Source: descentSource, Fault: f.fault, Mended: f.mended, Params: params, Relations: neighbours,
			Claim: func(p audit.Params) audit.Claim { return audit.DPClaim(p.Num("epsilon"), p.Num("delta")) },
			Truth: func(p audit.Params) string {
				claim := audit.DPClaim(p.Num("epsilon"), p.Num("delta")).String()
				switch {
				case f.noClipping:
					return "above the claim if gradients are longer than the clipping norm"
				case f.noise > 0:
					return "that of a quarter of the noise for " + claim
				}
				return "at most " + claim
			}},
		fewest: 1,
		cost: func(p audit.Params, t *Table) float64 {
			each := 8 * len(t.Features) // of a row's gradient
			if f.model == train.Perceptron {
				each = 4 * p.Int("hidden") * (len(t.Features) + p.Int("hidden") + 2)
			}
			return float64(p.Int("steps")*t.Rows.Len()) * p.Num("rate") * float64(each)
		},
		pairs: f.pairs,
		known: func(p audit.Params, t *Table) audit.Table {
			model := train.NewModel(f.config(p), t.shape(), t.Rows.Len())
			return audit.Table{Learning: audit.Network, Probability: func(weights, x []float64) float64 {
				model.At(weights)
				return stream.Logistic(model.LogOdds(x))
			}}
		},
		build: func(p audit.Params, t *Table) (audit.Mechanism, error) {
			c := f.config(p)
			if c.Sigma = sigma(c); math.IsInf(c.Sigma, 1) {
				return nil, &audit.InputError{Field: "epsilon", Found: fmt.Sprintf("%s over %d steps", audit.Number(c.Epsilon), c.Steps), Want: "reachable with some noise at this delta", Remedy: "take a larger epsilon or delta, or fewer steps"}
			}
			c, err := c.Resolve(t.shape())
			return &dpSGDModel{table: t, config: c, summary: p.Word("summary"), worst: p.Word("start") == "worst-case"}, err
		},
	}.over(tables)
}

func (f *dpSGD) config(p audit.Params) train.Config {
	c := train.Config{Model: f.model, Steps: p.Int("steps"), Rate: p.Num("rate"), Clip: p.Num("clip"), LearningRate: p.Num("learning-rate"),
		Relation: p.Word("neighbours"), Epsilon: p.Num("epsilon"), Delta: p.Num("delta"), NoClipping: f.noClipping, NoiseFactor: f.noise, Canary: train.Poison, Access: train.Final}
	if f.model == train.Perceptron {
		c.Hidden, c.Activation = p.Int("hidden"), train.Tanh
	}
	return c
}

var sigmas sync.Map // every task of an audit fixes the mechanism anew

// sigma is the noise over the clipping norm, rounded up to five digits, so that it is the
// same on every platform; +Inf: none is enough, 0: [train.Config.Resolve] tells it.
func sigma(c train.Config) float64 {
	k := train.Config{Relation: c.Relation, Epsilon: c.Epsilon, Delta: c.Delta, Rate: c.Rate, Steps: c.Steps}
	if v, ok := sigmas.Load(k); ok {
		return v.(float64)
	}
	v := 0.0
	switch steps := math.Sqrt(float64(c.Steps)); {
	case c.Rate == 1: // the steps' sums are one Gaussian vector
		v = accounting.GaussianSigma(c.Epsilon, c.Delta, audit.Pick(c.Relation == train.Replace, 2, 1.0)*steps)
		unit := math.Pow(10, math.Floor(math.Log10(v))-4)
		v = max(accounting.MinNoise, math.Ceil(v/unit)*unit)
	case c.Relation != train.Replace:
		v = accounting.LeastNoise(c.Epsilon, c.Delta, func(sigma float64) accounting.Composition {
			return accounting.Composition{{Mechanism: accounting.SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: c.Rate}, Count: c.Steps}}
		})
	}
	sigmas.Store(k, v)
	return v
}

// shape is the table as training sees it, without its rows.
func (t *Table) shape() *train.Dataset {
	return &train.Dataset{Features: t.Features, Classes: t.Classes[:]}
}

func (f *dpSGD) pairs(p audit.Params, t *Table, r audit.Relation) []audit.Pair {
	far := ends(t.Upper, 0)
	if r == audit.AddRemove {
		var pairs []audit.Pair
		if row := t.unlike(); row != nil {
			pairs = append(pairs, t.join("the table, and one row more that has only what no other row has", row))
		}
		return append(pairs, t.join("the table, and one row more at a corner", far), t.join("the table, and one row more at the other corner", ends(t.Lower, 1)))
	}
	flipped := t.flip("the longest row with its label flipped", t.longest())
	return []audit.Pair{flipped, {Label: "the longest row moved to a corner", First: t.Rows, Second: t.with(t.longest(), far)}}
}

// unlike is a row of label 0 at the upper end of every feature that is at its lower end in all
// rows, whose weights only its gradients move, and at the lower end of the others; nil where
// every feature varies.
func (t *Table) unlike() []float64 {
	row := ends(t.Lower, 0)
	for j, low := range t.Lower {
		dark := true
		for i := range t.Rows.Len() {
			dark = dark && t.Rows.Row(i)[j] == low
		}
		row[j] = audit.Pick(dark, t.Upper[j], low)
	}
	if slices.Equal(row, ends(t.Lower, 0)) {
		return nil
	}
	return row
}

type dpSGDModel struct {
	table   *Table
	config  train.Config
	summary string
	worst   bool
	pair    *audit.Pair
	split   func() (parts, error)
	start   func() []float64 // worst-case first weights
}

func (m *dpSGDModel) For(p audit.Pair) audit.Mechanism {
	to := *m
	to.pair = &p
	to.split = sync.OnceValues(func() (parts, error) { return m.table.split(p) })
	to.start = sync.OnceValue(to.settle)
	return &to
}

// parts are the rows of a pair: what only the first or the second dataset has, and what both have.
type parts [3]train.Rows

func (t *Table) split(p audit.Pair) (s parts, err error) {
	first, second := differing(p.Second, p.First), differing(p.First, p.Second)
	for i, rows := range [][][]float64{first, second, without(p.First, first)} {
		e, err := t.examples(audit.Dataset{Columns: p.First.Columns, Values: slices.Concat(rows...)}, 0)
		if err != nil {
			return s, err
		}
		s[i] = e.Rows
	}
	return s, nil
}

// on is a model of which these rows are the common ones.
func (m *dpSGDModel) on(rows train.Rows) *train.Model {
	common := m.table.shape()
	common.X, common.Labels = rows.X, rows.Labels
	return train.NewModel(m.config, common, m.table.Rows.Len())
}

// settle trains on what a pair shares, time after time, 200 steps or more in all.
func (m *dpSGDModel) settle() []float64 {
	rows, _ := m.split() // whoever samples has its error
	model := m.on(rows[2])
	for left := max(1, 200/m.config.Steps); left > 0 && model.Train(nil, train.Rows{}, nil); left-- {
		copy(model.Start(), model.Weights())
	}
	return model.Start()
}

func (m *dpSGDModel) Columns() []audit.Column {
	switch m.summary {
	case "gradient":
		return []audit.Column{{Name: "move along the gradient", Kind: audit.Real}}
	case "steps":
		return []audit.Column{{Name: "log likelihood ratio", Kind: audit.Real}}
	}
	columns := []audit.Column{{Name: "log odds at x*", Kind: audit.Real}, {Name: "log odds at zero", Kind: audit.Real}}
	if m.summary == "predictions" {
		for k := range predicted {
			columns = append(columns, audit.Column{Name: fmt.Sprintf("log odds at row %d", m.row(k)+1), Kind: audit.Real})
		}
	}
	return columns
}

// predicted is at how many rows of the table predictions are seen. Lu et al. (2022), table 1,
// Pr(x_i^test), do not say.
const predicted = 8

func (m *dpSGDModel) row(k int) int { return k * m.table.Rows.Len() / predicted }

// diverged stands for whatever is not finite, and bounds what is.
const diverged = -1e9

// Sample trains. Without a pair all rows are common, and x* is the zero vector.
func (m *dpSGDModel) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	p := m.pair
	if p == nil {
		return m.For(audit.Pair{First: d, Second: d}).Sample(d, s, out)
	}
	side := audit.Pick(slices.Equal(d.Values, p.First.Values), 0, 1)
	rows, err := m.split()
	if err == nil && side == 1 && !slices.Equal(d.Values, p.Second.Values) {
		err = &audit.InputError{Field: "dataset", Found: fmt.Sprintf("%d rows", d.Len()), Want: "one of the pair that outputs are summarised for"}
	}
	if err != nil {
		return err
	}
	model := m.on(rows[2])
	if m.worst {
		copy(model.Start(), m.start())
	}
	see, tell := m.viewer(model, rows)
	width := len(m.Columns())
	for ; len(out) > 0; out = out[width:] {
		finite := model.Train(s, rows[side], see)
		tell(out[:width])
		for k := range out[:width] {
			if out[k] = max(diverged, min(-diverged, out[k])); !finite || out[k]-out[k] != 0 {
				out[k] = diverged
			}
		}
	}
	return nil
}

// Train is the model without noise: its weights.
func (m *dpSGDModel) Train(d audit.Dataset) ([]float64, error) {
	e, err := m.table.examples(d, 0)
	if err != nil {
		return nil, err
	}
	model := m.on(e.Rows)
	if !model.Train(nil, train.Rows{}, nil) {
		return nil, fmt.Errorf("the training without noise diverged: take a smaller learning rate")
	}
	return slices.Clone(model.Weights()), nil
}

// viewer looks at trainings as an auditor does: see at every step, where it is not nil, and
// tell at the last model.
func (m *dpSGDModel) viewer(model *train.Model, rows parts) (
	see func(released, common []float64), tell func(out []float64),
) {
	n := len(model.Start())
	diff, sums := make([]float64, n), [2][]float64{make([]float64, n), make([]float64, n)}
	switch m.summary {
	case "steps":
		deviation := float64(float64(m.config.Sigma*m.config.Clip) * m.config.NoiseFactor)
		ratio := 0.0 // of the log likelihoods of the second dataset and the first
		see = func(released, common []float64) {
			for i, x := range released {
				diff[i] = x - common[i]
			}
			for side, sum := range sums {
				if len(rows[side].Labels) == 0 {
					continue
				}
				model.ClippedSum(rows[side], sum)
				term := train.LogLikelihood(matmul.Dot(diff, sum), matmul.Dot(sum, sum), float64(deviation*deviation), m.config.Rate)
				ratio += audit.Pick(side == 1, term, -term)
			}
		}
		return see, func(out []float64) { out[0], ratio = ratio, 0 }
	case "gradient":
		start, along := slices.Clone(model.Start()), make([]float64, n)
		model.At(start)
		for side, sum := range sums {
			if len(rows[side].Labels) > 0 {
				model.ClippedSum(rows[side], sum)
			}
		}
		for i := range along {
			along[i] = sums[0][i] - sums[1][i] // weights move against gradients
		}
		if norm := math.Sqrt(matmul.Dot(along, along)); norm > 0 {
			for i, x := range along {
				along[i] = x / norm
			}
		}
		return nil, func(out []float64) {
			for i, w := range model.Weights() {
				diff[i] = w - start[i]
			}
			out[0] = matmul.Dot(diff, along)
		}
	}
	zero := make([]float64, len(m.table.Features))
	x := poison(*m.pair)
	if len(x) != len(zero) {
		x = zero
	}
	return nil, func(out []float64) {
		out[0], out[1] = model.LogOdds(x), model.LogOdds(zero)
		for k := range out[2:] {
			out[2+k] = model.LogOdds(m.table.Rows.Row(m.row(k))[:len(zero)])
		}
	}
}
