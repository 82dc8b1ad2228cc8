package train

import (
	"github.com/dpscope/dpscope/stream"
	"github.com/dpscope/dpscope/stream/matmul"
)

// canaries are those of a run, of one kind: inside ones, which are trained on,
// and fresh ones, which are only scored.
type canaries interface {
	// count is the number of canaries.
	count() int
	// part returns those numbered from up to, without, to.
	part(from, to int) canaries
	// add writes what those present give to a step's sum.
	add(t *trainer, present, sum []float64)
	// gradients returns every canary's clipped gradient at the model, weights
	// long, one after another, until the next call; and by how much those of a
	// training that forgets to clip are longer.
	gradients(t *trainer) (clipped, stretch []float64)
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

func (v vectors) add(t *trainer, present, sum []float64) {
	clear(sum)
	for k, on := range present {
		if on != 0 {
			scale := 1.0
			if t.config.NoClipping {
				scale = v.stretch[k]
			}
			matmul.AddScaled(sum, v.directions[k*v.p:(k+1)*v.p], scale)
		}
	}
}

func (v vectors) gradients(*trainer) (clipped, stretch []float64) { return v.directions, v.stretch }

// points are canaries with features and a label, whose gradient is the model's.
type points struct {
	x        []float64
	labels   []int32
	features int
	scratch  *pointScratch
}

type pointScratch struct {
	rows, clipped, stretch, factors []float64
	labels                          []int32
}

func (v points) count() int { return len(v.labels) }

func (v points) part(from, to int) canaries {
	v.x, v.labels = v.x[from*v.features:to*v.features], v.labels[from:to]
	return v
}

func (v points) add(t *trainer, present, sum []float64) {
	s := v.scratch
	s.rows, s.labels = s.rows[:0], s.labels[:0]
	for k, on := range present {
		if on != 0 {
			s.rows = append(s.rows, v.x[k*v.features:(k+1)*v.features]...)
			s.labels = append(s.labels, v.labels[k])
		}
	}
	t.clippedSum(s.rows, s.labels, sum)
}

func (v points) gradients(t *trainer) (clipped, stretch []float64) {
	s, m := v.scratch, t.model
	n, p := v.count(), len(m.theta)
	m.forward(v.x, v.labels)
	m.backward(v.labels)
	s.factors = m.clipping(t.config.Clip, s.factors)
	m.weigh(s.factors)
	s.clipped, s.stretch = matmul.Grown(s.clipped, n*p), matmul.Grown(s.stretch, n)
	for k := range n {
		m.gradient(k, s.clipped[k*p:(k+1)*p])
		s.stretch[k] = 1 / s.factors[k]
	}
	return s.clipped, s.stretch
}

// draw makes n canaries, independent and of one distribution.
func (t *trainer) draw(st *stream.Stream, n int) canaries {
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
	v := points{x: make([]float64, n*d), labels: make([]int32, n), features: d, scratch: &pointScratch{}}
	for k := range n {
		row := v.x[k*d : (k+1)*d]
		if t.data.Unit {
			direction(st, row, 1)
		} else {
			st.Bernoulli(row, 0.5)
			for j, b := range row {
				row[j] = float64(2*b) - 1
			}
		}
		v.labels[k] = int32(st.Intn(len(t.data.Classes)))
	}
	return v
}

// losses are those of points at a model that is ready.
func (v points) losses(m *network) []float64 {
	m.forward(v.x, v.labels)
	return m.losses
}

// members are canaries of which only some are among the examples.
type members struct {
	canaries
	in []bool
}

func (v members) add(t *trainer, present, sum []float64) {
	for k, in := range v.in {
		if !in {
			present[k] = 0
		}
	}
	v.canaries.add(t, present, sum)
}
