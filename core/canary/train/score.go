package train

import (
	"math"

	"github.com/dpscope/dpscope/stream"
	"github.com/dpscope/dpscope/stream/matmul"
)

// worst is the score of what diverged.
const worst = -math.MaxFloat64

// logLikelihood is the log likelihood ratio of one step: of a canary that takes
// part with probability q against one that is not among the examples. inner is
// what remained of the noisy sum times the canary's clipped gradient g, square
// is |g|^2.
func logLikelihood(inner, square, variance, q float64) float64 {
	x := (inner - float64(square/2)) / variance
	switch {
	case q == 1:
		return x
	case x > 30:
		return x + stream.Log(q+float64((1-q)*stream.Exp(-x)))
	}
	return stream.Log1p(float64(q * stream.Expm1(x)))
}

// witness scores canaries of one training: over its steps, whose other examples
// it knows, or by the final model. Over the steps a score is the sum of log
// likelihood ratios, at the variance that what remains of the noisy sum itself
// has: 1/p of its squared norm, within sqrt(2/p) of the truth. So it is also the
// right one where less noise is added than claimed.
type witness struct {
	scored canaries
	scores []float64

	// inside is how many of the scored, the first ones, are trained on, in that
	// order: what such a canary gave to a sum remains when all others are taken
	// away.
	inside int
	// lend: the others are scored in the place of one inside, round and round,
	// whose part therefore remains.
	lend bool
	// coins: every canary is inside with probability 1/2, so what is taken away
	// is only what the others are expected to give.
	coins bool

	residual []float64
}

// see takes in one step.
func (w *witness) see(t *trainer, s step) {
	c, p := t.config, len(s.released)
	gradients, stretch := w.scored.gradients(t)
	gradient := func(k int) []float64 { return gradients[k*p : (k+1)*p] }
	w.residual = matmul.Grown(w.residual, p)
	for i, v := range s.released {
		w.residual[i] = v - s.data[i]
	}
	if w.coins {
		for k := range w.scores {
			matmul.AddScaled(w.residual, gradient(k), -c.Rate/2)
		}
	} else {
		for i, v := range s.canaries {
			w.residual[i] -= v
		}
	}
	all := matmul.Dot(w.residual, w.residual)
	for k := range w.scores {
		g := gradient(k)
		square, inner, energy := matmul.Dot(g, g), matmul.Dot(w.residual, g), all
		switch at := k - w.inside; {
		case w.coins: // what is expected of itself is put back
			part := float64(c.Rate / 2)
			energy += float64(part * (2*inner + float64(part*square)))
			inner += float64(part * square)
		case at < 0 && s.present[k] != 0:
			part := c.length(stretch[k])
			energy += float64(part * (2*inner + float64(part*square)))
			inner += float64(part * square)
		case at >= 0 && w.lend && s.present[at%w.inside] != 0:
			other, part := gradient(at%w.inside), c.length(stretch[at%w.inside])
			energy += float64(part * (float64(2*matmul.Dot(w.residual, other)) + float64(part*matmul.Dot(other, other))))
			inner += float64(part * matmul.Dot(other, g))
		}
		variance := energy / float64(p)
		if !(variance > 0) {
			variance = float64(c.Sigma*c.Clip) * float64(c.Sigma*c.Clip)
		}
		w.scores[k] += logLikelihood(inner, square, variance, c.Rate)
	}
}

// length is what a canary's gradient is longer than a clipped one.
func (c Config) length(stretch float64) float64 {
	if c.NoClipping {
		return stretch
	}
	return 1
}

// reference is what scores of the final model are measured against: a model
// trained without canaries and noise.
type reference struct {
	theta []float64
	model *network
}

// final scores canaries by the final model.
func (w *witness) final(t *trainer, r *reference) {
	c, m, scores := t.config, t.model, w.scores
	switch v := w.scored.(type) {
	case vectors:
		// In units of the deviation that all steps' noise gives to it.
		unit := float64(c.move(t.data.Len())*c.Sigma) * float64(float64(c.Clip*c.Clip)*math.Sqrt(float64(c.Steps)))
		moved := make([]float64, v.p)
		for i, from := range r.theta {
			moved[i] = from - m.theta[i]
		}
		for k := range scores {
			scores[k] = matmul.Dot(moved, v.directions[k*v.p:(k+1)*v.p]) / unit
		}
	case points:
		for k, loss := range v.losses(r.model) {
			scores[k] = loss
		}
		for k, loss := range v.losses(m) {
			scores[k] -= loss
		}
	default:
		panic("train: canaries of an unknown kind")
	}
}
