package mechanisms

import "github.com/dpscope/dpscope/audit"

const valueReach = 10 // values lie in [-10, 10]

// oneValue completes a mechanism that releases a single value of sensitivity 1, the only
// row of its dataset, with Laplace noise.
func oneValue(m mechanism) mechanism {
	m.Epsilon, m.Relations = 1, only(audit.LInfinity)
	m.Domain = in(answers(1, -valueReach, valueReach, 1))
	m.Pairs = always(pairs{
		{"{0} against {1}", of(0), of(1)},
		{"{9} against {10}", of(9), of(10)},
	})
	return m
}

var laplaceParallel = oneValue(mechanism{
	Name: "laplace-parallel", Title: "One value released several times, with Laplace noise scaled for all releases",
	Source: "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: LaplaceParallel; Dwork and Roth (2014), theorems 3.6 and 3.16",
	Params: []audit.ParamSpec{{Name: "copies", Doc: "how often the value is released, each time with epsilon/copies", Default: 20, Min: 1, Max: 64, Integer: true}},
	Tight:  &audit.Tight{Params: audit.Params{"copies": {Number: 2}}, Pair: 1, Floats: true, Why: "both copies beyond both values"},

	Output: func(p audit.Params) []audit.Column { return columnsOf(p.Int("copies"), audit.Real, "answer %d", 1) },
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(p.Num("copies")/p.Num("epsilon"), vector(p.Int("copies"), d.Values[0])...)
	},
})

var budgetSpentTwice = oneValue(mechanism{
	Name: "budget-spent-twice", Title: "One question answered several times, each time with the full epsilon",
	Source: "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), theorem 3.16 (composition), which it ignores",
	Fault:  "answers each time with noise for epsilon and claims epsilon for all answers together: budgets add up", Mended: "laplace-parallel",
	Params: []audit.ParamSpec{{Name: "copies", Doc: "how often it is answered, each time with epsilon", Default: 2, Min: 2, Max: 64, Integer: true, Fault: true}},
	Truth: func(p audit.Params) string {
		return "epsilon = " + audit.Number(p.Num("copies")) + " times the claimed = " + audit.Number(p.Num("copies")*p.Num("epsilon"))
	},

	Output: laplaceParallel.Output,
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(1/p.Num("epsilon"), vector(p.Int("copies"), d.Values[0])...)
	},
})
