package estimators

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/matmul"
	"github.com/dpscope/dpscope/internal/must"
)

func numbers[T matmul.Real](s *stream.Stream, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(s.Float64() - 0.5)
	}
	return v
}

// smallNetwork has odd sizes, so that panels are padded, and random weights.
func smallNetwork[T matmul.Real](seed uint64) (*network[T], *stream.Stream) {
	s := stream.New(stream.Key{Seed: seed, Purpose: "network"})
	m := &network[T]{shape: shape{3, 5, 7}}
	m.params = numbers[T](s, m.weights())
	m.ready()
	return m, s
}

// The gradients of both losses, through the bound and the network, agree with
// central differences of the loss: their error is some 1e-9 of third
// derivatives around 1.
func TestNetworkGradient(t *testing.T) {
	const rows, half, bound, step, tolerance = 10, 4, 1.5, 1e-5, 1e-8
	for _, loss := range []witnessLoss{{theta: 1}, {theta: math.E}, {alpha: 1.5}, {alpha: 6}} {
		m, s := smallNetwork[float64](2)
		in := numbers[float64](s, rows*m.inputs)
		value := func() (float64, []float64) {
			m.ready()
			raw := make([]float64, rows)
			m.forward(in, rows, raw)
			bend := make([]float64, rows)
			slope := make([]float64, rows)
			for i := range raw {
				raw[i], bend[i] = bounded(raw[i], bound)
			}
			v := loss.value([2][]float64{raw[:half], raw[half:]}, [2][]float64{}, [2][]float64{slope[:half], slope[half:]})
			for i := range slope {
				slope[i] *= bend[i]
			}
			return v, slope
		}
		_, slope := value()
		gradient := make([]float64, len(m.params))
		m.backward(slope, gradient)
		size := 0.0
		for i := range m.params {
			at := m.params[i]
			m.params[i] = at + step
			up, _ := value()
			m.params[i] = at - step
			down, _ := value()
			m.params[i] = at
			if diff := (up - down) / (2 * step); math.Abs(diff-gradient[i]) > tolerance {
				t.Errorf("loss %+v: gradient %d is %v, differences say %v", loss, i, gradient[i], diff)
			}
			size += math.Abs(gradient[i])
		}
		if size < 0.01 {
			t.Errorf("loss %+v: the gradient is %v: nothing was checked", loss, size)
		}
	}
}

// At the log likelihood ratio, R^h of a two-point pair is its divergence, and
// the logistic loss has no slope towards it.
func TestWitnessLossAtTheOptimum(t *testing.T) {
	p, q := [2]float64{0.75, 0.25}, [2]float64{0.5, 0.5}
	h := [2]float64{math.Log(p[0] / q[0]), math.Log(p[1] / q[1])}
	first, second := []float64{h[0], h[0], h[0], h[1]}, []float64{h[0], h[1]}
	for _, alpha := range []float64{1.2, 2, 30} {
		want := math.Log(math.Pow(p[0], alpha)*math.Pow(q[0], 1-alpha)+math.Pow(p[1], alpha)*math.Pow(q[1], 1-alpha)) / (alpha - 1)
		a, b := make([]float64, 4), make([]float64, 2)
		if got := -(witnessLoss{alpha: alpha}).value([2][]float64{first, second}, [2][]float64{}, [2][]float64{a, b}); math.Abs(got-want) > 1e-12 {
			t.Errorf("alpha %v: R^h = %v, want %v", alpha, got, want)
		}
		if d := a[0] + a[1] + a[2] + b[0]; math.Abs(d) > 1e-12 {
			t.Errorf("alpha %v: slope %v at the optimum", alpha, d)
		}
	}
	for _, theta := range []float64{1, 3} {
		a, b := make([]float64, 4), make([]float64, 2)
		witnessLoss{theta: theta}.value([2][]float64{first, second}, [2][]float64{}, [2][]float64{a, b})
		if d := a[3] + b[1]; math.Abs(d) > 1e-12 {
			t.Errorf("theta %v: slope %v at the optimum", theta, d)
		}
	}
	// Values that overflow as powers do not as logarithms.
	big := []float64{700, -700}
	if v := (witnessLoss{alpha: 500}).value([2][]float64{big, big}, [2][]float64{}, [2][]float64{make([]float64, 2), make([]float64, 2)}); v-v != 0 {
		t.Errorf("R^h of values around 700 is %v", v)
	}
}

