package pair

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// PlanVersion is the version of plans: of their JSON form, and of the statistics that
// their reports are made with.
const PlanVersion = 1

// Limits of a plan.
const (
	MinSamples = audit.MinSamples
	MaxSamples = 1_000_000_000
	MaxTrials  = 10_000
	// maxExploreCells is how many float64 one exploration may hold in memory,
	// both sides together (1 GiB): explored outputs are kept, certified ones are
	// not. Where a plan does not ask for more, it is usualExploreCells (256 MiB),
	// which a browser has too.
	maxExploreCells   = 1 << 27
	usualExploreCells = 1 << 25
)

// Plan says what to audit and how. Its zero values mean the documented
// defaults.
type Plan struct {
	Version    int            `json:"version"`
	Mechanism  string         `json:"mechanism"`
	Parameters audit.Params   `json:"parameters,omitempty"`
	Claim      *audit.Claim   `json:"claim,omitempty"`    // default: what the mechanism claims at its parameters, or what that implies
	Relation   audit.Relation `json:"relation,omitempty"` // default: the mechanism's first
	Pair       *audit.Pair    `json:"pair,omitempty"`     // default: the finder searches; given: no search
	// Group is by how many steps of the relation a pair may differ; default 1. Bounds are
	// divided back. More than 1 for claims of (epsilon, delta) only.
	Group   int     `json:"group,omitempty"`
	Finder  string  `json:"finder,omitempty"`  // default auto: the mechanism's pairs, then patterns and what was loud
	Learner string  `json:"learner,omitempty"` // default auto: a portfolio of all that apply
	Samples int     `json:"samples,omitempty"` // certification outputs a side, and at most so many of all pairs to the verdict; default 100000
	Explore int     `json:"explore,omitempty"` // exploration outputs a side of all pairs, default 1.5 times Samples
	Trials  int     `json:"trials,omitempty"`  // pairs to explore, default 10
	Beta    float64 `json:"beta,omitempty"`    // allowed error of the certificate, in (0, 0.5]; default 0.05
	Seed    uint64  `json:"seed"`              // at most [audit.MaxSeed]

	Mode Mode `json:"mode,omitempty"` // default VerdictAndBound
	// ThroughRenyi, an order alpha above 1, tests a pure claim by the Rényi
	// divergence of that order; 0: by an event.
	ThroughRenyi float64 `json:"throughRenyi,omitempty"`
}

// Mode says what an audit is after.
type Mode string

// Modes of audits.
const (
	// VerdictAndBound: a fifth of the error is for a sequential verdict, the rest for an exact bound
	// on fresh outputs; the larger bound counts.
	VerdictAndBound Mode = "verdict-and-bound"
	// Fixed: no sequential stage; all of the error is for the exact bound.
	Fixed Mode = "fixed"
	// UntilRefuted: the sequential stage alone, which ends when the claim is refuted, or
	// when Samples outputs a side were drawn of all pairs; all of the error is for it.
	UntilRefuted Mode = "until-refuted"
)

// ForVerdict is the plan for those who want the verdict alone, as tests and builds do:
// [UntilRefuted], unless it names a mode or says how much to explore.
func (p Plan) ForVerdict() Plan {
	if p.Mode == "" && p.Explore == 0 {
		p.Mode = UntilRefuted
	}
	return p
}

// ParsePlan reads a plan from JSON; unknown fields and other versions are
// refused.
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	if err := audit.DecodeStrict(data, "plan", &p); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Audit is a plan that was checked and whose defaults are filled in.
type Audit struct {
	Plan      Plan // every field set
	Spec      audit.MechanismSpec
	Mechanism audit.Mechanism
	Columns   []audit.Column
	Domain    audit.Domain
	Claim     audit.Claim
	Notes     []string // what was changed from what was asked, in words
}

