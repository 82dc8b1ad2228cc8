package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
)

func TestGoldenOneRun(t *testing.T) {
	v := loadCanaryVectors(t)
	for _, k := range v.GDP {
		// mu is rounded down to 1e-6, epsilon grows by four times as much.
		if got := OneRunGDPEpsilon(k.M, k.R, k.V, k.Delta, k.B); got > k.LB || got < k.LB-1e-5 {
			t.Errorf("bound of %+v is %v", k, got)
		}
	}
}

// The bound against a scan of epsilon upwards in small steps until the formula in
// the open no longer refutes.
func TestOneRunEpsilonsAgainstScan(t *testing.T) {
	const step = 2e-3
	st := stream.New(stream.Key{Seed: 2, Purpose: "one run"})
	positive := 0
	for range 60 {
		m := 10 + st.Intn(150)
		r := 1 + st.Intn(m)
		v := r - st.Intn(1+r/3)
		delta := []float64{0, 1e-5, 1e-3, 0.02}[st.Intn(4)]
		beta := []float64{0.01, 0.05, 0.2}[st.Intn(3)]
		got, want := OneRunEpsilon(m, r, v, delta, beta), 0.0
		for slowStein(m, r, v, want, delta) <= beta {
			want += step
		}
		if got > want || got < want-step-2e-6 {
			t.Errorf("m %d, r %d, v %d, delta %v, beta %v: %v, the scan ends at %v", m, r, v, delta, beta, got, want)
		}
		if got > 0 {
			positive++
		}
	}
	if positive < 30 {
		t.Errorf("only %d of 60 bounds are above 0", positive)
	}
}

// What the proofs say: below 1 the p-values do not fall with eps.
func TestOneRunPValuesRise(t *testing.T) {
	for _, r := range []int{1, 2, 3, 5, 17, 100, 2000} {
		for v := 0; v <= r; v += max(1, r/40) {
			for _, c := range []float64{0, 1e-4, 0.01, 0.3, 2, 30} { // 2 m delta
				var last [2]float64
				for eps := 0.0; eps < 8; eps += 0.1 {
					delta := math.Min(0.99, c/(2*float64(r)))
					for i, p := range []float64{OneRunPValue(r, r, v, eps, delta), OneRunChosenPValue(r, r, v, eps, delta, 0.1)} {
						if p < last[i]*(1-1e-8) {
							t.Fatalf("r %d, v %d, 2 m delta %v: p falls from %v to %v at %v", r, v, c, last[i], p, eps)
						}
						last[i] = p
					}
				}
			}
		}
	}
}

// Randomised response at eps, and at delta > 0 its coin told outright with
// probability delta: exactly (eps, delta)-DP a canary. The probability that the
// bound exceeds eps, by enumeration of the right guesses; at delta = 0 the test is
// exact.
func TestOneRunCoverage(t *testing.T) {
	for _, m := range []int{20, 100, 1000, 5000} {
		for _, eps := range []float64{0.1, 1, 3} {
			for _, delta := range []float64{0, 1e-4, 1e-2} {
				q := 1 / (1 + math.Exp(-eps))
				right := q + delta*(1-q)
				failed, first := 0.0, -1
				for v, w := range pmf(m, right) {
					if first < 0 && w > 1e-14 && OneRunPValue(m, m, v, eps, delta) <= nominal {
						first = v
						if OneRunEpsilon(m, m, v, delta, nominal) < eps-2e-6 || v > 0 && OneRunEpsilon(m, m, v-1, delta, nominal) > eps {
							t.Errorf("m %d, eps %v, delta %v: bound and p-value disagree at %d right", m, eps, delta, v)
						}
					}
					if first >= 0 {
						failed += w
					}
				}
				if failed > nominal+1e-9 {
					t.Errorf("m %d, eps %v, delta %v: failure %v", m, eps, delta, failed)
				}
				if m == 5000 && delta == 0 && failed < 0.04 {
					t.Errorf("m %d, eps %v: failure %v, far from sharp", m, eps, failed)
				}
			}
		}
	}
}

