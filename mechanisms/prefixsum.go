package mechanisms

import "github.com/dpscope/dpscope/audit"

// prefixSum releases the running sums of m answers with Laplace noise of scale 1/epsilon
// each. It costs epsilon for each answer that may move: one where they are counts of events
// and an event is added or removed; all where the answers are the dataset.
var prefixSum = mechanism{
	Name: "prefix-sum", Title: "Running sums of answers with Laplace noise on each answer",
	Source:  shadowExecution + ": PrefixSum; Chan, Shi and Song, Private and Continual Release of Statistics, ICALP 2010",
	Epsilon: 1,
	Params: []audit.ParamSpec{
		{Name: "m", Doc: "number of answers", Default: 10, Min: 1, Max: 64, Integer: true},
		{Name: "data", Doc: "events (a record is the index, from 0, of the answer that it counts for, so neighbours differ in one answer) or answers (the dataset is the list of answers, all of which may change)",
			Choices: []string{"events", "answers"}},
	},
	Relations: func(p audit.Params) []audit.Relation {
		return []audit.Relation{audit.Pick(countsEvents(p), audit.AddRemove, audit.LInfinity)}
	},
	Claim: func(p audit.Params) audit.Claim { return audit.DPClaim(prefixSumLoss(p), 0) },
	Truth: func(p audit.Params) string { return "epsilon = " + audit.Number(prefixSumLoss(p)) },
	Domain: func(p audit.Params) audit.Domain {
		return audit.Pick(countsEvents(p), whole(0, proposedRows, p.Num("m")-1), answers(p.Int("m"), -valueReach, valueReach, 1))
	},
	Pairs: func(p audit.Params, _ audit.Relation) pairs {
		if countsEvents(p) {
			return pairs{
				{"none against {0}", of(), of(0)},
				{"{0} against {0, 0}", of(0), of(0, 0)},
			}
		}
		m := p.Int("m")
		return pairs{
			{"all answers 0 against all answers 1", vector(m, 0), vector(m, 1)},
			{"the first answer 0 against 1, the others 0", vector(m, 0), append(of(1), vector(m-1, 0)...)},
		}[:min(m, 2)]
	},
	Tight: &audit.Tight{Pair: 1, Floats: true, Why: "a first sum beyond both true values"},

	Output: func(p audit.Params) []audit.Column { return columnsOf(p.Int("m"), audit.Real, "sum to %d", 1) },
	Release: func(p audit.Params, d audit.Dataset) sampler {
		m, answers := p.Int("m"), d.Values
		if countsEvents(p) {
			answers = binCounts(d, m)
		}
		addNoise := plusLaplace(1/p.Num("epsilon"), answers...)
		return func(b *block) {
			addNoise(b)
			for rows := b.out; len(rows) > 0; rows = rows[m:] {
				for i := 1; i < m; i++ {
					rows[i] += rows[i-1]
				}
			}
		}
	},
}

func countsEvents(p audit.Params) bool { return p.Word("data") == "events" }

func prefixSumLoss(p audit.Params) float64 {
	return audit.Pick(countsEvents(p), 1, p.Num("m")) * p.Num("epsilon")
}
