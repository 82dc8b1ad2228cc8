package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// canaryPaper are the means of Wilson's interval that the paper quotes in words.
var canaryPaper = map[canaryCell]float64{
	{eps: 2, n: 1024, k: 32, d: 1000}: .67, {eps: 2, n: 4096, k: 64, d: 1000}: .85,
	{eps: 2, n: 4096, k: 1, d: 1000}: .67, {eps: 2, n: 65536, k: 1, d: 1000}: .85,
}

func (c canaryCell) known() float64 { return orNaN(canaryPaper, c) }

func (c canaryCell) single() canaryCell {
	c.k = 1
	return c
}

// sweep is a table of every way for the cells of each claim.
func (b *canaryBench) sweep(title string, of func(eps float64) []canaryCell) *table {
	t := &table{title: title, columns: []string{"K = 1, Wilson 1", "Wilson 1", "Wilson 2", "Wilson 4", "paired betting"},
		notes: []string{"published: in words (section 4); the paper's figures themselves give no numbers"}}
	cells := slices.Concat(audit.Each(audit.Pick(b.quick, []float64{2}, []float64{1, 2, 4, 8}), of)...)
	b.measure(append(audit.Each(cells, canaryCell.single), cells...)...)
	for _, c := range cells {
		t.add(fmt.Sprintf("epsilon = %g, n = %d, K = %d, d = %d", c.eps, c.n, c.k, c.d)+audit.Pick(c.orthogonal, ", orthogonal canaries (not in the paper)", ""),
			b.figure(c.single(), wilson1).beside(c.single().known()), b.figure(c, wilson1), b.figure(c, wilson2).beside(c.known()), b.figure(c, wilson4), b.figure(c, betting))
	}
	return t
}

func (b *canaryBench) byRuns() *table {
	runs := audit.Pick(b.quick, []int{256, 1024, 4096}, []int{256, 1024, 4096, 16384})
	return b.sweep("Figures 3 (left) and 7: lower bound against the number of runs, K = sqrt n", func(eps float64) []canaryCell {
		return audit.Each(runs, func(n int) canaryCell { return canaryCell{eps: eps, n: n, k: int(math.Sqrt(float64(n))), d: 1000} })
	})
}

func (b *canaryBench) byCanaries() *table {
	return b.sweep("Figures 3 (middle) and 8: lower bound against the number of canaries, n = 1024", b.byK)
}

func (b *canaryBench) byK(eps float64) []canaryCell {
	grid := audit.Pick(b.quick, []int{2, 4, 16, 64}, []int{2, 4, 8, 16, 32, 64, 128, 256})
	return audit.Each(grid, func(k int) canaryCell { return canaryCell{eps: eps, n: 1024, k: k, d: 1000} })
}

// byQuantile shows what the range of thresholds, which the paper does not say, does to figures in words.
func (b *canaryBench) byQuantile() *table {
	t := &table{title: "Section 4 in words: lower bound by the range of the threshold, epsilon = 2, d = 1000, Wilson, first order at K = 1, else second"}
	quantiles := []float64{.05, .09, .10, .20, 0}
	t.columns = audit.Each(quantiles, func(q float64) string {
		return audit.Pick(q > 0, fmt.Sprintf("up to the %.0f %% quantile", 100-100*q), "any")
	})
	for _, c := range []canaryCell{{eps: 2, n: 1024, k: 32, d: 1000}, {eps: 2, n: 4096, k: 1, d: 1000}, {eps: 2, n: 4096, k: 64, d: 1000}, {eps: 2, n: 65536, k: 1, d: 1000}} {
		ways := audit.Each(quantiles, func(q float64) canaryWay {
			return canaryWay{audit.Pick(c.k == 1, bounds.CanaryWilson1, bounds.CanaryWilson2), q}
		})
		audits := results(b.lab, b.seedsOf(c), func(_ context.Context, seed int) map[canaryWay]judged {
			return b.simulate(c, seed, ways)
		})
		t.add(fmt.Sprintf("n = %d, K = %d, %d audits", c.n, c.k, len(audits)), audit.Each(ways, func(way canaryWay) any {
			eps := audit.Each(audits, func(a map[canaryWay]judged) float64 { return a[way].epsilon })
			return figureOf(eps...).beside(audit.Pick(way.quantile == .10, c.known(), math.NaN()))
		})...)
	}
	t.notes = []string{"published in words (section 4); the paper's range is not published, and is taken to be that of the column .10",
		"at a threshold that a share q of the canaries inside exceeds, log(p1/p0) is log(q / (1 - Phi(z + 1/sigma))), z the 1 - q quantile and sigma = 2.149: .91 at q = .10, 1.05 at .05, larger the rarer the event, so that the bound grows with the range until the interval is wider than the event is frequent"}
	return t
}

