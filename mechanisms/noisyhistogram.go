package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// histogramFamily counts records by bin and adds Laplace noise to each count.
// Adding or removing a record changes one count by 1. Where a record is
// replaced two counts change and the loss doubles: count-replace-as-add claims
// the same there, the others claim add/remove only.
type histogramFamily struct {
	name, title, source, fault string

	byDefault float64 // epsilon
	bins      int     // by default; 2 at least where a record is replaced
	replaces  bool    // the relation is replace, not add/remove
	present   bool    // only bins that records fall into are released
	scale     func(epsilon float64) float64
	truth     func(audit.Params) string
}

const (
	histogramSource = "Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006"
	histogramRows   = 20 // most records that a finder proposes
)

var (
	noisyHistogram = histogramFamily{
		name: "noisy-histogram", title: "Histogram with Laplace noise on each count", source: histogramSource,
		byDefault: 1, bins: 5,
		scale: inverse,
		truth: epsilonTruth,
	}
	noisyHistogramWrongScale = histogramFamily{
		name: "noisy-histogram-wrong-scale", title: "Histogram with noise of scale epsilon instead of 1/epsilon",
		source:    histogramSource + "; the fault: Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018 (NoisyHist2 in DP-Sniper)",
		fault:     "takes epsilon for the scale of the noise, which is 1/epsilon: for epsilon below 1 there is too little noise, and less of it the more privacy is asked for",
		byDefault: 0.5, bins: 5,
		scale: func(epsilon float64) float64 { return epsilon },
		truth: func(p audit.Params) string { return "epsilon = 1 over the claimed = " + show(1/p.Num("epsilon")) },
	}
	countReplaceAsAdd = histogramFamily{
		name: "count-replace-as-add", title: "Two-bin histogram with the noise for add/remove, where a record is replaced",
		source:    histogramSource + "; the fault: replace-one sold as add/remove, see Dwork and Roth (2014), section 2.3",
		fault:     "a record that is replaced leaves one bin and enters another, so that two counts move by 1; the noise is scaled for one",
		byDefault: 1, bins: 2, replaces: true,
		scale: inverse,
		truth: func(p audit.Params) string { return "epsilon = twice the claimed = " + show(2*p.Num("epsilon")) },
	}
	domainFromData = histogramFamily{
		name: "domain-from-data", title: "Histogram over the categories that occur in the data",
		source:    histogramSource + "; the fault: bins taken from the data, as in the class domain of a classifier (models/forest.py of diffprivlib warns of it)",
		fault:     "releases a noisy count for each category that occurs, and nothing for others: that a category is there shows that somebody is in it",
		byDefault: 1, bins: 5, present: true,
		scale: inverse,
		truth: neverPrivate(": the first record of a category shows for certain"),
	}
)

func inverse(epsilon float64) float64 { return 1 / epsilon }

func (f histogramFamily) spec() audit.MechanismSpec {
	least, relation := 1, audit.AddRemove
	if f.replaces {
		least, relation = 2, audit.Replace
	}
	epsilon := epsilonParam(f.byDefault)
	if epsilon.Noise = f.scale(1) > f.scale(2); !epsilon.Noise {
		epsilon.Doc = "privacy parameter, which is taken for the scale of the noise"
	}
	return audit.MechanismSpec{
		Name: f.name, Title: f.title, Source: f.source, Fault: f.fault,
		Params: []audit.ParamSpec{
			epsilon,
			{Name: "bins", Doc: "number of bins; records are 0 to bins-1", Default: float64(f.bins), Min: float64(least), Max: 64, Integer: true},
		},
		Relations: only(relation),
		Claim:     pureClaim,
		Truth:     f.truth,
		Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
			return audit.Domain{Columns: 1, MinRows: least - 1, MaxRows: histogramRows, Lower: []float64{0}, Upper: []float64{p.Num("bins") - 1}, Integer: true}
		},
		Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair { return f.pairs(p.Int("bins")) },
		New: func(p audit.Params) (audit.Mechanism, error) {
			h := histogram{bins: p.Int("bins"), scale: f.scale(p.Num("epsilon"))}
			if f.present {
				return &presentBins{h}, nil
			}
			return &h, nil
		},
	}
}

// pairs all tell the same, for one count differs by 1, or two do; except where
// only bins that occur are released: there the first one tells for certain.
func (f histogramFamily) pairs(bins int) []audit.Pair {
	if f.replaces {
		return []audit.Pair{
			{Label: "{0} against {1}", First: audit.Records(0), Second: audit.Records(1)},
			{Label: "{0, 0} against {0, 1}", First: audit.Records(0, 0), Second: audit.Records(0, 1)},
		}
	}
	pairs := []audit.Pair{
		{Label: "none against {0}", First: audit.Records(), Second: audit.Records(0)},
		{Label: "{0} against {0, 0}", First: audit.Records(0), Second: audit.Records(0, 0)},
	}
	if bins > 1 {
		pairs = append(pairs, audit.Pair{Label: "{0} against {0, 1}", First: audit.Records(0), Second: audit.Records(0, 1)})
	}
	return pairs
}

// histogram draws the noise of all bins of all rows of a block at once.
type histogram struct {
	bins  int
	scale float64
}

