// Package pair audits a mechanism on a pair of neighbouring datasets: a finder proposes pairs, learners
// make a [Witness] that tells the outputs apart, and package bounds has the bound from counts of fresh
// outputs (CONTRIBUTING.md has the way of one audit).
package pair

import (
	"cmp"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
)

// PlanVersion is that of plans: of their JSON form, and of their statistics.
const PlanVersion = 1

const (
	MinSamples = audit.MinSamples
	MaxSamples = 1_000_000_000
	MaxTrials  = 10_000
	// How many float64 one exploration may hold in memory, both sides together.
	maxExploreCells   = 1 << 27 // 1 GiB
	usualExploreCells = 1 << 25 // 256 MiB, unless a plan asks for more: a browser has that
)

// Plan says what to audit and how. Its zero values mean the documented defaults.
type Plan struct {
	Version    int            `json:"version"`
	Mechanism  string         `json:"mechanism"`
	Parameters audit.Params   `json:"parameters,omitempty"`
	Claim      *audit.Claim   `json:"claim,omitempty"`    // default: the mechanism's own at its parameters, or what that implies
	Relation   audit.Relation `json:"relation,omitempty"` // default: the mechanism's first
	Pair       *audit.Pair    `json:"pair,omitempty"`     // instead of a search
	Group      int            `json:"group,omitempty"`    // steps by which a pair may differ, default 1
	Finder     string         `json:"finder,omitempty"`   // default auto: the mechanism's pairs, then patterns and what was loud
	Learner    string         `json:"learner,omitempty"`  // default auto: a portfolio of all that apply
	Samples    int            `json:"samples,omitempty"`  // outputs a side: at most, of all pairs; of a fixed audit those that certify; default 200000, of recorded outputs all rows
	Explore    int            `json:"explore,omitempty"`  // outputs a side: of a fixed audit that all pairs are explored with, default 1.5 times Samples; of one that climbs those that show an event, default Samples, at most 10000; of recorded outputs half of the rows
	Trials     int            `json:"trials,omitempty"`   // pairs to explore, default 10
	Beta       float64        `json:"beta,omitempty"`     // allowed error, in (0, 0.5]; default 0.05
	Seed       uint64         `json:"seed"`               // at most [audit.MaxSeed]

	Mode Mode `json:"mode,omitempty"` // default Climbing
	// ThroughRenyi is an order above 1 of the divergence that tests a pure claim; 0: an event does.
	ThroughRenyi float64 `json:"throughRenyi,omitempty"`
}

// Mode says what an audit is after.
type Mode string

const (
	// Climbing: a sequential test, valid at any time, until the claim is refuted and the bound
	// climbs no more, or Samples are drawn. Fresh outputs of its pair follow.
	Climbing     Mode = "climbing"
	Fixed        Mode = "fixed"         // no sequential test; exploration, then the exact bound on fresh outputs
	UntilRefuted Mode = "until-refuted" // the sequential test alone, until the claim is refuted or Samples are drawn
)

// ForVerdict is the plan for the verdict alone, as tests and builds want it: [UntilRefuted], or
// [Fixed] where it says how much to explore, unless it names a mode.
func (p Plan) ForVerdict() Plan {
	switch {
	case p.Mode != "":
	case p.Explore > 0:
		p.Mode = Fixed
	default:
		p.Mode = UntilRefuted
	}
	return p
}

// ParsePlan reads a plan from JSON; unknown fields and other versions are refused.
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	err := audit.DecodeStrict(data, "plan", &p)
	return p, err
}

