package mechanisms

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// noisyMax adds noise of scale 2/epsilon to each of m query answers of sensitivity 1 and
// reports which is the largest, or, broken, how large it is. A block draws all noise at once.
type noisyMax struct {
	mechanism

	exponential bool // Exp(2/epsilon) rather than Lap(2/epsilon)
	value       bool // reports the maximum rather than its index
	shapes      []shape
}

const (
	noisyMaxSource = dworkRoth + ", section 3.3; " + statDP + "; " + dpSniper + ": ReportNoisyMax"
	noisyMaxReach  = 10 // answers lie in [-10, 10] or wider
)

var (
	noisyMaxLaplace = noisyMax{shapes: indexShapes, mechanism: mechanism{
		Name: "noisy-max-laplace", Title: "Report noisy max with Laplace noise", Source: noisyMaxSource + "1",
		// Lap(2) less Lap(2) is at least 2 with probability (1+2/4) e^-1 / 2.
		Tight: &audit.Tight{Params: audit.Params{"epsilon": {Number: 1}, "m": {Number: 2}}, Pair: 1, Exact: 1 - stream.Log(1.5),
			Why: "the query that falls wins against the one that rises: exact"},
	}}
	noisyMaxExponential = noisyMax{shapes: indexShapes, exponential: true, mechanism: mechanism{
		Name: "noisy-max-exponential", Title: "Report noisy max with exponential noise", Source: noisyMaxSource + "2",
		Tight: &audit.Tight{Params: audit.Params{"m": {Number: 2}}, Pair: 1, Why: "the query that falls wins against the one that rises"},
	}}
	noisyMaxValueLaplace = noisyMax{value: true, shapes: valueLaplaceShapes, mechanism: mechanism{
		Name: "noisy-max-value-laplace", Title: "Report noisy max with Laplace noise, releasing the value", Source: noisyMaxSource + "3",
		Fault: "reports the maximum itself instead of its index: with m queries its epsilon is m epsilon/2", Mended: "noisy-max-laplace",
		// The density of the maximum is a sum of products of one density and m-1 distribution
		// functions of Lap(2/epsilon). Each factor moves by at most e^(epsilon/2) with its answer;
		// where all answers are equal and all move, every factor does so below them.
		Truth: func(p audit.Params) string {
			return "epsilon = m/2 times the claimed = " + audit.Number(p.Num("m")*p.Num("epsilon")/2)
		},
	}}
	noisyMaxValueExponential = noisyMax{value: true, shapes: valueExponentialShapes, exponential: true, mechanism: mechanism{
		Name: "noisy-max-value-exponential", Title: "Report noisy max with exponential noise, releasing the value", Source: noisyMaxSource + "4",
		Fault: "reports the maximum itself instead of its index: the noise is never negative, so the largest answer bounds it from below", Mended: "noisy-max-exponential",
		Truth: neverPrivate(""),
	}}
)

func (n noisyMax) complete() mechanism {
	m := n.mechanism
	m.Epsilon = 1
	m.Params = []audit.ParamSpec{{Name: "m", Doc: "number of queries, each of sensitivity 1", Default: 5, Min: 1, Max: 64, Integer: true, Fault: m.Fault != ""}}
	m.Relations = only(audit.LInfinity)
	m.Domain = func(p audit.Params) audit.Domain { return answers(p.Int("m"), -n.reach(p), n.reach(p), 1) }
	m.Pairs = func(p audit.Params, _ audit.Relation) pairs { return shapePairs(n.shapes, p.Int("m"), -n.reach(p)) }
	m.Output, m.Release = n.output, n.release
	return m
}

// reach is how far answers lie from 0 at most: where a lone query tells most, ten scales of noise.
func (n noisyMax) reach(p audit.Params) float64 {
	return max(noisyMaxReach, audit.Pick(n.value && n.exponential, 20/p.Num("epsilon"), 0))
}

func (n noisyMax) output(p audit.Params) []audit.Column {
	if n.value {
		return oneColumn(audit.Real, "maximum")(p)
	}
	labels := audit.Listed(p.Int("m"), func(i int) audit.Label {
		return audit.Label{Value: float64(i), Text: fmt.Sprintf("query %d", i+1)}
	})
	return oneColumn(audit.Symbol, "largest", labels...)(p)
}

func (n noisyMax) release(p audit.Params, d audit.Dataset) sampler {
	scale, q := 2/p.Num("epsilon"), d.Values
	return func(b *block) {
		noise := b.room(len(q))
		if n.exponential {
			b.Exponential(noise, scale)
		} else {
			b.Laplace(noise, scale)
		}
		for r := range b.out {
			at, most := largest(noise[r*len(q):][:len(q)], q)
			b.out[r] = audit.Pick(n.value, most, float64(at))
		}
	}
}

// largest is the maximum and its index, the lowest of equal ones.
func largest(noise, q []float64) (at int, most float64) {
	most = q[0] + noise[0]
	for i, z := range noise {
		if z += q[i]; z > most {
			at, most = i, z
		}
	}
	return at, most
}

// shape is a pattern of two vectors of m answers that differ by at most 1 in
// each. Those but the last are StatDP's (Ding et al. 2018).
type shape struct {
	label string
	at    func(i, m int) (first, second float64) // answers of query i
	alone bool                                   // only the first query runs: the others are at the domain's lower end
}

var (
	oneAbove          = shape{label: "one above", at: func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 2.0, 1) }}
	oneBelow          = shape{label: "one below", at: func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 0.0, 1) }}
	oneAboveRestBelow = shape{label: "one above, the rest below", at: func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 2.0, 0) }}
	oneBelowRestAbove = shape{label: "one below, the rest above", at: func(i, _ int) (float64, float64) { return 1, audit.Pick(i == 0, 0.0, 2) }}
	halfHalf          = shape{label: "half below, half above", at: func(i, m int) (float64, float64) { return 1, audit.Pick(2*i < m, 0.0, 2) }}
	allAbove          = shape{label: "all above", at: func(int, int) (float64, float64) { return 1, 2 }}
	xShape            = shape{label: "X shape", at: func(i, m int) (float64, float64) { return audit.Pick(i < m/2, 1.0, 0), audit.Pick(i >= m-m/2, 1.0, 0) }}
	loneAbove         = shape{label: "one above, the rest out of the race", alone: true,
		at: func(int, int) (float64, float64) { return 0, 1 }}
)

// Shapes in the order in which they tell.
var (
	indexShapes            = []shape{oneAboveRestBelow, oneBelowRestAbove, halfHalf, xShape, oneAbove, oneBelow, allAbove}
	valueLaplaceShapes     = []shape{allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, oneBelow, xShape}
	valueExponentialShapes = []shape{loneAbove, allAbove, oneBelowRestAbove, halfHalf, oneAbove, oneAboveRestBelow, xShape, oneBelow}
)

func shapePairs(shapes []shape, m int, lower float64) pairs {
	return audit.Each(shapes, func(s shape) neighbours {
		first, second := vector(m, lower), vector(m, lower)
		for i := range audit.Pick(s.alone, 1, m) {
			first[i], second[i] = s.at(i, m)
		}
		return neighbours{s.label, first, second}
	})
}
