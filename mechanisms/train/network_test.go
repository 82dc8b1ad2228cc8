package train

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
)

// cases are networks of every kind with random parameters, and random rows.
func cases(rows int) map[string]func() (*network, []float64, []int32) {
	all := map[string]func() (*network, []float64, []int32){}
	for _, c := range []struct {
		sizes      []int
		activation string
	}{
		{[]int{5, 3}, ""},
		{[]int{1, 2}, ""},
		{[]int{5, 4, 3, 3}, Tanh},
		{[]int{7, 9, 5, 2}, ReLU},
		{[]int{3, 1, 1, 6}, Tanh},
	} {
		all[fmt.Sprint(c.sizes, c.activation)] = func() (*network, []float64, []int32) {
			st := stream.New(stream.Key{Purpose: "network test"})
			m := newNetwork(c.sizes, c.activation)
			st.Gaussian(m.theta, 0.7)
			m.ready()
			x, labels := make([]float64, rows*c.sizes[0]), make([]int32, rows)
			st.Gaussian(x, 1)
			for i := range labels {
				labels[i] = int32(st.Intn(m.classes()))
			}
			return m, x, labels
		}
	}
	return all
}

// slowLoss is the cross-entropy of one row, straight from its definition.
func slowLoss(m *network, row []float64, label int32) float64 {
	a := row
	for i, l := range m.layers {
		w, b := m.part(m.theta, i)
		z := make([]float64, l.out)
		for j := range z {
			z[j] = b[j]
			for k, v := range a {
				z[j] += v * w[k*l.out+j]
			}
			if i < len(m.layers)-1 {
				if m.relu {
					z[j] = math.Max(0, z[j])
				} else {
					z[j] = math.Tanh(z[j])
				}
			}
		}
		a = z
	}
	sum := 0.0
	for _, v := range a {
		sum += math.Exp(v)
	}
	return math.Log(sum) - a[label]
}

func TestLossAndGradientsAgainstDefinition(t *testing.T) {
	const rows = 7
	for name, build := range cases(rows) {
		m, x, labels := build()
		m.forward(x, labels)
		m.backward(labels)
		d, p := m.layers[0].in, len(m.theta)
		for k := range rows {
			row := x[k*d : (k+1)*d]
			if want := slowLoss(m, row, labels[k]); math.Abs(m.losses[k]-want) > 1e-12*(1+want) {
				t.Errorf("%s: loss of row %d is %v, want %v", name, k, m.losses[k], want)
			}
			own := make([]float64, p)
			m.gradient(k, own)
			for i := range m.theta {
				const h = 1e-5
				keep := m.theta[i]
				m.theta[i] = keep + h
				up := slowLoss(m, row, labels[k])
				m.theta[i] = keep - h
				down := slowLoss(m, row, labels[k])
				m.theta[i] = keep
				if want := (up - down) / (2 * h); math.Abs(own[i]-want) > 1e-7 {
					t.Errorf("%s: row %d, weight %d: derivative %v, finite difference %v", name, k, i, own[i], want)
				}
			}
			if want := math.Sqrt(matmul.Dot(own, own)); math.Abs(m.norms[k]-want) > 1e-12*(1+want) {
				t.Errorf("%s: norm of row %d is %v, that of its gradient %v", name, k, m.norms[k], want)
			}
		}
	}
}

// The weighed sum is that of explicitly clipped gradients, of any number of rows.
func TestClippedSum(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 3, 8, 33} {
		for name, build := range cases(rows) {
			m, x, labels := build()
			m.forward(x, labels)
			m.backward(labels)
			const c = 1.5
			p, clipped := len(m.theta), 0
			want, own := make([]float64, p), make([]float64, p)
			for k := range rows {
				m.gradient(k, own)
				norm := math.Sqrt(matmul.Dot(own, own))
				if norm > c {
					clipped++
				}
				matmul.AddScaled(want, own, math.Min(1, c/norm))
			}
			if rows == 33 && (clipped == 0 || clipped == rows) {
				t.Errorf("%s: %d of %d gradients are longer than %v: no test", name, clipped, rows, c)
			}
			m.clip(c, nil)
			got := make([]float64, p)
			m.sum(got)
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-12*float64(rows) {
					t.Fatalf("%s, %d rows: sum %v at %d, want %v", name, rows, got[i], i, want[i])
				}
			}
			for k := range rows {
				m.gradient(k, own)
				if norm := math.Sqrt(matmul.Dot(own, own)); norm > c*(1+1e-12) {
					t.Errorf("%s: a clipped gradient has norm %v", name, norm)
				}
			}
		}
	}
}

func TestTanh(t *testing.T) {
	for _, x := range []float64{0, 1e-300, -1e-9, 0.1, -0.5, 1, -3, 20, 800, -800, math.Inf(1), math.Inf(-1)} {
		if got, want := tanh(x), math.Tanh(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Errorf("tanh(%v) = %v, want %v", x, got, want)
		}
	}
	if got := tanh(math.NaN()); got == got {
		t.Errorf("tanh(NaN) = %v", got)
	}
}

func TestSoftmaxOfLargeSums(t *testing.T) {
	z := []float64{1e4, -1e4, 0}
	if loss := softmax(z, 1); loss != 2e4 || z[0] != 1 || z[1] != 0 {
		t.Errorf("loss %v, probabilities %v", loss, z)
	}
	if loss := softmax([]float64{math.Inf(1), 0}, 0); loss == loss {
		t.Errorf("an infinite sum gives the loss %v", loss)
	}
}
