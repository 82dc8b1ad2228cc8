package estimators

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

const (
	validationOf  = 5       // every fifth output is held out to stop by
	trainingCells = 1 << 24 // most inputs of training outputs (64 MiB)
	leastSteps    = 25      // an epoch has at least as many
	weightMost    = 1e4     // parameters past it diverge; scores stay finite below
	worthwhile    = 1e-5    // of a gain in held-out loss
)

type training struct {
	network network[float32]
	options mlpOptions
	bound   float64
	fitted  [2][]float32 // inputs of the outputs of each side, row by row
	held    [2][]float32
	stream  *stream.Stream
	check   func() error

	// Of a batch, the rows of the first side before those of the second.
	h, slope []float64
	raw      []float32
	bend     []float64 // derivative of the bounded output by the raw one
}

// newTraining draws the first weights uniform with variance 2 over a layer's inputs (He et al. 2015).
func newTraining(ex audit.Exploration, o mlpOptions, bound float64, r inputReader) *training {
	t := &training{options: o, bound: bound, stream: ex.Stream, check: ex.Check}
	t.network.shape = shape{len(r.Inputs), o.hidden[0], o.hidden[1]}
	limit := min(designRows, trainingCells/2/len(r.Inputs))
	for s, side := range sides(ex) {
		all := readInputs(side, r, limit, ex.Check)
		step := len(r.Inputs)
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
	return t
}

func readInputs(side audit.Samples, r inputReader, limit int, check func() error) []float32 {
	stride := (side.Len() + limit - 1) / limit
	n := (side.Len() + stride - 1) / stride
	step := len(r.Inputs)
	out := make([]float32, n*step)
	rows := make([]float64, 0, block*r.width)
	for start := 0; start < n; start += block {
		stopOn(check())
		count := min(block, n-start)
		rows = rows[:0]
		for i := start; i < start+count; i++ {
			rows = append(rows, side.Rows[i*stride*r.width:(i*stride+1)*r.width]...)
		}
		r.read(rows, count, out[start*step:])
	}
	return out
}

// run trains for one loss from where the network is, up to where it did best on the held-out outputs.
func (t *training) run(loss witnessLoss, rate float64) {
	m := &t.network
	best := slices.Clone(m.params)
	least := t.heldOut(loss)
	var order [2][]int32
	for s := range order {
		order[s] = audit.Listed(len(t.fitted[s])/m.inputs, func(i int) int32 { return int32(i) })
	}
	batch := t.options.batch
	longest := max(len(order[0]), len(order[1]))
	steps := max(leastSteps, (longest+batch-1)/batch)
	optimiser := newAdam[float32](len(m.params))
	gradient := make([]float32, len(m.params))
	rows := make([]float32, 0, 2*batch*m.inputs)
	var next [2]int
	for epoch, idle := 0, 0; epoch < t.options.epochs && idle < t.options.patience; epoch++ {
		for range steps {
			stopOn(t.check())
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
			t.require(value-value == 0, epoch, "the loss", value)
			optimiser.step(m.params, gradient, rate)
			m.ready()
		}
		wild := slices.IndexFunc(m.params, func(w float32) bool { return !(w >= -weightMost && w <= weightMost) })
		t.require(wild < 0, epoch, "a weight", m.params[max(0, wild)])
		value := t.heldOut(loss)
		t.require(value-value == 0, epoch, "the held-out loss", value)
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
}

// require ends a training that diverges.
func (t *training) require(holds bool, epoch int, what string, found any) {
	if !holds {
		stopOn(fmt.Errorf("the network diverges in epoch %d of training at rate %g: %s is %v; use a smaller rate", epoch+1, t.options.rate, what, found))
	}
}

// gradient is the loss of a batch, rows of the first side and then of the second, and its gradient.
func (t *training) gradient(loss witnessLoss, rows []float32, count [2]int, gradient []float32) float64 {
	n := count[0] + count[1]
	t.raw, t.bend = matmul.Resized(t.raw, n), matmul.Resized(t.bend, n)
	t.h, t.slope = matmul.Resized(t.h, n), matmul.Resized(t.slope, n)
	t.network.forward(rows, n, t.raw)
	for i, x := range t.raw {
		t.h[i], t.bend[i] = bounded(float64(x), t.bound)
	}
	sides := func(all []float64) [2][]float64 { return [2][]float64{all[:count[0]], all[count[0]:]} }
	value := loss.value(sides(t.h), [2][]float64{}, sides(t.slope))
	for i, bend := range t.bend {
		t.raw[i] = float32(float64(t.slope[i] * bend))
	}
	t.network.backward(t.raw, gradient)
	return value
}

func (t *training) heldOut(loss witnessLoss) float64 {
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
			stopOn(t.check())
		}
		slope[s] = make([]float64, len(h[s]))
	}
	return loss.value(h, [2][]float64{}, slope)
}

