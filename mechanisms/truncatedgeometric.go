package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// truncated completes a mechanism that counts the ones among n bits and adds two-sided geometric
// noise, P(z) ∝ (1-p)^|z|, clamped to [0, n]. With p = 1/(2^k+1), k by shift, that is the
// distribution of GeoSample: P(output <= z) = (1-p)^(c-z)/(2-p) for z < c, of which the epsilon is
// ln(1 + 2^-k). A block draws the positive parts of all its rows, then the negative ones.
func truncated(m mechanism, shift func(epsilon float64) int) mechanism {
	m.Source = "Balcer and Vadhan, Differential Privacy on Finite Computers, ITCS 2018, algorithm 4.8 (GeoSample)" + m.Source
	m.Epsilon, m.Relations, m.Output = 0.1, only(audit.Replace), oneColumn(audit.Symbol, "count")
	m.Params = []audit.ParamSpec{{Name: "n", Doc: "number of bits to count", Default: 5, Min: 1, Max: 64, Integer: true}}
	m.Truth = func(p audit.Params) string {
		k := shift(p.Num("epsilon"))
		return fmt.Sprintf("epsilon = ln(1 + 2^-k) with k = %d: %s", k, audit.Number(stream.Log1p(math.Ldexp(1, -k))))
	}
	m.Domain = func(p audit.Params) audit.Domain { return whole(p.Int("n"), p.Int("n"), 1) }
	m.Pairs = func(p audit.Params, _ audit.Relation) pairs {
		n := p.Int("n")
		some := func(ones int) []float64 { return append(vector(ones, 1), vector(n-ones, 0)...) }
		return pairs{
			{"no ones against one", some(0), some(1)},
			{"all ones against all but one", some(n), some(n - 1)},
		}[:min(n, 2)]
	}
	m.Release = func(p audit.Params, d audit.Dataset) sampler {
		geometric := 1 / (1 + math.Ldexp(1, shift(p.Num("epsilon"))))
		count, n := clippedSum(d.Values), float64(d.Len())
		return func(b *block) {
			out, down := b.out, b.room(1)
			b.Geometric(out, geometric)
			b.Geometric(down, geometric)
			for i, z := range down {
				out[i] = min(max(count+(out[i]-z), 0), n)
			}
		}
	}
	return m
}

// geoSample keeps its claim: ln(1 + 2^-k) <= 2^-k <= epsilon/2.
var geoSample = truncated(mechanism{
	Name: "geo-sample", Title: "Count of bits with truncated geometric noise, by GeoSample",
	Tight: &audit.Tight{Params: audit.Params{"epsilon": {Number: 0.1}}, Pair: 1, Exact: stream.Log1p(1.0 / 32), Why: "a count of none: ln(1 + 2^-5) at epsilon = 0.1, exact"},
}, func(epsilon float64) int { // k = ⌈log2(2/epsilon)⌉
	fraction, k := math.Frexp(2 / epsilon)
	return k - audit.Pick(fraction == 0.5, 1, 0)
})

var truncatedGeometric = truncated(mechanism{
	Name: "truncated-geometric", Title: "Count of bits with truncated geometric noise",
	Source: "; " + dpSniper + ": TruncatedGeometric",
	Fault: "rounds epsilon to ln(1 + 2^-k) with k = ⌈ln(2/epsilon)⌉, a natural logarithm: below 0.118 the result often exceeds epsilon, as it does for 0.1" +
		" (a logarithm to base 2 would give at most epsilon/2)", Mended: "geo-sample",
}, func(epsilon float64) int { return int(math.Ceil(stream.Log(2 / epsilon))) })
