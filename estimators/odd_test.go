package estimators

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// oddSamples are outputs that trip careless learners.
func oddSamples() map[string][2]audit.Samples {
	s := stream.New(stream.Key{Seed: 5, Purpose: "odd"})
	fill := func(columns []audit.Column, n int, f func(side, i, c int) float64) (pair [2]audit.Samples) {
		w := audit.Width(columns)
		for side := range pair {
			pair[side] = audit.Samples{Columns: columns, Rows: make([]float64, n*w)}
			for i := range n {
				for c := range w {
					pair[side].Rows[i*w+c] = f(side, i, c)
				}
			}
		}
		return pair
	}
	uniform := func(side, i, c int) float64 { return s.Float64() }
	coin := func(side, i, c int) float64 { return float64(s.Intn(2)) }
	huge := func(side, i, c int) float64 { return (s.Float64() - 0.5) * 2e300 }
	mixed := func(value func() float64) func(side, i, c int) float64 {
		carry := 0.0
		return func(side, i, c int) float64 {
			if c%2 == 0 {
				carry = float64(s.Intn(3) - 1)
				return carry
			}
			if carry > 0 {
				return value()
			}
			return 0
		}
	}
	heavy := func() float64 { return (s.Float64() - 0.5) / max(1e-12, s.Float64()-0.5) }
	limit := func() float64 { return math.Copysign(math.MaxFloat64, s.Float64()-0.5) }
	return map[string][2]audit.Samples{
		"one output":            fill(realColumns(1), 1, uniform),
		"fifty outputs":         fill(realColumns(1), 50, uniform),
		"fifty mixed outputs":   fill(columnsOf(audit.Mixed, 3), 50, mixed(s.Float64)),
		"constant":              fill(realColumns(2), 500, func(_, _, _ int) float64 { return 4 }),
		"constant a side":       fill(realColumns(2), 500, func(side, _, _ int) float64 { return float64(side) }),
		"constant symbols":      fill(columnsOf(audit.Symbol, 3), 500, func(_, _, _ int) float64 { return 0 }),
		"symbols a side":        fill(columnsOf(audit.Symbol, 3), 500, func(side, _, _ int) float64 { return float64(side) }),
		"two values":            fill(realColumns(1), 500, coin),
		"every symbol its own":  fill(columnsOf(audit.Symbol, 1), 1000, uniform),
		"a hundred symbols":     fill(columnsOf(audit.Symbol, 100), 100, coin),
		"a hundred reals":       fill(realColumns(100), 100, uniform),
		"a hundred mixed":       fill(columnsOf(audit.Mixed, 100), 100, mixed(heavy)),
		"huge":                  fill(realColumns(2), 500, huge),
		"the largest floats":    fill(realColumns(2), 500, func(_, _, _ int) float64 { return limit() }),
		"the largest in mixed":  fill(columnsOf(audit.Mixed, 4), 500, mixed(limit)),
		"subnormal":             fill(realColumns(2), 500, func(_, _, _ int) float64 { return float64(s.Intn(9)) * 5e-324 }),
		"heavy tails":           fill(realColumns(1), 2000, func(_, _, _ int) float64 { return heavy() }),
		"minus zero":            fill(columnsOf(audit.Symbol, 2), 500, func(_, i, _ int) float64 { return math.Copysign(0, float64(i%2)-0.5) }),
		"mostly one value":      fill(realColumns(1), 2000, func(_, i, _ int) float64 { return math.Floor(s.Float64() * 1.01) }),
		"symbols never carried": fill(columnsOf(audit.Mixed, 2), 500, func(_, _, c int) float64 { return float64(s.Intn(2) * (1 - c%2)) }),
	}
}

func TestOddOutputs(t *testing.T) {
	testsize.Native(t)
	for name, pair := range oddSamples() {
		for _, spec := range applying(slices.Concat(All, quick), pair[0].Columns) {
			t.Run(name+"/"+spec.Name, func(t *testing.T) {
				m, err := spec.Learn(exploring(pair[0], pair[1]))
				if errors.Is(err, errNoVariety) && (strings.HasPrefix(name, "constant") || name == "one output" || name == "subnormal" || name == "minus zero") {
					return
				}
				must.Do(t, err)
				if name == "the largest in mixed" && strings.HasPrefix(spec.Name, "logistic") {
					// The plain twin's sums overflow; finite scores are what is asked.
					out := make([]float64, pair[1].Len())
					m.Score(pair[1].Rows, out)
					for i, v := range out {
						if v-v != 0 {
							t.Fatalf("score %d is %v", i, v)
						}
					}
					return
				}
				checkModel(t, spec, m, pair[1])
			})
		}
	}
}

// Outputs that differ in size between sides are learnt from alike.
func TestUnequalSides(t *testing.T) {
	c := laplaceShift(1)
	ex := exploring(c.samples("train", 0, 20000), c.samples("train", 1, 700))
	for _, spec := range applying(All, c.columns) {
		m := must.Get(spec.Learn(ex))(t)
		out := make([]float64, 2)
		m.Score([]float64{-1, 2}, out)
		if out[0] <= out[1] {
			t.Errorf("%s: -1 scores %v, 2 scores %v; -1 is likelier on the first side", spec.Name, out[0], out[1])
		}
	}
}

func TestNothingToLearnFrom(t *testing.T) {
	c := laplaceShift(1)
	for i, spec := range slices.Concat(All, Named()) {
		if spec.ByName != (i >= len(All)) {
			t.Errorf("%s is in the wrong list: by name %v", spec.Name, spec.ByName)
		}
		must.Refuse(t, must.Err(spec.Learn(exploring(c.samples("train", 0, 10), c.samples("train", 1, 0)))), "10 and 0 outputs", spec.Name)
	}
	must.Refuse(t, outcomeTable.Applies(realColumns(9)), "at most 8", "table of 9 real columns")
}