type shape struct{ inputs, first, second int }

// weights is how many parameters there are. In one list lie the first layer's weights (an input a row)
// and biases, the second's (a unit of the first layer a row) and biases, the sum's weights and constant.
func (s shape) weights() int {
	return s.inputs*s.first + s.first + s.first*s.second + s.second + s.second + 1
}

func layers[T matmul.Real](s shape, all []T) (w1, b1, w2, b2, w3, b3 []T) {
	cut := func(n int) []T {
		part := all[:n:n]
		all = all[n:]
		return part
	}
	return cut(s.inputs * s.first), cut(s.first), cut(s.first * s.second), cut(s.second), cut(s.second), cut(1)
}

// network is a perceptron with two hidden layers, with the scratch to run it on blocks of rows.
type network[T matmul.Real] struct {
	shape
	params []T

	w1, w2           matmul.Packed[T] // as forward needs them
	left, right      matmul.Packed[T]
	hidden1, hidden2 []T // of the rows of the last forward
	slopes1, slopes2 []T // 1 where a unit is on, else 0
	rows             []T
	n                int
	back2, back1     []T
}

// ready packs the parameters, after each change.
func (m *network[T]) ready() {
	w1, _, w2, _, _, _ := layers(m.shape, m.params)
	m.w1.Right(w1, m.first, m.inputs, 1, m.first)
	m.w2.Right(w2, m.second, m.first, 1, m.second)
}

func (m *network[T]) forward(rows []T, n int, out []T) {
	m.rows, m.n = rows, n
	m.hidden1, m.slopes1 = matmul.Resized(m.hidden1, n*m.first), matmul.Resized(m.slopes1, n*m.first)
	m.hidden2, m.slopes2 = matmul.Resized(m.hidden2, n*m.second), matmul.Resized(m.slopes2, n*m.second)
	_, b1, _, b2, w3, b3 := layers(m.shape, m.params)
	m.left.Left(rows, n, m.inputs, m.inputs, 1)
	matmul.Product(&m.left, &m.w1, b1, m.hidden1)
	rectify(m.hidden1, m.slopes1)
	m.left.Left(m.hidden1, n, m.first, m.first, 1)
	matmul.Product(&m.left, &m.w2, b2, m.hidden2)
	rectify(m.hidden2, m.slopes2)
	for i := range out[:n] {
		out[i] = matmul.Dot(m.hidden2[i*m.second:(i+1)*m.second], w3) + b3[0]
	}
}

// rectify turns negative entries of z to 0, and of slopes, without a branch on the data.
func rectify[T matmul.Real](z, slopes []T) {
	slopes = slopes[:len(z)]
	for i, v := range z {
		on := T(int32(1 - math.Float32bits(float32(v))>>31))
		slopes[i] = on
		z[i] = v * on
	}
}

// backward writes the gradient of a sum over the last forward's rows, given its slope by each output.
func (m *network[T]) backward(slope, gradient []T) {
	n := m.n
	_, _, w2, _, w3, _ := layers(m.shape, m.params)
	g1, gb1, g2, gb2, g3, gb3 := layers(m.shape, gradient)
	m.back2, m.back1 = matmul.Resized(m.back2, n*m.second), matmul.Resized(m.back1, n*m.first)
	clear(gb1)
	clear(gb2)
	clear(g3)
	gb3[0] = 0
	for i, s := range slope[:n] {
		gb3[0] += s
		matmul.AddScaled(g3, m.hidden2[i*m.second:(i+1)*m.second], s)
		on := m.slopes2[i*m.second : (i+1)*m.second]
		to := m.back2[i*m.second : (i+1)*m.second]
		for k := range to {
			to[k] = T(s*w3[k]) * on[k]
		}
		matmul.AddScaled(gb2, to, 1)
	}
	m.left.Left(m.hidden1, m.first, n, 1, m.first)
	m.right.Right(m.back2, m.second, n, 1, m.second)
	matmul.Product(&m.left, &m.right, nil, g2)

	m.left.Left(m.back2, n, m.second, m.second, 1)
	m.right.Right(w2, m.first, m.second, m.second, 1)
	matmul.Product(&m.left, &m.right, nil, m.back1)
	for i, on := range m.slopes1 {
		m.back1[i] *= on
	}
	for i := range n {
		matmul.AddScaled(gb1, m.back1[i*m.first:(i+1)*m.first], 1)
	}
	m.left.Left(m.rows, m.inputs, n, 1, m.inputs)
	m.right.Right(m.back1, m.first, n, 1, m.first)
	matmul.Product(&m.left, &m.right, nil, g1)
}

