package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/testsize"
)

// exchangeableLaw draws the number of ones of an exchangeable vector of k entries
// with mean p.
type exchangeableLaw func(k int, p float64) []float64 // probabilities of 0..k ones

func independentOnes(k int, p float64) []float64 { return pmf(k, p) }

// betaBinomialOnes has correlation 1/6 between entries: a Beta(5p, 5(1-p)) mixture.
func betaBinomialOnes(k int, p float64) []float64 {
	a, b := 5*p, 5*(1-p)
	w := make([]float64, k+1)
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	for c := range w {
		i, n := float64(c), float64(k)
		w[c] = math.Exp(lg(n+1) - lg(i+1) - lg(n-i+1) + lg(i+a) + lg(n-i+b) - lg(n+a+b) + lg(a+b) - lg(a) - lg(b))
	}
	return w
}

// commonShockOnes: with probability 1/2 all entries are one and the same, else
// independent.
func commonShockOnes(k int, p float64) []float64 {
	w := pmf(k, p)
	for c := range w {
		w[c] /= 2
	}
	w[0] += (1 - p) / 2
	w[k] += p / 2
	return w
}

// quantile inverts the distribution function, so that two counts drawn by one
// uniform rise together.
func quantile(w []float64, u float64) int {
	for c, p := range w {
		if u -= p; u < 0 {
			return c
		}
	}
	return len(w) - 1
}

func TestExchangeableLaws(t *testing.T) {
	for name, law := range map[string]exchangeableLaw{"independent": independentOnes, "beta-binomial": betaBinomialOnes, "common shock": commonShockOnes} {
		w := law(8, 0.3)
		sum, mean := 0.0, 0.0
		for c, p := range w {
			sum += p
			mean += p * float64(c) / 8
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(mean-0.3) > 1e-12 {
			t.Errorf("%s: sum %v, mean %v", name, sum, mean)
		}
	}
}

// Every valid kind keeps its error below .05 where p1 = e^eps p0 + delta exactly:
// vectors that are independent, correlated and struck together; the two sides of a
// pair independent of each other or rising together; stakes from an exploration of
// their own, or fixed. A kind at nominal .05 exceeds the allowed failures of one
// case with probability 1e-6, so that a false alarm anywhere in the test has
// probability 2e-4 at most. The asymptotic kinds are measured only.
func TestCanaryCoverage(t *testing.T) {
	testsize.Native(t)
	trials := testsize.Of(60, 250)
	allowed := testsize.Most(trials, nominal, 1e-6)
	type name struct {
		kind  CanaryInterval
		tuned bool
	}
	worst := map[name]int{}
	for i, k := range []struct {
		law            exchangeableLaw
		k, m, n        int
		eps, p0, delta float64
		together       bool
	}{
		{independentOnes, 8, 8, 150, 0.5, 0.2, 1e-5, false},
		{independentOnes, 4, 12, 60, 2, 0.05, 0.02, false},
		{independentOnes, 16, 16, 400, 1.5, 0.01, 0, true},
		{betaBinomialOnes, 8, 8, 150, 0.5, 0.2, 1e-5, false},
		{betaBinomialOnes, 6, 4, 100, 3, 0.03, 0.01, true},
		{commonShockOnes, 8, 8, 150, 0.5, 0.2, 1e-5, false},
		{commonShockOnes, 5, 5, 80, 2.5, 0.04, 0.1, true},
		{commonShockOnes, 8, 8, 60, 0, 0.02, 0, false},
	} {
		p1 := math.Exp(k.eps)*k.p0 + k.delta
		in, out := k.law(k.k, p1), k.law(k.m, k.p0)
		st := stream.New(stream.Key{Seed: 1, Purpose: "canary coverage", Trial: i})
		draw := func() CanaryTable {
			table := NewCanaryTable(k.k, k.m)
			for range k.n {
				u := st.Float64()
				x := quantile(in, u)
				if !k.together {
					u = st.Float64()
				}
				table.Add(x, quantile(out, u), 1)
			}
			return table
		}
		failed := map[name]int{}
		for range trials {
			tuned := TuneCanary(draw(), k.n, k.delta, nominal)
			table := draw()
			for _, kind := range CanaryIntervals() {
				if CanaryEpsilon(kind, table, k.delta, nominal, tuned) > k.eps {
					failed[name{kind, true}]++
				}
			}
			for _, kind := range []CanaryInterval{CanaryPairedBetting, CanaryBetting} {
				if CanaryEpsilon(kind, table, k.delta, nominal, CanaryStakes{}) > k.eps {
					failed[name{kind, false}]++
				}
			}
		}
		for which, n := range failed {
			worst[which] = max(worst[which], n)
			if which.kind.Valid() && n > allowed {
				t.Errorf("case %d: %s (tuned %v) fails %d times of %d, allowed are %d", i, which.kind, which.tuned, n, trials, allowed)
			}
		}
	}
	for _, kind := range CanaryIntervals() {
		if asymptotic := canaryIntervals[kind].wilson; kind.Valid() == asymptotic {
			t.Errorf("%s: valid is %v", kind, kind.Valid())
		}
	}
}
