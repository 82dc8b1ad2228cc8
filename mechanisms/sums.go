package mechanisms

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

const sumSource = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006; the fault: "

var sumUnclippedSpec = audit.MechanismSpec{
	Name:   "sum-unclipped",
	Title:  "Sum with noise for records in [0, 1] that are not clipped to it",
	Source: sumSource + "Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity in Differentially Private Libraries, CCS 2022",
	Fault:  "scales the noise for records in [0, 1] and does not clip them",
	Params: []audit.ParamSpec{
		epsilonParam(1),
		{Name: "most", Doc: "largest record that occurs; those above 1 should have been clipped", Default: 5, Min: 1, Max: 1000, Open: true},
	},
	Relations: only(audit.AddRemove),
	Claim:     pureClaim,
	Truth: func(p audit.Params) string {
		return "epsilon = " + show(p.Num("most")*p.Num("epsilon")) + ", the largest record times the claimed; not private where records have no bound"
	},
	Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
		return audit.Domain{Columns: 1, MaxRows: histogramRows, Lower: []float64{0}, Upper: []float64{p.Num("most")}}
	},
	Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
		most := p.Num("most")
		return []audit.Pair{
			{Label: "none against the largest record", First: audit.Records(), Second: audit.Records(most)},
			{Label: "{1} against {1} and the largest record", First: audit.Records(1), Second: audit.Records(1, most)},
			{Label: "none against {1}", First: audit.Records(), Second: audit.Records(1)},
		}
	},
	New: func(p audit.Params) (audit.Mechanism, error) { return &unclippedSum{1 / p.Num("epsilon")}, nil },
}

// unclippedSum is the sum of the records with Laplace noise.
type unclippedSum struct{ scale float64 }

func (m *unclippedSum) Columns() []audit.Column { return oneColumn(audit.Real, "sum") }

func (m *unclippedSum) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 0, anyRows); err != nil {
		return err
	}
	var sum float64
	for _, v := range d.Values {
		sum += v
	}
	s.Laplace(out, m.scale)
	addToRows(out, []float64{sum})
	return nil
}

var sumNaNSpec = audit.MechanismSpec{
	Name:      "sum-nan",
	Title:     "Sum of ratios with a clip that NaN slips through",
	Source:    sumSource + "a clip by two comparisons, both of which are false for NaN (IEEE 754, section 5.11)",
	Fault:     "clips with comparisons, which are false for NaN: one record 0/0 turns the sum, and the output, into NaN",
	Params:    []audit.ParamSpec{epsilonParam(1)},
	Relations: only(audit.AddRemove, audit.Replace),
	Claim:     pureClaim,
	Truth:     neverPrivate(": a record 0/0 shows for certain"),
	Domain: func(_ audit.Params, r audit.Relation) audit.Domain {
		return audit.Domain{Columns: 2, MinRows: fewest(r), MaxRows: histogramRows, Lower: []float64{0, 0}, Upper: []float64{10, 10}, Integer: true}
	},
	Pairs: func(_ audit.Params, r audit.Relation) []audit.Pair {
		ratios := func(values ...float64) audit.Dataset {
			return audit.Dataset{Columns: 2, Values: append([]float64{}, values...)}
		}
		if r == audit.Replace {
			return []audit.Pair{
				{Label: "{0/1} against {0/0}", First: ratios(0, 1), Second: ratios(0, 0)},
				{Label: "{0/1} against {1/1}", First: ratios(0, 1), Second: ratios(1, 1)},
			}
		}
		return []audit.Pair{
			{Label: "none against {0/0}", First: ratios(), Second: ratios(0, 0)},
			{Label: "{1/2} against {1/2, 0/0}", First: ratios(1, 2), Second: ratios(1, 2, 0, 0)},
			{Label: "none against {1/1}", First: ratios(), Second: ratios(1, 1)},
		}
	},
	New: func(p audit.Params) (audit.Mechanism, error) { return &ratioSum{1 / p.Num("epsilon")}, nil },
}

// ratioSum is the sum of a/b, clipped to [0, 1], over rows (a, b), with Laplace
// noise. NaN is a symbol, as outputs are finite.
type ratioSum struct{ scale float64 }

func (m *ratioSum) Columns() []audit.Column {
	return []audit.Column{{Name: "sum", Kind: audit.Mixed, Labels: []audit.Label{{Value: above, Text: "number"}, {Value: below, Text: "NaN"}}}}
}

func (m *ratioSum) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkTable(d, 2, 0, anyRows); err != nil {
		return err
	}
	var sum float64
	for i := range d.Len() {
		row := d.Row(i)
		v := row[0] / row[1]
		if v < 0 {
			v = 0
		}
		if v > 1 {
			v = 1
		}
		sum += v
	}
	noise := make([]float64, min(len(out)/2, blockRows))
	eachBlock(out, 2, func(block []float64, rows int) {
		s.Laplace(noise[:rows], m.scale)
		for i, z := range noise[:rows] {
			block[2*i], block[2*i+1] = above, sum+z
			if sum != sum {
				block[2*i], block[2*i+1] = below, 0
			}
		}
	})
	return nil
}

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
