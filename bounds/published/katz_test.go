package published

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/internal/must"
)

func TestGoldenKatz(t *testing.T) {
	raw := must.Get(os.ReadFile("../testdata/bounds-vectors.json"))(t)
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
		must.Panic(t, name, call)
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
