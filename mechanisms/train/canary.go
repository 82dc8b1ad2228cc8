package train

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/linalg"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

// canaries are those of a run, of one kind: inside ones, which are trained on,
// and fresh ones, which are only scored.
type canaries interface {
	count() int
	part(from, to int) canaries // those from the first number to before the second
	// add writes what those present give to a step's sum.
	add(t *Model, present, sum []float64)
	// gradients returns the clipped gradients at the model, one after another, until the next
	// call; and by how much those of a training that forgets to clip are longer.
	gradients(t *Model) (clipped, stretch []float64)
	// final writes scores by the final model, r being the reference.
	final(t *Model, r *network, scores []float64)
}

// vectors are canaries whose gradient is the same at every step.
type vectors struct {
	p          int       // weights
	directions []float64 // of norm C
	stretch    []float64
}

func (v vectors) count() int { return len(v.stretch) }

func (v vectors) part(from, to int) canaries {
	return vectors{v.p, v.directions[from*v.p : to*v.p], v.stretch[from:to]}
}

func (v vectors) add(t *Model, present, sum []float64) {
	clear(sum)
	for k, on := range present {
		if on != 0 {
			matmul.AddScaled(sum, v.directions[k*v.p:(k+1)*v.p], t.config.length(v.stretch[k]))
		}
	}
}

func (v vectors) gradients(*Model) (clipped, stretch []float64) { return v.directions, v.stretch }

// points are canaries, or examples, with features and a label, whose gradient is the model's.
type points struct {
	Rows
	features int
	scratch  *pointScratch
}

type pointScratch struct {
	present                   Rows
	clipped, stretch, factors []float64
}

func (v points) count() int { return len(v.Labels) }

func (v points) part(from, to int) canaries {
	v.Rows = Rows{v.X[from*v.features : to*v.features], v.Labels[from:to]}
	return v
}

func (v points) add(t *Model, present, sum []float64) {
	s := v.scratch
	s.present = Rows{s.present.X[:0], s.present.Labels[:0]}
	for k, on := range present {
		if on != 0 {
			s.present.X = append(s.present.X, v.X[k*v.features:(k+1)*v.features]...)
			s.present.Labels = append(s.present.Labels, v.Labels[k])
		}
	}
	t.ClippedSum(s.present, sum)
}

func (v points) gradients(t *Model) (clipped, stretch []float64) {
	s, m := v.scratch, t.model
	n, p := v.count(), len(m.theta)
	m.forward(v.X, v.Labels)
	m.backward(v.Labels)
	s.factors = m.clip(t.config.Clip, s.factors)
	s.clipped, s.stretch = matmul.Resized(s.clipped, n*p), matmul.Resized(s.stretch, n)
	for k := range n {
		m.gradient(k, s.clipped[k*p:(k+1)*p])
		s.stretch[k] = 1 / s.factors[k]
	}
	return s.clipped, s.stretch
}

// tailPool makes what tail canaries are drawn from: the last right singular vectors of the
// examples, at one norm, each with the label that has the largest loss at the reference
// (ClipBKD, lifted; LiDP appendix D.1).
func (t *Model) tailPool(r *network) (points, error) {
	d, n, p := len(t.data.Features), t.data.Len(), t.config.Tail
	gram, part := make([]float64, d*d), make([]float64, d*d)
	var left, right matmul.Packed[float64]
	for at := 0; at < n; at += evaluated {
		rows := t.data.X[at*d : min(n, at+evaluated)*d]
		left.Left(rows, d, len(rows)/d, 1, d)
		right.Right(rows, d, len(rows)/d, 1, d)
		matmul.Product(&left, &right, nil, part)
		matmul.AddScaled(gram, part, 1)
	}
	x, ok := linalg.TailSingular(gram, d, d, p)
	if !ok {
		return points{}, &audit.InputError{Field: "data", Found: "a matrix whose singular values do not converge", Want: "features of similar size"}
	}
	norm := 1.0
	if t.config.Scale == Median {
		norms := make([]float64, n)
		for i := range norms {
			row := t.data.X[i*d : (i+1)*d]
			norms[i] = math.Sqrt(matmul.Dot(row, row))
		}
		slices.Sort(norms)
		if norm = norms[(n-1)/2]; norm == 0 {
			return points{}, &audit.InputError{Field: "scale", Found: `"median", of examples of which most are zero`, Want: `"unit"`}
		}
	}
	scaleBy(x, norm)
	pool := points{Rows: Rows{x, make([]int32, p)}, features: d}
	most := make([]float64, p)
	for y := range t.data.Classes {
		guess := points{Rows: Rows{x, slices.Repeat([]int32{int32(y)}, p)}}
		for k, loss := range guess.losses(r) {
			if loss > most[k] {
				most[k], pool.Labels[k] = loss, int32(y)
			}
		}
	}
	return pool, nil
}

