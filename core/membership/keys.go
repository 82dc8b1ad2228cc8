package membership

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/report"
)

// ClaimKeys are the claim, whose delta is [report.DefaultDelta] where none is named.
func ClaimKeys[P any](at func(*P) (claim **audit.Claim, defaulted *bool), epsilon, delta string) []settings.Key[P] {
	claim := func(p *P) *audit.Claim {
		c, defaulted := at(p)
		if *c == nil {
			*c, *defaulted = &audit.Claim{Kind: audit.Approximate, Delta: report.DefaultDelta}, true
		}
		return *c
	}
	return []settings.Key[P]{
		{Name: "epsilon", Field: "claim/epsilon", Always: true, At: settings.Number(func(p *P) *float64 { return &claim(p).Epsilon }), Range: settings.Above(0), Needed: "the epsilon that is claimed, for example 2",
			Usage: "claimed epsilon, above 0" + epsilon,
			Form:  &settings.Form{Place: "claim", Label: "Claimed epsilon", Empty: "2"}},
		{Name: "delta", Field: "claim/delta", Always: true, Range: settings.From(0, 1), Default: audit.Exactly(report.DefaultDelta),
			At: settings.Number(func(p *P) *float64 { return &claim(p).Delta }).Then(func(p *P, _ string) {
				c, defaulted := at(p)
				(*c).Kind, *defaulted = audit.DPClaim(1, (*c).Delta).Kind, false
			}),
			Usage: "claimed delta, in [0, 1); " + delta,
			Form:  &settings.Form{Place: "claim", Label: "Claimed delta", Empty: "0.00001"}},
	}
}

// EndKeys come last: the error, the seed and the parameters, if there are any.
func EndKeys[P any](at func(*P) (beta *float64, seed *uint64), params func(*P) *audit.Params) []settings.Key[P] {
	keys := []settings.Key[P]{
		{Name: "beta", At: settings.Number(func(p *P) *float64 { beta, _ := at(p); return beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "seed", Always: true, At: settings.Whole(func(p *P) *uint64 { _, seed := at(p); return seed }), Range: settings.In(0, audit.MaxSeed), Preset: audit.DefaultSeed,
			Usage: "seed of all randomness",
			Form:  &settings.Form{Place: "run", Label: "Seed", Empty: audit.DefaultSeed}},
	}
	if params != nil {
		keys = append(keys, settings.Key[P]{Name: "param", Field: "parameters", At: settings.Params(params),
			Usage: "parameter of the source as name=value; may be given more than once"})
	}
	return keys
}
