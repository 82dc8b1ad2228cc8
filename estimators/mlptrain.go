package estimators

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
	"github.com/dpscope/dpscope/stream/matmul"
)

const (
	validationOf  = 5       // every fifth output is held out to stop by
	trainingCells = 1 << 24 // most inputs of training outputs (64 MiB)
	leastSteps    = 25      // an epoch has at least as many
	weightMost    = 1e4     // a parameter past it has diverged; scores stay finite below
	worthwhile    = 1e-5    // smaller gains of the held-out loss count as none
)

// training is a network with the outputs it is trained on.
type training struct {
	network network[float32]
	options MLPOptions
	bound   float64
	fitted  [2][]float32 // inputs of the outputs of each side, row by row
	held    [2][]float32
	stream  *stream.Stream
	check   func() error

	h, slope [2][]float64
	raw      []float32
	bend     []float64 // derivative of the bounded output by the raw one
}

// newTraining reads the inputs and draws the first weights, uniform with
// variance 2 over the number of inputs of a layer (He et al. 2015).
func newTraining(ex audit.Exploration, o MLPOptions, bound float64, inputs []input, carriers []float64) (*training, error) {
	t := &training{options: o, bound: bound, stream: ex.Stream, check: ex.Check}
	t.network.shape = shape{len(inputs), o.Hidden[0], o.Hidden[1]}
	limit := min(designRows, trainingCells/2/len(inputs))
	for s, side := range []audit.Samples{ex.First, ex.Second} {
		all, err := readInputs(side, newInputReader(inputs, carriers, side.Columns), limit, ex.Check)
		if err != nil {
			return nil, err
		}
		step := len(inputs)
		for i := 0; i*step < len(all); i++ {
			row := all[i*step : (i+1)*step]
			if i%validationOf == validationOf-1 {
				t.held[s] = append(t.held[s], row...)
			} else {
				t.fitted[s] = append(t.fitted[s], row...)
			}
		}
		if len(t.held[s]) == 0 { // fewer than five outputs
			t.held[s] = t.fitted[s]
		}
	}
	m := &t.network
	m.params = make([]float32, m.weights())
	w1, _, w2, _, w3, _ := layers(m.shape, m.params)
	for _, l := range []struct {
		weights []float32
		from    int
	}{{w1, m.inputs}, {w2, m.first}, {w3, m.second}} {
		reach := math.Sqrt(6 / float64(l.from))
		for i := range l.weights {
			l.weights[i] = float32(float64(reach * (float64(2*t.stream.Float64()) - 1)))
		}
	}
	for i := range w3 {
		w3[i] /= 4 // begin near the blind witness
	}
	m.ready()
	return t, ex.Check()
}

// readInputs reads the inputs of up to limit outputs, evenly spaced.
func readInputs(side audit.Samples, r inputReader, limit int, check func() error) ([]float32, error) {
	stride := (side.Len() + limit - 1) / limit
	n := (side.Len() + stride - 1) / stride
	step := len(r.inputs)
	out := make([]float32, n*step)
	rows := make([]float64, 0, block*r.width)
	for start := 0; start < n; start += block {
		if err := check(); err != nil {
			return nil, err
		}
		count := min(block, n-start)
		rows = rows[:0]
		for i := start; i < start+count; i++ {
			rows = append(rows, side.Rows[i*stride*r.width:(i*stride+1)*r.width]...)
		}
		r.read(rows, count, out[start*step:])
	}
	return out, nil
}

