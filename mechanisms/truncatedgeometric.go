package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// truncatedGeometric counts the ones among n bits and adds two-sided geometric
// noise, P(z) proportional to (1-p)^|z|, clamped to [0, n]. With p = 1/(2^k+1) that is the
// distribution of GeoSample: P(output <= z) = (1-p)^(c-z)/(2-p) for z < c. A block
// draws the positive parts of all its rows, then the negative ones.
type truncatedGeometric struct {
	n int
	p float64
}

var truncatedGeometricSpec = audit.MechanismSpec{
	Name:   "truncated-geometric",
	Title:  "Count of bits with truncated geometric noise",
	Source: "Balcer and Vadhan, Differential Privacy on Finite Computers, ITCS 2018, algorithm 4.8 (GeoSample); Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: TruncatedGeometric",
	Fault: "rounds epsilon to ln(1 + 2^-k) with k = ⌈ln(2/epsilon)⌉, a natural logarithm: below 0.118 that is more than epsilon for many epsilon, 0.1 among them" +
		" (with the logarithm to base 2 it would be at most epsilon/2)",
	Params: []audit.ParamSpec{
		epsilonParam(0.1),
		{Name: "n", Doc: "number of bits that are counted", Default: 5, Min: 1, Max: 64, Integer: true},
	},
	Relations: only(audit.Replace),
	Claim:     pureClaim,
	Truth: func(p audit.Params) string {
		k := geoSampleShift(p.Num("epsilon"))
		return fmt.Sprintf("epsilon = ln(1 + 2^-k) with k = %d: %s", k, show(stream.Log1p(math.Ldexp(1, -k))))
	},
	Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
		n := p.Int("n")
		return audit.Domain{Columns: 1, MinRows: n, MaxRows: n, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
	},
	Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
		n := p.Int("n")
		some := func(ones int) audit.Dataset {
			v := vector(n, 0)
			for i := range ones {
				v[i] = 1
			}
			return audit.Records(v...)
		}
		pairs := []audit.Pair{{Label: "no ones against one", First: some(0), Second: some(1)}}
		if n > 1 {
			pairs = append(pairs, audit.Pair{Label: "all ones against all but one", First: some(n), Second: some(n - 1)})
		}
		return pairs
	},
	New: func(p audit.Params) (audit.Mechanism, error) {
		return &truncatedGeometric{p.Int("n"), 1 / (1 + math.Ldexp(1, geoSampleShift(p.Num("epsilon"))))}, nil
	},
}

// geoSampleShift is k = ⌈ln(2/epsilon)⌉.
func geoSampleShift(epsilon float64) int { return int(math.Ceil(stream.Log(2 / epsilon))) }

func (m *truncatedGeometric) Columns() []audit.Column { return oneColumn(audit.Symbol, "count") }

func (m *truncatedGeometric) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkWhole(d, m.n, m.n, 1); err != nil {
		return err
	}
	count, scratch := clippedSum(d.Values), make([]float64, min(len(out), blockRows))
	eachBlock(out, 1, func(block []float64, rows int) {
		s.Geometric(block, m.p)
		s.Geometric(scratch[:rows], m.p)
		for i, down := range scratch[:rows] {
			block[i] = min(max(count+(block[i]-down), 0), float64(m.n))
		}
	})
	return nil
}
