package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// truncatedGeometric counts the ones among n bits and adds two-sided geometric
// noise, P(z) proportional to (1-p)^|z|, clamped to [0, n]. With p = 1/(2^k+1) that is the
// distribution of GeoSample: P(output <= z) = (1-p)^(c-z)/(2-p) for z < c. A block
// draws the positive parts of all its rows, then the negative ones.
var truncatedGeometric = mechanism{
	Name:   "truncated-geometric",
	Title:  "Count of bits with truncated geometric noise",
	Source: "Balcer and Vadhan, Differential Privacy on Finite Computers, ITCS 2018, algorithm 4.8 (GeoSample); Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: TruncatedGeometric",
	Fault: "rounds epsilon to ln(1 + 2^-k) with k = ⌈ln(2/epsilon)⌉, a natural logarithm: below 0.118 the result often exceeds epsilon, as it does for 0.1" +
		" (a logarithm to base 2 would give at most epsilon/2)",
	Epsilon:   0.1,
	Params:    []audit.ParamSpec{{Name: "n", Doc: "number of bits to count", Default: 5, Min: 1, Max: 64, Integer: true}},
	Relations: only(audit.Replace),
	Truth: func(p audit.Params) string {
		k := geoSampleShift(p)
		return fmt.Sprintf("epsilon = ln(1 + 2^-k) with k = %d: %s", k, show(stream.Log1p(math.Ldexp(1, -k))))
	},
	Domain: func(p audit.Params) audit.Domain { return whole(p.Int("n"), p.Int("n"), 1) },
	Pairs: func(p audit.Params, _ audit.Relation) pairs {
		n := p.Int("n")
		some := func(ones int) []float64 { return append(vector(ones, 1), vector(n-ones, 0)...) }
		list := pairs{{"no ones against one", some(0), some(1)}}
		if n > 1 {
			list = append(list, neighbours{"all ones against all but one", some(n), some(n - 1)})
		}
		return list
	},
	Output: oneColumn(audit.Symbol, "count"),
	Release: func(p audit.Params, d audit.Dataset) sampler {
		geometric := 1 / (1 + math.Ldexp(1, geoSampleShift(p)))
		count, n := clippedSum(d.Values), float64(d.Len())
		return func(b *block) {
			out, down := b.out, b.room(1)
			b.Geometric(out, geometric)
			b.Geometric(down, geometric)
			for i, z := range down {
				out[i] = min(max(count+(out[i]-z), 0), n)
			}
		}
	},
}

// geoSampleShift is k = ⌈ln(2/epsilon)⌉.
func geoSampleShift(p audit.Params) int { return int(math.Ceil(stream.Log(2 / p.Num("epsilon")))) }