// Resolve checks a plan against the catalogue and fills in its defaults.
func (p Plan) Resolve(cat audit.Catalogue) (*Audit, error) {
	if err := report.CheckPlanVersion("plan", p.Version, PlanVersion); err != nil {
		return nil, err
	}
	spec, err := cat.Mechanism(p.Mechanism)
	if err != nil {
		return nil, err
	}
	var given audit.Claim
	if p.Claim != nil {
		given = *p.Claim
		// Before parameters follow it, so that the error is about the claim.
		// What is left open is taken from the mechanism's own claim.
		likely := audit.DPClaim(1, 0)
		if given.Kind == audit.Approximate {
			likely.Delta = 0.5
		}
		if err := given.Complete(likely).Validate(); err != nil {
			return nil, err
		}
	}
	params, err := followParams(spec, p.Parameters, given)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", spec.Name, err)
	}
	mechanism, err := spec.New(params)
	if err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", spec.Name, audit.At("mechanism", err))
	}
	own := spec.Claim(params)
	a := &Audit{Mechanism: mechanism, Plan: p, Spec: spec, Claim: given.Complete(own)}
	if err := a.Claim.Validate(); err != nil {
		return nil, fmt.Errorf("%w (mechanism %s claims %s, which implies no such claim)", err, spec.Name, own)
	}
	a.Plan.Parameters, a.Plan.Claim = params, &a.Claim
	if a.Claim.Kind == audit.Pure && own.Kind == audit.Approximate && given.Kind == audit.Pure {
		a.Notes = append(a.Notes, fmt.Sprintf("%s claims no more than %s; the audit is of delta = 0", spec.Name, own))
	}
	if l := spec.Labelled; l != nil {
		a.Notes = append(a.Notes, l.Notes...)
	}
	if err := a.resolveGoal(); err != nil {
		return nil, err
	}
	if err := a.resolveRelation(); err != nil {
		return nil, err
	}
	a.Columns = a.Mechanism.Columns()
	if err := audit.CheckColumns(a.Columns); err != nil {
		return nil, fmt.Errorf("mechanism %s: %w", spec.Name, audit.At("mechanism", err))
	}
	if err := a.resolveMethods(cat); err != nil {
		return nil, err
	}
	if err := a.resolveBudget(); err != nil {
		return nil, err
	}
	return a, nil
}

// followParams resolves parameters; those that bear the claim's names follow it
// where the mechanism's own claim is of its kind: the epsilon of a Rényi claim is
// none for a mechanism that takes an epsilon of pure DP.
func followParams(spec audit.MechanismSpec, given audit.Params, claim audit.Claim) (audit.Params, error) {
	params, err := audit.ResolveParams(spec.Params, given, audit.Claim{})
	if err != nil {
		return nil, err
	}
	if own := spec.Claim(params); own.Kind != claim.Kind && !(own.IsDP() && claim.IsDP()) {
		return params, nil
	}
	return audit.ResolveParams(spec.Params, given, claim)
}

// resolveGoal checks the order of a test through the Rényi divergence.
func (a *Audit) resolveGoal() error {
	alpha := a.Plan.ThroughRenyi
	if alpha == 0 {
		return nil
	}
	if bounds.CheckAlpha(alpha) != nil {
		return &audit.InputError{Field: "throughRenyi", Path: "through-renyi", Found: audit.Number(alpha), Want: "an order: a finite number above 1", Remedy: "2 is usual, larger orders see rarer events"}
	}
	if a.Claim.Kind != audit.Pure {
		return &audit.InputError{Field: "throughRenyi", Path: "through-renyi", Found: audit.Number(alpha), Want: fmt.Sprintf("absent for the claim %s", a.Claim),
			Remedy: "only a pure claim limits the Rényi divergence; a Rényi claim is tested at its own order"}
	}
	return nil
}

func (a *Audit) resolveRelation() error {
	allowed := a.Spec.Relations(a.Plan.Parameters)
	if a.Plan.Relation == "" {
		a.Plan.Relation = allowed[0]
	}
	r, err := audit.ParseRelation(string(a.Plan.Relation))
	if err != nil {
		return err
	}
	names := make([]string, len(allowed))
	found := false
	for i, x := range allowed {
		names[i] = string(x)
		found = found || x == r
	}
	if !found {
		return &audit.InputError{Field: "relation", Found: fmt.Sprintf("%q", r),
			Want: fmt.Sprintf("one that %s defines at these parameters: %s", a.Spec.Name, strings.Join(names, ", "))}
	}
	a.Domain = a.Spec.Domain(a.Plan.Parameters, r)
	if err := a.resolveGroup(); err != nil {
		return err
	}
	if a.Plan.Pair != nil {
		_, err := a.steps(*a.Plan.Pair)
		return audit.At("pair", err)
	}
	return nil
}

