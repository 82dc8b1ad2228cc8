package mechanisms

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// exponentialMedian draws point g of a grid in [lo, hi] with probability
// proportional to exp(-epsilon distance/2), where distance = |#{records < g} -
// #{records > g}|/2: a record that is replaced moves it by at most 1, one that is
// added or removed by 1/2. One word an output.
type exponentialMedian struct {
	grid []float64
	rate float64 // epsilon/2
}

var exponentialMedianSpec = audit.MechanismSpec{
	Name:   "exponential-median",
	Title:  "Median by the exponential mechanism, on a grid",
	Source: "McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS 2007; Gillenwater, Joseph and Kulesza, Differentially Private Quantiles, ICML 2021 (JointExp; Joint in RényiTester)",
	Params: []audit.ParamSpec{
		epsilonParam(1),
		{Name: "points", Doc: "number of points of the grid, its ends among them", Default: 21, Min: 2, Max: 256, Integer: true},
		{Name: "lo", Doc: "lower end of the grid and of the records", Default: 0, Min: -1e6, Max: 1e6},
		{Name: "hi", Doc: "upper end of the grid and of the records, above lo", Default: 1, Min: -1e6, Max: 1e6},
	},
	Relations: only(audit.Replace, audit.AddRemove),
	Claim:     pureClaim,
	Truth: func(p audit.Params) string {
		return "at most epsilon = " + show(p.Num("epsilon")) + " when a record is replaced, which fine grids come near; at most half of it when one is added or removed"
	},
	Domain: func(p audit.Params, r audit.Relation) audit.Domain {
		lo, hi := p.Num("lo"), p.Num("hi")
		return audit.Domain{Columns: 1, MinRows: fewest(r), MaxRows: histogramRows, Lower: []float64{lo}, Upper: []float64{hi}}
	},
	Pairs: func(p audit.Params, r audit.Relation) []audit.Pair {
		g := gridOf(p)
		lo, hi := g[0], g[len(g)-1]
		behind := func(k int) float64 { return float64(g[len(g)-k-1]*0.5) + float64(g[len(g)-k]*0.5) }
		if r == audit.AddRemove {
			return []audit.Pair{
				{Label: "a record between the last two points, and one below all", First: audit.Records(behind(1)), Second: audit.Records(behind(1), lo)},
				{Label: "none against one record at the lower end", First: audit.Records(), Second: audit.Records(lo)},
			}
		}
		var pairs []audit.Pair
		if len(g) > 2 {
			// The point before the last goes from the middle of the records to
			// their end, most others from the end to the middle.
			pairs = append(pairs, audit.Pair{Label: "a record either side of the last point but one, the upper one replaced by one below all",
				First: audit.Records(behind(2), behind(1)), Second: audit.Records(behind(2), lo)})
		}
		return append(pairs, audit.Pair{Label: "one record, at either end", First: audit.Records(lo), Second: audit.Records(hi)})
	},
	New: func(p audit.Params) (audit.Mechanism, error) {
		if lo, hi := p.Num("lo"), p.Num("hi"); !(lo < hi) {
			return nil, &audit.InputError{Field: "parameter hi", Path: "p.hi", Found: show(hi), Want: "above lo = " + show(lo)}
		}
		return &exponentialMedian{gridOf(p), p.Num("epsilon") / 2}, nil
	},
}

func gridOf(p audit.Params) []float64 {
	grid, lo := make([]float64, p.Int("points")), p.Num("lo")
	width, last := p.Num("hi")-lo, p.Num("points")-1
	for i := range grid {
		grid[i] = lo + float64(width*float64(i))/last
	}
	grid[len(grid)-1] = p.Num("hi")
	return grid
}

func (m *exponentialMedian) Columns() []audit.Column { return oneColumn(audit.Symbol, "median") }

// weights are the running sums of the points' weights, the largest of which is
// 1.
func (m *exponentialMedian) weights(values []float64) []float64 {
	distance := make([]float64, len(m.grid))
	least := math.Inf(1)
	for i, g := range m.grid {
		var balance float64
		for _, v := range values {
			if v < g {
				balance++
			} else if v > g {
				balance--
			}
		}
		distance[i] = math.Abs(balance) / 2
		least = min(least, distance[i])
	}
	var sum float64
	for i, d := range distance {
		sum += stream.Exp(-float64(m.rate * (d - least)))
		distance[i] = sum
	}
	return distance
}

func (m *exponentialMedian) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 0, anyRows); err != nil {
		return err
	}
	sums := m.weights(d.Values)
	s.Uniform(out, 0, sums[len(sums)-1])
	for i, u := range out {
		at, _ := slices.BinarySearch(sums, u)
		out[i] = m.grid[at]
	}
	return nil
}
