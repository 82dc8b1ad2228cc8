package mechanisms

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// sideBySide is several mechanisms on one dataset, their outputs one after the
// other. A block draws all of the first part's noise, then the second's, ....
type sideBySide struct {
	parts    []audit.Mechanism
	prefixes []string // of the columns' names; none where nil
}

func (m *sideBySide) Columns() []audit.Column {
	var columns []audit.Column
	for i, part := range m.parts {
		for _, c := range part.Columns() {
			if m.prefixes != nil {
				c.Name = m.prefixes[i] + c.Name
			}
			columns = append(columns, c)
		}
	}
	return columns
}

func (m *sideBySide) Sample(d audit.Dataset, s *stream.Stream, out []float64) (err error) {
	width := audit.Width(m.Columns())
	scratch := make([]float64, min(len(out), blockRows*width))
	eachBlock(out, width, func(block []float64, rows int) {
		at := 0
		for _, part := range m.parts {
			w := audit.Width(part.Columns())
			if err == nil {
				err = part.Sample(d, s, scratch[:rows*w])
			}
			for r := range rows {
				copy(block[r*width+at:r*width+at+w], scratch[r*w:(r+1)*w])
			}
			at += w
		}
	})
	return err
}

// valueFamily releases a single value of sensitivity 1, the only row of its
// dataset, with Laplace noise.
type valueFamily struct {
	name, title, source, fault string

	params []audit.ParamSpec // beside epsilon
	claim  func(audit.Params) audit.Claim
	truth  func(audit.Params) string
	build  func(audit.Params) audit.Mechanism
}

const valueReach = 10 // values lie in [-10, 10]

var (
	laplaceParallel = valueFamily{
		name: "laplace-parallel", title: "One value many times over, with Laplace noise that is scaled for all of them",
		source: "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: LaplaceParallel; Dwork and Roth (2014), theorems 3.6 and 3.16",
		params: []audit.ParamSpec{{Name: "copies", Doc: "how often the value is released, each time with epsilon/copies", Default: 20, Min: 1, Max: 64, Integer: true}},
		claim:  pureClaim, truth: epsilonTruth,
		build: func(p audit.Params) audit.Mechanism {
			return &repeated{p.Int("copies"), p.Num("copies") / p.Num("epsilon")}
		},
	}
	budgetSpentTwice = valueFamily{
		name: "budget-spent-twice", title: "Two answers to one question, each with the whole of epsilon",
		source: "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), theorem 3.16 (composition), forgotten",
		fault:  "answers twice with noise for epsilon and claims epsilon for both: budgets add up",
		claim:  pureClaim,
		truth:  func(p audit.Params) string { return "epsilon = twice the claimed = " + show(2*p.Num("epsilon")) },
		build:  func(p audit.Params) audit.Mechanism { return &repeated{2, 1 / p.Num("epsilon")} },
	}
)

func (f valueFamily) spec() audit.MechanismSpec {
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params:    append([]audit.ParamSpec{epsilonParam(1)}, f.params...),
		Relations: only(audit.LInfinity),
		Claim:     f.claim,
		Truth:     f.truth,
		Domain:    func(audit.Params, audit.Relation) audit.Domain { return answersDomain(1, valueReach) },
		Pairs: func(audit.Params, audit.Relation) []audit.Pair {
			return []audit.Pair{
				{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
				{Label: "{9} against {10}", First: audit.Records(9), Second: audit.Records(10)},
			}
		},
		New: func(p audit.Params) (audit.Mechanism, error) { return f.build(p), nil },
	}
}

// repeated releases the value several times. It draws the noise of all copies
// of all rows of a block at once.
type repeated struct {
	copies int
	scale  float64
}

func (m *repeated) Columns() []audit.Column { return columnsOf(m.copies, audit.Real, "answer %d") }

func (m *repeated) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 1, 1); err != nil {
		return err
	}
	values := vector(m.copies, d.Values[0])
	eachBlock(out, m.copies, func(block []float64, rows int) {
		s.Laplace(block, m.scale)
		addToRows(block, values)
	})
	return nil
}
