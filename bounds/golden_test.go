package bounds

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

type vectors struct {
	CP []struct {
		K, N      int
		B, Lo, Up float64
	}
	Ratio []struct {
		X, Y, N1, N0                 int
		Delta, CP, Score95, Uncond95 float64
	}
}

func loadVectors(t *testing.T) vectors {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/bounds-vectors.json"))(t)
	var v vectors
	must.Do(t, json.Unmarshal(raw, &v))
	if len(v.CP) != 5 || len(v.Ratio) != 5 {
		t.Fatalf("got %d and %d vectors, want 5 and 5", len(v.CP), len(v.Ratio))
	}
	return v
}

// goldenTolerance is how far the closed forms may be from SciPy's.
const goldenTolerance = 1e-9

func TestGoldenProportions(t *testing.T) {
	for _, v := range loadVectors(t).CP {
		if got := LowerProportion(v.K, v.N, v.B); math.Abs(got-v.Lo) > goldenTolerance*v.Lo {
			t.Errorf("LowerProportion(%d, %d, %v) = %v, want %v", v.K, v.N, v.B, got, v.Lo)
		}
		if got := UpperProportion(v.K, v.N, v.B); math.Abs(got-v.Up) > goldenTolerance*v.Up {
			t.Errorf("UpperProportion(%d, %d, %v) = %v, want %v", v.K, v.N, v.B, got, v.Up)
		}
	}
}

func TestGoldenRatios(t *testing.T) {
	for _, v := range loadVectors(t).Ratio {
		c := Counts{v.X, v.N1, v.Y, v.N0}
		if got := ClopperPearson(c, v.Delta, 0.05, 0.5); math.Abs(got-v.CP) > goldenTolerance {
			t.Errorf("ClopperPearson(%+v) = %v, want %v", c, got, v.CP)
		}
		if got := Score(c, v.Delta, 0.05); math.Abs(got-v.Score95) > goldenTolerance {
			t.Errorf("Score(%+v) = %v, want %v", c, got, v.Score95)
		}
		// The published algorithm differs from Exact in three ways: coarse cells, no
		// interval for p1, a region chosen anew for each epsilon. Exact lies above its
		// vectors, by no more than the cells and the wider null set account for.
		if got := Exact(c, v.Delta, 0.05); got < v.Uncond95-2e-3 || got > v.Uncond95+0.03 {
			t.Errorf("Exact(%+v) = %v, want %v to %v", c, got, v.Uncond95-2e-3, v.Uncond95+0.03)
		}
	}
}

// pmf is the slow, obviously right binomial mass function.
func pmf(n int, p float64) []float64 {
	w := make([]float64, n+1)
	all, _ := math.Lgamma(float64(n + 1))
	for k := range w {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		switch {
		case p == 0 || p == 1:
			if float64(k) == p*float64(n) {
				w[k] = 1
			}
		default:
			w[k] = math.Exp(all - a - b + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
	}
	return w
}
