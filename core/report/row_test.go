package report

import (
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// A table says of each row by itself what its rows do not share, and of a row without a
// bound nothing but why.
func TestWordsOfRows(t *testing.T) {
	bound, claim := 1.0, 1.0
	table := Table{Name: Bounds, Rows: []Row{
		{ID: Epsilon, Title: "bets", LowerBound: &bound, Claimed: &claim, Strict: true, Valid: true, Confidence: 0.99},
		{ID: Epsilon, Title: "exact", LowerBound: &bound, Claimed: &claim, Valid: true, Confidence: 0.96},
		{ID: Epsilon, Title: "Bernstein, second order", Valid: true, Confidence: 0.96, Assumption: "canaries exchangeable", Note: "not computed (needs -k 2 or more)"},
	}}
	words := table.Words()
	cell := func(line int, key string) string {
		return words.Marked(words.Lines[line])[slices.IndexFunc(words.Columns, func(c Column) bool { return c.Key == key })]
	}
	for _, k := range []struct {
		line      int
		key, want string
	}{
		{0, "bound", "1.000 (above the claim)"}, {1, "bound", "1.000"}, {2, "bound", "-"},
		{0, "confidence", "99 %"}, {1, "confidence", "96 %"},
		{1, "valid", "yes"}, {2, "valid", ""}, {2, "assumption", "canaries exchangeable"}, {2, "note", "not computed (needs -k 2 or more)"},
	} {
		if got := cell(k.line, k.key); got != k.want {
			t.Errorf("row %d, %s: %q, want %q", k.line, k.key, got, k.want)
		}
	}
	table.Rows = table.Rows[1:2]
	if words = table.Words(); slices.ContainsFunc(words.Columns, func(c Column) bool { return c.Key == "confidence" || c.Key == "note" }) {
		t.Errorf("columns %+v", words.Columns)
	}
}

// TestVerdicts: the verdict is what the chosen row shows of the claim, and a report whose own bound
// says otherwise is refused.
func TestVerdicts(t *testing.T) {
	none := -1.0
	for _, k := range []struct {
		bound         float64
		strict, valid bool
		reason        audit.TerminationReason
		most          float64 // that any outcome shows
		want          audit.Verdict
	}{
		{0.5, false, true, audit.Completed, 9, audit.NoViolation},
		{1, false, true, audit.Completed, 9, audit.NoViolation},
		{1, true, true, audit.Completed, 9, audit.Violation},
		{0.5, true, true, audit.Completed, 9, audit.NoViolation},
		{1.5, false, true, audit.Completed, 9, audit.Violation},
		{1.5, false, false, audit.Completed, 9, audit.Inconclusive},
		{1.5, false, true, audit.Stopped, 9, audit.Violation},
		{0.5, false, true, audit.Stopped, 9, audit.Inconclusive},
		{0.5, false, true, audit.Completed, 1, audit.Inconclusive},
		{1.5, false, true, audit.Failed, 9, audit.Invalid},
		{none, false, true, audit.Completed, 9, audit.Inconclusive},
	} {
		row := Row{ID: Epsilon, Method: MethodExact, Strict: k.strict, Valid: k.valid}
		if k.bound != none {
			row.LowerBound = &k.bound
		}
		r := Report{Claim: audit.DPClaim(1, 0), Power: &Power{Largest: k.most}, Termination: audit.Termination{Reason: k.reason},
			Tables: []Table{{Name: Bounds, Rows: []Row{{ID: Epsilon, Method: MethodOneRun}, row}}}}
		if r.Choose(MethodExact); r.Verdict != k.want {
			t.Errorf("%+v: %q", k, r.Verdict)
		}
		above := k.bound > 1 || k.strict && k.bound == 1
		for verdict, ok := range map[audit.Verdict]bool{k.want: true, audit.Violation: above, audit.NoViolation: k.bound != none && !above, "private": false} {
			if r.Verdict = verdict; (r.Check() == nil) != ok {
				t.Errorf("%+v: a report that says %q: %v", k, verdict, r.Check())
			}
		}
	}
}
