// Package pair audits a mechanism on a pair of neighbouring datasets: a finder proposes pairs,
// learners make a [Witness] that tells the outputs apart, and fresh outputs are reduced to
// counts, which a bound of package bounds turns into the report's (CONTRIBUTING.md has the way
// of one audit). It knows no clock, no file, no network and no browser.
package pair

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// PlanVersion is the version of plans: of their JSON form, and of their statistics.
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

// Plan says what to audit and how. Its zero values mean the documented defaults.
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
	Samples int     `json:"samples,omitempty"` // outputs a side: at most, of all pairs; of a fixed audit those that certify; default 200000, of recorded outputs all rows
	Explore int     `json:"explore,omitempty"` // of a fixed audit: outputs a side that it explores of all pairs, default 1.5 times Samples; of one that climbs: outputs a side that show an event, default Samples, at most 10000; of recorded outputs half of the rows
	Trials  int     `json:"trials,omitempty"`  // pairs to explore, default 10
	Beta    float64 `json:"beta,omitempty"`    // allowed error of the certificate, in (0, 0.5]; default 0.05
	Seed    uint64  `json:"seed"`              // at most [audit.MaxSeed]

	Mode Mode `json:"mode,omitempty"` // default Climbing
	// ThroughRenyi is an order above 1 of the divergence that tests a pure claim; 0: an event does.
	ThroughRenyi float64 `json:"throughRenyi,omitempty"`
}

// Mode says what an audit is after.
type Mode string

const (
	// Climbing: a sequential test, whose bound is valid at any time and climbs. It ends when
	// the claim is refuted and the bound has stopped climbing, or when Samples outputs a side
	// were drawn of all pairs. What fresh outputs of its pair show comes after it.
	Climbing Mode = "climbing"
	// Fixed: no sequential test; exploration, then the exact bound on fresh outputs.
	Fixed Mode = "fixed"
	// UntilRefuted: the sequential test alone, which ends when the claim is refuted, or
	// when Samples outputs a side were drawn of all pairs.
	UntilRefuted Mode = "until-refuted"
)

// ForVerdict is the plan for those who want the verdict alone, as tests and builds do:
// [UntilRefuted], or [Fixed] where it says how much to explore, unless it names a mode.
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

// Audit is a plan that was checked and whose defaults are filled in.
type Audit struct {
	Plan      Plan // every field set
	Spec      audit.MechanismSpec
	Mechanism audit.Mechanism
	Columns   []audit.Column
	Domain    audit.Domain
	Claim     audit.Claim
	Notes     []string // what was changed from what was asked, in words

	cat  audit.Catalogue
	most *limits // of a replay; nil: as the plan has it
	// named: of the mechanism only what a report says of it is known.
	named bool
	// proven is the bound that the sequential stage came to, of the stage that shows an event.
	proven *float64
}