func (a *Audit) resolveMethods(cat audit.Catalogue) error {
	p := &a.Plan
	if p.Learner == "" {
		p.Learner = audit.Auto
	}
	if p.Learner != audit.Auto {
		l, err := cat.Learner(p.Learner)
		if err != nil {
			return err
		}
		if err := l.Applies(a.Columns); err != nil {
			return &audit.InputError{Field: "learner", Found: fmt.Sprintf("%q", p.Learner), Want: "one that fits the outputs of " + p.Mechanism, Remedy: err.Error()}
		}
	}
	if p.Finder == "" {
		p.Finder = audit.Auto
	}
	f, err := cat.Finder(p.Finder)
	if err != nil || p.Pair != nil || f.Fits(a.Spec, p.Parameters) {
		return err
	}
	var others []string
	for _, m := range cat.Mechanisms {
		if params, err := audit.ResolveParams(m.Params, nil, audit.Claim{}); err == nil && f.Fits(m, params) {
			others = append(others, m.Name)
		}
	}
	bad := &audit.InputError{Field: "finder", Found: strconv.Quote(p.Finder), Want: "another for " + p.Mechanism + ", as it poisons the table of a learner"}
	if bad.Remedy = "use the finder auto"; len(others) > 0 {
		bad.Remedy = "use the finder auto, or audit one of " + strings.Join(others, ", ")
	}
	return bad
}

// resolveMode checks what the audit is after.
func (a *Audit) resolveMode() error {
	p := &a.Plan
	curve := a.Claim.Kind == audit.Profile
	if p.Mode == "" {
		if p.Mode = VerdictAndBound; curve {
			p.Mode = Fixed
		}
	}
	if curve && p.Mode == VerdictAndBound {
		return &audit.InputError{Field: "mode", Found: fmt.Sprintf("%q", p.Mode), Want: "absent, fixed or until-refuted for a claim that is a curve", Remedy: "fixed bounds the point of the curve that exploration chooses, until-refuted bets against the whole curve; the two bounds are of different quantities"}
	}
	if modes := []Mode{VerdictAndBound, Fixed, UntilRefuted}; !slices.Contains(modes, p.Mode) {
		return &audit.InputError{Field: "mode", Found: fmt.Sprintf("%q", p.Mode), Want: fmt.Sprintf("one of %v", modes)}
	}
	if p.Mode == UntilRefuted && p.Explore != 0 {
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: "absent in an audit until the claim is refuted, which explores as it goes on"}
	}
	return nil
}

func (a *Audit) resolveBudget() error {
	p := &a.Plan
	if err := a.resolveMode(); err != nil {
		return err
	}
	if a.Spec.Recording != nil {
		if err := a.splitRecorded(); err != nil {
			return err
		}
	}
	if p.Samples == 0 {
		p.Samples = 100_000
	}
	if p.Samples < MinSamples || p.Samples > MaxSamples {
		return &audit.InputError{Field: "samples", Found: fmt.Sprint(p.Samples), Want: fmt.Sprintf("in [%d, %d]", MinSamples, MaxSamples)}
	}
	if err := a.resolveExplore(); err != nil {
		return err
	}
	if p.Trials == 0 {
		p.Trials = 10
	}
	if p.Trials < 1 || p.Trials > MaxTrials {
		return &audit.InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: fmt.Sprintf("in [1, %d]", MaxTrials)}
	}
	if p.Beta == 0 {
		p.Beta = 0.05
	}
	if math.IsNaN(p.Beta) || p.Beta < 1e-9 || p.Beta > 0.5 {
		return &audit.InputError{Field: "beta", Found: audit.Number(p.Beta), Want: "in [1e-9, 0.5]"}
	}
	if p.Seed > audit.MaxSeed {
		return &audit.InputError{Field: "seed", Found: fmt.Sprint(p.Seed), Want: fmt.Sprintf("in [0, %d]", uint64(audit.MaxSeed))}
	}
	return nil
}

// resolveExplore fills in and checks how many outputs are explored.
func (a *Audit) resolveExplore() error {
	p := &a.Plan
	if p.Mode == UntilRefuted {
		return nil
	}
	// What is held in memory, at most, and where the plan does not ask for more.
	most, usual := maxExploreCells/(2*audit.Width(a.Columns)), usualExploreCells/(2*audit.Width(a.Columns))
	want := p.Samples + p.Samples/2
	switch {
	case p.Explore == 0 && want > usual:
		p.Explore = usual
		a.Notes = append(a.Notes, fmt.Sprintf("explored with %d outputs a side, the most that is held in memory unless the plan asks for up to %d, instead of %d", usual, most, want))
	case p.Explore == 0:
		p.Explore = want
	case p.Explore < MinSamples || p.Explore > most:
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("in [%d, %d] for outputs of %d numbers", MinSamples, most, audit.Width(a.Columns)),
			Remedy: "0 means one and a half times as many as samples, up to that"}
	}
	return nil
}

