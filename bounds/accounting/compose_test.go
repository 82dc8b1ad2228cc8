package accounting

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowOptimal is the hockey-stick divergence of the product of k worst
// mechanisms, over all 4^k outcomes: 0 and 1 answer, 2 and 3 give the record
// away.
func slowOptimal(eps, delta float64, k int, at float64) float64 {
	p := math.Exp(eps) / (1 + math.Exp(eps))
	first := [4]float64{(1 - delta) * p, (1 - delta) * (1 - p), delta, 0}
	second := [4]float64{(1 - delta) * (1 - p), (1 - delta) * p, 0, delta}
	total := 0.0
	for outcome := range 1 << (2 * k) {
		a, b := 1.0, 1.0
		for i := range k {
			o := outcome >> (2 * i) & 3
			a, b = a*first[o], b*second[o]
		}
		total += math.Max(0, a-math.Exp(at)*b)
	}
	return total
}

func TestOptimalAgainstEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		eps, delta, k := 2*r.Float64(), []float64{0, 1e-3, 0.2}[r.IntN(3)], 1+r.IntN(5)
		at := r.Float64() * eps * float64(k) * 1.1
		got, want := OptimalDelta(eps, delta, k, at), slowOptimal(eps, delta, k, at)
		if math.Abs(got-want) > 1e-13 {
			t.Errorf("eps %v delta %v k %d at %v: %v, by enumeration %v", eps, delta, k, at, got, want)
		}
	}
}

// The theorem as printed: ((k-2i) eps, 1-(1-delta)^k (1-delta_i)) with delta_i the
// sum over l < i of C(k,l)(e^((k-l)eps) - e^((k-2i+l)eps))/(1+e^eps)^k.
func TestOptimalAgainstTheTheorem(t *testing.T) {
	for _, k := range []int{1, 2, 7, 30, 100} {
		for _, eps := range []float64{0.01, 0.3, 1.5} {
			for i := 0; i <= k/2; i += 1 + k/7 {
				want, binomial := 0.0, 1.0
				scale := float64(k) * math.Log1p(math.Exp(eps))
				for l := range i {
					want += binomial * (math.Exp(float64(k-l)*eps-scale) - math.Exp(float64(k-2*i+l)*eps-scale))
					binomial *= float64(k-l) / float64(l+1)
				}
				const delta = 1e-4
				want = 1 - math.Pow(1-delta, float64(k))*(1-want)
				if got := OptimalDelta(eps, delta, k, float64(k-2*i)*eps); math.Abs(got-want) > 1e-12 {
					t.Errorf("k %d eps %v i %d: %v, want %v", k, eps, i, got, want)
				}
			}
		}
	}
}

func TestOptimalIsTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 400 {
		eps, k := math.Exp(4*r.Float64()-4), 1+int(math.Exp(8*r.Float64()))
		delta := []float64{0, 1e-9}[r.IntN(2)]
		total := math.Exp(-14*r.Float64() - 1)
		got := OptimalEpsilon(eps, delta, k, total)
		if math.IsInf(got, 1) {
			if fail, _ := optimal(eps, delta, k); fail <= total {
				t.Errorf("eps %v delta %v k %d total %v: none", eps, delta, k, total)
			}
			continue
		}
		var s stepwise
		s.add(eps, delta, k)
		for what, other := range map[string]float64{"basic": s.eps, "advanced": s.advanced(total)} {
			if s.delta <= total && got > other*(1+1e-9) {
				t.Errorf("eps %v delta %v k %d total %v: optimal %v above %s %v", eps, delta, k, total, got, what, other)
			}
		}
		if at := OptimalDelta(eps, delta, k, got); at > total {
			t.Errorf("eps %v delta %v k %d: delta %v at %v, above %v", eps, delta, k, at, got, total)
		}
		if got > 0 {
			if at := OptimalDelta(eps, delta, k, got*(1-1e-6)); at <= total {
				t.Errorf("eps %v delta %v k %d: %v is not the least", eps, delta, k, got)
			}
		}
		if delta == 0 {
			if tight := BestEpsilon(Repeat{PureDP{eps}, k}, total, Tight).Epsilon; got > tight*(1+1e-9) {
				t.Errorf("eps %v k %d total %v: optimal %v above Renyi %v", eps, k, total, got, tight)
			}
		}
	}
}

func TestOptimalEdges(t *testing.T) {
	near(t, "one mechanism gives itself back", OptimalEpsilon(1.2, 1e-5, 1, 1e-5), 1.2, 1e-11)
	if v := OptimalEpsilon(1, 0.01, 100, 0.5); !math.IsInf(v, 1) {
		t.Errorf("failures above delta: %v", v)
	}
	if v := OptimalEpsilon(0, 0, 1000, 0.1); v != 0 {
		t.Errorf("perfect privacy: %v", v)
	}
	if v := OptimalDelta(800, 0, 3, 0); math.Abs(v-1) > 1e-15 {
		t.Errorf("no privacy: %v", v)
	}
	if v := OptimalDelta(1, 0, 3, 3); v != 0 {
		t.Errorf("at k eps: %v", v)
	}
	// Many weak mechanisms are one Gaussian of mu = eps sqrt k, nearly.
	near(t, "central limit", OptimalEpsilon(1e-3, 0, 1_000_000, 1e-5), GaussianEpsilon(1, 1, 1e-5), 1e-3)
	if v := PublishedAdvancedEpsilon(1, 100, 1e-5); !math.IsInf(v, 1) {
		t.Errorf("corollary without its condition: %v", v)
	}
	var s stepwise
	s.add(1, 0.01, 10)
	if v := s.advanced(0.1); !math.IsInf(v, 1) {
		t.Errorf("no slack: %v", v)
	}
}
