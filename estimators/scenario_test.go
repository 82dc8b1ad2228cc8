package estimators

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
)

// scenario is a pair of output distributions whose likelihood ratio is known.
type scenario struct {
	name    string
	seed    uint64
	columns []audit.Column
	// draw fills out with outputs of a side.
	draw func(s *stream.Stream, side int, out []float64)
	// ratio is the exact log likelihood ratio of an output.
	ratio func(row []float64) float64
}

func (c scenario) samples(purpose string, side, n int) audit.Samples {
	out := make([]float64, n*audit.Width(c.columns))
	c.draw(stream.New(stream.Key{Seed: c.seed, Purpose: c.name + "/" + purpose, Side: side}), side, out)
	return audit.Samples{Columns: c.columns, Rows: out}
}

func (c scenario) exploration(n int) audit.Exploration {
	return exploring(c.samples("train", 0, n), c.samples("train", 1, n))
}

func exploring(first, second audit.Samples) audit.Exploration {
	return audit.Exploration{First: first, Second: second, Claim: audit.DPClaim(1, 0),
		Stream: stream.New(stream.Key{Seed: 1, Purpose: "learn"}), Check: always}
}

func realColumns(n int) []audit.Column {
	return slices.Repeat([]audit.Column{{Kind: audit.Real}}, n)
}

// applying are the learners that columns suit.
func applying(list []audit.LearnerSpec, columns []audit.Column) []audit.LearnerSpec {
	return slices.DeleteFunc(slices.Clone(list), func(s audit.LearnerSpec) bool { return s.Applies(columns) != nil })
}

var answers = []audit.Label{{Value: 1, Text: "⊤"}, {Value: 0, Text: "⊥"}, {Value: -1, Text: "–"}}

func columnsOf(kind audit.ColumnKind, n int) []audit.Column {
	return slices.Repeat([]audit.Column{{Kind: kind, Labels: answers}}, n)
}

// shifted draws noise of scale 1, on the second side with shift added to each.
func shifted(noise func(s *stream.Stream, out []float64, scale float64), shift float64) func(s *stream.Stream, side int, out []float64) {
	return func(s *stream.Stream, side int, out []float64) {
		noise(s, out, 1)
		for i := range out {
			out[i] += float64(side) * shift
		}
	}
}

// laplaceRatio is the log likelihood ratio of Lap(1) against shift + Lap(1) in each column.
func laplaceRatio(shift float64) func(row []float64) float64 {
	return func(row []float64) (sum float64) {
		for _, v := range row {
			sum += math.Abs(v-shift) - math.Abs(v)
		}
		return sum
	}
}

// laplaceShift is Lap(1) against shift + Lap(1).
func laplaceShift(shift float64) scenario {
	return scenario{name: "laplace", columns: realColumns(1), draw: shifted((*stream.Stream).Laplace, shift), ratio: laplaceRatio(shift)}
}

// gaussianPair is N(0, 1) against N(1, 1), halfShift against N(0.5, 1).
func gaussianPair() scenario { return gaussianShift("gaussian", 1) }
func halfShift() scenario    { return gaussianShift("half", 0.5) }

func gaussianShift(name string, shift float64) scenario {
	return scenario{
		name: name, columns: realColumns(1), draw: shifted((*stream.Stream).Gaussian, shift),
		ratio: func(row []float64) float64 { return shift * (shift/2 - row[0]) },
	}
}

// discrete is a symbol column with forty outcomes of geometric frequency, the
// odd ones e^0.5 times likelier on one side.
func discrete() scenario {
	var mass [2][40]float64
	var total [2]float64
	for i := range 40 {
		base := math.Exp(-float64(i) / 8)
		mass[0][i], mass[1][i] = base, base*math.Exp(0.5*float64(i%2))
		total[0] += mass[0][i]
		total[1] += mass[1][i]
	}
	return scenario{
		name: "discrete", columns: []audit.Column{{Kind: audit.Symbol}},
		draw: func(s *stream.Stream, side int, out []float64) {
			for i := range out {
				u, k := s.Float64()*total[side], 0
				for u -= mass[side][0]; u >= 0 && k < 39; u -= mass[side][k] {
					k++
				}
				out[i] = float64(k * 3)
			}
		},
		ratio: func(row []float64) float64 {
			k := int(row[0]) / 3
			return math.Log(mass[0][k]/total[0]) - math.Log(mass[1][k]/total[1])
		},
	}
}

// laplaceTail is P(Lap(scale) > t).
func laplaceTail(t, scale float64) float64 {
	if t < 0 {
		return 1 - math.Exp(t/scale)/2
	}
	return math.Exp(-t/scale) / 2
}

