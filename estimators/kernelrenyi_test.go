package estimators

import (
	"errors"
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// With a kernel so narrow that different numbers are orthogonal, and next to no
// regularisation, the operators are diagonal and the estimate is the Rényi divergence of
// the shares, but for lambda over the shares.
func TestKernelRenyiOfShares(t *testing.T) {
	m := &kernelMeanModel{inputReader: inputReader{Inputs: make([]input, 1)}, Bandwidth: 0.05, Lambda: 1e-8, First: 20}
	for _, counts := range [][]int{{10, 5, 5}, {4, 8, 8}} {
		for v, n := range counts {
			for range n {
				m.Landmarks = append(m.Landmarks, float32(v))
			}
		}
	}
	p, q := []float64{0.5, 0.25, 0.25}, []float64{0.2, 0.4, 0.4}
	for _, alpha := range []float64{1.1, 1.5, 2, 8, 100} {
		sum := 0.0
		for i := range p {
			sum += math.Pow(p[i], alpha) * math.Pow(q[i], 1-alpha)
		}
		want := math.Log(sum) / (alpha - 1)
		if got := m.divergence(alpha, always); math.Abs(got-want) > 1e-6 {
			t.Errorf("alpha %v: %v, want %v", alpha, got, want)
		}
	}
	stop := errors.New("stop")
	if err := endOf(func() { m.divergence(2, func() error { return stop }) }); err != stop {
		t.Errorf("error %v, want stop", err)
	}
	// A value that the second side lacks costs log(p/lambda) as alpha grows.
	m = &kernelMeanModel{inputReader: inputReader{Inputs: make([]input, 1)}, Bandwidth: 0.05, Lambda: 0.01, First: 2, Landmarks: floatList{0, 1, 0, 0}}
	if got := m.divergence(400, always); math.Abs(got-math.Log(0.5/0.01)) > 0.02 {
		t.Errorf("%v, want log 50", got)
	}
}

// N(0, 1) against N(1, 1), whose divergence is alpha/2: at 200 outputs the mean of ten
// estimates is within 40 %, as the paper's figure is at its best lambda; a lambda of 1
// hides most of it.
func TestKernelRenyiOfGaussians(t *testing.T) {
	c := halfShift()
	estimate := func(settings string, seed uint64) float64 {
		l := must.Get(audit.Catalogue{Learners: Registry()}.Learner("kernel-renyi:outputs=200:" + settings))(t)
		c.seed = seed
		first, second := c.samples("kernel", 0, 200), c.samples("kernel", 1, 200)
		for i := range second.Rows {
			second.Rows[i] += 0.5
		}
		m := must.Get(l.Learn(audit.Exploration{First: first, Second: second, Claim: audit.Claim{Kind: audit.Renyi, Alpha: 2, Epsilon: 1},
			Stream: stream.New(stream.Key{Seed: seed, Purpose: "kernel"}), Check: always}))(t)
		return m.(*kernelMeanModel).Divergence
	}
	mean := 0.0
	for seed := range uint64(10) {
		mean += estimate("lambda=0.003", seed+1) / 10
	}
	if math.Abs(mean-1) > 0.4 {
		t.Errorf("mean %v, want 1 within .4", mean)
	}
	if v := estimate("lambda=1", 1); !(v < 0.1) {
		t.Errorf("lambda 1 gives %v", v)
	}
}
