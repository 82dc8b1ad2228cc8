package mechanisms

import "github.com/dpscope/dpscope/audit"

// laplaceCount takes an answer above 1/2 for a yes. A record that is added or removed
// moves the count by 1.
var laplaceCount = mechanism{
	Name: "laplace-count", Title: "Number of people who say yes, with Laplace noise", Source: histogramSource,
	Epsilon:   1,
	Relations: only(audit.AddRemove),
	Domain:    in(records(0, 1)),
	Pairs: always(pairs{
		{"three yes against four", of(1, 1, 1), of(1, 1, 1, 1)},
		{"nobody against one yes", of(), of(1)},
	}),
	Tight: &audit.Tight{Pair: 1, Floats: true, Why: "a count beyond both true values"},

	Output: oneColumn(audit.Real, "noisy count"),
	Release: func(p audit.Params, d audit.Dataset) sampler {
		yes := audit.Count(d.Values, func(v float64) bool { return v > 0.5 })
		return plusLaplace(1/p.Num("epsilon"), float64(yes))
	},
}