// Large m: the bound of the median outcome of randomised response at eps = 1 tends
// to 1 from below, and every corner gives a number.
func TestOneRunAtLargeM(t *testing.T) {
	q := 1 / (1 + math.Exp(-1.0))
	for _, m := range []int{100_000, 1_000_000} {
		v := int(q * float64(m))
		want := 1 - upperNormal(nominal)/math.Sqrt(float64(m)*q*(1-q))
		if got := OneRunEpsilon(m, m, v, 0, nominal); math.Abs(got-want) > 2e-4 {
			t.Errorf("m %d: %v, the normal approximation says %v", m, got, want)
		}
		// All right: q^r = beta.
		r := m / 10
		if got, want := OneRunEpsilon(m, r, r, 0, nominal), -math.Log(math.Expm1(-math.Log(nominal)/float64(r))); math.Abs(got-want) > 2e-6 {
			t.Errorf("m %d, all right: %v, want %v", m, got, want)
		}
		for _, v := range []int{0, 1, m / 2, m} {
			for _, delta := range []float64{0, 1e-12, 1e-5, 0.5} {
				if got := OneRunEpsilon(m, m, v, delta, nominal); !(got >= 0 && got < 20) {
					t.Errorf("m %d, v %d, delta %v: %v", m, v, delta, got)
				}
			}
		}
	}
	if got := OneRunGDPMu(1_000_000, 4000, 3900, 2, nominal); !(got > 0.5 && got < 5) {
		t.Errorf("mu at a million canaries: %v", got)
	}
}

// oneRunScores draws the scores of m orthogonal unit canaries under the Gaussian
// sum with noise sigma, and their coins.
func oneRunScores(st *stream.Stream, m int, sigma float64) ([]float64, []bool) {
	scores, in := make([]float64, m), make([]bool, m)
	st.Gaussian(scores, sigma)
	for i := range in {
		if in[i] = st.Intn(2) == 1; in[i] {
			scores[i]++
		}
	}
	return scores, in
}

// slowOneRunGDP keeps the whole recursion of Mahloujifar et al., wrong[i] and
// right[i] for every i from v down to 0, with Phi by erfc and its inverse by
// bisection of it; no step is left out.
func slowOneRunGDP(m, guesses, v int, mu, beta float64) bool {
	phi := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	quantile := func(p float64) float64 {
		z, _ := Bisect(-40, 40, 0, func(z float64) bool { return phi(z) < p })
		return z
	}
	right, wrong := make([]float64, v+1), make([]float64, v+1)
	right[v], wrong[v] = beta*float64(v)/float64(m), beta*float64(guesses-v)/float64(m)
	for i := v - 1; i >= 0; i-- {
		wrong[i] = math.Max(wrong[i+1], phi(quantile(math.Min(1, right[i+1]))-mu))
		right[i] = right[i+1] + float64(i)/float64(guesses-i)*(wrong[i]-wrong[i+1])
	}
	return right[0]+wrong[0] > float64(guesses)/float64(m)
}

func TestOneRunGDPMuAgainstScan(t *testing.T) {
	const step = 0.02
	st := stream.New(stream.Key{Seed: 4, Purpose: "one run"})
	positive := 0
	for range 40 {
		m := 10 + st.Intn(150)
		r := 1 + st.Intn(m)
		v := r - st.Intn(1+r/3)
		beta := []float64{0.01, 0.05, 0.2}[st.Intn(3)]
		want := 0.0
		for want < 30 && slowOneRunGDP(m, r, v, want, beta) {
			want += step
		}
		got := OneRunGDPMu(m, r, v, 2, beta)
		if got > want+1e-6 || got < want-step-1e-5 {
			t.Errorf("m %d, r %d, v %d, beta %v: %v, the scan ends at %v", m, r, v, beta, got, want)
		}
		if got > 0 && !OneRunGDPRefutes(m, r, v, 2, got, beta) || OneRunGDPRefutes(m, r, v, 2, got+3e-6, beta) {
			t.Errorf("m %d, r %d, v %d, beta %v: mu %v is not the end of what is refuted", m, r, v, beta, got)
		}
		if got > 0 {
			positive++
		}
	}
	if positive < 20 {
		t.Errorf("only %d of 40 bounds are above 0", positive)
	}
}

func TestOneRunRefuses(t *testing.T) {
	for name, k := range map[string][3]int{"m": {0, 1, 0}, "large m": {maxOneRun + 1, 1, 0}, "r": {5, 0, 0}, "large r": {5, 6, 0}, "v": {5, 4, -1}, "large v": {5, 4, 5}} {
		if CheckOneRun(k[0], k[1], k[2]) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// OneRunRight counts as a stable sort in descending order does.
func TestOneRunRightIsThatOfASort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 1 + r.IntN(30)
		scores, in := make([]float64, n), make([]bool, n)
		for i := range scores {
			scores[i], in[i] = float64(r.IntN(1+r.IntN(n))), r.IntN(2) == 0
		}
		order := downBy(n, func(i int) float64 { return scores[i] })
		for up := range n + 1 {
			for down := range n - up + 1 {
				if up+down == 0 {
					continue
				}
				want := 0
				for k, i := range order {
					if k < up && in[i] || k >= n-down && !in[i] {
						want++
					}
				}
				if got := OneRunRight(scores, in)(up, down); got != want {
					t.Fatalf("%v %v, %d up, %d down: %d, want %d", scores, in, up, down, got, want)
				}
			}
		}
	}
}