// Keys are the settings of a plan, in the order of a report.
func Keys() []settings.Key[Plan] {
	number := func(of func(*audit.Claim) *float64) settings.Value[Plan] {
		return settings.Number(func(p *Plan) *float64 { return of(p.claim()) })
	}
	// These say which guarantee is meant, where that is not said.
	means := func(kind audit.ClaimKind) func(*Plan, string) {
		return func(p *Plan, _ string) { p.Claim.Kind = cmp.Or(p.Claim.Kind, kind) }
	}
	return []settings.Key[Plan]{
		{Name: "mechanism", At: settings.Word(func(p *Plan) *string { return &p.Mechanism }),
			Usage: "mechanism to audit (dpscope list shows all)",
			Form:  &settings.Form{Place: "mechanism", Label: "Mechanism", Wide: true}},
		{Name: "guarantee", Field: "claim/kind", At: settings.Word(func(p *Plan) *audit.ClaimKind { return &p.claim().Kind }),
			Usage: "kind of the claim: pure, approximate, renyi, zcdp, gaussian-dp or profile; default: the kind that -alpha, -rho, -mu or -profile belongs to, else (epsilon, delta)",
			Form:  &settings.Form{Place: "claim", Label: "Guarantee", Wide: true}},
		{Name: "alpha", Field: "claim/alpha", Range: settings.Above(1), Claims: []audit.ClaimKind{audit.Renyi},
			At:    number(func(c *audit.Claim) *float64 { return &c.Alpha }).Then(means(audit.Renyi)),
			Usage: "order of a Rényi claim, above 1",
			Form:  &settings.Form{Place: "claim", Label: "Order alpha"}},
		{Name: "epsilon", Field: "claim/epsilon", Range: settings.Above(0), Claims: []audit.ClaimKind{"", audit.Pure, audit.Approximate, audit.Renyi},
			At:    number(func(c *audit.Claim) *float64 { return &c.Epsilon }),
			Usage: "claimed epsilon, above 0; default: what the mechanism claims at its parameters, or what that implies. If the mechanism has a parameter epsilon, which scales its noise, it takes this value where the claims are of one kind, unless -param sets it",
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
		{Name: "profile", Field: "claim/profile", Claims: []audit.ClaimKind{audit.Profile},
			At:    settings.JSON(func(p *Plan) **audit.PrivacyProfile { return &p.claim().Profile }, audit.ParseProfile).Then(means(audit.Profile)),
			Usage: `claim as a curve, as JSON: {"points":[{"epsilon":1,"delta":0.01}]}; -claim-file reads one from a file`,
			Form:  &settings.Form{Place: "claim", Label: "Claimed curve", Hint: `points as JSON: {"points": [{"epsilon": 1, "delta": 0.01}]}`, Wide: true}},
		{Name: "relation", At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation: " + audit.Searchable + "; default: the mechanism's first",
			Form:  &settings.Form{Place: "claim", Label: "Neighbouring datasets", Wide: true}},
		{Name: "pair", At: settings.JSON(func(p *Plan) **audit.Pair { return &p.Pair }, audit.ParsePair),
			Usage: `neighbouring pair as JSON, instead of a search: {"first":{"columns":1,"values":[1]},"second":{"columns":1,"values":[1,0]}}`,
			Form:  &settings.Form{Place: "search", Label: "Pair", Hint: `two datasets as JSON, instead of a search: {"first": {"columns": …, "values": […]}, "second": {…}}`, Wide: true}},
		{Name: "group", At: settings.Whole(func(p *Plan) *int { return &p.Group }), Range: settings.In(0, maxGroup), Default: "1",
			Usage: "largest number of rows by which a pair may differ; the bound is converted back to one row (group privacy)",
			Form:  &settings.Form{Place: "more", Label: "Group", Hint: "rows by which a pair may differ; the bound is converted to one row", Empty: "1"}},
		{Name: "finder", At: settings.Word(func(p *Plan) *string { return &p.Finder }), Default: audit.Auto,
			Usage: "how pairs are found",
			Form:  &settings.Form{Place: "search", Label: "Finder", Wide: true}},
		{Name: "learner", At: settings.Word(func(p *Plan) *string { return &p.Learner }), Default: audit.Auto,
			Usage: "learner of the test, as in mlp or mlp:epochs=5:units=64; auto: a portfolio of all that apply",
			Form:  &settings.Form{Place: "search", Label: "Learner", Wide: true}},
		{Name: "samples", At: settings.Whole(func(p *Plan) *int { return &p.Samples }), Range: settings.In(MinSamples, MaxSamples), Default: "200000",
			Usage: "outputs a side: at most, of all pairs; with -fixed those that certify; by default fewer for google-* mechanisms, whose outputs cost more, and all rows of -samples-file, with -fixed those that are not explored",
			Form:  &settings.Form{Place: "budget", Label: "Samples", Hint: "a side, at most", Empty: "200000"}},
		{Name: "explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(0, MaxSamples),
			Usage: "with -fixed outputs a side that are explored, over all pairs; 0: 1.5 times -samples, up to 2^24 numbers a side; at most 2^26. Else outputs a side that show an event once the bound is there; 0: -samples, at most 10000. Of -samples-file, 0 is half of the rows",
			Form:  &settings.Form{Place: "more", Label: "Exploration", Hint: "fixed: samples a side that are explored; else those that show an event; 0: chosen by the number above"}},
		{Name: "trials", At: settings.Whole(func(p *Plan) *int { return &p.Trials }), Range: settings.In(1, MaxTrials), Default: "10",
			Usage: "pairs to explore",
			Form:  &settings.Form{Place: "more", Label: "Pairs to explore", Empty: "10"}},
		{Name: "beta", At: settings.Number(func(p *Plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "through-renyi", Field: "throughRenyi", At: settings.Number(func(p *Plan) *float64 { return &p.ThroughRenyi }), Range: settings.Above(1), Claims: []audit.ClaimKind{"", audit.Pure},
			Usage: "test a pure claim through its Rényi divergence of this order, above 1, instead of an event",
			Form:  &settings.Form{Place: "more", Label: "Through Rényi", Hint: "order alpha; tests a pure claim by its Rényi divergence at that order", Empty: "no"}},
		{Name: "until-refuted", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, UntilRefuted),
			Usage: "stop when the claim is refuted, without a bound that climbs on or an event",
			Form:  &settings.Form{Place: "budget", Label: "Until refuted", Hint: "the run ends when the claim is refuted; its result holds whenever you stop it"}},
		{Name: "fixed", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Fixed),
			Usage: "no sequential test: the exact bound at this number of samples",
			Form:  &settings.Form{Place: "more", Label: "Fixed", Hint: "no sequential test: the tightest bound at this number of samples"}},
		{Name: "seed", At: settings.Whole(func(p *Plan) *uint64 { return &p.Seed }), Range: settings.In(0, audit.MaxSeed), Preset: audit.DefaultSeed, Always: true,
			Usage: "seed of all randomness",
			Form:  &settings.Form{Place: "budget", Label: "Seed"}},
		{Name: "param", Field: "parameters", At: settings.Params(func(p *Plan) *audit.Params { return &p.Parameters }),
			Usage: "parameter of the mechanism as name=value; may be given more than once"},
	}
}

func (p *Plan) claim() *audit.Claim {
	if p.Claim == nil {
		p.Claim = &audit.Claim{}
	}
	return p.Claim
}
