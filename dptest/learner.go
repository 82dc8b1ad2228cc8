package dptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// TestLearner holds a registry entry to the contract of [audit.LearnerSpec], on outputs of all kinds of columns.
//
// A model follows from the outputs and the stream alone; its scores are finite, and the same bits after it was written
// and read. Learning ends with the first error of Check. From outputs that say nothing it makes a model with finite
// scores, or says why not.
func TestLearner(t testing.TB, spec audit.LearnerSpec) {
	t.Helper()
	if spec.Name == "" || spec.Name == audit.Auto || spec.Title == "" || spec.Source == "" || spec.Applies == nil || spec.Learn == nil || spec.Decode == nil {
		t.Fatalf("learner %q lacks a name of its own, a title, a source or one of its functions", spec.Name)
	}
	want(t, spec.Applies(nil) != nil, "%s applies to outputs without columns", spec.Name)
	applies := slices.DeleteFunc(slices.Clone(learnerOutputs), func(o learnerOutput) bool { return spec.Applies(o.columns) != nil })
	last := -1
	for i, o := range applies {
		if !o.odd {
			last = i
		}
	}
	want(t, last >= 0, "%s applies to none of numbers, symbols and both", spec.Name)
	for i, o := range applies {
		o.check(t, spec, i == 0 || i == last)
	}
}

const learnerSamples = 100

var learnerOutputs = []learnerOutput{
	{name: "a number", columns: columns(audit.Real), row: func(s *stream.Stream, side int, out []float64) { s.Gaussian(out, 1); out[0] += float64(side) }},
	{name: "numbers", columns: columns(audit.Real, audit.Real, audit.Real), row: func(s *stream.Stream, side int, out []float64) { s.Laplace(out, 1); out[1] += float64(side) }},
	{name: "symbols", columns: columns(audit.Symbol, audit.Symbol), row: func(s *stream.Stream, side int, out []float64) {
		out[0], out[1] = float64(s.Intn(3)), float64(s.Intn(2+2*side))
	}},
	{name: "symbols that carry numbers", columns: columns(audit.Mixed, audit.Mixed), row: func(s *stream.Stream, side int, out []float64) {
		for i := 0; i < len(out); i += 2 {
			if out[i], out[i+1] = float64(s.Intn(2)), 0; out[i] == 1 {
				out[i+1] = s.Float64() + float64(side)
			}
		}
	}},
	{name: "all kinds", columns: columns(audit.Real, audit.Symbol, audit.Mixed), row: func(s *stream.Stream, side int, out []float64) {
		out[0], out[1], out[2], out[3] = s.Float64(), float64(s.Intn(2+side)), 1, s.Float64()+float64(side)
	}},
	{name: "constant numbers", odd: true, columns: columns(audit.Real, audit.Real), row: func(_ *stream.Stream, _ int, out []float64) { clear(out) }},
	{name: "constant symbols", odd: true, columns: columns(audit.Symbol), row: func(_ *stream.Stream, _ int, out []float64) { clear(out) }},
	{name: "a constant on each side", odd: true, columns: columns(audit.Real), row: func(_ *stream.Stream, side int, out []float64) { out[0] = float64(side) }},
	{name: "the largest numbers", odd: true, columns: columns(audit.Real), row: func(s *stream.Stream, _ int, out []float64) {
		out[0] = math.Copysign(math.MaxFloat64, s.Float64()-0.5)
	}},
	{name: "symbols that never repeat", odd: true, columns: columns(audit.Symbol), row: func(s *stream.Stream, _ int, out []float64) { out[0] = s.Float64() }},
}

func columns(kinds ...audit.ColumnKind) []audit.Column {
	return audit.Listed(len(kinds), func(i int) audit.Column {
		return audit.Column{Name: fmt.Sprint("column ", i+1), Kind: kinds[i]}
	})
}

type learnerOutput struct {
	name    string
	odd     bool // need not teach anything
	columns []audit.Column
	row     func(s *stream.Stream, side int, out []float64)
}

func (o learnerOutput) samples(purpose string, side, n int) audit.Samples {
	s := audit.Samples{Columns: o.columns, Rows: make([]float64, n*audit.Width(o.columns))}
	draw := stream.New(stream.Key{Seed: 1, Purpose: purpose + " " + o.name, Side: side})
	for i := range n {
		o.row(draw, side, s.Row(i))
	}
	return s
}

func (o learnerOutput) exploration(first, second int, check func() error) audit.Exploration {
	return audit.Exploration{First: o.samples("learn", 0, first), Second: o.samples("learn", 1, second), Claim: audit.DPClaim(1, 0),
		Stream: stream.New(stream.Key{Seed: 1, Purpose: "learner"}), Check: check}
}

// check learns from the outputs; thorough, again and stopped too.
func (o learnerOutput) check(t testing.TB, spec audit.LearnerSpec, thorough bool) {
	t.Helper()
	what := spec.Name + " on " + o.name
	calls := 0
	learn := func() (audit.Model, []byte) {
		calls = 0
		m, err := spec.Learn(o.exploration(learnerSamples, learnerSamples, func() error { calls++; return nil }))
		if err != nil {
			want(t, o.odd, "%s: %v", what, err)
			return nil, nil
		}
		data, err := json.Marshal(m)
		want(t, err == nil, "%s: the model cannot be written: %v", what, err)
		return m, data
	}
	m, data := learn()
	if m == nil {
		return
	}
	fresh := o.samples("score", 0, 50).Rows
	scores := make([]float64, 50)
	m.Score(fresh, scores)
	for i, x := range scores {
		if !want(t, x-x == 0, "%s: output %d scores %v, must be finite", what, i, x) {
			return
		}
	}
	if o.odd {
		return
	}
	described := m.Describe(scores[0], true) != "" && m.Describe(scores[0], false) != ""
	want(t, described, "%s: the model does not describe its event", what)
	read, err := spec.Decode(data, o.columns)
	if !want(t, err == nil, "%s: it cannot read its own model: %v", what, err) {
		return
	}
	readScores := make([]float64, len(scores))
	read.Score(fresh, readScores)
	for i, x := range scores {
		if !want(t, math.Float64bits(x) == math.Float64bits(readScores[i]),
			"%s: output %d scores %v, and %v after the model was written and read", what, i, x, readScores[i]) {
			break
		}
	}
	_, err = spec.Decode(data[:len(data)/2], o.columns)
	want(t, err != nil, "%s: it reads half of a model without an error", what)
	_, err = spec.Learn(o.exploration(10, 0, func() error { return nil }))
	want(t, err != nil, "%s: it learns without an error from 10 outputs on one side and none on the other", what)
	if thorough {
		_, again := learn()
		want(t, string(again) == string(data), "%s: the same outputs and the same stream gave two different models", what)
		o.checkStops(t, spec, what, calls)
	}
}

func (o learnerOutput) checkStops(t testing.TB, spec audit.LearnerSpec, what string, total int) {
	t.Helper()
	if !want(t, total >= 2, "%s: %d calls of Check, must be one per pass over the outputs", what, total) {
		return
	}
	stop := errors.New("stop")
	for _, at := range []int{1, 2, total/2 + 1, total} {
		calls := 0
		_, err := spec.Learn(o.exploration(learnerSamples, learnerSamples, func() error {
			if calls++; calls >= at {
				return stop
			}
			return nil
		}))
		if !want(t, errors.Is(err, stop) && calls == at,
			"%s: Check fails at call %d of %d; there were %d calls, and Learn said %v", what, at, total, calls, err) {
			return
		}
	}
}
