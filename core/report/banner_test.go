package report

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// The banner keeps on the same side of the claim as the bound, whatever it is rounded to.
func TestBanner(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	of := func(verdict audit.Verdict, claim audit.Claim, row *Row, bound *float64) Report {
		r := Report{Verdict: verdict, Claim: claim, Confidence: 0.999, LowerBound: bound}
		if row != nil {
			row.Chosen = true
			r.Tables = []Table{{Rows: []Row{*row}}}
		}
		return r
	}
	one := audit.Claim{Kind: audit.Pure, Epsilon: 1}
	for _, c := range []struct {
		r             Report
		title, detail string
	}{
		{of(audit.Violation, one, &Row{ID: Epsilon}, at(1.5999)), "Violation: ε ≥ 1.59", "ε = 1 claimed. 99.9 % confidence."},
		{of(audit.Violation, one, &Row{ID: Epsilon}, at(1.00049)), "Violation: ε ≥ 1.0004", "ε = 1 claimed. 99.9 % confidence."},
		{of(audit.Violation, one, &Row{ID: Epsilon, Strict: true}, at(1)), "Violation: ε > 1", "ε = 1 claimed. 99.9 % confidence."},
		{of(audit.Violation, one, &Row{ID: Epsilon, Strict: true}, at(1.5)), "Violation: ε > 1.50", "ε = 1 claimed. 99.9 % confidence."},
		{of(audit.NoViolation, one, &Row{ID: Epsilon, Strict: true}, at(0.25)), "No violation found", "ε > 0.25 shown of the 1 claimed. 99.9 % confidence. Not a proof of privacy."},
		{of(audit.Violation, audit.Claim{Kind: audit.Approximate, Epsilon: 2, Delta: 1e-5}, nil, nil), "Violation", "ε = 2, δ = 1e-05 claimed. 99.9 % confidence."},
		{of(audit.NoViolation, one, &Row{ID: Epsilon}, at(0.98765)), "No violation found", "ε ≥ 0.98 shown of the 1 claimed. 99.9 % confidence. Not a proof of privacy."},
		{of(audit.NoViolation, one, &Row{ID: Epsilon}, at(0.00012)), "No violation found", "ε ≥ 0.0001 shown of the 1 claimed. 99.9 % confidence. Not a proof of privacy."},
		{of(audit.NoViolation, audit.Claim{Kind: audit.GaussianDP, Mu: 1}, &Row{ID: Mu}, at(0.5)), "No violation found", "µ ≥ 0.50 shown of the 1 claimed. 99.9 % confidence. Not a proof of privacy."},
		{of(audit.Inconclusive, one, nil, nil), "Not decided: too few outputs", "ε = 1 claimed. Nothing was certified."},
		{Report{Verdict: audit.Invalid, Termination: audit.Termination{Message: "no\x1b output"}}, "The run failed", `no\x1b output`},
	} {
		if title, detail := c.r.Banner(); title != c.title || detail != c.detail {
			t.Errorf("%q, %q, want %q, %q", title, detail, c.title, c.detail)
		}
	}
}