// gain is table 1 for the Gaussian mechanism, in so many dimensions that canaries are as good as
// independent. The mean over K canaries of a run has a variance of p (1-p) (1 + (K-1) rho)/K: by that
// alone, runs may be K/(1 + (K-1) rho) times fewer. But every interval adds a term of the order of
// log(1/beta)/n, which decides where the event is rare, as that of a large epsilon is.
func (b *canaryBench) gain() *table {
	const n, k, d = 1000, lidpMost, 100_000
	t := &table{title: fmt.Sprintf("Gain in sample complexity of K = %d canaries against one at n = %d, Gaussian mechanism, d = %d", k, n, d),
		columns: []string{"one canary, Wilson 1", "Wilson 2", "gain, second order", "gain, fourth order", "rate fresh", "correlation rho inside"}}
	for _, eps := range lidpEpsilons {
		one, sizes := canaryCell{eps: eps, n: n, k: 1, d: d}, []float64{n / 16, n / 8, n / 4, n / 2, n}
		cells := audit.Each(sizes, func(size float64) canaryCell { return canaryCell{eps: eps, n: int(size), k: k, d: d} })
		b.measure(append(cells, one)...)
		last := cells[len(cells)-1]
		row := []any{b.figure(one, wilson1), b.figure(last, wilson2)}
		for _, way := range []canaryWay{wilson2, wilson4} {
			bounds := audit.Each(cells, func(c canaryCell) float64 { return b.mean(c, way) })
			row = append(row, figureOf(n/reaches(sizes, bounds, b.mean(one, wilson1))))
		}
		rho := b.inside(last, func(in bounds.Exchangeable) float64 { return in.Correlation(1) / (in.Mean() * (1 - in.Mean())) })
		t.add(fmt.Sprintf("epsilon = %g", eps), append(row, figureOf(b.fresh(last)...), figureOf(rho...))...)
	}
	return t
}

func (b *canaryBench) byDimension() *table {
	return b.sweep("Figures 3 (right) and 9: lower bound against the dimension, n = 1024, K = 32", func(eps float64) []canaryCell {
		return append(b.byD(eps, 1024), canaryCell{eps: eps, n: 1024, k: 32, d: 1000, orthogonal: true})
	})
}

func (b *canaryBench) byD(eps float64, n int) []canaryCell {
	grid := audit.Pick(b.quick, []int{100, 1000, 100_000}, []int{100, 1000, 10_000, 100_000, 1_000_000})
	return audit.Each(grid, func(d int) canaryCell { return canaryCell{eps: eps, n: n, k: 32, d: d} })
}

func (b *canaryBench) biasVariance() *table {
	t := &table{title: "Figure 4 (left), equation 10: bias and variance, epsilon = 2, n = 1024, d = 1000, each bound at its own threshold",
		columns: []string{"bias(K)", "variance(K, 2)", "variance(K, 4)", "net, order 2"},
		notes:   []string{"published are no numbers: the bias is negative and grows with K, the variance gain grows and levels off"}}
	cells := b.byK(2)
	one := cells[0].single()
	b.measure(append(cells, one)...)
	single := b.mean(one, wilson1)
	for _, c := range cells {
		first, second := b.mean(c, wilson1), b.mean(c, wilson2)
		t.add(fmt.Sprintf("K = %d", c.k), figureOf(first-single), figureOf(second-first), figureOf(b.mean(c, wilson4)-first), figureOf(second-single))
	}
	return t
}

// deviation is that of a canary's score: noise, and the K - 1 others.
func (c canaryCell) deviation() float64 {
	return math.Hypot(source.Sigma(source.ByRenyi, c.eps, canaryDelta), math.Sqrt(float64(c.k-1)/float64(c.d)))
}

// expected is mu2 - mu1^2 of the canaries inside at the threshold that a share p of them
// exceeds, to first order in 1/d. Scores of two canaries c and c' have the inner product
// g = <c, c'> in common, E g^2 = 1/d: it shifts both by g, and is the correlation of what the
// noise gives to them. With z the threshold in deviations s, s^2 = sigma^2 + (K-1)/d, both exceed it
// with probability p^2 + phi(z)^2 (1/s^2 + 2z/s + z^2/2)/d. K is in s alone.
func (c canaryCell) expected(p float64) float64 {
	s := c.deviation()
	z := distuv.UnitNormal.Quantile(1 - p)
	phi := distuv.UnitNormal.Prob(z)
	return phi * phi * (1/(s*s) + 2*z/s + z*z/2) / float64(c.d)
}

