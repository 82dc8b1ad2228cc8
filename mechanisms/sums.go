package mechanisms

import "github.com/dpscope/dpscope/audit"

const sumSource = histogramSource + "; the fault: "

// sum completes a mechanism that adds records and Laplace noise for records in [0, 1].
func sum(m mechanism, total func([]float64) float64) mechanism {
	m.Epsilon, m.Relations, m.Output = 1, only(audit.AddRemove), oneColumn(audit.Real, "sum")
	m.Domain = func(p audit.Params) audit.Domain { return records(0, p.Num("most")) }
	m.Pairs = func(p audit.Params, _ audit.Relation) pairs {
		most := p.Num("most")
		return pairs{
			{"none against the largest record", of(), of(most)},
			{"{1} against {1} and the largest record", of(1), of(1, most)},
			{"none against {1}", of(), of(1)},
		}
	}
	m.Release = func(p audit.Params, d audit.Dataset) sampler { return plusLaplace(1/p.Num("epsilon"), total(d.Values)) }
	return m
}

var sumClipped = sum(mechanism{
	Name: "sum-clipped", Title: "Sum of records, clipped to [0, 1], with Laplace noise", Source: histogramSource,
	Params: []audit.ParamSpec{{Name: "most", Doc: "largest record that occurs; those above 1 are clipped", Default: 5, Min: 1, Max: 1000}},
	Tight:  &audit.Tight{Pair: 1, Floats: true, Why: "a sum beyond both true values"},
}, clippedSum)

var sumUnclipped = sum(mechanism{
	Name: "sum-unclipped", Title: "Sum with noise for records in [0, 1], which are not clipped",
	Source: sumSource + "Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity in Differentially Private Libraries, CCS 2022",
	Fault:  "scales the noise for records in [0, 1] but does not clip them", Mended: "sum-clipped",
	Params: []audit.ParamSpec{{Name: "most", Doc: "largest record that occurs; those above 1 should have been clipped", Default: 5, Min: 1, Max: 1000, Open: true, Fault: true}},
	Truth: func(p audit.Params) string {
		return "epsilon = " + audit.Number(p.Num("most")*p.Num("epsilon")) + ", the largest record times the claim; not private if records are unbounded"
	},
}, func(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
})

// ratios completes a mechanism that adds the ratios a/b of rows (a, b), clipped to [0, 1], and
// Laplace noise. NaN is a symbol, as outputs are finite. A row moves the sum by 1 at most.
func ratios(m mechanism, clip func(float64) float64) mechanism {
	m.Epsilon, m.Relations = 1, only(audit.AddRemove, audit.Replace)
	m.Domain = in(audit.Domain{Columns: 2, MaxRows: proposedRows, Lower: []float64{0, 0}, Upper: []float64{10, 10}, Integer: true})
	m.Pairs = func(_ audit.Params, r audit.Relation) pairs {
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
	}
	m.Output = oneColumn(audit.Mixed, "sum", audit.Label{Value: above, Text: "number"}, audit.Label{Value: below, Text: "NaN"})
	m.Release = func(p audit.Params, d audit.Dataset) sampler {
		var sum float64
		for i := range d.Len() {
			sum += clip(d.Row(i)[0] / d.Row(i)[1])
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
	}
	return m
}

var sumRatios = ratios(mechanism{
	Name: "sum-ratios", Title: "Sum of ratios, clipped to [0, 1], 0/0 taken for 0, with Laplace noise", Source: histogramSource,
	Tight: &audit.Tight{Pair: 3, Floats: true, Why: "a sum beyond both true values"},
}, func(v float64) float64 { return audit.Pick(v != v, 0, min(max(v, 0), 1)) })

var sumNaN = ratios(mechanism{
	Name: "sum-nan", Title: "Sum of ratios, with a clip that lets NaN through",
	Source: sumSource + "a clip by two comparisons, both false for NaN (IEEE 754, section 5.11)",
	Fault:  "clips with comparisons, which are false for NaN: one record 0/0 makes the sum, and the output, NaN", Mended: "sum-ratios",
	Truth: neverPrivate(": a record 0/0 is revealed with certainty"),
}, func(v float64) float64 { return audit.Pick(v < 0, 0, audit.Pick(v > 1, 1, v)) })
