package estimators

import (
	"math"

	"github.com/dpscope/dpscope/stream/matmul"
)

// shape is the size of a network: its inputs and its two hidden layers.
type shape struct{ inputs, first, second int }

// weights is how many parameters a network has. They lie in one list: the first
// layer's weights (row by row, an input a row) and biases, the second's (a unit
// of the first layer a row) and biases, the weights of the sum and its constant.
func (s shape) weights() int {
	return s.inputs*s.first + s.first + s.first*s.second + s.second + s.second + 1
}

// layers cuts a list of parameters into its parts.
func layers[T matmul.Real](s shape, all []T) (w1, b1, w2, b2, w3, b3 []T) {
	cut := func(n int) []T {
		part := all[:n:n]
		all = all[n:]
		return part
	}
	return cut(s.inputs * s.first), cut(s.first), cut(s.first * s.second), cut(s.second), cut(s.second), cut(1)
}

// network is a perceptron with two hidden layers of rectified linear units,
// with the scratch to run it on blocks of rows.
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

// ready packs the parameters; to be called when they have changed.
func (m *network[T]) ready() {
	w1, _, w2, _, _, _ := layers(m.shape, m.params)
	m.w1.Right(w1, m.first, m.inputs, 1, m.first)
	m.w2.Right(w2, m.second, m.first, 1, m.second)
}

// forward writes the network's output for each of n rows into out.
func (m *network[T]) forward(rows []T, n int, out []T) {
	m.rows, m.n = rows, n
	m.hidden1, m.slopes1 = matmul.Grown(m.hidden1, n*m.first), matmul.Grown(m.slopes1, n*m.first)
	m.hidden2, m.slopes2 = matmul.Grown(m.hidden2, n*m.second), matmul.Grown(m.slopes2, n*m.second)
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

// rectify turns negative entries of z to 0 and writes which were not to slopes,
// without a branch on the data.
func rectify[T matmul.Real](z, slopes []T) {
	slopes = slopes[:len(z)]
	for i, v := range z {
		on := T(int32(1 - math.Float32bits(float32(v))>>31))
		slopes[i] = on
		z[i] = v * on
	}
}

// backward writes the gradient by the parameters of a sum over the rows of the
// last forward, given its derivative by each output.
func (m *network[T]) backward(slope, gradient []T) {
	n := m.n
	_, _, w2, _, w3, _ := layers(m.shape, m.params)
	g1, gb1, g2, gb2, g3, gb3 := layers(m.shape, gradient)
	m.back2, m.back1 = matmul.Grown(m.back2, n*m.second), matmul.Grown(m.back1, n*m.first)
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