func (h *histogram) Columns() []audit.Column {
	columns := make([]audit.Column, h.bins)
	for i := range columns {
		columns[i] = audit.Column{Name: fmt.Sprintf("bin %d", i), Kind: audit.Real}
	}
	return columns
}

func (h *histogram) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	counts, err := binCounts(d, h.bins)
	if err != nil {
		return err
	}
	eachBlock(out, h.bins, func(block []float64, rows int) {
		s.Laplace(block, h.scale)
		addToRows(block, counts)
	})
	return nil
}

// binCounts counts records, which are bins 0 to bins-1.
func binCounts(d audit.Dataset, bins int) ([]float64, error) {
	if err := checkWhole(d, 0, anyRows, bins-1); err != nil {
		return nil, err
	}
	counts := make([]float64, bins)
	for _, v := range d.Values {
		counts[int(v)]++
	}
	return counts, nil
}

// presentBins is a histogram that leaves out empty bins. It draws their noise
// too.
type presentBins struct{ histogram }

func (h *presentBins) Columns() []audit.Column {
	columns := h.histogram.Columns()
	for i := range columns {
		columns[i].Kind = audit.Mixed
		columns[i].Labels = []audit.Label{{Value: above, Text: "count"}, {Value: below, Text: "absent"}}
	}
	return columns
}

func (h *presentBins) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	counts, err := binCounts(d, h.bins)
	if err != nil {
		return err
	}
	noise := make([]float64, min(len(out)/2, blockRows*h.bins))
	eachBlock(out, 2*h.bins, func(block []float64, rows int) {
		noise := noise[:len(block)/2]
		s.Laplace(noise, h.scale)
		for i, z := range noise {
			block[2*i], block[2*i+1] = below, 0
			if n := counts[i%h.bins]; n > 0 {
				block[2*i], block[2*i+1] = above, n+z
			}
		}
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

// truncatedGeometric counts the ones among n bits and adds two-sided geometric
// noise, P(z) proportional to (1-p)^|z|, clamped to [0, n]. With p = 1/(2^k+1) that is the
// distribution of GeoSample: P(output <= z) = (1-p)^(c-z)/(2-p) for z < c. A block
// draws the positive parts of all its rows, then the negative ones.
type truncatedGeometric struct {
	n int
	p float64
}

var truncatedGeometricSpec = audit.MechanismSpec{
	Name:   "truncated-geometric",
	Title:  "Count of bits with truncated geometric noise",
	Source: "Balcer and Vadhan, Differential Privacy on Finite Computers, ITCS 2018, algorithm 4.8 (GeoSample); Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: TruncatedGeometric",
	Fault: "rounds epsilon to ln(1 + 2^-k) with k = ⌈ln(2/epsilon)⌉, a natural logarithm: below 0.118 that is more than epsilon for many epsilon, 0.1 among them" +
		" (with the logarithm to base 2 it would be at most epsilon/2)",
	Params: []audit.ParamSpec{
		epsilonParam(0.1),
		{Name: "n", Doc: "number of bits that are counted", Default: 5, Min: 1, Max: 64, Integer: true},
	},
	Relations: only(audit.Replace),
	Claim:     pureClaim,
	Truth: func(p audit.Params) string {
		k := geoSampleShift(p.Num("epsilon"))
		return fmt.Sprintf("epsilon = ln(1 + 2^-k) with k = %d: %s", k, show(stream.Log1p(math.Ldexp(1, -k))))
	},
	Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
		n := p.Int("n")
		return audit.Domain{Columns: 1, MinRows: n, MaxRows: n, Lower: []float64{0}, Upper: []float64{1}, Integer: true}
	},
	Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
		n := p.Int("n")
		some := func(ones int) audit.Dataset {
			v := vector(n, 0)
			for i := range ones {
				v[i] = 1
			}
			return audit.Records(v...)
		}
		pairs := []audit.Pair{{Label: "no ones against one", First: some(0), Second: some(1)}}
		if n > 1 {
			pairs = append(pairs, audit.Pair{Label: "all ones against all but one", First: some(n), Second: some(n - 1)})
		}
		return pairs
	},
	New: func(p audit.Params) (audit.Mechanism, error) {
		return &truncatedGeometric{p.Int("n"), 1 / (1 + math.Ldexp(1, geoSampleShift(p.Num("epsilon"))))}, nil
	},
}

// geoSampleShift is k = ⌈ln(2/epsilon)⌉.
func geoSampleShift(epsilon float64) int { return int(math.Ceil(stream.Log(2 / epsilon))) }

func (m *truncatedGeometric) Columns() []audit.Column { return oneColumn(audit.Symbol, "count") }

func (m *truncatedGeometric) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	if err := checkWhole(d, m.n, m.n, 1); err != nil {
		return err
	}
	count, scratch := clippedSum(d.Values), make([]float64, min(len(out), blockRows))
	eachBlock(out, 1, func(block []float64, rows int) {
		s.Geometric(block, m.p)
		s.Geometric(scratch[:rows], m.p)
		for i, down := range scratch[:rows] {
			block[i] = min(max(count+(block[i]-down), 0), float64(m.n))
		}
	})
	return nil
}
