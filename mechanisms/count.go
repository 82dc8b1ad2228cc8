package mechanisms

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// laplaceCount is how many records say yes, by an answer above 1/2, and Laplace noise
// of scale 1/epsilon. A record that is added or removed moves it by 1.
type laplaceCount struct{ scale float64 }

var laplaceCountSpec = audit.MechanismSpec{
	Name: "laplace-count", Title: "Number of people who say yes, with Laplace noise",
	Source:    histogramSource,
	Params:    []audit.ParamSpec{epsilonParam(1)},
	Relations: only(audit.AddRemove),
	Claim:     pureClaim,
	Truth:     epsilonTruth,
	Domain: func(audit.Params, audit.Relation) audit.Domain {
		return audit.Domain{Columns: 1, MaxRows: histogramRows, Lower: []float64{0}, Upper: []float64{1}}
	},
	Pairs: func(audit.Params, audit.Relation) []audit.Pair {
		return []audit.Pair{
			{Label: "three yes against four", First: audit.Records(1, 1, 1), Second: audit.Records(1, 1, 1, 1)},
			{Label: "none against one yes", First: audit.Records(), Second: audit.Records(1)},
		}
	},
	New: func(p audit.Params) (audit.Mechanism, error) { return &laplaceCount{1 / p.Num("epsilon")}, nil },
}

func (m *laplaceCount) Columns() []audit.Column { return oneColumn(audit.Real, "noisy count") }

func (m *laplaceCount) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 0, anyRows); err != nil {
		return err
	}
	yes := make([]float64, 1)
	for _, v := range d.Values {
		if v > 0.5 {
			yes[0]++
		}
	}
	eachBlock(out, 1, func(block []float64, _ int) {
		s.Laplace(block, m.scale)
		addToRows(block, yes)
	})
	return nil
}