// adam is by Kingma and Ba 2015, algorithm 1, with its constants.
type adam[T matmul.Real] struct {
	mean, square           []T
	meanPower, squarePower float64 // beta1^t, beta2^t
}

const (
	adamMean    = 0.9
	adamSquare  = 0.999
	adamEpsilon = 1e-8
)

func newAdam[T matmul.Real](n int) *adam[T] {
	return &adam[T]{mean: make([]T, n), square: make([]T, n), meanPower: 1, squarePower: 1}
}

func (a *adam[T]) step(params, gradient []T, rate float64) {
	a.meanPower = float64(a.meanPower * adamMean)
	a.squarePower = float64(a.squarePower * adamSquare)
	move := T(rate / (1 - a.meanPower))
	correct := T(1 / (1 - a.squarePower))
	mean, square := a.mean[:len(params)], a.square[:len(params)]
	gradient = gradient[:len(params)]
	for i, g := range gradient {
		m := T(adamMean*mean[i]) + T((1-adamMean)*g)
		s := T(adamSquare*square[i]) + T(T((1-adamSquare)*g)*g)
		mean[i], square[i] = m, s
		params[i] -= T(move*m) / (T(math.Sqrt(float64(T(s*correct)))) + adamEpsilon)
	}
}

// witnessLoss is what a witness h is trained to make small. With alpha above 1 it is -R^h, the Rényi
// objective of DP-Auditorium (Kong et al. 2023), definition 4.2, and of Birrell et al. 2021; else the
// logistic loss of telling the sides apart, an output of the second counting theta times (lemma 4.9
// there, theta = e^epsilon), with h the log likelihood ratio: log odds h - log theta.
type witnessLoss struct {
	alpha float64
	theta float64 // > 0; of the logistic loss
}

// value is the loss where outputs of side s have the values h[s], each counted weight[s][i] times, or
// once without weights; it writes the derivatives by h. No side may be empty.
func (l witnessLoss) value(h, weight, slope [2][]float64) float64 {
	loss := 0.0
	for s := range h {
		count := func(i int) float64 {
			if weight[s] == nil {
				return 1
			}
			return weight[s][i]
		}
		total := 0.0
		for i := range h[s] {
			total += count(i)
		}
		if l.alpha > 1 {
			rate, factor, steep := l.alpha-1, -l.alpha/(l.alpha-1), -l.alpha // steep is rate times factor
			if s == 1 {
				rate, factor, steep = l.alpha, 1, l.alpha
			}
			loss += float64(factor * softmax(h[s], rate, total, count, slope[s]))
			for i := range slope[s] {
				slope[s][i] *= steep
			}
			continue
		}
		share, sign, shift := 1/(1+l.theta), 1.0, stream.Log(l.theta) // shares of the sides add up to 1
		if s == 1 {
			share, sign = float64(share*l.theta), -1
		}
		share /= total
		for i, v := range h[s] {
			z, scale := float64(sign*(v-shift)), float64(share*count(i))
			loss += float64(scale * logLoss(z))
			slope[s][i] = float64(scale*stream.Logistic(-z)) * -sign
		}
	}
	return loss
}

// softmax is log of the mean of e^(rate h), and writes shares; number i counts count(i) of total.
func softmax(h []float64, rate, total float64, count func(i int) float64, share []float64) float64 {
	top := math.Inf(-1)
	for i, v := range h {
		if count(i) > 0 {
			top = max(top, float64(rate*v))
		}
	}
	sum := 0.0
	for i, v := range h {
		share[i] = 0
		if n := count(i); n > 0 {
			share[i] = float64(n * stream.Exp(float64(rate*v)-top))
		}
		sum += share[i]
	}
	for i := range share {
		share[i] /= sum
	}
	return top + stream.Log(sum/total)
}

// bounded is bound tanh(x/bound), which is x itself near 0, and its derivative.
func bounded(x, bound float64) (h, slope float64) {
	u := math.Abs(x) / bound
	e := stream.Expm1(float64(-2 * u))
	t := -e / (2 + e)
	h = float64(bound * t)
	if x < 0 {
		h = -h
	}
	return h, 1 - float64(t*t)
}
