package bounds

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

func TestGoldenEventMixture(t *testing.T) {
	raw, err := os.ReadFile("testdata/bounds-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Mixture []struct {
			N11, N10, N01, N00 int
			Eps, Delta, LogW   float64
		} `json:"cmix_logwealth"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Mixture) != 3 {
		t.Fatalf("%d vectors (%v), want 3", len(v.Mixture), err)
	}
	for _, k := range v.Mixture {
		got := NewEventMixture(k.Eps, k.Delta).LogWealth(k.N11, k.N10, k.N01, k.N00)
		if math.Abs(got-k.LogW) > goldenTolerance {
			t.Errorf("%+v: log wealth %v", k, got)
		}
		if p := EventMixturePValue(k.N11, k.N10, k.N01, k.N00, k.Eps, k.Delta); math.Abs(p-math.Exp(-k.LogW)) > 1e-8 {
			t.Errorf("%+v: p-value %v", k, p)
		}
	}
}

// Pair by pair, with products instead of logarithms.
func TestEventMixtureAgainstSlowTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for range 50 {
		eps, delta := 2*r.Float64()-0.5, 0.1*r.Float64()
		th := math.Exp(eps)
		products := make([]float64, 25)
		for j := range products {
			products[j] = 1
		}
		var n [2][2]int
		for range 60 {
			x, y := r.IntN(2), r.IntN(2)
			n[x][y]++
			for j := range products {
				u := 0.001
				if j > 0 {
					u = 0.002 * math.Pow(490, float64(j-1)/23)
				}
				products[j] *= 1 + u/(th+delta)*(float64(x)-th*float64(y)-delta)
			}
		}
		want := 0.0
		for _, v := range products {
			want += v / 25
		}
		got := math.Exp(NewEventMixture(eps, delta).LogWealth(n[1][1], n[1][0], n[0][1], n[0][0]))
		if math.Abs(got-want) > 1e-10*want {
			t.Errorf("wealth %v, pair by pair %v", got, want)
		}
	}
	if got := NewEventMixture(1, 0).LogWealth(0, 0, 0, 0); math.Abs(got) > 1e-15 {
		t.Errorf("log wealth before the first pair: %v, want 0", got)
	}
	if got := EventMixturePValue(0, 0, 50, 0, 1, 0); got != 1 {
		t.Errorf("p-value without evidence: %v, want 1", got)
	}
	if got := NewEventMixture(0, 0).LogWealth(0, 1_000_000_000, 0, 0); !(got > 1e8) || math.IsInf(got, 1) {
		t.Errorf("log wealth after a billion hits: %v", got)
	}
}

func BenchmarkEventMixture(b *testing.B) {
	m := NewEventMixture(1, 1e-5)
	for b.Loop() {
		m.LogWealth(200, 500, 70, 230)
	}
}

// EventMixturePValue returns 1 over the wealth, at most 1: an anytime-valid
// p-value of the claim, at most b at any of all looks with probability at most
// b.
func EventMixturePValue(n11, n10, n01, n00 int, eps, delta float64) float64 {
	log := NewEventMixture(eps, delta).LogWealth(n11, n10, n01, n00)
	return pValue(log, n11+n10+n01+n00)
}
