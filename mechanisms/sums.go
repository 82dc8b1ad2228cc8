package mechanisms

import "github.com/dpscope/dpscope/audit"

const sumSource = histogramSource + "; the fault: "

var sumUnclipped = mechanism{
	Name: "sum-unclipped", Title: "Sum with noise for records in [0, 1], which are not clipped",
	Source:    sumSource + "Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity in Differentially Private Libraries, CCS 2022",
	Fault:     "scales the noise for records in [0, 1] but does not clip them",
	Epsilon:   1,
	Params:    []audit.ParamSpec{{Name: "most", Doc: "largest record that occurs; those above 1 should have been clipped", Default: 5, Min: 1, Max: 1000, Open: true, Fault: true}},
	Relations: only(audit.AddRemove),
	Truth: func(p audit.Params) string {
		return "epsilon = " + show(p.Num("most")*p.Num("epsilon")) + ", the largest record times the claim; not private if records are unbounded"
	},
	Domain: func(p audit.Params) audit.Domain { return records(0, p.Num("most")) },
	Pairs: func(p audit.Params, _ audit.Relation) pairs {
		most := p.Num("most")
		return pairs{
			{"none against the largest record", of(), of(most)},
			{"{1} against {1} and the largest record", of(1), of(1, most)},
			{"none against {1}", of(), of(1)},
		}
	},
	Output: oneColumn(audit.Real, "sum"),
	Release: func(p audit.Params, d audit.Dataset) sampler {
		var sum float64
		for _, v := range d.Values {
			sum += v
		}
		return plusLaplace(1/p.Num("epsilon"), sum)
	},
}

// sumNaN is the sum of a/b, clipped to [0, 1], over rows (a, b), with Laplace
// noise. NaN is a symbol, as outputs are finite.
var sumNaN = mechanism{
	Name: "sum-nan", Title: "Sum of ratios, with a clip that lets NaN through",
	Source:    sumSource + "a clip by two comparisons, both false for NaN (IEEE 754, section 5.11)",
	Fault:     "clips with comparisons, which are false for NaN: one record 0/0 makes the sum, and the output, NaN",
	Epsilon:   1,
	Relations: only(audit.AddRemove, audit.Replace),
	Truth:     neverPrivate(": a record 0/0 is revealed with certainty"),
	Domain:    in(audit.Domain{Columns: 2, MaxRows: proposedRows, Lower: []float64{0, 0}, Upper: []float64{10, 10}, Integer: true}),
	Pairs: func(_ audit.Params, r audit.Relation) pairs {
		if r == audit.Replace {
			return pairs{
				{"{0/1} against {0/0}", of(0, 1), of(0, 0)},
				{"{0/1} against {1/1}", of(0, 1), of(1, 1)},
			}
		}
		return pairs{
			{"none against {0/0}", of(), of(0, 0)},
			{"{1/2} against {1/2, 0/0}", of(1, 2), of(1, 2, 0, 0)},
			{"none against {1/1}", of(), of(1, 1)},
		}
	},
	Output: oneColumn(audit.Mixed, "sum", audit.Label{Value: above, Text: "number"}, audit.Label{Value: below, Text: "NaN"}),
	Release: func(p audit.Params, d audit.Dataset) sampler {
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
		scale := 1 / p.Num("epsilon")
		return func(b *block) {
			out := b.out
			for i, z := range b.laplace(1, scale) {
				out[2*i], out[2*i+1] = above, sum+z
				if sum != sum {
					out[2*i], out[2*i+1] = below, 0
				}
			}
		}
	},
}