// correlations have slopes of their logarithms, beside the published ones by column.
func (b *canaryBench) correlations(title, axis string, cells []canaryCell, of func(canaryCell) int, slopes map[int]float64, reading string) *table {
	t := &table{title: title, columns: []string{"mu2 - mu1^2", "expected", "|mu2 - mu1^2|", "variance of X/K", "mu4 - mu2^2", "|mu4 - mu2^2|", "rate inside", "rate fresh"}}
	b.measure(cells...)
	x, logs := make([][]float64, len(t.columns)), make([][]float64, len(t.columns))
	for _, c := range cells {
		mu := b.inside(c, func(in bounds.Exchangeable) float64 { return in.Correlation(1) })
		spread := b.inside(c, func(in bounds.Exchangeable) float64 {
			return in.Correlation(1) + (in.Mean()-in.Moment(2))/float64(c.k)
		})
		var fourth []float64
		if c.k >= 4 {
			fourth = b.inside(c, func(in bounds.Exchangeable) float64 { return in.Correlation(2) })
		}
		inside := b.inside(c, bounds.Exchangeable.Mean)
		expected := []float64{c.expected(stat.Mean(inside, nil))}
		abs := func(x []float64) []float64 { return audit.Each(x, math.Abs) }
		var row []any
		for i, values := range [][]float64{mu, expected, abs(mu), spread, fourth, abs(fourth), inside, b.fresh(c)} {
			f := figureOf(values...)
			row = append(row, f)
			// Points that are not clear of 0 have no logarithm to speak of.
			if math.Abs(f.mean) > 3*audit.Pick(math.IsNaN(f.err), 0, f.err) {
				x[i], logs[i] = append(x[i], math.Log(float64(of(c)))), append(logs[i], math.Log(math.Abs(f.mean)))
			}
		}
		t.add(fmt.Sprintf("%s = %d", axis, of(c)), row...)
	}
	t.add("slope", audit.Listed(len(t.columns), func(i int) any {
		_, slope := stat.LinearRegression(x[i], logs[i], nil, false) // NaN where there is one point, or none
		return figureOf(slope).beside(orNaN(slopes, i))
	})...)
	t.notes = []string{"published are slopes of |mu2 - mu1^2| and |mu4 - mu2^2| in the logarithm of " + axis,
		"mu2 - mu1^2 and mu4 - mu2^2 are means of signed estimates; slopes are of what is more than three standard errors from 0",
		"columns with bars are means of |estimate| over audits: where the correlation is below the estimate's error they show that error, mu1 (1 - mu1) sqrt(2/n)/K of the first",
		reading}
	return t
}

func (b *canaryBench) correlationCanaries() *table {
	return b.correlations("Figures 4 (middle) and 10: correlations against the number of canaries, epsilon = 2, n = 1024, d = 1000, inside, at the threshold of second-order Wilson",
		"K", b.byK(2), func(c canaryCell) int { return c.k }, map[int]float64{2: -.93, 5: -1.05},
		"the correlation of two canaries does not fall with K, as the column expected derives and the signed estimates show; what falls about as 1/K are the error of its estimate, which |mu2 - mu1^2| shows, and the variance of X/K. So the published slopes stand beside those of the columns with bars")
}

func (b *canaryBench) correlationDimension() *table {
	n := audit.Pick(b.quick, 4096, 16384) // they fall as 1/d, soon below what fewer runs can see
	return b.correlations(fmt.Sprintf("Figures 4 (right) and 11: correlations against the dimension, epsilon = 2, n = %d, K = 32, inside, at the threshold of second-order Wilson", n),
		"d", b.byD(2, n), func(c canaryCell) int { return c.d }, map[int]float64{0: -1.06, 4: -1.00},
		"the correlation itself falls as 1/d; the paper's outlier at d = 1000000 is where its estimate's error takes over")
}

// singles are n pairs of one canary each, of which x are in the event on both sides.
func singles(x, n int) bounds.CanaryTable {
	table := bounds.NewCanaryTable(1, 1)
	table.Add(1, 1, x)
	table.Add(0, 0, n-x)
	return table
}

func (b *canaryBench) proportion() *table {
	kinds := []bounds.CanaryInterval{bounds.CanaryWilson1, bounds.CanaryBernstein1, bounds.CanaryKL, bounds.CanaryMaurerPontil, bounds.CanaryBetting}
	t := &table{title: "Figure 6: a binomial proportion of .1, 95 % limits; .1 less the lower limit and the upper limit less .1",
		notes: []string{"published are no numbers: all nearly the same from n about 1/p^2 = 100 on",
			"stakes of betting are tuned on the same counts here, which a certificate may not do"}}
	for _, k := range append([]bounds.CanaryInterval{"clopper-pearson"}, kinds...) {
		t.columns = append(t.columns, string(k)+", lower", string(k)+", upper")
	}
	const p = 0.1
	for _, n := range []int{16, 64, 256, 1024, 4096, 16384} {
		widths := make([][]float64, len(t.columns))
		for s := range audit.Pick(b.seeds > 0, b.seeds, canarySeeds) {
			st := stream.New(stream.Key{Seed: b.seed, Purpose: "bench/canaries/proportion", Trial: s, Shard: n})
			x := 0
			for range n {
				x += audit.Pick(st.Float64() < p, 1, 0)
			}
			table := singles(x, n)
			limits := []float64{bounds.LowerProportion(x, n, canaryBeta/2), bounds.UpperProportion(x, n, canaryBeta/2)}
			for _, k := range kinds {
				lo, hi := bounds.CanaryLimits(k, table, canaryBeta, bounds.TuneCanary(table, n, 0, canaryBeta))
				limits = append(limits, lo, hi)
			}
			for i, l := range limits {
				widths[i] = append(widths[i], math.Abs(l-p))
			}
		}
		t.add(fmt.Sprintf("n = %d", n), audit.Each(widths, func(w []float64) any { return figureOf(w...) })...)
	}
	return t
}
