package estimators

import "math"

// shape is the size of a network: its inputs and its two hidden layers.
type shape struct{ inputs, first, second int }

// weights is how many parameters a network has. They lie in one list: the first
// layer's weights (row by row, an input a row) and biases, the second's (a unit
// of the first layer a row) and biases, the weights of the sum and its constant.
func (s shape) weights() int {
	return s.inputs*s.first + s.first + s.first*s.second + s.second + s.second + 1
}

// layers cuts a list of parameters into its parts.
func layers[T real](s shape, all []T) (w1, b1, w2, b2, w3, b3 []T) {
	cut := func(n int) []T {
		part := all[:n:n]
		all = all[n:]
		return part
	}
	return cut(s.inputs * s.first), cut(s.first), cut(s.first * s.second), cut(s.second), cut(s.second), cut(1)
}

// network is a perceptron with two hidden layers of rectified linear units,
// with the scratch to run it on blocks of rows.
type network[T real] struct {
	shape
	params []T

	w1, w2           packed[T] // as forward needs them
	left, right      packed[T]
	hidden1, hidden2 []T // of the rows of the last forward
	slopes1, slopes2 []T // 1 where a unit is on, else 0
	rows             []T
	n                int
	back2, back1     []T
}

// ready packs the parameters; to be called when they have changed.
func (m *network[T]) ready() {
	w1, _, w2, _, _, _ := layers(m.shape, m.params)
	m.w1.pack(w1, m.first, m.inputs, 1, m.first, broad)
	m.w2.pack(w2, m.second, m.first, 1, m.second, broad)
}

// grown is a slice of n numbers, in list's memory where that suffices.
func grown[T real](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}

// forward writes the network's output for each of n rows into out.
func (m *network[T]) forward(rows []T, n int, out []T) {
	m.rows, m.n = rows, n
	m.hidden1, m.slopes1 = grown(m.hidden1, n*m.first), grown(m.slopes1, n*m.first)
	m.hidden2, m.slopes2 = grown(m.hidden2, n*m.second), grown(m.slopes2, n*m.second)
	_, b1, _, b2, w3, b3 := layers(m.shape, m.params)
	m.left.pack(rows, n, m.inputs, m.inputs, 1, tall)
	product(&m.left, &m.w1, b1, m.hidden1)
	rectify(m.hidden1, m.slopes1)
	m.left.pack(m.hidden1, n, m.first, m.first, 1, tall)
	product(&m.left, &m.w2, b2, m.hidden2)
	rectify(m.hidden2, m.slopes2)
	for i := range out[:n] {
		out[i] = dot(m.hidden2[i*m.second:(i+1)*m.second], w3) + b3[0]
	}
}

// rectify turns negative entries of z to 0 and writes which were not to slopes,
// without a branch on the data.
func rectify[T real](z, slopes []T) {
	slopes = slopes[:len(z)]
	for i, v := range z {
		on := T(int32(1 - math.Float32bits(float32(v))>>31))
		slopes[i] = on
		z[i] = v * on
	}
}

// dot is the sum of products of equally long lists, in four strands.
func dot[T real](a, b []T) T {
	var s0, s1, s2, s3 T
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]T)(a), (*[4]T)(b)
		s0 += T(x[0] * y[0])
		s1 += T(x[1] * y[1])
		s2 += T(x[2] * y[2])
		s3 += T(x[3] * y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += T(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// addScaled adds scale times row to sum.
func addScaled[T real](sum, row []T, scale T) {
	for len(sum) >= 4 && len(row) >= 4 {
		x, y := (*[4]T)(sum), (*[4]T)(row)
		x[0] += T(scale * y[0])
		x[1] += T(scale * y[1])
		x[2] += T(scale * y[2])
		x[3] += T(scale * y[3])
		sum, row = sum[4:], row[4:]
	}
	for i := range sum {
		sum[i] += T(scale * row[i])
	}
}

// backward writes the gradient by the parameters of a sum over the rows of the
// last forward, given its derivative by each output.
func (m *network[T]) backward(slope, gradient []T) {
	n := m.n
	_, _, w2, _, w3, _ := layers(m.shape, m.params)
	g1, gb1, g2, gb2, g3, gb3 := layers(m.shape, gradient)
	m.back2, m.back1 = grown(m.back2, n*m.second), grown(m.back1, n*m.first)
	clear(gb1)
	clear(gb2)
	clear(g3)
	gb3[0] = 0
	for i, s := range slope[:n] {
		gb3[0] += s
		addScaled(g3, m.hidden2[i*m.second:(i+1)*m.second], s)
		on := m.slopes2[i*m.second : (i+1)*m.second]
		to := m.back2[i*m.second : (i+1)*m.second]
		for k := range to {
			to[k] = T(s*w3[k]) * on[k]
		}
		addScaled(gb2, to, 1)
	}
	m.left.pack(m.hidden1, m.first, n, 1, m.first, tall)
	m.right.pack(m.back2, m.second, n, 1, m.second, broad)
	product(&m.left, &m.right, nil, g2)

	m.left.pack(m.back2, n, m.second, m.second, 1, tall)
	m.right.pack(w2, m.first, m.second, m.second, 1, broad)
	product(&m.left, &m.right, nil, m.back1)
	for i, on := range m.slopes1 {
		m.back1[i] *= on
	}
	for i := range n {
		addScaled(gb1, m.back1[i*m.first:(i+1)*m.first], 1)
	}
	m.left.pack(m.rows, m.inputs, n, 1, m.inputs, tall)
	m.right.pack(m.back1, m.first, n, 1, m.first, broad)
	product(&m.left, &m.right, nil, g1)
}
