package mechanisms

import "github.com/dpscope/dpscope/audit"

const histogramSource = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006"

// histogram completes a mechanism that counts records by bin and adds Laplace noise to each
// count; of scale 1/epsilon, for a record that is added or removed, where it does not say
// otherwise. Where a record is replaced two counts change and the loss doubles.
func histogram(m mechanism) mechanism {
	m.Domain = func(p audit.Params) audit.Domain { return whole(0, proposedRows, p.Num("bins")-1) }
	if m.Pairs == nil {
		m.Relations, m.Pairs = only(audit.AddRemove), binPairs
	}
	if m.Output == nil {
		m.Output = func(p audit.Params) []audit.Column { return columnsOf(p.Int("bins"), audit.Real, "bin %d", 0) }
	}
	if m.Release == nil {
		m.Release = func(p audit.Params, d audit.Dataset) sampler {
			return plusLaplace(1/p.Num("epsilon"), binCounts(d, p.Int("bins"))...)
		}
	}
	return m
}

// binsParam is the number of bins; least is 2 where a record that is replaced changes bins.
func binsParam(byDefault, least float64) audit.ParamSpec {
	return audit.ParamSpec{Name: "bins", Doc: "number of bins; records are 0 to bins-1", Default: byDefault, Min: least, Max: 64, Integer: true}
}

var noisyHistogram = histogram(mechanism{
	Name: "noisy-histogram", Title: "Histogram with Laplace noise on each count", Source: histogramSource,
	Epsilon: 1, Params: []audit.ParamSpec{binsParam(5, 1)},
	Tight: &audit.Tight{Pair: 1, Floats: true, Why: "a count beyond both true values"},
})

var noisyHistogramWrongScale = histogram(mechanism{
	Name: "noisy-histogram-wrong-scale", Title: "Histogram with noise of scale epsilon instead of 1/epsilon",
	Source: sumSource + statDP + " (NoisyHist2 in DP-Sniper)",
	Fault:  "uses epsilon instead of 1/epsilon as the noise scale: for epsilon below 1 there is too little noise, and a smaller epsilon gives even less", Mended: "noisy-histogram",
	Params: []audit.ParamSpec{{Name: "epsilon", Doc: "privacy parameter, used as the noise scale", Default: 0.5, Min: 1e-6, Max: 100, Fault: true}, binsParam(5, 1)},
	Truth:  func(p audit.Params) string { return "epsilon = 1/claimed = " + audit.Number(1/p.Num("epsilon")) },
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(p.Num("epsilon"), binCounts(d, p.Int("bins"))...)
	},
})

var oneMoves = always(pairs{
	{"{0} against {1}", of(0), of(1)},
	{"{0, 0} against {0, 1}", of(0, 0), of(0, 1)},
})

var noisyHistogramReplace = histogram(mechanism{
	Name: "noisy-histogram-replace", Title: "Histogram with Laplace noise on each count, where a record is replaced", Source: histogramSource,
	Epsilon: 1, Params: []audit.ParamSpec{binsParam(2, 2)},
	Relations: only(audit.Replace), Pairs: oneMoves,
	Tight: &audit.Tight{Pair: 1, Floats: true, Why: "one count beyond both of its true values, the other below both"},
	Release: func(p audit.Params, d audit.Dataset) sampler {
		return plusLaplace(2/p.Num("epsilon"), binCounts(d, p.Int("bins"))...)
	},
})

var countReplaceAsAdd = histogram(mechanism{
	Name: "count-replace-as-add", Title: "Two-bin histogram with the noise for add/remove, where a record is replaced",
	Source: sumSource + "noise for add/remove under replace-one, see Dwork and Roth (2014), section 2.3",
	Fault:  "replacing a record changes two counts by 1 each, but the noise is scaled for one", Mended: "noisy-histogram-replace",
	Epsilon: 1, Params: []audit.ParamSpec{binsParam(2, 2)},
	Truth: func(p audit.Params) string {
		return "epsilon = twice the claimed = " + audit.Number(2*p.Num("epsilon"))
	},
	Relations: only(audit.Replace), Pairs: oneMoves,
})

// domainFromData draws the noise of empty bins too.
var domainFromData = histogram(mechanism{
	Name: "domain-from-data", Title: "Histogram over the categories that occur in the data",
	Source: sumSource + "bins taken from the data, as in the class domain of a classifier (models/forest.py of diffprivlib warns of it)",
	Fault:  "releases a noisy count only for categories that occur: a category in the output reveals that somebody is in it", Mended: "noisy-histogram",
	Epsilon: 1, Params: []audit.ParamSpec{binsParam(5, 1)},
	Truth: neverPrivate(": the first record of a category is revealed with certainty"),
	Output: func(p audit.Params) []audit.Column {
		return columnsOf(p.Int("bins"), audit.Mixed, "bin %d", 0, audit.Label{Value: above, Text: "count"}, audit.Label{Value: below, Text: "absent"})
	},
	Release: func(p audit.Params, d audit.Dataset) sampler {
		scale, counts := 1/p.Num("epsilon"), binCounts(d, p.Int("bins"))
		return func(b *block) {
			out := b.out
			for i, z := range b.laplace(len(counts), scale) {
				out[2*i], out[2*i+1] = below, 0
				if n := counts[i%len(counts)]; n > 0 {
					out[2*i], out[2*i+1] = above, n+z
				}
			}
		}
	},
})

// binPairs all tell the same, except where only bins that occur are released: there the first
// one tells for certain.
func binPairs(p audit.Params, _ audit.Relation) pairs {
	list := pairs{
		{"none against {0}", of(), of(0)},
		{"{0} against {0, 0}", of(0), of(0, 0)},
		{"{0} against {0, 1}", of(0), of(0, 1)},
	}
	return list[:min(len(list), 1+p.Int("bins"))] // with one bin there is no record 1
}

func binCounts(d audit.Dataset, bins int) []float64 {
	counts := make([]float64, bins)
	for _, v := range d.Values {
		counts[int(v)]++
	}
	return counts
}

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
