package train

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

// layer is a dense layer: a matrix of weights, an input a row, then biases.
type layer struct{ in, out int }

func (l layer) weights() int { return (l.in + 1) * l.out }

// network is a softmax classifier of dense layers, and the scratch to run it on blocks of rows.
type network struct {
	layers []layer
	relu   bool      // rectified linear units between layers, not tanh
	theta  []float64 // layer by layer: weights, biases

	forwards    []matmul.Packed[float64] // weights as forward needs them
	left, right matmul.Packed[float64]
	acts        [][]float64 // inputs of each layer, of the rows of the last forward
	deltas      [][]float64 // derivatives of the loss by each layer's sums
	probs       []float64   // softmax of the last layer's sums; becomes its deltas
	losses      []float64
	norms       []float64
	n           int
}

func newNetwork(sizes []int, activation string) *network {
	n, total := len(sizes)-1, 0
	layers := audit.Listed(n, func(i int) layer { return layer{sizes[i], sizes[i+1]} })
	for _, l := range layers {
		total += l.weights()
	}
	return &network{layers: layers, relu: activation == ReLU, theta: make([]float64, total),
		forwards: make([]matmul.Packed[float64], n), acts: make([][]float64, n), deltas: make([][]float64, n)}
}

// part cuts a list of all parameters down to those of layer i.
func (m *network) part(all []float64, i int) (weights, biases []float64) {
	for _, l := range m.layers[:i] {
		all = all[l.weights():]
	}
	l := m.layers[i]
	return all[:l.in*l.out], all[l.in*l.out : l.weights()]
}

// initialise draws first weights: zeros in a linear model, else uniform with variance
// 2/(in+out) (Glorot and Bengio 2010) for tanh, 2/in (He et al. 2015) for rectified linear
// units; biases are 0.
func (m *network) initialise(s *stream.Stream) {
	if len(m.layers) == 1 {
		return
	}
	for i, l := range m.layers {
		reach := math.Sqrt(6 / float64(l.in+audit.Pick(m.relu, 0, l.out)))
		weights, _ := m.part(m.theta, i)
		s.Uniform(weights, -reach, reach)
	}
}

// ready is to be called when the parameters have changed.
func (m *network) ready() {
	for i, l := range m.layers {
		weights, _ := m.part(m.theta, i)
		m.forwards[i].Right(weights, l.out, l.in, 1, l.out)
	}
}

func (m *network) classes() int { return m.layers[len(m.layers)-1].out }

// forward computes the cross-entropy of n rows against their labels, in
// m.losses, in nats, and keeps what backward needs.
func (m *network) forward(rows []float64, labels []int32) {
	n := len(labels)
	m.n = n
	m.acts[0] = rows
	for i, l := range m.layers {
		to, last := &m.probs, i == len(m.layers)-1
		if !last {
			to = &m.acts[i+1]
		}
		*to = matmul.Resized(*to, n*l.out)
		m.left.Left(m.acts[i], n, l.in, l.in, 1)
		_, biases := m.part(m.theta, i)
		matmul.Product(&m.left, &m.forwards[i], biases, *to)
		if !last {
			m.activate(*to)
		}
	}
	m.losses = matmul.Resized(m.losses, n)
	c := m.classes()
	for i, label := range labels {
		m.losses[i] = softmax(m.probs[i*c:(i+1)*c], int(label))
	}
}

func (m *network) activate(z []float64) {
	for i, v := range z {
		if !m.relu {
			z[i] = tanh(v)
		} else if v < 0 { // not max: NaN must stay
			z[i] = 0
		}
	}
}

// tanh is within 4 ulp and has the same bits everywhere.
func tanh(x float64) float64 {
	e := stream.Expm1(-2 * math.Abs(x))
	return math.Copysign(e/(2+e), x)
}

// softmax replaces sums by probabilities and returns -log of that of the label.
func softmax(z []float64, label int) float64 {
	top := slices.Max(z)
	own, sum := z[label]-top, 0.0
	for i, v := range z {
		z[i] = stream.Exp(v - top)
		sum += z[i]
	}
	scaleBy(z, 1/sum)
	return stream.Log(sum) - own
}

func scaleBy(list []float64, factor float64) {
	for i, v := range list {
		list[i] = float64(v * factor)
	}
}

// backward, after a forward with the same labels, computes every example's deltas and the norm
// of its gradient, in m.norms. The gradient of a layer is the outer product of its inputs a,
// with a 1 for the bias, and of its deltas d, so its squared norm is (|a|^2+1)|d|^2 (Goodfellow
// 2015).
func (m *network) backward(labels []int32) {
	n, c := m.n, m.classes()
	for i, label := range labels {
		m.probs[i*c+int(label)]--
	}
	last := len(m.layers) - 1
	m.deltas[last] = m.probs[:n*c]
	for i := last; i > 0; i-- {
		l := m.layers[i]
		weights, _ := m.part(m.theta, i)
		m.left.Left(m.deltas[i], n, l.out, l.out, 1)
		m.right.Right(weights, l.in, l.out, l.out, 1)
		m.deltas[i-1] = matmul.Resized(m.deltas[i-1], n*l.in)
		matmul.Product(&m.left, &m.right, nil, m.deltas[i-1])
		m.slope(m.deltas[i-1], m.acts[i])
	}
	m.norms = matmul.Resized(m.norms, n)
	clear(m.norms)
	for i, l := range m.layers {
		for k := range n {
			a, d := m.acts[i][k*l.in:(k+1)*l.in], m.deltas[i][k*l.out:(k+1)*l.out]
			m.norms[k] += float64((1 + matmul.Dot(a, a)) * matmul.Dot(d, d))
		}
	}
	for k, v := range m.norms {
		m.norms[k] = math.Sqrt(v)
	}
}

// slope multiplies deltas by the activation's derivative, given its values.
func (m *network) slope(deltas, values []float64) {
	for i, v := range values[:len(deltas)] {
		if !m.relu {
			deltas[i] = float64(deltas[i] * (1 - float64(v*v)))
		} else if v <= 0 {
			deltas[i] = 0
		}
	}
}

// clip brings the norms of the gradients down to c, by factors that it writes.
func (m *network) clip(c float64, factors []float64) []float64 {
	factors = matmul.Resized(factors, m.n)
	for k, norm := range m.norms {
		factors[k] = 1
		if norm > c {
			factors[k] = c / norm
			for i, l := range m.layers {
				scaleBy(m.deltas[i][k*l.out:(k+1)*l.out], factors[k])
			}
		}
	}
	return factors
}

// sum writes the sum of the examples' gradients, as clipped.
func (m *network) sum(gradient []float64) {
	n := m.n
	for i, l := range m.layers {
		weights, biases := m.part(gradient, i)
		m.left.Left(m.acts[i], l.in, n, 1, l.in)
		m.right.Right(m.deltas[i], l.out, n, 1, l.out)
		matmul.Product(&m.left, &m.right, nil, weights)
		clear(biases)
		for k := range n {
			matmul.AddScaled(biases, m.deltas[i][k*l.out:(k+1)*l.out], 1)
		}
	}
}

// gradient writes the gradient of example k, as clipped.
func (m *network) gradient(k int, to []float64) {
	for i, l := range m.layers {
		weights, biases := m.part(to, i)
		d := m.deltas[i][k*l.out : (k+1)*l.out]
		copy(biases, d)
		for r, a := range m.acts[i][k*l.in : (k+1)*l.in] {
			row := weights[r*l.out : (r+1)*l.out]
			for j := range row {
				row[j] = float64(a * d[j])
			}
		}
	}
}
