package published

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

func TestGoldenKatz(t *testing.T) {
	raw, err := os.ReadFile("../testdata/bounds-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Ratio []struct {
			X, Y, N1, N0 int
			Delta        float64
			Katz975      *float64
		}
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Ratio) != 5 {
		t.Fatalf("%d vectors, %v", len(v.Ratio), err)
	}
	for _, k := range v.Ratio {
		want := math.Inf(-1)
		if k.Katz975 != nil {
			want = *k.Katz975
		}
		c := bounds.Counts{X: k.X, N1: k.N1, Y: k.Y, N0: k.N0}
		if got := Katz(c, k.Delta, 0.025); got != want && !(math.Abs(got-want) < 1e-9) {
			t.Errorf("Katz(%+v) = %v, want %v", c, got, want)
		}
	}
}

// Worst one-sided failures at nominal .05 over a grid of p0 and epsilon: Katz fails
// where p1 is near delta.
func TestKatzFails(t *testing.T) {
	for _, k := range []struct {
		n        int
		delta    float64
		low, top float64
	}{{500, 0, 0, 0.051}, {500, 0.01, 0, 0.06}, {10_000, 0.01, 0.1, 0.2}} {
		worst := 0.0
		for _, p0 := range []float64{0.0003, 0.001, 0.002, 0.004, 0.01, 0.03, 0.1, 0.3} {
			for _, eps := range []float64{0.1, 0.7, 1.5, 2.5, 4} {
				if p1 := math.Exp(eps)*p0 + k.delta; p1 < 1 {
					worst = math.Max(worst, failureAt(k.n, p1, p0, k.delta))
				}
			}
		}
		t.Logf("n %d delta %v: %.4f", k.n, k.delta, worst)
		if worst < k.low || worst > k.top {
			t.Errorf("n = %d, delta = %v: fails with probability %v, want %v to %v", k.n, k.delta, worst, k.low, k.top)
		}
	}
}

// failureAt returns the probability that Katz exceeds
// log((p1-delta)/p0), looking for the first such x of each likely y.
func failureAt(n int, p1, p0, delta float64) float64 {
	truth := math.Log((p1 - delta) / p0)
	wx := pmf(n, p1)
	above := make([]float64, n+2)
	for x := n; x >= 0; x-- {
		above[x] = above[x+1] + wx[x]
	}
	failed := 0.0
	for y, w := range pmf(n, p0) {
		if w < 1e-9 {
			continue
		}
		lo, hi := -1, n+1 // bound <= truth at lo, > truth at hi
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; Katz(bounds.Counts{X: mid, N1: n, Y: y, N0: n}, delta, 0.05) > truth {
				hi = mid
			} else {
				lo = mid
			}
		}
		failed += w * above[hi]
	}
	return failed
}

func TestPanics(t *testing.T) {
	good := bounds.NewTable(2)
	good.N = []int{10, 20, 30, 40}
	for name, call := range map[string]func(){
		"delta":           func() { Katz(bounds.Counts{X: 1, N1: 2, Y: 1, N0: 2}, math.NaN(), 0.05) },
		"pure epsilon":    func() { PureThreshold(-1, 2) },
		"witness":         func() { CorrectedRenyi(good, []float64{0, math.NaN()}, 2, 0.05) },
		"published":       func() { Renyi(good, []float64{0}, 2, 0.05) },
		"summary":         func() { TightMMDDelta(MMDSummary{N: 1}, 0, 0.05) },
		"mmd epsilon":     func() { TightMMDThreshold(-1, 0, false) },
		"histogram":       func() { HistogramDelta([]int{1}, []int{1, 2}, 0, 0.05) },
		"histogram empty": func() { HistogramDivergence([]int{0}, []int{1}, 0) },
		"histogram count": func() { HistogramDivergence([]int{-1, 3}, []int{1, 1}, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func TestPureThreshold(t *testing.T) {
	if got := PureThreshold(0.1, 1.5); math.Abs(got-0.03) > 1e-15 {
		t.Errorf("%v, want .03", got)
	}
	for _, eps := range []float64{0.01, 0.3, 2} {
		for _, alpha := range []float64{1.1, 2, 16} {
			if exact := audit.RandomisedResponseRenyi(eps, alpha); exact > PureThreshold(eps, alpha)*(1+1e-12) {
				t.Errorf("epsilon %v, alpha %v: below the exact threshold %v", eps, alpha, exact)
			}
		}
	}
}