// draw makes n canaries, independent and of one distribution.
func (t *Model) draw(st *stream.Stream, n int) canaries {
	if t.config.Canary == Gradient {
		p := len(t.model.theta)
		v := vectors{p, make([]float64, n*p), make([]float64, n)}
		for k := range n {
			direction(st, v.directions[k*p:(k+1)*p], t.config.Clip)
			v.stretch[k] = t.config.Strength
		}
		return v
	}
	d := len(t.data.Features)
	v := points{Rows{make([]float64, n*d), make([]int32, n)}, d, &pointScratch{}}
	for k := range n {
		row := v.X[k*d : (k+1)*d]
		if t.config.Canary == Tail {
			at := st.Intn(t.pool.count())
			copy(row, t.pool.X[at*d:])
			v.Labels[k] = t.pool.Labels[at]
			continue
		}
		if t.data.Unit {
			direction(st, row, 1)
		} else {
			st.Bernoulli(row, 0.5)
			for j, b := range row {
				row[j] = float64(2*b) - 1
			}
		}
		v.Labels[k] = int32(st.Intn(len(t.data.Classes)))
	}
	return v
}

func (v points) losses(m *network) []float64 {
	m.forward(v.X, v.Labels)
	return m.losses
}

// members are canaries of which only some are among the examples.
type members struct {
	canaries
	in []bool
}

func (v members) add(t *Model, present, sum []float64) {
	for k, in := range v.in {
		if !in {
			present[k] = 0
		}
	}
	v.canaries.add(t, present, sum)
}

const worst = -math.MaxFloat64

// LogLikelihood is the log likelihood ratio of one step: of a canary that takes part with
// probability q against one that is not among the examples. inner is what remained of the
// noisy sum times the canary's clipped gradient g, square is |g|^2.
func LogLikelihood(inner, square, variance, q float64) float64 {
	x := (inner - float64(square/2)) / variance
	switch {
	case q == 1:
		return x
	case x > 30:
		return x + stream.Log(q+float64((1-q)*stream.Exp(-x)))
	}
	return stream.Log1p(float64(q * stream.Expm1(x)))
}

// witness scores canaries of one training: by the final model, or by the sum of log likelihood
// ratios over its steps, at the variance that what remains of the noisy sum itself has: 1/p of
// its squared norm, within sqrt(2/p) of the truth, also where less noise is added than claimed.
type witness struct {
	scored canaries
	scores []float64

	inside int  // how many of the scored, the first ones, are trained on: their own part of a sum remains
	lend   bool // the others are scored in the place of one inside, round and round, whose part remains
	coins  bool // every canary is inside with probability 1/2: taken away is what others are expected to give
}

func (s *Source) see(w *witness, at step) {
	c, p := s.t.config, len(at.released)
	gradients, stretch := w.scored.gradients(s.t)
	gradient := func(k int) []float64 { return gradients[k*p : (k+1)*p] }
	s.residual = matmul.Resized(s.residual, p)
	for i, v := range at.released {
		s.residual[i] = v - at.data[i]
	}
	if w.coins {
		for k := range w.scores {
			matmul.AddScaled(s.residual, gradient(k), -c.Rate/2)
		}
	} else {
		for i, v := range at.canaries {
			s.residual[i] -= v
		}
	}
	all := matmul.Dot(s.residual, s.residual)
	for k := range w.scores {
		g := gradient(k)
		square, inner, energy := matmul.Dot(g, g), matmul.Dot(s.residual, g), all
		own, part := k, 0.0 // the canary whose part is put back, and that part
		if w.lend && k >= w.inside {
			own = (k - w.inside) % w.inside
		}
		if w.coins {
			part = c.Rate / 2
		} else if own < w.inside && at.present[own] != 0 {
			part = c.length(stretch[own])
		}
		along, norm, cross := inner, square, square
		if own != k && part != 0 {
			other := gradient(own)
			along, norm, cross = matmul.Dot(s.residual, other), matmul.Dot(other, other), matmul.Dot(other, g)
		}
		energy += float64(part * (float64(2*along) + float64(part*norm)))
		inner += float64(part * cross)
		variance := energy / float64(p)
		if !(variance > 0) {
			variance = float64(c.Sigma*c.Clip) * float64(c.Sigma*c.Clip)
		}
		w.scores[k] += LogLikelihood(inner, square, variance, c.Rate)
	}
}

// length is what a canary's gradient is longer than a clipped one.
func (c Config) length(stretch float64) float64 { return audit.Pick(c.NoClipping, stretch, 1) }

// final scores are in units of the deviation that all steps' noise gives to the move.
func (v vectors) final(t *Model, r *network, scores []float64) {
	c := t.config
	unit := float64(c.move(t.data.Len())*c.Sigma) * float64(float64(c.Clip*c.Clip)*math.Sqrt(float64(c.Steps)))
	moved := audit.Listed(v.p, func(i int) float64 { return r.theta[i] - t.model.theta[i] })
	for k := range scores {
		scores[k] = matmul.Dot(moved, v.directions[k*v.p:(k+1)*v.p]) / unit
	}
}

func (v points) final(t *Model, r *network, scores []float64) {
	copy(scores, v.losses(r))
	for k, loss := range v.losses(t.model) {
		scores[k] -= loss
	}
}
