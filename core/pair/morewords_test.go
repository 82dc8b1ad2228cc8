package pair

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/must"
)

// missed is a report of those counts, of a claim of 1 that they decide.
func missed(id report.Quantity, counted bounds.Counts, delta, beta float64) Report {
	row := report.Row{ID: id, Chosen: true, Delta: delta, Beta: beta, Counts: &counted}
	return Report{Plan: Plan{Mode: Fixed, Beta: 0.05}, Report: report.Report{Claim: audit.DPClaim(1, 0), Confidence: 0.95, Tables: []report.Table{{Rows: []report.Row{row}}}}}
}

// TestMoreOutputs: what is told of a run that found no violation is the least number of one
// digit, of outputs like those counted, that refutes the claim by the row's error; nothing is
// told where they keep it, or refute it already.
func TestMoreOutputs(t *testing.T) {
	for _, c := range []struct {
		counted    bounds.Counts
		beta       float64 // of the row
		more, less int
	}{
		{bounds.Counts{X: 30, N1: 100, Y: 10, N0: 100}, 0, 0, 0},
		{bounds.Counts{X: 3000, N1: 10_000, Y: 1050, N0: 10_000}, 0, 2000, 1000},
		{bounds.Counts{X: 3000, N1: 10_000, Y: 1050, N0: 10_000}, 0.01, 20_000, 10_000},
		{bounds.Counts{X: 2915, N1: 10_000, Y: 5250, N0: 50_000}, 0, 40_000, 30_000},
		{bounds.Counts{X: 27_190_000, N1: 1e8, Y: 1e7, N0: 1e8}, 0, 400_000_000, 300_000_000},
		{bounds.Counts{X: 27, N1: 100, Y: 10, N0: 100}, 0, 0, 0},
		{bounds.Counts{X: 0, N1: 100, Y: 0, N0: 100}, 0, 0, 0},
		{bounds.Counts{X: 5000, N1: 10_000, Y: 1000, N0: 10_000}, 0, 0, 0},
	} {
		r := missed(report.Epsilon, c.counted, 0, c.beta)
		got, k := r.moreWords(), c.counted
		if c.more == 0 {
			if got != "" {
				t.Errorf("%v: %q", k, got)
			}
			continue
		}
		must.Say(t, got, "about "+phrase.Grouped(c.more)+" more outputs a side")
		for _, more := range []int{c.more, c.less} {
			like := k.Add(bounds.Counts{X: more * k.X / k.N1, N1: more, Y: (more*k.Y + k.N0 - 1) / k.N0, N0: more})
			if refutes := bounds.Exact(like, 0, cmp.Or(c.beta, 0.05)) > 1; refutes != (more == c.more) {
				t.Errorf("%v at %v refutes: %v", like, c.beta, refutes)
			}
		}
	}
}

// TestMoreOutputsOfAnything: a stranger's report may hold any numbers. They give words, or
// none, at once.
func TestMoreOutputsOfAnything(t *testing.T) {
	for _, id := range []report.Quantity{report.Epsilon, report.Mu, report.RenyiDivergence} {
		for _, k := range []bounds.Counts{
			{}, {X: -1, N1: 10, N0: 10}, {X: 11, N1: 10, N0: 10}, {X: 1, N1: 10}, {X: 1, N1: -10, Y: 1, N0: -10},
			{X: 3, N1: 10, Y: 1, N0: 1}, {X: 49, N1: 49, Y: 49, N0: 49}, {X: 1e8, N1: 1e9, Y: 3e7, N0: 1e9},
			{X: 1 << 38, N1: 1 << 40, Y: 1 << 36, N0: 1 << 40}, {X: 1, N1: math.MaxInt, Y: 1, N0: math.MaxInt},
		} {
			for _, delta := range []float64{0, 0.5, 1, -1, math.NaN()} {
				for _, beta := range []float64{0, 1, -1, 2, 1e-300, math.NaN(), 0.05} {
					r := missed(id, k, delta, beta)
					r.Confidence = beta
					if words := r.moreWords(); strings.Contains(words, "about 0 ") || strings.Contains(words, "-") {
						t.Errorf("%v of %v at %v, %v: %q", id, k, delta, beta, words)
					}
					r.Plan.Beta = beta
					r.moreWords()
				}
			}
		}
	}
}

// TestStageSharesItsError: limits below the claim and all others refute by chance with the
// error of the sequential stage, together.
func TestStageSharesItsError(t *testing.T) {
	for _, mode := range []Mode{Climbing, UntilRefuted} {
		a := &Audit{Plan: Plan{Mode: mode, Beta: 0.05}}
		both := math.Exp(-a.sequentialThreshold())
		if most := a.Plan.Beta; both > most || both < most*(1-1e-6) {
			t.Errorf("mode %q: %v, want just below %v", mode, both, most)
		}
	}
}