// Cost is how many outputs the audit draws at most, on both datasets, and how many bytes
// of them it holds at once.
func (a *Audit) Cost() (outputs, bytes int) {
	p := a.Plan
	outputs = 2 * (p.Samples + p.Explore)
	if p.Mode == VerdictAndBound {
		outputs += 2 * a.raceBudget()
	}
	return outputs, 2 * 8 * p.Explore * audit.Width(a.Columns)
}

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
			Usage: "kind of the claim: pure, approximate, renyi, zcdp, gaussian-dp or profile; default: the kind that -alpha, -rho, -mu or -profile belongs to, else (epsilon, delta)",
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
		{Name: "profile", Field: "claim/profile", Claims: []audit.ClaimKind{audit.Profile},
			At:    settings.JSON(func(p *Plan) **audit.PrivacyProfile { return &p.claim().Profile }, audit.ParseProfile).Then(means(audit.Profile)),
			Usage: `claim as a curve, as JSON: {"points":[{"epsilon":1,"delta":0.01}]}; -claim-file reads one from a file`,
			Form:  &settings.Form{Place: "claim", Label: "Claimed curve", Hint: `points as JSON: {"points": [{"epsilon": 1, "delta": 0.01}]}`, Wide: true}},
		{Name: "relation", Option: "Relation", At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
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
		{Name: "learner", Option: "Learner", At: settings.Word(func(p *Plan) *string { return &p.Learner }), Default: audit.Auto,
			Usage: "learner of the test; auto: a portfolio of all that apply",
			Form:  &settings.Form{Place: "search", Label: "Learner", Wide: true}},
		{Name: "samples", Option: "Samples", At: settings.Whole(func(p *Plan) *int { return &p.Samples }), Range: settings.In(MinSamples, MaxSamples), Default: "100000",
			Usage: "certification outputs a side; by default fewer for google-* mechanisms, whose outputs cost more",
			Form:  &settings.Form{Place: "budget", Label: "Samples", Hint: "to certify, a side", Empty: "100000"}},
		{Name: "explore", Option: "Explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(0, MaxSamples),
			Usage: "exploration outputs a side, over all pairs; 0: one and a half times -samples, up to 2^24 numbers a side; at most 2^26",
			Form:  &settings.Form{Place: "more", Label: "Exploration", Hint: "samples a side, of all pairs; 0: one and a half times as many as above"}},
		{Name: "trials", Option: "Trials", At: settings.Whole(func(p *Plan) *int { return &p.Trials }), Range: settings.In(1, MaxTrials), Default: "10",
			Usage: "pairs to explore",
			Form:  &settings.Form{Place: "more", Label: "Pairs to explore", Empty: "10"}},
		{Name: "beta", Option: "FalseAlarm", At: settings.Number(func(p *Plan) *float64 { return &p.Beta }), Range: settings.In(1e-9, 0.5), Default: "0.05",
			Usage: "allowed error of the bound; its confidence is 1 - beta",
			Form:  &settings.Form{Place: "more", Label: "Beta", Hint: "allowed error; confidence is 1 − beta", Empty: "0.05"}},
		{Name: "through-renyi", Field: "throughRenyi", At: settings.Number(func(p *Plan) *float64 { return &p.ThroughRenyi }), Range: settings.Above(1), Claims: []audit.ClaimKind{"", audit.Pure},
			Usage: "test a pure claim through its Rényi divergence of this order, above 1, instead of an event",
			Form:  &settings.Form{Place: "more", Label: "Through Rényi", Hint: "order alpha; tests a pure claim by its Rényi divergence at that order", Empty: "no"}},
		{Name: "until-refuted", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, UntilRefuted),
			Usage: "stop when the claim is refuted: the sequential test gets all of the error and may be stopped (Ctrl-C) at any time; -samples is then the most that it draws a side, over all pairs",
			Form:  &settings.Form{Place: "budget", Label: "Until refuted", Hint: "the run ends when the claim is refuted; its result holds whenever you stop it"}},
		{Name: "fixed", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Fixed),
			Usage: "no sequential test: the exact bound at this number of samples gets all of the error",
			Form:  &settings.Form{Place: "more", Label: "Fixed", Hint: "no sequential test: the tightest bound at this number of samples"}},
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

