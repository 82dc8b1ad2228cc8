package estimators

import "math"

// gramRows is how many rows of a design, at most, the metric is taken from.
const gramRows = 1 << 13

// metric is a lower triangular L with L L' near the Hessian of a penalised
// logistic loss at small scores: a quarter of the features' second moments,
// plus the penalty. In the coordinates u = L' w the loss is nearly round, and
// L-BFGS needs tens of iterations where features that overlap cost it hundreds.
type metric struct {
	n    int
	tri  []float64 // row i at i*n
	temp []float64
}

// secondMoments are the mean products of the features of a design, the
// constant last, over some of its blocks; row i at i*(p+1).
func (d *design) secondMoments(check func() error) ([]float64, error) {
	n := len(d.features) + 1
	moments := make([]float64, n*n)
	stride := max(1, len(d.blocks)*block/gramRows)
	ones := make([]float64, block)
	for i := range ones {
		ones[i] = 1
	}
	total := 0
	for k := 0; k < len(d.blocks); k += stride {
		rows := min(block, len(d.weights)-k*block)
		total += rows
		var weighted floats
		for i := range n {
			if i%8 == 0 {
				if err := check(); err != nil {
					return nil, err
				}
			}
			x := ones
			if i < n-1 {
				x = d.blocks[k][i*block : (i+1)*block]
			}
			clear(weighted[:])
			for r := range rows {
				weighted[r] = x[r] * d.weights[k*block+r].sum()
			}
			backward(d.blocks[k], &weighted, min(i+1, n-1), moments[i*n:])
			if i == n-1 {
				for _, v := range weighted {
					moments[i*n+i] += v
				}
			}
		}
	}
	whole := moments[n*n-1]
	for i := range moments {
		moments[i] /= whole
	}
	return moments, nil
}

// sum is how many outputs the row stands for.
func (w rowWeights) sum() float64 {
	return w.fitted[0] + w.fitted[1] + w.held[0] + w.held[1]
}

// newMetric is the Cholesky factor for a penalty. moments holds the lower
// triangle.
func newMetric(moments []float64, n int, penalty float64) *metric {
	m := &metric{n: n, tri: make([]float64, n*n), temp: make([]float64, n)}
	for i := range n {
		row := m.tri[i*n : (i+1)*n]
		for j := range i + 1 {
			other := m.tri[j*n : (j+1)*n]
			s := float64(moments[i*n+j] / 4)
			if i == j && i < n-1 {
				s += penalty
			}
			for k, v := range other[:j] {
				s -= float64(row[k] * v)
			}
			if i == j {
				row[i] = math.Sqrt(max(s, 1e-9)) // rounding must not stop the fit
			} else {
				row[j] = s / other[j]
			}
		}
	}
	return m
}

// weights returns w with L' w = u.
func (m *metric) weights(u []float64) []float64 {
	w := m.temp
	copy(w, u)
	for i := m.n - 1; i >= 0; i-- {
		row := m.tri[i*m.n : (i+1)*m.n]
		w[i] /= row[i]
		for k, v := range row[:i] {
			w[k] -= float64(v * w[i])
		}
	}
	return w
}

// coordinates returns u = L' w.
func (m *metric) coordinates(w []float64) []float64 {
	u := make([]float64, m.n)
	for i, x := range w {
		for k, v := range m.tri[i*m.n : i*m.n+i+1] {
			u[k] += float64(v * x)
		}
	}
	return u
}

// gradient turns a gradient in w into one in u: g with L g = gradient, in
// place.
func (m *metric) gradient(g []float64) {
	for i := range g {
		row := m.tri[i*m.n : (i+1)*m.n]
		s := g[i]
		for k, v := range row[:i] {
			s -= float64(v * g[k])
		}
		g[i] = s / row[i]
	}
}
