package mechanisms

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/stream"
)

// noisyMax adds noise of scale 2/epsilon to each of m query answers of
// sensitivity 1 and reports which is the largest, or, broken, how large it is.
// It draws the noise of all queries of all rows of a block at once.
type noisyMax struct {
	name, title, source, fault string

	exponential bool // Exp(2/epsilon) rather than Lap(2/epsilon)
	value       bool // reports the maximum rather than its index
	shapes      []shape
	truth       func(audit.Params) string
}

const (
	noisyMaxSource = "Dwork and Roth, The Algorithmic Foundations of Differential Privacy (2014), section 3.3; Ding, Wang, Wang, Zhang and Kifer, Detecting Violations of Differential Privacy, CCS 2018; Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, S&P 2021: ReportNoisyMax"
	noisyMaxReach  = 10 // answers lie in [-10, 10] or wider
)

var (
	noisyMaxLaplace = noisyMax{name: "noisy-max-laplace", title: "Report noisy max with Laplace noise",
		source: noisyMaxSource + "1", shapes: indexShapes, truth: epsilonTruth}
	noisyMaxExponential = noisyMax{name: "noisy-max-exponential", title: "Report noisy max with exponential noise",
		source: noisyMaxSource + "2", shapes: indexShapes, truth: epsilonTruth, exponential: true}
	noisyMaxValueLaplace = noisyMax{name: "noisy-max-value-laplace", title: "Report noisy max with Laplace noise, the value",
		source: noisyMaxSource + "3", value: true, shapes: valueLaplaceShapes,
		fault: "reports the maximum itself in place of its index: with m queries it is m epsilon/2 private", truth: valueLaplaceTruth}
	noisyMaxValueExponential = noisyMax{name: "noisy-max-value-exponential", title: "Report noisy max with exponential noise, the value",
		source: noisyMaxSource + "4", value: true, shapes: valueExponentialShapes, exponential: true,
		fault: "reports the maximum itself in place of its index: the noise is never negative, so the largest answer bounds it from below",
		truth: func(audit.Params) string { return "not private for any epsilon" }}
)

// valueLaplaceTruth is m epsilon/2. The maximum is at most t with probability
// Π F(t-q_i); its density is a sum of terms of one density and m-1 distribution
// functions of Lap(2/epsilon), each of which moves by at most e^(epsilon/2) when
// its answer moves by 1. Where all answers are equal and all move, every factor
// does so for t below them, so the bound is met.
func valueLaplaceTruth(p audit.Params) string {
	return "epsilon = m/2 times the claimed = " + show(p.Num("m")*p.Num("epsilon")/2)
}

// reach is how far answers lie from 0 at most: enough, where a lone query tells
// most, for ten scales of noise between it and the others.
func (n noisyMax) reach(p audit.Params) float64 {
	if n.value && n.exponential {
		return max(noisyMaxReach, 20/p.Num("epsilon"))
	}
	return noisyMaxReach
}

func (n noisyMax) spec() audit.MechanismSpec {
	return audit.MechanismSpec{
		Name: n.name, Title: n.title, Source: n.source, Fault: n.fault,
		Params: []audit.ParamSpec{
			epsilonParam(1),
			{Name: "m", Doc: "number of queries, each of sensitivity 1", Default: 5, Min: 1, Max: 64, Integer: true},
		},
		Relations: only(audit.LInfinity),
		Claim:     pureClaim,
		Truth:     n.truth,
		Domain: func(p audit.Params, _ audit.Relation) audit.Domain {
			m := p.Int("m")
			return audit.Domain{Columns: 1, MinRows: m, MaxRows: m, Lower: []float64{-n.reach(p)}, Upper: []float64{n.reach(p)}, Reach: 1}
		},
		Pairs: func(p audit.Params, _ audit.Relation) []audit.Pair {
			return shapePairs(n.shapes, p.Int("m"), -n.reach(p))
		},
		New: func(p audit.Params) (audit.Mechanism, error) {
			f := fixedNoisyMax{queries: p.Int("m"), scale: 2 / p.Num("epsilon"), exponential: n.exponential}
			if n.value {
				return &noisyMaxValue{f}, nil
			}
			return &noisyMaxIndex{f}, nil
		},
	}
}

// fixedNoisyMax is a noisyMax at fixed parameters.
type fixedNoisyMax struct {
	queries     int
	scale       float64
	exponential bool
}

