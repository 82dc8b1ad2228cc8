package mechanisms

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

// histogram counts records by bin and adds Laplace noise to each count.
// Adding or removing a record changes one count by 1. Where a record is
// replaced two counts change and the loss doubles: count-replace-as-add claims
// the same there, the others claim add/remove only.
type histogram struct {
	mechanism

	present bool // only bins that records fall into are released
	scale   func(epsilon float64) float64
}

const histogramSource = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006"

var (
	noisyHistogram = histogram{scale: inverse, mechanism: mechanism{
		Name: "noisy-histogram", Title: "Histogram with Laplace noise on each count", Source: histogramSource,
		Epsilon: 1, Params: []audit.ParamSpec{binsParam(5, 1)}, Relations: only(audit.AddRemove), Pairs: binPairs,
		Tight: &audit.Tight{Params: audit.Params{"epsilon": {Number: 1}}, Pair: 1, Floats: true, Why: "a count beyond both true ones"},
	}}
	noisyHistogramWrongScale = histogram{scale: func(epsilon float64) float64 { return epsilon }, mechanism: mechanism{
		Name: "noisy-histogram-wrong-scale", Title: "Histogram with noise of scale epsilon instead of 1/epsilon",
		Source:    histogramSource + "; the fault: Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018 (NoisyHist2 in DP-Sniper)",
		Fault:     "takes epsilon for the scale of the noise, which is 1/epsilon: for epsilon below 1 there is too little noise, and less of it the more privacy is asked for",
		Params:    []audit.ParamSpec{{Name: "epsilon", Doc: "privacy parameter, which is taken for the scale of the noise", Default: 0.5, Min: 1e-6, Max: 100}, binsParam(5, 1)},
		Truth:     func(p audit.Params) string { return "epsilon = 1 over the claimed = " + show(1/p.Num("epsilon")) },
		Relations: only(audit.AddRemove), Pairs: binPairs,
	}}
	countReplaceAsAdd = histogram{scale: inverse, mechanism: mechanism{
		Name: "count-replace-as-add", Title: "Two-bin histogram with the noise for add/remove, where a record is replaced",
		Source:  histogramSource + "; the fault: replace-one sold as add/remove, see Dwork and Roth (2014), section 2.3",
		Fault:   "a record that is replaced leaves one bin and enters another, so that two counts move by 1; the noise is scaled for one",
		Epsilon: 1, Params: []audit.ParamSpec{binsParam(2, 2)}, Relations: only(audit.Replace),
		Truth: func(p audit.Params) string { return "epsilon = twice the claimed = " + show(2*p.Num("epsilon")) },
		Pairs: always(pairs{
			{"{0} against {1}", of(0), of(1)},
			{"{0, 0} against {0, 1}", of(0, 0), of(0, 1)},
		}),
	}}
	domainFromData = histogram{scale: inverse, present: true, mechanism: mechanism{
		Name: "domain-from-data", Title: "Histogram over the categories that occur in the data",
		Source:  histogramSource + "; the fault: bins taken from the data, as in the class domain of a classifier (models/forest.py of diffprivlib warns of it)",
		Fault:   "releases a noisy count for each category that occurs, and nothing for others: that a category is there shows that somebody is in it",
		Epsilon: 1, Params: []audit.ParamSpec{binsParam(5, 1)}, Relations: only(audit.AddRemove), Pairs: binPairs,
		Truth: neverPrivate(": the first record of a category shows for certain"),
	}}
)

func inverse(epsilon float64) float64 { return 1 / epsilon }

func binsParam(byDefault, least float64) audit.ParamSpec {
	return audit.ParamSpec{Name: "bins", Doc: "number of bins; records are 0 to bins-1", Default: byDefault, Min: least, Max: 64, Integer: true}
}

func (h histogram) complete() mechanism {
	m := h.mechanism
	m.Domain = func(p audit.Params) audit.Domain { return whole(0, proposedRows, p.Num("bins")-1) }
	m.Output = func(p audit.Params) []audit.Column {
		columns := make([]audit.Column, p.Int("bins"))
		for i := range columns {
			columns[i] = audit.Column{Name: fmt.Sprintf("bin %d", i), Kind: audit.Real}
			if h.present {
				columns[i].Kind, columns[i].Labels = audit.Mixed, []audit.Label{{Value: above, Text: "count"}, {Value: below, Text: "absent"}}
			}
		}
		return columns
	}
	m.Release = func(p audit.Params, d audit.Dataset) sampler {
		scale, counts := h.scale(p.Num("epsilon")), binCounts(d, p.Int("bins"))
		if h.present {
			return presentBins(scale, counts)
		}
		return plusLaplace(scale, counts...)
	}
	return m
}

// binPairs all tell the same, for one count differs by 1; except where only bins that
// occur are released: there the first one tells for certain.
func binPairs(p audit.Params, _ audit.Relation) pairs {
	list := pairs{
		{"none against {0}", of(), of(0)},
		{"{0} against {0, 0}", of(0), of(0, 0)},
		{"{0} against {0, 1}", of(0), of(0, 1)},
	}
	return list[:min(len(list), 1+p.Int("bins"))] // with one bin there is no record 1
}

// binCounts counts records, which are bins 0 to bins-1.
func binCounts(d audit.Dataset, bins int) []float64 {
	counts := make([]float64, bins)
	for _, v := range d.Values {
		counts[int(v)]++
	}
	return counts
}

// presentBins leaves out empty bins. It draws their noise too.
func presentBins(scale float64, counts []float64) sampler {
	return func(b *block) {
		out := b.out
		for i, z := range b.laplace(len(counts), scale) {
			out[2*i], out[2*i+1] = below, 0
			if n := counts[i%len(counts)]; n > 0 {
				out[2*i], out[2*i+1] = above, n+z
			}
		}
	}
}
