package pair

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// PlanVersion is the version of the plan's JSON form.
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
	Finder     string         `json:"finder,omitempty"`   // default auto: the mechanism's pairs, then patterns and what was loud
	Learner    string         `json:"learner,omitempty"`  // default auto: a portfolio of all that apply
	Samples    int            `json:"samples,omitempty"`  // certification outputs a side, default 100000
	Explore    int            `json:"explore,omitempty"`  // exploration outputs a side and trial, default as Samples
	Trials     int            `json:"trials,omitempty"`   // pairs to explore, default 10
	Beta       float64        `json:"beta,omitempty"`     // allowed error of the certificate, in (0, 0.5]; default 0.05
	Seed       uint64         `json:"seed"`               // at most [audit.MaxSeed]

	// Anytime: the bound is valid at every look, and the run ends when the
	// claim is refuted; Samples is then the most that it draws.
	Anytime bool `json:"anytime,omitempty"`
	// ThroughRenyi, an order alpha above 1, tests a pure claim by the Rényi
	// divergence of that order; 0: by an event.
	ThroughRenyi float64 `json:"throughRenyi,omitempty"`
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
	if p.Version != PlanVersion {
		return nil, &audit.InputError{Field: "plan version", Path: "/version", Found: fmt.Sprint(p.Version), Want: fmt.Sprint(PlanVersion)}
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
		return nil, fmt.Errorf("%w (mechanism %s claims %s, which implies none)", err, spec.Name, own)
	}
	a.Plan.Parameters, a.Plan.Claim = params, &a.Claim
	if a.Claim.Kind == audit.Pure && own.Kind == audit.Approximate && given.Kind == audit.Pure {
		a.Notes = append(a.Notes, fmt.Sprintf("%s claims no more than %s; the audit is of delta = 0", spec.Name, own))
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
	if a.Plan.Pair != nil {
		return audit.At("pair", r.Check(*a.Plan.Pair, a.Domain))
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
	_, err := cat.Finder(p.Finder)
	return err
}

func (a *Audit) resolveBudget() error {
	p := &a.Plan
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
	most := maxExploreCells / (2 * audit.Width(a.Columns))
	switch {
	case p.Explore == 0:
		if usual := usualExploreCells / (2 * audit.Width(a.Columns)); p.Samples > usual {
			p.Explore = usual
			a.Notes = append(a.Notes, fmt.Sprintf("explored with %d outputs a side and trial, the most that one trial holds in memory unless the plan asks for up to %d, instead of %d", usual, most, p.Samples))
		} else {
			p.Explore = p.Samples
		}
	case p.Explore < MinSamples || p.Explore > most:
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("in [%d, %d] for outputs of %d numbers", MinSamples, most, audit.Width(a.Columns)),
			Remedy: "0 means as many as samples, up to that"}
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
	if p.Anytime && a.Spec.Unseeded != "" {
		return &audit.InputError{Field: "anytime", Found: "true", Want: fmt.Sprintf("absent for %s", a.Spec.Name), Remedy: "what an anytime bound saw on its way cannot be checked again: " + a.Spec.Unseeded}
	}
	if p.Seed > audit.MaxSeed {
		return &audit.InputError{Field: "seed", Found: fmt.Sprint(p.Seed), Want: fmt.Sprintf("in [0, %d]", uint64(audit.MaxSeed))}
	}
	return nil
}