// svt6 is the sparse vector technique without a stop: 2m queries, answers 1 and
// 0 in the halves on the first side and the other way round on the second,
// threshold 0.5, noise Lap(2/eps) on the threshold, once, and on each query.
func svt6(m int, epsilon float64) scenario {
	scale := 2 / epsilon
	// The number of ⊤ in the two halves is sufficient.
	const steps = 400
	logMass := func(high, low int) float64 { // of one outcome with so many ⊤ among queries of answer 1 and 0
		var logs []float64
		for k := range steps {
			u := (float64(k) + 0.5) / steps
			rho := scale * math.Copysign(math.Log(1-math.Abs(2*u-1)), 0.5-u) * -1
			p1, p0 := laplaceTail(0.5+rho-1, scale), laplaceTail(0.5+rho, scale)
			logs = append(logs, float64(high)*math.Log(p1)+float64(m-high)*math.Log(1-p1)+float64(low)*math.Log(p0)+float64(m-low)*math.Log(1-p0))
		}
		top, sum := slices.Max(logs), 0.0
		for _, l := range logs {
			sum += math.Exp(l - top)
		}
		return top + math.Log(sum/steps)
	}
	cache := map[[2]int]float64{}
	mass := func(a, b int) float64 {
		v, ok := cache[[2]int{a, b}]
		if !ok {
			v = logMass(a, b)
			cache[[2]int{a, b}] = v
		}
		return v
	}
	return scenario{
		name: "svt6", columns: columnsOf(audit.Symbol, 2*m),
		draw: func(s *stream.Stream, side int, out []float64) {
			n := len(out) / (2 * m)
			noise, rho := make([]float64, len(out)), make([]float64, n)
			s.Laplace(noise, scale)
			s.Laplace(rho, scale)
			for i := range out {
				answer := 0.0
				if (i%(2*m) < m) == (side == 0) {
					answer = 1
				}
				out[i] = 0
				if answer+noise[i] >= 0.5+rho[i/(2*m)] {
					out[i] = 1
				}
			}
		},
		ratio: func(row []float64) float64 {
			a, b := 0, 0
			for i, v := range row {
				if i < m {
					a += int(v)
				} else {
					b += int(v)
				}
			}
			return mass(a, b) - mass(b, a)
		},
	}
}

// mixedScenario is a column that is ⊥ with probability 0.6 on the first side
// and 0.5 on the second, else ⊤ with a value Lap(1) or 1 + Lap(1), beside a
// column of noise.
func mixedScenario() scenario {
	quiet := [2]float64{0.6, 0.5}
	return scenario{
		name: "mixed", columns: []audit.Column{{Kind: audit.Symbol}, {Kind: audit.Mixed, Labels: answers}},
		draw: func(s *stream.Stream, side int, out []float64) {
			v := make([]float64, len(out)/3)
			s.Laplace(v, 1)
			for i := range v {
				row := out[3*i : 3*i+3]
				row[0] = float64(s.Intn(4))
				row[1], row[2] = 0, 0
				if s.Float64() >= quiet[side] {
					row[1], row[2] = 1, v[i]+float64(side)
				}
			}
		},
		ratio: func(row []float64) float64 {
			if row[1] == 0 {
				return math.Log(quiet[0] / quiet[1])
			}
			return math.Log((1-quiet[0])/(1-quiet[1])) + math.Abs(row[2]-1) - math.Abs(row[2])
		},
	}
}

// laplaceVector is 20 coordinates of Lap(1), each shifted by 0.2.
func laplaceVector() scenario {
	return scenario{name: "laplace-vector", columns: realColumns(20), draw: shifted((*stream.Stream).Laplace, 0.2), ratio: laplaceRatio(0.2)}
}

// runningSums are the sums so far of eight coordinates of Lap(1), the first of
// which is shifted by 1: only the first step tells.
func runningSums() scenario {
	return scenario{
		name: "running-sums", columns: realColumns(8),
		draw: func(s *stream.Stream, side int, out []float64) {
			s.Laplace(out, 1)
			out[0] += float64(side)
			for i := 1; i < len(out); i++ {
				out[i] += out[i-1]
			}
		},
		ratio: func(row []float64) float64 { return laplaceRatio(1)(row[:1]) },
	}
}

// sweep returns the best Katz lower bound (two standard errors) on the log
// ratio that an event {score > t} or {score <= t} shows on validation outputs,
// over all thresholds and both ways round, and that event.
func sweep(first, second []float64) (value, threshold float64, above bool) {
	type scored struct {
		score float64
		side  int
	}
	all := make([]scored, 0, len(first)+len(second))
	for _, s := range first {
		all = append(all, scored{s, 0})
	}
	for _, s := range second {
		all = append(all, scored{s, 1})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].score < all[j].score })
	n := [2]float64{float64(len(first)), float64(len(second))}
	bound := func(x, y, n, m float64) float64 {
		if x == 0 {
			return math.Inf(-1)
		}
		y = max(y, 0.5)
		return math.Log(x/n) - math.Log(y/m) - 2*math.Sqrt(1/x-1/n+1/y-1/m)
	}
	value = math.Inf(-1)
	var below [2]float64
	for i, s := range all {
		below[s.side]++
		if i+1 < len(all) && all[i+1].score == s.score {
			continue
		}
		for a := range 2 {
			x, y := below[a], below[1-a]
			if v := bound(x, y, n[a], n[1-a]); v > value {
				value, threshold, above = v, s.score, false
			}
			if v := bound(n[a]-x, n[1-a]-y, n[a], n[1-a]); v > value {
				value, threshold, above = v, s.score, true
			}
		}
	}
	return value, threshold, above
}

// found is what a learner's event shows on fresh outputs of a scenario, and
// what the exact likelihood ratio shows on the same.
func found(t testing.TB, c scenario, spec audit.LearnerSpec, n int) (got, best float64) {
	t.Helper()
	model := must.Get(spec.Learn(c.exploration(n)))(t)
	var scores, exact [2][]float64
	w := audit.Width(c.columns)
	for side := range 2 {
		s := c.samples("validate", side, n)
		scores[side] = make([]float64, n)
		model.Score(s.Rows, scores[side])
		for i := range n {
			// Rounded, so that equal ratios tie.
			exact[side] = append(exact[side], math.Round(c.ratio(s.Rows[i*w:(i+1)*w])*1e9)/1e9)
		}
	}
	got, threshold, above := sweep(scores[0], scores[1])
	best, _, _ = sweep(exact[0], exact[1])
	t.Logf("%-14s on %-14s n = %6d: %.4f of %.4f (%.2f): %s", spec.Name, c.name, n, got, best, got/best, model.Describe(threshold, above))
	return got, best
}
