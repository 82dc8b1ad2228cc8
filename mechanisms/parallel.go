package mechanisms

import (
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/stream"
)

// sideBySide is several mechanisms on one dataset, their outputs one after the
// other. A block draws all of the first part's noise, then the second's, ....
type sideBySide struct {
	parts    []core.Mechanism
	prefixes []string // of the columns' names; none where nil
}

func (m *sideBySide) Columns() []core.Column {
	var columns []core.Column
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

func (m *sideBySide) Sample(d core.Dataset, s *stream.Stream, out []float64) (err error) {
	width := core.Width(m.Columns())
	scratch := make([]float64, min(len(out), blockRows*width))
	eachBlock(out, width, func(block []float64, rows int) {
		at := 0
		for _, part := range m.parts {
			w := core.Width(part.Columns())
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

	params []core.ParamSpec // beside epsilon
	claim  func(core.Params) core.Claim
	truth  func(core.Params) string
	build  func(core.Params) core.Mechanism
}

const valueReach = 10 // values lie in [-10, 10]

var (
	laplaceParallel = valueFamily{
		name: "laplace-parallel", title: "One value many times over, with Laplace noise that is scaled for all of them",
		source: "Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: LaplaceParallel; Dwork and Roth (2014), theorems 3.6 and 3.16",
		params: []core.ParamSpec{{Name: "copies", Doc: "how often the value is released, each time with epsilon/copies", Default: 20, Min: 1, Max: 64, Integer: true}},
		claim:  pureClaim, truth: epsilonTruth,
		build: func(p core.Params) core.Mechanism {
			return &repeated{p.Int("copies"), p.Num("copies") / p.Num("epsilon")}
		},
	}
	budgetSpentTwice = valueFamily{
		name: "budget-spent-twice", title: "Two answers to one question, each with the whole of epsilon",
		source: "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), theorem 3.16 (composition), forgotten",
		fault:  "answers twice with noise for epsilon and claims epsilon for both: budgets add up",
		claim:  pureClaim,
		truth:  func(p core.Params) string { return "epsilon = twice the claimed = " + show(2*p.Num("epsilon")) },
		build:  func(p core.Params) core.Mechanism { return &repeated{2, 1 / p.Num("epsilon")} },
	}
)

func (f valueFamily) spec() core.MechanismSpec {
	return core.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params:    append([]core.ParamSpec{epsilonParam(1)}, f.params...),
		Relations: only(core.LInfinity),
		Claim:     f.claim,
		Truth:     f.truth,
		Domain:    func(core.Params, core.Relation) core.Domain { return answersDomain(1, valueReach) },
		Pairs: func(core.Params, core.Relation) []core.Pair {
			return []core.Pair{
				{Label: "{0} against {1}", First: core.Records(0), Second: core.Records(1)},
				{Label: "{9} against {10}", First: core.Records(9), Second: core.Records(10)},
			}
		},
		New: func(p core.Params) (core.Mechanism, error) { return f.build(p), nil },
	}
}

// repeated releases the value several times. It draws the noise of all copies
// of all rows of a block at once.
type repeated struct {
	copies int
	scale  float64
}

func (m *repeated) Columns() []core.Column { return columnsOf(m.copies, core.Real, "answer %d") }

func (m *repeated) Sample(d core.Dataset, s *stream.Stream, out []float64) error {
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
