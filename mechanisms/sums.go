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
	Name:   "sum-nan",
	Title:  "Sum of ratios with a clip that NaN slips through",
	Source: sumSource + "a clip by two comparisons, both of which are false for NaN (IEEE 754, section 5.11)",
	Fault:  "clips with comparisons, which are false for NaN: one record 0/0 turns the sum, and the output, into NaN",
	Params: []audit.ParamSpec{epsilonParam(1)},
	Relations: func(audit.Params) []audit.Relation {
		return []audit.Relation{audit.AddRemove, audit.Replace}
	},
	Claim: pureClaim,
	Truth: neverPrivate(": a record 0/0 shows for certain"),
	Domain: func(_ audit.Params, r audit.Relation) audit.Domain {
		least := 0
		if r == audit.Replace {
			least = 1
		}
		return audit.Domain{Columns: 2, MinRows: least, MaxRows: histogramRows, Lower: []float64{0, 0}, Upper: []float64{10, 10}, Integer: true}
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
