package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/stream"
)

// histogramFamily counts records by bin and adds Laplace noise to each count.
// Adding or removing a record changes one count by 1. Where a record is
// replaced two counts change and the loss doubles, so only add/remove is
// claimed.
type histogramFamily struct {
	name, title, source, fault string

	byDefault float64 // epsilon
	scale     func(epsilon float64) float64
	truth     func(core.Params) string
}

const (
	histogramSource = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006"
	histogramRows   = 20 // most records that a finder proposes
)

var (
	noisyHistogram = histogramFamily{
		name: "noisy-histogram", title: "Histogram with Laplace noise on each count", source: histogramSource,
		byDefault: 1,
		scale:     func(epsilon float64) float64 { return 1 / epsilon },
		truth:     epsilonTruth,
	}
	noisyHistogramWrongScale = histogramFamily{
		name: "noisy-histogram-wrong-scale", title: "Histogram with noise of scale epsilon instead of 1/epsilon",
		source:    histogramSource + "; the fault: Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018 (NoisyHist2 in DP-Sniper)",
		fault:     "takes epsilon for the scale of the noise, which is 1/epsilon: for epsilon below 1 there is too little noise, and less of it the more privacy is asked for",
		byDefault: 0.5,
		scale:     func(epsilon float64) float64 { return epsilon },
		truth:     func(p core.Params) string { return "epsilon = 1 over the claimed = " + show(1/p.Num("epsilon")) },
	}
)

func (f histogramFamily) spec() core.MechanismSpec {
	return core.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params: []core.ParamSpec{
			epsilonParam(f.byDefault),
			{Name: "bins", Doc: "number of bins; records are 0 to bins-1", Default: 5, Min: 1, Max: 64, Integer: true},
		},
		Relations: only(core.AddRemove),
		Claim:     pureClaim,
		Truth:     f.truth,
		Domain: func(p core.Params, _ core.Relation) core.Domain {
			return core.Domain{Columns: 1, MaxRows: histogramRows, Lower: []float64{0}, Upper: []float64{p.Num("bins") - 1}, Integer: true}
		},
		Pairs: func(p core.Params, _ core.Relation) []core.Pair { return histogramPairs(p.Int("bins")) },
		New: func(p core.Params) (core.Mechanism, error) {
			return &histogram{bins: p.Int("bins"), scale: f.scale(p.Num("epsilon"))}, nil
		},
	}
}

// histogramPairs all tell the same: one count differs by 1.
func histogramPairs(bins int) []core.Pair {
	pairs := []core.Pair{
		{Label: "none against {0}", First: core.Records(), Second: core.Records(0)},
		{Label: "{0} against {0, 0}", First: core.Records(0), Second: core.Records(0, 0)},
	}
	if bins > 1 {
		pairs = append(pairs, core.Pair{Label: "{0} against {0, 1}", First: core.Records(0), Second: core.Records(0, 1)})
	}
	return pairs
}

// histogram draws the noise of all bins of all rows of a block at once.
type histogram struct {
	bins  int
	scale float64
}

func (h *histogram) Columns() []core.Column {
	columns := make([]core.Column, h.bins)
	for i := range columns {
		columns[i] = core.Column{Name: fmt.Sprintf("bin %d", i), Kind: core.Real}
	}
	return columns
}

func (h *histogram) Sample(d core.Dataset, s *stream.Stream, out []float64) error {
	if err := checkShape(d, 0, anyRows); err != nil {
		return err
	}
	counts := make([]float64, h.bins)
	for i, v := range d.Values {
		if v != math.Floor(v) || v < 0 || v >= float64(h.bins) {
			return &core.InputError{Field: fmt.Sprintf("dataset.values[%d]", i), Found: show(v), Want: fmt.Sprintf("a whole number in [0, %d]", h.bins-1)}
		}
		counts[int(v)]++
	}
	eachBlock(out, h.bins, func(block []float64, rows int) {
		s.Laplace(block, h.scale)
		addToRows(block, counts)
	})
	return nil
}

// addToRows adds v to each row of len(v) numbers.
func addToRows(rows, v []float64) {
	for len(rows) > 0 {
		row := rows[:len(v)]
		for i, x := range v {
			row[i] += x
		}
		rows = rows[len(v):]
	}
}
