package bounds

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/gear"
	"github.com/dpscope/dpscope/internal/nativetest"
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

// failuresAllowed is the largest count of Bin(n, p) that is not exceeded but with
// probability alarm.
func failuresAllowed(n int, p, alarm float64) int {
	for k := int(float64(n) * p); ; k++ {
		if _, above := tails(k+1, n, p, 40); above <= alarm {
			return k
		}
	}
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
	nativetest.Only(t)
	trials := gear.Of(60, 250)
	allowed := failuresAllowed(trials, nominal, 1e-6)
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
			for _, kind := range allCanaryIntervals() {
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
	for _, kind := range allCanaryIntervals() {
		t.Logf("%-22s valid %-5v worst failure %.3f of nominal %v", kind, kind.Valid(), float64(worst[name{kind, true}])/float64(trials), nominal)
		if asymptotic := canaryIntervals[kind].wilson; kind.Valid() == asymptotic {
			t.Errorf("%s: valid is %v", kind, kind.Valid())
		}
	}
}

func allCanaryIntervals() []CanaryInterval {
	return append(CanaryIntervals(), CanaryPublishedBernstein2, CanaryPublishedBernstein4, CanaryPublishedWilson4)
}

// gaussianSum draws the scores of one pair of runs of LiDP's simulation: K + M unit
// vectors, uniform on the sphere in d dimensions; in are the inner products of the
// first K with their noisy sum, out those of the others with the noisy sum of the
// first K-1. The vectors are drawn as the triangular factor of a Gaussian matrix,
// rows scaled to length 1; the chi-square on its diagonal by Wilson and Hilferty's
// cube, which at 900 and more degrees of freedom no test could tell.
type gaussianSum struct {
	d, k, m int
	sigma   float64
}

func (g gaussianSum) draw(st *stream.Stream, in, out []float64) {
	n := g.k + g.m
	z := make([]float64, n*(n+1)/2+2*n)
	st.Gaussian(z, 1)
	next := func(k int) []float64 { v := z[:k]; z = z[k:]; return v }
	with, without := next(n), next(n)
	for j := range n {
		with[j] *= g.sigma
		without[j] *= g.sigma
	}
	rows := make([][]float64, n)
	for i := range rows {
		v := next(i + 1)
		c := 2 / (9 * float64(g.d-i))
		h := 1 - c + v[i]*math.Sqrt(c)
		v[i] = math.Sqrt(float64(g.d-i) * h * h * h)
		length := 0.0
		for _, x := range v {
			length += x * x
		}
		for j := range v {
			v[j] /= math.Sqrt(length)
			if i < g.k {
				with[j] += v[j]
			}
			if i < g.k-1 {
				without[j] += v[j]
			}
		}
		rows[i] = v
	}
	for i, v := range rows {
		output, score := with, in
		if i >= g.k {
			output, score, i = without, out, i-g.k
		}
		score[i] = 0
		for j, x := range v {
			score[i] += x * output[j]
		}
	}
}

// pairs draws n pairs of runs.
func (g gaussianSum) pairs(st *stream.Stream, n int) (in, out [][]float64) {
	for range n {
		x, y := make([]float64, g.k), make([]float64, g.m)
		g.draw(st, x, y)
		in, out = append(in, x), append(out, y)
	}
	return in, out
}

func above(in, out [][]float64, threshold float64) CanaryTable {
	t := NewCanaryTable(len(in[0]), len(out[0]))
	for i := range in {
		count := func(v []float64) (c int) {
			for _, x := range v {
				if x >= threshold {
					c++
				}
			}
			return c
		}
		t.Add(count(in[i]), count(out[i]), 1)
	}
	return t
}

// The scores have the moments of the model: mean 1 and variance
// sigma^2 + (K-1)/d inside, 0 and the same outside. Canaries of a run are barely
// correlated, hence 1.1 times six standard errors as tolerance: false alarm below
// 1e-8.
func TestGaussianSumScores(t *testing.T) {
	g := gaussianSum{d: 200, k: 4, m: 4, sigma: 0.5}
	in, out := g.pairs(stream.New(stream.Key{Seed: 1, Purpose: "scores"}), 20_000)
	variance := g.sigma*g.sigma + 3.0/200
	for name, k := range map[string]struct {
		scores [][]float64
		mean   float64
	}{"inside": {in, 1}, "outside": {out, 0}} {
		n, sum, square := 0.0, 0.0, 0.0
		for _, v := range k.scores {
			for _, x := range v {
				n++
				sum += x
				square += (x - k.mean) * (x - k.mean)
			}
		}
		if math.Abs(sum/n-k.mean) > 6*math.Sqrt(variance/n)*1.1 {
			t.Errorf("%s: mean %v, want %v", name, sum/n, k.mean)
		}
		if math.Abs(square/n-variance) > 6*variance*math.Sqrt(2/n)*1.1 {
			t.Errorf("%s: variance %v, want %v", name, square/n, variance)
		}
	}
}

// The bound that paired betting certifies on LiDP's simulation: epsilon 2, delta
// 1e-5, sigma 2.149 by the Rényi conversion, d = 1000, K = sqrt n, threshold and
// stake from as many exploration runs. To be reached: .60, .85 and 1.05 at n = 256,
// 1024, 4096, at the first with 4K fresh canaries, which no training pays for; with
// K of them the mean there is .600 (standard error .006 of 200 audits). The
// standard deviation of one audit is .08, .05 and .05. The seed is fixed.
func TestPairedBettingOnTheGaussianSum(t *testing.T) {
	nativetest.Only(t)
	for _, k := range []struct {
		n, k, m, audits int
		least           float64
	}{{256, 16, 16, 30, 0.56}, {256, 16, 64, 30, 0.60}, {1024, 32, 32, 8, 0.85}, {4096, 64, 64, 2, 1.05}} {
		if !gear.All() && (k.n > 256 || k.m > k.k) {
			continue
		}
		g := gaussianSum{d: 1000, k: k.k, m: k.m, sigma: 2.1491082853595276}
		mean := map[CanaryInterval]float64{}
		for audit := range k.audits {
			st := stream.New(stream.Key{Seed: 1, Purpose: "gaussian sum", Trial: audit})
			in, out := g.pairs(st, k.n)
			best, threshold := math.Inf(-1), 0.0
			for i := range 36 {
				at := 0.25 * float64(i)
				if v := CanaryValue(above(in, out, at), k.n, 1e-5, nominal); v > best {
					best, threshold = v, at
				}
			}
			stakes := TuneCanary(above(in, out, threshold), k.n, 1e-5, nominal)
			in, out = g.pairs(st, k.n)
			table := above(in, out, threshold)
			for _, kind := range CanaryIntervals() {
				mean[kind] += math.Max(-1, CanaryEpsilon(kind, table, 1e-5, nominal, stakes)) / float64(k.audits)
			}
		}
		for _, kind := range CanaryIntervals() {
			t.Logf("n %d, K %d, M %d: %-15s %.3f", k.n, k.k, k.m, kind, mean[kind])
		}
		if got := mean[CanaryPairedBetting]; got < k.least {
			t.Errorf("n %d: paired betting certifies %v, want %v", k.n, got, k.least)
		}
		for _, kind := range CanaryIntervals() {
			if kind.Valid() && mean[kind] > mean[CanaryPairedBetting] {
				t.Errorf("n %d: %s certifies %v, more than the default", k.n, kind, mean[kind])
			}
		}
	}
}

func benchmarkTable() CanaryTable {
	return someCanaries(64, 64, 4096, 0.12, 0.04, 1)
}

func BenchmarkCanaryEpsilon(b *testing.B) {
	table := benchmarkTable()
	s := TuneCanary(table, 4096, 1e-5, nominal)
	for _, kind := range CanaryIntervals() {
		b.Run(string(kind), func(b *testing.B) {
			for b.Loop() {
				CanaryEpsilon(kind, table, 1e-5, nominal, s)
			}
		})
	}
	b.Run("paired-betting-untuned", func(b *testing.B) {
		for b.Loop() {
			CanaryEpsilon(CanaryPairedBetting, table, 1e-5, nominal, CanaryStakes{})
		}
	})
	b.Logf("%d cells", len(table.Cells))
}

func BenchmarkCanaryValue(b *testing.B) {
	table := benchmarkTable()
	for b.Loop() {
		CanaryValue(table, 4096, 1e-5, nominal)
	}
}

func BenchmarkTuneCanary(b *testing.B) {
	table := benchmarkTable()
	for b.Loop() {
		TuneCanary(table, 4096, 1e-5, nominal)
	}
}

func BenchmarkOneRunEpsilon(b *testing.B) {
	for b.Loop() {
		OneRunEpsilon(1_000_000, 100_000, 80_000, 1e-5, nominal)
	}
}

func BenchmarkOneRunGDPMu(b *testing.B) {
	for b.Loop() {
		OneRunGDPMu(1_000_000, 4_000, 3_900, nominal)
	}
}