// run trains for one loss from where the network is, and leaves it at the
// parameters that did best on the held-out outputs.
func (t *training) run(loss witnessLoss, rate float64) error {
	m := &t.network
	best := append([]float32(nil), m.params...)
	least, err := t.heldOut(loss)
	if err != nil {
		return err
	}
	var order [2][]int32
	for s := range order {
		order[s] = make([]int32, len(t.fitted[s])/m.inputs)
		for i := range order[s] {
			order[s][i] = int32(i)
		}
	}
	batch := t.options.Batch
	longest := max(len(order[0]), len(order[1]))
	steps := max(leastSteps, (longest+batch-1)/batch)
	optimiser := newAdam[float32](len(m.params))
	gradient := make([]float32, len(m.params))
	rows := make([]float32, 0, 2*batch*m.inputs)
	var next [2]int
	for epoch, idle := 0, 0; epoch < t.options.Epochs && idle < t.options.Patience; epoch++ {
		for range steps {
			if err := t.check(); err != nil {
				return err
			}
			rows = rows[:0]
			var count [2]int
			for s, o := range order {
				count[s] = min(batch, len(o))
				for range count[s] {
					if next[s]%len(o) == 0 {
						next[s] = 0
						t.stream.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
					}
					at := int(o[next[s]]) * m.inputs
					rows = append(rows, t.fitted[s][at:at+m.inputs]...)
					next[s]++
				}
			}
			value := t.gradient(loss, rows, count, gradient)
			if value-value != 0 {
				return t.diverged(epoch, "the loss is "+fmt.Sprint(value))
			}
			optimiser.step(m.params, gradient, rate)
			m.ready()
		}
		for _, w := range m.params {
			if !(w >= -weightMost && w <= weightMost) {
				return t.diverged(epoch, "a weight is "+fmt.Sprint(w))
			}
		}
		value, err := t.heldOut(loss)
		if err != nil {
			return err
		}
		if value-value != 0 {
			return t.diverged(epoch, "the held-out loss is "+fmt.Sprint(value))
		}
		if value < least-worthwhile {
			idle = 0
		} else {
			idle++
			rate /= 2
		}
		if value < least {
			least = value
			copy(best, m.params)
		}
	}
	copy(m.params, best)
	m.ready()
	return t.check()
}

func (t *training) diverged(epoch int, what string) error {
	return fmt.Errorf("the network diverges in epoch %d of training at rate %g: %s; a smaller rate may hold it", epoch+1, t.options.Rate, what)
}

// gradient returns the loss of a batch, rows of the first side and then of the
// second, and its gradient by the parameters.
func (t *training) gradient(loss witnessLoss, rows []float32, count [2]int, gradient []float32) float64 {
	n := count[0] + count[1]
	t.witness(rows, count)
	value := loss.value(t.h[0], t.h[1], t.slope[0], t.slope[1])
	for i := range n {
		s, at := 0, i
		if i >= count[0] {
			s, at = 1, i-count[0]
		}
		t.raw[i] = float32(float64(t.slope[s][at] * t.bend[i]))
	}
	t.network.backward(t.raw[:n], gradient)
	return value
}

// witness computes h of rows of both sides.
func (t *training) witness(rows []float32, count [2]int) {
	n := count[0] + count[1]
	t.raw, t.bend = matmul.Grown(t.raw, n), matmul.Grown(t.bend, n)
	t.network.forward(rows, n, t.raw)
	for s := range t.h {
		t.h[s], t.slope[s] = matmul.Grown(t.h[s], count[s]), matmul.Grown(t.slope[s], count[s])
	}
	for i, x := range t.raw[:n] {
		h, bend := bounded(float64(x), t.bound)
		t.bend[i] = bend
		if i < count[0] {
			t.h[0][i] = h
		} else {
			t.h[1][i-count[0]] = h
		}
	}
}

// heldOut is the loss of the held-out outputs.
func (t *training) heldOut(loss witnessLoss) (float64, error) {
	m := &t.network
	var h, slope [2][]float64
	raw := make([]float32, block)
	for s, rows := range t.held {
		for len(rows) > 0 {
			n := min(block, len(rows)/m.inputs)
			m.forward(rows, n, raw)
			for _, x := range raw[:n] {
				v, _ := bounded(float64(x), t.bound)
				h[s] = append(h[s], v)
			}
			rows = rows[n*m.inputs:]
			if err := t.check(); err != nil {
				return 0, err
			}
		}
		slope[s] = make([]float64, len(h[s]))
	}
	return loss.value(h[0], h[1], slope[0], slope[1]), nil
}