// claiming is the same audit with another claim.
func (a *Audit) claiming(c audit.Claim) *Audit {
	b := *a
	b.Claim, b.Plan.Claim = c, &b.Claim
	return &b
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
	a := &Audit{Mechanism: mechanism, Plan: p, Spec: spec, Claim: given.Complete(own), cat: cat}
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
	for _, step := range []func() error{a.resolveGoal, a.resolveRelation, a.resolveMethods, a.resolveBudget} {
		if err := step(); err != nil {
			return nil, err
		}
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
	a.Plan.Relation = cmp.Or(a.Plan.Relation, allowed[0])
	r, err := audit.ParseRelation(string(a.Plan.Relation))
	if err != nil {
		return err
	}
	if !slices.Contains(allowed, r) {
		return &audit.InputError{Field: "relation", Found: fmt.Sprintf("%q", r),
			Want: fmt.Sprintf("one that %s defines at these parameters: %s", a.Spec.Name, strings.Join(report.Texts(allowed), ", "))}
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

func (a *Audit) resolveMethods() error {
	p, cat := &a.Plan, a.cat
	a.Columns = a.Mechanism.Columns()
	if err := audit.CheckColumns(a.Columns); err != nil {
		return fmt.Errorf("mechanism %s: %w", a.Spec.Name, audit.At("mechanism", err))
	}
	p.Learner, p.Finder = cmp.Or(p.Learner, audit.Auto), cmp.Or(p.Finder, audit.Auto)
	if p.Learner != audit.Auto {
		l, err := cat.Learner(p.Learner)
		if err != nil {
			return err
		}
		if err := l.Applies(a.Columns); err != nil {
			return &audit.InputError{Field: "learner", Found: fmt.Sprintf("%q", p.Learner), Want: "one that fits the outputs of " + p.Mechanism, Remedy: err.Error()}
		}
		if l.Bits {
			a.Columns = audit.WithBits(a.Columns)
		}
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

func (a *Audit) resolveMode() error {
	p := &a.Plan
	curve := a.Claim.Kind == audit.Profile
	if p.Mode == "" {
		if p.Mode = Climbing; curve {
			p.Mode = Fixed
		}
	}
	if curve && p.Mode == Climbing {
		return &audit.InputError{Field: "mode", Found: fmt.Sprintf("%q", p.Mode), Want: "absent, fixed or until-refuted for a claim that is a curve", Remedy: "fixed bounds the point of the curve that exploration chooses, until-refuted bets against the whole curve; the two bounds are of different quantities"}
	}
	if modes := []Mode{Climbing, Fixed, UntilRefuted}; !slices.Contains(modes, p.Mode) {
		return &audit.InputError{Field: "mode", Found: fmt.Sprintf("%q", p.Mode), Want: fmt.Sprintf("one of %v", modes)}
	}
	if p.Mode == UntilRefuted && p.Explore != 0 {
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: "absent in an audit until the claim is refuted, which explores as it runs"}
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
	p.Samples, p.Trials = cmp.Or(p.Samples, 200_000), cmp.Or(p.Trials, 10)
	if p.Samples < MinSamples || p.Samples > MaxSamples {
		return &audit.InputError{Field: "samples", Found: fmt.Sprint(p.Samples), Want: fmt.Sprintf("in [%d, %d]", MinSamples, MaxSamples)}
	}
	if err := a.resolveExplore(); err != nil {
		return err
	}
	if p.Trials < 1 || p.Trials > MaxTrials {
		return &audit.InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: fmt.Sprintf("in [1, %d]", MaxTrials)}
	}
	return report.ResolveBetaSeed(&p.Beta, p.Seed)
}

// shown is how many outputs a side show the event of a climbing audit by default.
func shown(samples int) int { return min(samples, 10_000) }

func (a *Audit) resolveExplore() error {
	p := &a.Plan
	if p.Mode == UntilRefuted {
		return nil
	}
	// What is held in memory, at most, and where the plan does not ask for more.
	most, usual := maxExploreCells/(2*audit.Width(a.Columns)), usualExploreCells/(2*audit.Width(a.Columns))
	want := audit.Pick(p.Mode == Climbing, shown(p.Samples), p.Samples+p.Samples/2)
	switch {
	case p.Explore == 0 && want > usual:
		p.Explore = usual
		a.Notes = append(a.Notes, fmt.Sprintf("explored with %d outputs a side, the most held in memory by default (the plan may ask for up to %d), instead of %d", usual, most, want))
	case p.Explore == 0:
		p.Explore = want
	case p.Explore < MinSamples || p.Explore > most:
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("in [%d, %d] for outputs of %d numbers", MinSamples, most, audit.Width(a.Columns)),
			Remedy: "0 means the default, up to that"}
	}
	return nil
}

// Cost is how many outputs the audit draws at most, and how many bytes of them it holds at once.
func (a *Audit) Cost() (outputs, bytes int) {
	return 2 * a.together(a.Plan.bets(), a.Plan.Explore+a.Plan.certifies()), 2 * 8 * a.Plan.Explore * audit.Width(a.Columns)
}

// together is how many outputs the sequential stage and the second one draw, that draw so
// many each. Recorded outputs both take from the first on.
func (a *Audit) together(first, second int) int {
	return audit.Pick(a.Spec.Recording != nil, max(first, second), first+second)
}

// splitRecorded fills in and checks the budget of an audit of recorded outputs. All are bet
// on, and the second stage takes the same rows again.
//
// Both are valid. The bets are a test supermartingale over all rows in their order, into which
// nothing of the second stage enters. The second stage's event is chosen by the explored rows,
// into which nothing of the bets enters, so that given it the certified rows, which are others,
// are independent runs. What the stages show is not independent of each other, but each row of
// a report holds by itself, and the bets alone decide.
func (a *Audit) splitRecorded() error {
	p, r := &a.Plan, a.Spec.Recording
	n := min(r.Rows[0], r.Rows[1])
	if n < 2*MinSamples {
		return &audit.InputError{Field: "rows of a dataset", Path: "mechanism", Found: fmt.Sprint(n), Want: fmt.Sprintf("at least %d: %d to explore and %d to certify", 2*MinSamples, MinSamples, MinSamples)}
	}
	if p.Finder != audit.Auto || p.Pair != nil {
		return &audit.InputError{Field: "finder or pair", Path: "finder", Found: "given", Want: "absent for recorded outputs, which are of one pair of datasets"}
	}
	if p.Trials = cmp.Or(p.Trials, 1); p.Trials != 1 {
		return &audit.InputError{Field: "trials", Found: fmt.Sprint(p.Trials), Want: "1 for recorded outputs, which are of one pair of datasets"}
	}
	a.Notes = append(a.Notes, r.Notes...)
	usual := usualExploreCells / (2 * audit.Width(a.Columns))
	if p.isSequential() {
		if p.Samples = cmp.Or(p.Samples, n); p.Samples > n {
			return &audit.InputError{Field: "samples", Found: fmt.Sprint(p.Samples), Want: fmt.Sprintf("at most the %d rows of the smaller dataset", n)}
		}
		if p.Mode == Climbing {
			p.Explore = cmp.Or(p.Explore, min(n/2, usual))
		}
		if p.Explore > n/2 {
			return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("at most %d, half of the rows of the smaller dataset", n/2), Remedy: "explore fewer: as many other rows are certified"}
		}
		return nil
	}
	p.Explore = cmp.Or(p.Explore, min(max(n-cmp.Or(p.Samples, n-n/2), 0), usual))
	p.Samples = cmp.Or(p.Samples, max(n-p.Explore, 0))
	if p.Explore < MinSamples || p.Samples < MinSamples || p.Explore > n-p.Samples {
		return &audit.InputError{Field: "explore and samples", Path: "explore", Found: fmt.Sprintf("%d and %d", p.Explore, p.Samples),
			Want: fmt.Sprintf("at least %d each and together at most the %d rows of the smaller dataset", MinSamples, n)}
	}
	return nil
}

// recording is what the report says of recorded outputs; nil for other mechanisms.
func (a *Audit) recording() *audit.Recording {
	if a.Spec.Recording == nil {
		return nil
	}
	r, p := *a.Spec.Recording, a.Plan
	used := a.together(p.bets(), p.Explore+p.certifies())
	r.Split = &audit.RecordedSplit{Bet: p.bets(), Explored: p.Explore, Certified: p.certifies(), Unused: [2]int{r.Rows[0] - used, r.Rows[1] - used}}
	return &r
}