func TestBoundedIsTanh(t *testing.T) {
	for _, x := range []float64{0, 1e-300, -1e-9, 0.3, -2, 8, 50, -1e30} {
		h, slope := bounded(x, 8)
		if want := 8 * math.Tanh(x/8); math.Abs(h-want) > 1e-15*8 {
			t.Errorf("bounded(%v) = %v, want %v", x, h, want)
		}
		if want := 1 / math.Pow(math.Cosh(min(math.Abs(x), 5000)/8), 2); math.Abs(slope-want) > 1e-14 {
			t.Errorf("slope of bounded at %v is %v, want %v", x, slope, want)
		}
	}
}

// Adam's first step is the rate against each gradient's sign, whatever its
// size, and on a parabola it goes to the bottom.
func TestAdam(t *testing.T) {
	x := []float64{3, -2}
	a := newAdam[float64](2)
	a.step(x, []float64{1e-3, -50}, 0.01)
	if math.Abs(x[0]-2.99) > 1e-6 || math.Abs(x[1]+1.99) > 1e-6 {
		t.Errorf("after one step at rate 0.01 from 3, -2: %v", x)
	}
	for range 3000 {
		a.step(x, []float64{x[0] - 1, 4 * x[1]}, 0.01)
	}
	if math.Abs(x[0]-1) > 1e-3 || math.Abs(x[1]) > 1e-3 {
		t.Errorf("the bottom is 1, 0; found %v", x)
	}
}

var update = flag.Bool("update", false, "write testdata/digests.txt anew; that changes every saved report")

// Every learner makes the same model on every platform, bit by bit: of the portfolio,
// from each kind of outputs that it applies to, and of those by name, which may take
// long, from the first.
func TestSameBitsOfLearners(t *testing.T) {
	const file = "testdata/digests.txt"
	var got strings.Builder
	for _, spec := range slices.Concat(Registry(), quick[:2]) {
		for _, c := range []scenario{mixedScenario(), laplaceShift(1), discrete(), correlated()} {
			if spec.Applies(c.columns) != nil {
				continue
			}
			m := must.Get(spec.Learn(c.exploration(120)))(t)
			data := must.Get(json.Marshal(m))(t)
			fmt.Fprintf(&got, "%s on %s %x\n", spec.Name, c.name, sha256.Sum256(data))
			if spec.ByName {
				break
			}
		}
	}
	if *update {
		must.Do(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if got.String() != string(want) {
		t.Errorf("models changed; digests are now\n%swant\n%s", got.String(), want)
	}
}

// TestNetworkStopsByHeldOutOutputs: the loss that ends a training is of outputs that are held out alone.
func TestNetworkStopsByHeldOutOutputs(t *testing.T) {
	m, s := smallNetwork[float32](2)
	tr := &training{network: *m, bound: 1.5, check: always}
	for side := range tr.held {
		tr.fitted[side], tr.held[side] = numbers[float32](s, 12), numbers[float32](s, 6)
	}
	for _, loss := range []witnessLoss{{theta: 1}, {alpha: 2}} {
		before := tr.heldOut(loss)
		tr.fitted[1] = numbers[float32](s, 12)
		if after := tr.heldOut(loss); after != before {
			t.Errorf("%v: other outputs are fitted, and the held-out loss of %v is %v", loss, before, after)
		}
		tr.held[1] = numbers[float32](s, 6)
		if after := tr.heldOut(loss); after == before {
			t.Errorf("%v: other outputs are held out, and the loss is the same", loss)
		}
	}
}