// arguments list what reproduces the audit: the mechanism, the claim, the seed, and
// whatever else is not a default.
func (a *Audit) arguments() (args, params []audit.Argument) {
	keys := Keys()
	if o, ok := outside(a.Spec); ok {
		args, keys = settings.Written(OutsideKeys(), o, Outside{}), settings.Without(keys, "mechanism")
		if a.Spec.Labelled != nil {
			keys = Keys()
		}
		if r := a.Plan.Relation; a.Spec.Brought != nil && r != audit.AddRemove { // it belongs to the datasets
			at := slices.IndexFunc(args, func(x audit.Argument) bool { return x.Name == "reach" || x.Name == "kind" })
			args = slices.Insert(args, max(at, 0), audit.Argument{Name: "relation", Value: string(r)})
		}
	}
	args = append(args, settings.Written(keys, a.Plan, a.otherwise())...)
	// Of parameters that follow the claim the defaults do too.
	defaults, err := followParams(a.Spec, nil, a.Claim)
	if err == nil {
		return args, a.Plan.Parameters.Changed(a.Spec.Params, defaults)
	}
	for _, x := range a.Spec.Params { // none has a default that the claim allows
		params = append(params, audit.Argument{Name: "p." + x.Name, Value: a.Plan.Parameters[x.Name].String()})
	}
	return args, params
}

// otherwise is a plan with what the audit would have of itself in the place of what
// does not have to be said.
func (a *Audit) otherwise() Plan {
	p := a.Plan
	out := Plan{Claim: &audit.Claim{}, Relation: a.Spec.Relations(p.Parameters)[0], Finder: audit.Auto, Learner: audit.Auto,
		Samples: 100_000, Explore: p.Samples + p.Samples/2, Trials: 10, Beta: 0.05}
	if p.Mode == UntilRefuted {
		out.Explore = 0
	}
	if a.Claim.Kind == audit.Profile {
		out.Mode = Fixed
	}
	if a.Spec.Recording != nil {
		out.Trials = p.Trials
		if a.splitsByDefault() {
			out.Samples, out.Explore = p.Samples, p.Explore
		}
	}
	if own := a.Spec.Claim(p.Parameters); a.Claim.IsDP() {
		if own.IsDP() && !(a.Claim.Kind == audit.Pure && own.Delta > 0) {
			out.Claim.Kind = a.Claim.Kind // epsilon and delta tell
		}
		if own.Delta > 0 {
			out.Claim.Delta = -1 // its delta is the default: any other has to be said, 0 too
		}
	}
	return out
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	if a.Spec.Custom {
		return audit.Reproduce{Note: "The mechanism is the caller's own: run the test that audited it again, with this seed."}
	}
	args, params := a.arguments()
	args = append(args, params...)
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope audit", args)}
	switch b := a.Spec.Brought; {
	case a.Spec.Recording != nil:
		r.Note = "It needs the same file: its SHA-256 stands in the report's inputs."
	case b != nil && b.Kind.Scripted():
		r = audit.Reproduce{Note: "The report holds the function: open it in the page and press Verify."}
	case b != nil && b.SHA256 != "":
		r.Note = "It needs the same file: its SHA-256 stands in the report's inputs."
	case b != nil:
		r.Note = "It needs the same program in the same place."
	case a.Spec.Unseeded != "":
		r.URL, r.Note = audit.FragmentOf(args), "Another run gives different counts: "+a.Spec.Unseeded+"."
	default:
		r.URL, r.GoTest = audit.FragmentOf(args), a.goTest(params)
	}
	return r
}

