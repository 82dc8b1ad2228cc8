package mechanisms

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// exponentialMedian draws point g of a grid in [lo, hi] with probability ∝ exp(-epsilon
// distance/2), where distance = |#{records < g} - #{records > g}|/2: a record that is
// replaced moves it by at most 1, one that is added or removed by 1/2. One word an output.
var exponentialMedian = mechanism{
	Name: "exponential-median", Title: "Median by the exponential mechanism, on a grid",
	Source:  "McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS 2007; Gillenwater, Joseph and Kulesza, Differentially Private Quantiles, ICML 2021 (JointExp; Joint in RényiTester)",
	Epsilon: 1,
	Params: []audit.ParamSpec{
		{Name: "points", Doc: "number of points of the grid, its ends among them", Default: 21, Min: 2, Max: 256, Integer: true},
		{Name: "lo", Doc: "lower end of the grid and of the records", Default: 0, Min: -1e6, Max: 1e6},
		{Name: "hi", Doc: "upper end of the grid and of the records, above lo", Default: 1, Min: -1e6, Max: 1e6},
	},
	Check: func(p audit.Params) error {
		return demand(p.Num("lo") < p.Num("hi"), p, "hi", "", "above lo = %s", audit.Number(p.Num("lo")))
	},
	Relations: only(audit.Replace, audit.AddRemove),
	Truth: func(p audit.Params) string {
		return "at most epsilon = " + audit.Number(p.Num("epsilon")) + " when a record is replaced (fine grids nearly reach it); at most half of it when one is added or removed"
	},
	Domain: func(p audit.Params) audit.Domain { return records(p.Num("lo"), p.Num("hi")) },
	Pairs: func(p audit.Params, r audit.Relation) pairs {
		g := gridOf(p)
		lo, hi := g[0], g[len(g)-1]
		behind := func(k int) float64 { return float64(g[len(g)-k-1]*0.5) + float64(g[len(g)-k]*0.5) }
		if r == audit.AddRemove {
			return pairs{
				{"a record between the last two points, and one below all", of(behind(1)), of(behind(1), lo)},
				{"none against one record at the lower end", of(), of(lo)},
			}
		}
		var list pairs
		if len(g) > 2 {
			// The point before the last goes from the middle of the records to their end,
			// most others the other way.
			list = pairs{{"a record either side of the last point but one, the upper one replaced by one below all", of(behind(2), behind(1)), of(behind(2), lo)}}
		}
		return append(list, neighbours{"one record, at either end", of(lo), of(hi)})
	},
	Tight: &audit.Tight{Params: audit.Params{"epsilon": {Number: 1}}, Pair: 1, Exact: medianLoss(), Why: "the last point but one: exact"},

	Output: oneColumn(audit.Symbol, "median"),
	Release: func(p audit.Params, d audit.Dataset) sampler {
		grid := gridOf(p)
		sums := medianWeights(grid, d.Values, p.Num("epsilon")/2)
		return func(b *block) {
			b.Uniform(b.out, 0, sums[len(sums)-1])
			for i, u := range b.out {
				at, _ := slices.BinarySearch(sums, u)
				b.out[i] = grid[at]
			}
		}
	},
}

func gridOf(p audit.Params) []float64 {
	lo, last := p.Num("lo"), p.Int("points")-1
	width := p.Num("hi") - lo
	grid := audit.Listed(last+1, func(i int) float64 { return lo + float64(width*float64(i))/float64(last) })
	grid[last] = p.Num("hi")
	return grid
}

// medianWeights are the running sums of the points' weights, the largest of which is 1.
func medianWeights(grid, records []float64, rate float64) []float64 {
	distances := audit.Each(grid, func(g float64) float64 {
		below := audit.Count(records, func(v float64) bool { return v < g })
		above := audit.Count(records, func(v float64) bool { return v > g })
		return math.Abs(float64(below-above)) / 2
	})
	least, sum := slices.Min(distances), 0.0
	return audit.Each(distances, func(d float64) float64 {
		sum += stream.Exp(-float64(rate * (d - least)))
		return sum
	})
}

// medianLoss is the loss with 21 points at epsilon 1 on the first pair: the point before the last
// is alone in the middle of the first dataset's records, and behind both of the second's.
func medianLoss() float64 {
	near, far := stream.Exp(-0.25), stream.Exp(-0.5)
	first := 1 / (1 + float64(20*far))
	second := far / (18 + near + float64(2*far))
	return stream.Log(first / second)
}
