package mechanisms

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// prefixSum releases the running sums of m answers with Laplace noise of scale
// 1/epsilon each. It draws the noise of all answers of all rows of a block at
// once. What it costs depends on how many answers move: one where they are
// counts of events and an event is added or removed; all where the answers are
// the dataset, so that the loss is m epsilon.
type prefixSum struct {
	m      int
	events bool // records are the numbers, from 0, of the answers that they count for
	scale  float64
}

var prefixSumSpec = audit.MechanismSpec{
	Name:   "prefix-sum",
	Title:  "Running sums of answers with Laplace noise on each answer",
	Source: "Wang, Ding, Wang, Kifer and Zhang, Proving Differential Privacy with Shadow Execution, PLDI 2019: PrefixSum; Chan, Shi and Song, Private and Continual Release of Statistics, ICALP 2010",
	Params: []audit.ParamSpec{
		epsilonParam(1),
		{Name: "m", Doc: "number of answers", Default: 10, Min: 1, Max: 64, Integer: true},
		{Name: "data", Doc: "events (records are the numbers, from 0, of the answers that they count for: neighbours differ in one answer), or answers (the dataset is the answers, all of which may move)",
			Choices: []string{"events", "answers"}},
	},
	Relations: func(p audit.Params) []audit.Relation {
		if countsEvents(p) {
			return []audit.Relation{audit.AddRemove}
		}
		return []audit.Relation{audit.LInfinity}
	},
	Claim: func(p audit.Params) audit.Claim { return audit.DPClaim(prefixSumLoss(p), 0) },
	Truth: func(p audit.Params) string { return "epsilon = " + show(prefixSumLoss(p)) },
	Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
		if countsEvents(p) {
			return audit.Domain{Columns: 1, MaxRows: histogramRows, Lower: []float64{0}, Upper: []float64{p.Num("m") - 1}, Integer: true}
		}
		return answersDomain(p.Int("m"), valueReach)
	},
	Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
		m := p.Int("m")
		if countsEvents(p) {
			return []audit.Pair{
				{Label: "none against {0}", First: audit.Records(), Second: audit.Records(0)},
				{Label: "{0} against {0, 0}", First: audit.Records(0), Second: audit.Records(0, 0)},
			}
		}
		one := vector(m, 0)
		one[0] = 1
		pairs := []audit.Pair{{Label: "all answers 0 against all answers 1", First: audit.Records(vector(m, 0)...), Second: audit.Records(vector(m, 1)...)}}
		if m > 1 {
			pairs = append(pairs, audit.Pair{Label: "the first answer 0 against 1, the others 0", First: audit.Records(vector(m, 0)...), Second: audit.Records(one...)})
		}
		return pairs
	},
	New: func(p audit.Params) (audit.Mechanism, error) {
		return &prefixSum{p.Int("m"), countsEvents(p), 1 / p.Num("epsilon")}, nil
	},
}

func countsEvents(p audit.Params) bool { return p.Word("data") == "events" }

// prefixSumLoss is epsilon for every answer that may move.
func prefixSumLoss(p audit.Params) float64 {
	if countsEvents(p) {
		return p.Num("epsilon")
	}
	return p.Num("m") * p.Num("epsilon")
}

func (m *prefixSum) Columns() []audit.Column { return columnsOf(m.m, audit.Real, "sum to %d") }

func (m *prefixSum) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	answers, err := d.Values, checkShape(d, 0, anyRows)
	if err == nil && m.events {
		answers, err = binCounts(d, m.m)
	} else if err == nil {
		err = checkShape(d, m.m, m.m)
	}
	if err != nil {
		return err
	}
	eachBlock(out, m.m, func(block []float64, _ int) {
		s.Laplace(block, m.scale)
		addToRows(block, answers)
		for ; len(block) > 0; block = block[m.m:] {
			for i := 1; i < m.m; i++ {
				block[i] += block[i-1]
			}
		}
	})
	return nil
}