// eachRow calls report on each block of out with the noise of its rows.
func (f *fixedNoisyMax) eachRow(d audit.Dataset, s *stream.Stream, out []float64, report func(out, noise, q []float64)) error {
	if err := checkShape(d, f.queries, f.queries); err != nil {
		return err
	}
	scratch := make([]float64, min(len(out), blockRows)*f.queries)
	eachBlock(out, 1, func(block []float64, rows int) {
		noise := scratch[:rows*f.queries]
		if f.exponential {
			s.Exponential(noise, f.scale)
		} else {
			s.Laplace(noise, f.scale)
		}
		report(block, noise, d.Values)
	})
	return nil
}

// noisyMaxIndex reports the 0-based index of the maximum, the lowest of equal
// ones.
type noisyMaxIndex struct{ fixedNoisyMax }

func (f *noisyMaxIndex) Columns() []audit.Column {
	labels := make([]audit.Label, f.queries)
	for i := range labels {
		labels[i] = audit.Label{Value: float64(i), Text: fmt.Sprintf("query %d", i+1)}
	}
	return []audit.Column{{Name: "largest", Kind: audit.Symbol, Labels: labels}}
}

func (f *noisyMaxIndex) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	return f.eachRow(d, s, out, indexOfLargest)
}

func indexOfLargest(out, noise, q []float64) {
	for r := range out {
		row := noise[:len(q)]
		noise = noise[len(q):]
		at, most := 0, q[0]+row[0]
		for i, z := range row {
			if z += q[i]; z > most {
				at, most = i, z
			}
		}
		out[r] = float64(at)
	}
}

// noisyMaxValue reports the maximum.
type noisyMaxValue struct{ fixedNoisyMax }

func (f *noisyMaxValue) Columns() []audit.Column { return oneColumn(audit.Real, "maximum") }

func (f *noisyMaxValue) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	return f.eachRow(d, s, out, largest)
}

func largest(out, noise, q []float64) {
	for r := range out {
		row := noise[:len(q)]
		noise = noise[len(q):]
		most := q[0] + row[0]
		for i, z := range row {
			if z += q[i]; z > most {
				most = z
			}
		}
		out[r] = most
	}
}

// shape is a pattern of two vectors of m answers that differ by at most 1 in
// each: at(i, m) are the two answers of query i. Those but the last are
// StatDP's (Ding et al. 2018).
type shape struct {
	label string
	at    func(i, m int) (first, second float64)
	alone bool // only the first query runs: the others are at the domain's lower end
}

var (
	oneAbove          = shape{label: "one above", at: func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2.0, 1) }}
	oneBelow          = shape{label: "one below", at: func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0.0, 1) }}
	oneAboveRestBelow = shape{label: "one above, the rest below", at: func(i, _ int) (float64, float64) { return 1, pick(i == 0, 2.0, 0) }}
	oneBelowRestAbove = shape{label: "one below, the rest above", at: func(i, _ int) (float64, float64) { return 1, pick(i == 0, 0.0, 2) }}
	halfHalf          = shape{label: "half below, half above", at: func(i, m int) (float64, float64) { return 1, pick(2*i < m, 0.0, 2) }}
	allAbove          = shape{label: "all above", at: func(int, int) (float64, float64) { return 1, 2 }}
	xShape            = shape{label: "X shape", at: func(i, m int) (float64, float64) { return pick(i < m/2, 1.0, 0), pick(i >= m-m/2, 1.0, 0) }}
	loneAbove         = shape{label: "one above, the rest out of the race", alone: true,
		at: func(int, int) (float64, float64) { return 0, 1 }}
)

// Shapes in the order in which they tell.
var (
	indexShapes            = []shape{oneAboveRestBelow, oneBelowRestAbove, halfHalf, xShape, oneAbove, oneBelow, allAbove}
	valueLaplaceShapes     = []shape{allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, oneBelow, xShape}
	valueExponentialShapes = []shape{loneAbove, allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, xShape, oneBelow}
)

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

func shapePairs(shapes []shape, m int, lower float64) []audit.Pair {
	pairs := make([]audit.Pair, len(shapes))
	for k, s := range shapes {
		first, second := make([]float64, m), make([]float64, m)
		for i := range m {
			first[i], second[i] = s.at(i, m)
			if s.alone && i > 0 {
				first[i], second[i] = lower, lower
			}
		}
		pairs[k] = audit.Pair{Label: s.label, First: audit.Records(first...), Second: audit.Records(second...)}
	}
	return pairs
}
