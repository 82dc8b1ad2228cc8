package pair

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// Keys are the settings of a plan, in the order in which a report names them.
func Keys() []settings.Key[Plan] {
	number := func(of func(*audit.Claim) *float64) settings.Value[Plan] {
		return settings.Number(func(p *Plan) *float64 { return of(p.claim()) })
	}
	// These say which guarantee is meant, where that is not said.
	means := func(kind audit.ClaimKind) func(*Plan, string) {
		return func(p *Plan, _ string) {
			if p.Claim.Kind == "" {
				p.Claim.Kind = kind
			}
		}
	}
	return []settings.Key[Plan]{
		{Name: "mechanism", At: settings.Word(func(p *Plan) *string { return &p.Mechanism }),
			Usage: "mechanism to audit (dpscope list shows all)",
			Form:  &settings.Form{Place: "mechanism", Label: "Mechanism", Wide: true}},
		{Name: "guarantee", Field: "claim/kind", At: settings.Word(func(p *Plan) *audit.ClaimKind { return &p.claim().Kind }),
			Usage: "kind of the claim: pure, approximate, renyi, zcdp or gaussian-dp; default: the kind that -alpha, -rho or -mu belongs to, else (epsilon, delta)",
			Form:  &settings.Form{Place: "claim", Label: "Guarantee", Wide: true}},
		{Name: "alpha", Field: "claim/alpha", Range: settings.Above(1), Claims: []audit.ClaimKind{audit.Renyi},
			At:    number(func(c *audit.Claim) *float64 { return &c.Alpha }).Then(means(audit.Renyi)),
			Usage: "order of a Rényi claim, above 1",
			Form:  &settings.Form{Place: "claim", Label: "Order alpha"}},
		{Name: "epsilon", Field: "claim/epsilon", Range: settings.Above(0), Claims: []audit.ClaimKind{"", audit.Pure, audit.Approximate, audit.Renyi},
			At:    number(func(c *audit.Claim) *float64 { return &c.Epsilon }),
			Usage: "claimed epsilon, above 0; default: what the mechanism claims at its parameters, or what that implies. A parameter epsilon of the mechanism, which scales its noise, follows it where the claims are of one kind, unless -param sets it",
			Form:  &settings.Form{Place: "claim", Label: "Claimed epsilon"}},
		{Name: "delta", Field: "claim/delta", Range: settings.From(0, 1), Claims: []audit.ClaimKind{"", audit.Approximate},
			At: number(func(c *audit.Claim) *float64 { return &c.Delta }).Then(func(p *Plan, _ string) {
				if p.Claim.Delta == 0 {
					means(audit.Pure)(p, "")
				}
			}),
			Usage: "claimed delta, in [0, 1); default: the delta of the mechanism's own claim, 0 for most",
			Form:  &settings.Form{Place: "claim", Label: "Claimed delta"}},
		{Name: "rho", Field: "claim/rho", Range: settings.Above(0), Claims: []audit.ClaimKind{audit.ZCDP},
			At:    number(func(c *audit.Claim) *float64 { return &c.Rho }).Then(means(audit.ZCDP)),
			Usage: "claimed rho of zCDP, above 0",
			Form:  &settings.Form{Place: "claim", Label: "Claimed rho"}},
		{Name: "mu", Field: "claim/mu", Range: settings.Above(0), Claims: []audit.ClaimKind{audit.GaussianDP},
			At:    number(func(c *audit.Claim) *float64 { return &c.Mu }).Then(means(audit.GaussianDP)),
			Usage: "claimed mu of Gaussian DP, above 0",
			Form:  &settings.Form{Place: "claim", Label: "Claimed mu"}},
		{Name: "relation", Option: "Relation", At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation: " + audit.Searchable + "; default: the mechanism's first",
			Form:  &settings.Form{Place: "claim", Label: "Neighbouring datasets", Wide: true}},
		{Name: "pair", At: settings.JSON(func(p *Plan) **audit.Pair { return &p.Pair }, audit.ParsePair),
			Usage: `neighbouring pair as JSON, instead of a search: {"first":{"columns":1,"values":[1]},"second":{"columns":1,"values":[1,0]}}`,
			Form:  &settings.Form{Place: "search", Label: "Pair", Hint: `two datasets as JSON, instead of a search: {"first": {"columns": …, "values": […]}, "second": {…}}`, Wide: true}},
		{Name: "finder", At: settings.Word(func(p *Plan) *string { return &p.Finder }), Default: audit.Auto,
			Usage: "how pairs are found",
			Form:  &settings.Form{Place: "search", Label: "Finder", Wide: true}},
		{Name: "learner", Option: "Learner", At: settings.Word(func(p *Plan) *string { return &p.Learner }), Default: audit.Auto,
			Usage: "what learns the test; auto: a portfolio of all that apply",
			Form:  &settings.Form{Place: "search", Label: "Learner", Wide: true}},
		{Name: "samples", Option: "Samples", At: settings.Whole(func(p *Plan) *int { return &p.Samples }), Range: settings.In(MinSamples, MaxSamples), Default: "100000",
			Usage: "certification outputs a side; by default fewer for google-* mechanisms, whose outputs cost more",
			Form:  &settings.Form{Place: "budget", Label: "Samples", Hint: "to certify, a side", Empty: "100000"}},
		{Name: "explore", Option: "Explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(0, MaxSamples),
			Usage: "exploration outputs a side and trial; 0: as many as -samples, up to 2^24 numbers a side; at most 2^26",
			Form:  &settings.Form{Place: "more", Label: "Exploration", Hint: "samples a side and pair; 0: as many as above"}},
		{Name: "trials", Option: "Trials", At: settings.Whole(func(p *Plan) *int { return &p.Trials }), Range: settings.In(1, MaxTrials), Default: "10",
			Usage: "pairs to explore",
			Form:  &settings.Form{Place: "more", Label: "Pairs to explore", Empty: "10"}},
		{Name: "beta", Option: "FalseAlarm", At: settings.Number(func(p *Plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "through-renyi", Field: "throughRenyi", At: settings.Number(func(p *Plan) *float64 { return &p.ThroughRenyi }), Range: settings.Above(1), Claims: []audit.ClaimKind{"", audit.Pure},
			Usage: "test a pure claim through its Rényi divergence of this order, above 1, instead of an event",
			Form:  &settings.Form{Place: "more", Label: "Through Rényi", Hint: "order alpha; tests a pure claim by its Rényi divergence at that order", Empty: "no"}},
		{Name: "anytime", At: settings.Switch(func(p *Plan) *bool { return &p.Anytime }),
			Usage: "a bound that is valid at any time: the run ends when the claim is refuted, and may be stopped (Ctrl-C) with its bound intact; -samples is then the most that it draws",
			Form:  &settings.Form{Place: "budget", Label: "Anytime", Hint: "the bound climbs live and holds whenever you stop; the run ends by itself once the claim is refuted"}},
		{Name: "seed", Option: "Seed", At: settings.Whole(func(p *Plan) *uint64 { return &p.Seed }), Range: settings.In(0, audit.MaxSeed), Preset: audit.DefaultSeed, Always: true,
			Usage: "seed of all randomness",
			Form:  &settings.Form{Place: "budget", Label: "Seed"}},
		{Name: "param", Field: "parameters", At: settings.Params(func(p *Plan) *audit.Params { return &p.Parameters }),
			Usage: "parameter of the mechanism as name=value; may be given more than once"},
	}
}

// claim is the plan's claim, to be set.
func (p *Plan) claim() *audit.Claim {
	if p.Claim == nil {
		p.Claim = &audit.Claim{}
	}
	return p.Claim
}