// goTest is the audit as a call of package dptest, or "" where that has no
// option for it.
func (a *Audit) goTest(params []audit.Argument) string {
	if a.Claim.Kind == audit.Profile {
		return ""
	}
	var numbers, words string
	for _, k := range Keys() {
		number := k.At.Type == settings.NumberType || k.At.Type == settings.WholeType
		k.Always = k.Option != "" && number // of words those that are not the default
		for _, x := range settings.Written([]settings.Key[Plan]{k}, a.Plan, a.otherwise()) {
			switch {
			case k.Field == "mode":
			case k.Option != "" && number:
				numbers += fmt.Sprintf(", %s: %s", k.Option, x.Value)
			case k.Option != "":
				words += fmt.Sprintf(", %s: %q", k.Option, x.Value)
			case k.Name != "mechanism" && !strings.HasPrefix(k.Field, "claim/"):
				return ""
			}
		}
	}
	if a.Plan.Mode != UntilRefuted {
		words += fmt.Sprintf(", Mode: %q", a.Plan.Mode)
	}
	claim := fmt.Sprintf("audit.DPClaim(%s, %s)", audit.Exactly(a.Claim.Epsilon), audit.Exactly(a.Claim.Delta))
	switch a.Claim.Kind {
	case audit.Renyi:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.Renyi, Alpha: %s, Epsilon: %s}", audit.Exactly(a.Claim.Alpha), audit.Exactly(a.Claim.Epsilon))
	case audit.ZCDP:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.ZCDP, Rho: %s}", audit.Exactly(a.Claim.Rho))
	case audit.GaussianDP:
		claim = fmt.Sprintf("audit.Claim{Kind: audit.GaussianDP, Mu: %s}", audit.Exactly(a.Claim.Mu))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "dptest.RequireNoViolation(t, dptest.From(mechanisms.All(), %q", a.Plan.Mechanism)
	for _, x := range params {
		fmt.Fprintf(&b, ", %q", strings.TrimPrefix(x.Name, "p.")+"="+x.Value)
	}
	fmt.Fprintf(&b, "), %s, dptest.Options{%s})", claim, strings.TrimPrefix(numbers+words, ", "))
	return b.String()
}

// splitRecorded fills in and checks the budget of an audit of recorded outputs.
func (a *Audit) splitRecorded() error {
	p, r := &a.Plan, a.Spec.Recording
	n := min(r.Rows[0], r.Rows[1])
	if n < 2*MinSamples {
		return &audit.InputError{Field: "rows of a dataset", Path: "mechanism", Found: fmt.Sprint(n), Want: fmt.Sprintf("at least %d: %d to explore and %d to certify", 2*MinSamples, MinSamples, MinSamples)}
	}
	if p.Finder != audit.Auto || p.Pair != nil {
		return &audit.InputError{Field: "finder or pair", Path: "finder", Found: "given", Want: "absent for recorded outputs, which are of one pair of datasets"}
	}
	if p.Trials == 0 {
		p.Trials = 1
	}
	if p.Trials != 1 {
		return &audit.InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: "1 for recorded outputs, which are of one pair of datasets"}
	}
	most := min(n-MinSamples, usualExploreCells/(2*audit.Width(a.Columns)))
	if p.Mode == UntilRefuted {
		if p.Samples == 0 {
			p.Samples = n
		}
		if p.Samples > n {
			return &audit.InputError{Field: "samples", Found: fmt.Sprint(p.Samples), Want: fmt.Sprintf("at most the %d rows of the smaller dataset", n)}
		}
		a.Notes = append(a.Notes, r.Notes...)
		return nil
	}
	switch {
	case p.Samples == 0 && p.Explore == 0:
		p.Explore = min(n/2, most)
		p.Samples = n - p.Explore
	case p.Samples == 0:
		p.Samples = max(n-p.Explore, 0)
	case p.Explore == 0:
		p.Explore = min(max(n-p.Samples, 0), most)
	}
	if p.Explore < MinSamples || p.Samples < MinSamples || p.Explore > n-p.Samples {
		return &audit.InputError{Field: "explore and samples", Path: "explore", Found: fmt.Sprintf("%d and %d", p.Explore, p.Samples),
			Want: fmt.Sprintf("at least %d each and together at most the %d rows of the smaller dataset", MinSamples, n)}
	}
	a.Notes = append(a.Notes, r.Notes...)
	return nil
}

// splitsByDefault reports whether the budget is what recorded outputs get where
// the plan asks for none.
func (a *Audit) splitsByDefault() bool {
	b := *a
	b.Plan.Explore, b.Plan.Samples = 0, 0
	return b.splitRecorded() == nil && b.Plan.Explore == a.Plan.Explore && b.Plan.Samples == a.Plan.Samples
}

// recording is what the report says of recorded outputs; nil for a mechanism
// that draws its own.
func (a *Audit) recording() *audit.Recording {
	if a.Spec.Recording == nil {
		return nil
	}
	r := *a.Spec.Recording
	used := a.Plan.Explore + a.Plan.Samples
	r.Split = &audit.RecordedSplit{Explored: a.Plan.Explore, Certified: a.Plan.Samples, Unused: [2]int{r.Rows[0] - used, r.Rows[1] - used}}
	return &r
}
