package pair

import (
	"math"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// TestMoreOutputs: what is told of a run that found no violation is the least number of one
// digit, of outputs like those counted, that refutes the claim; nothing is told where they
// keep it.
func TestMoreOutputs(t *testing.T) {
	for _, c := range []struct{ x, y, n, more, less int }{{30, 10, 100, 0, 0}, {3000, 1050, 10_000, 2000, 1000}, {27, 10, 100, 0, 0}, {0, 0, 100, 0, 0}} {
		counted := bounds.Counts{X: c.x, N1: c.n, Y: c.y, N0: c.n}
		r := Report{Report: report.Report{Claim: audit.DPClaim(1, 0), Confidence: 0.95, Tables: []report.Table{{Rows: []report.Row{{ID: report.Epsilon, Chosen: true, Confidence: 0.95, Counts: &counted}}}}}}
		got := r.moreWords()
		if c.more == 0 {
			if got != "" {
				t.Errorf("%v: %q", counted, got)
			}
			continue
		}
		if !strings.Contains(got, "about "+phrase.Grouped(c.more)+" more outputs a side") {
			t.Errorf("%v: %q, want %d", counted, got, c.more)
		}
		for _, more := range []int{c.more, c.less} {
			n := c.n + more
			like := bounds.Counts{X: c.x * n / c.n, N1: n, Y: c.y * n / c.n, N0: n}
			if refutes := bounds.Exact(like, 0, 0.05) > 1; refutes != (more == c.more) {
				t.Errorf("%v refutes: %v", like, refutes)
			}
		}
	}
}

// TestStageSharesItsError: limits below the claim and all others refute by chance with the
// error of the sequential stage, together.
func TestStageSharesItsError(t *testing.T) {
	for _, mode := range []Mode{VerdictAndBound, UntilRefuted} {
		a := &Audit{Plan: Plan{Mode: mode, Beta: 0.05}}
		both := math.Exp(-a.sequentialThreshold()) + math.Exp(-a.belowThreshold())
		if most := a.Plan.sequentialBeta(); both > most || both < most*(1-1e-6) {
			t.Errorf("mode %q: %v, want just below %v", mode, both, most)
		}
	}
}
