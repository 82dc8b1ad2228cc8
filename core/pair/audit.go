package pair

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

// Audit is a plan that was checked and whose defaults are filled in.
type Audit struct {
	Plan      Plan // every field set
	Spec      audit.MechanismSpec
	Mechanism audit.Mechanism
	Columns   []audit.Column
	Domain    audit.Domain
	Claim     audit.Claim
	Notes     []string // what was changed from what was asked, in words

	cat    audit.Catalogue
	most   *limits  // of a replay; nil: as the plan has it
	named  bool     // of the mechanism only what a report says of it is known
	proven *float64 // in the second stage the first one's bound; 0 of recorded outputs
}

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
		// First, so that the error is about the claim.
		likely := audit.DPClaim(1, audit.Pick(given.Kind == audit.Approximate, 0.5, 0))
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

// followParams lets parameters with the claim's names follow it where the mechanism's own is of its
// kind: the epsilon of a Rényi claim is none of pure DP.
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
	return audit.At("through-renyi", audit.First(
		audit.Remedy("2 is usual, larger orders see rarer events", audit.Require(bounds.CheckAlpha(alpha) == nil, "throughRenyi", audit.Number(alpha), "an order: a finite number above 1")),
		audit.Remedy("only a pure claim limits the Rényi divergence; a Rényi claim is tested at its own order",
			audit.Require(a.Claim.Kind == audit.Pure, "throughRenyi", audit.Number(alpha), "absent for the claim %s", a.Claim)),
	))
}

func (a *Audit) resolveRelation() error {
	allowed := a.Spec.Relations(a.Plan.Parameters)
	a.Plan.Relation = cmp.Or(a.Plan.Relation, allowed[0])
	r, err := audit.ParseRelation(string(a.Plan.Relation))
	if err == nil {
		err = audit.Require(slices.Contains(allowed, r), "relation", strconv.Quote(string(r)),
			"one that %s defines at these parameters: %s", a.Spec.Name, strings.Join(report.Texts(allowed), ", "))
	}
	if err != nil {
		return err
	}
	a.Domain = a.Spec.Domain(a.Plan.Parameters, r)
	err = a.resolveGroup()
	if err == nil && a.Plan.Pair != nil {
		_, err = a.steps(*a.Plan.Pair)
		err = audit.At("pair", err)
	}
	return err
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
	remedy := "use the finder auto"
	if len(others) > 0 {
		remedy += ", or audit one of " + strings.Join(others, ", ")
	}
	return audit.Fault("finder", strconv.Quote(p.Finder),
		fmt.Sprintf("another for %s, as it poisons the table of a learner", p.Mechanism), remedy)
}

func (a *Audit) resolveMode() error {
	p := &a.Plan
	curve := a.Claim.Kind == audit.Profile
	p.Mode = cmp.Or(p.Mode, audit.Pick(curve, Fixed, Climbing))
	mode, modes := strconv.Quote(string(p.Mode)), []Mode{Climbing, Fixed, UntilRefuted}
	return audit.First(
		audit.Remedy("fixed bounds the point of the curve that exploration chooses, until-refuted bets against the whole curve; the two bounds are of different quantities",
			audit.Require(!curve || p.Mode != Climbing, "mode", mode, "absent, fixed or until-refuted for a claim that is a curve")),
		audit.Require(slices.Contains(modes, p.Mode), "mode", mode, "one of %v", modes),
		audit.Require(p.Mode != UntilRefuted || p.Explore == 0, "explore", p.Explore, "absent in an audit until the claim is refuted, which explores as it runs"),
	)
}

func (a *Audit) resolveBudget() error {
	p := &a.Plan
	err := a.resolveMode()
	if err == nil && a.Spec.Recording != nil {
		err = a.splitRecorded()
	}
	if err != nil {
		return err
	}
	p.Samples, p.Trials = cmp.Or(p.Samples, 200_000), cmp.Or(p.Trials, 10)
	err = audit.First(audit.Within("samples", p.Samples, MinSamples, MaxSamples), audit.Within("trials", p.Trials, 1, MaxTrials))
	if err == nil {
		err = a.resolveExplore()
	}
	return audit.First(err, report.ResolveBetaSeed(&p.Beta, p.Seed))
}

// shown is how many outputs a side show the event of a climbing audit by default.
func shown(samples int) int { return min(samples, 10_000) }

func (a *Audit) resolveExplore() error {
	p := &a.Plan
	if p.Mode == UntilRefuted {
		return nil
	}
	// Held in memory at most, and unless the plan asks for more.
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

// Cost is how many outputs are drawn at most, and how many bytes of them are held at once.
func (a *Audit) Cost() (outputs, bytes int) {
	return 2 * a.together(a.Plan.bets(), a.Plan.Explore+a.Plan.certifies()), 2 * 8 * a.Plan.Explore * audit.Width(a.Columns)
}

// together counts outputs of both stages. Recorded ones both take from the first on.
func (a *Audit) together(first, second int) int {
	return audit.Pick(a.Spec.Recording != nil, max(first, second), first+second)
}

// splitRecorded fills in and checks the budget of an audit of recorded outputs. All are bet on, and the
// second stage takes the same rows again.
//
// Both are valid. The bets are a test supermartingale over all rows in their order, into which nothing of
// the second stage enters. The second stage's event is chosen by the explored rows, into which nothing of
// the bets enters: given it, the certified rows, which are others, are independent runs. The stages
// depend on each other, but each row of a report holds by itself; the bets alone decide.
func (a *Audit) splitRecorded() error {
	p, r := &a.Plan, a.Spec.Recording
	n := min(r.Rows[0], r.Rows[1])
	p.Trials = cmp.Or(p.Trials, 1)
	err := audit.First(
		audit.At("mechanism", audit.Require(n >= 2*MinSamples, "rows of a dataset", n, "at least %d: %d to explore and %d to certify", 2*MinSamples, MinSamples, MinSamples)),
		audit.At("finder", audit.Require(p.Finder == audit.Auto && p.Pair == nil, "finder or pair", "given", "absent for recorded outputs, which are of one pair of datasets")),
		audit.Require(p.Trials == 1, "trials", p.Trials, "1 for recorded outputs, which are of one pair of datasets"),
	)
	if err != nil {
		return err
	}
	a.Notes = append(a.Notes, r.Notes...)
	usual := usualExploreCells / (2 * audit.Width(a.Columns))
	if p.isSequential() {
		p.Samples = cmp.Or(p.Samples, n)
		if p.Mode == Climbing {
			p.Explore = cmp.Or(p.Explore, min(n/2, usual))
		}
		return audit.First(audit.Require(p.Samples <= n, "samples", p.Samples, "at most the %d rows of the smaller dataset", n),
			audit.Remedy("explore fewer: as many other rows are certified", audit.Require(p.Explore <= n/2, "explore", p.Explore, "at most %d, half of the rows of the smaller dataset", n/2)))
	}
	p.Explore = cmp.Or(p.Explore, min(max(n-cmp.Or(p.Samples, n-n/2), 0), usual))
	p.Samples = cmp.Or(p.Samples, max(n-p.Explore, 0))
	return audit.At("explore", audit.Require(p.Explore >= MinSamples && p.Samples >= MinSamples && p.Explore <= n-p.Samples, "explore and samples",
		fmt.Sprintf("%d and %d", p.Explore, p.Samples), "at least %d each and together at most the %d rows of the smaller dataset", MinSamples, n))
}

func (a *Audit) recording() *audit.Recording {
	if a.Spec.Recording == nil {
		return nil
	}
	r, p := *a.Spec.Recording, a.Plan
	used := a.together(p.bets(), p.Explore+p.certifies())
	r.Split = &audit.RecordedSplit{Bet: p.bets(), Explored: p.Explore, Certified: p.certifies(), Unused: [2]int{r.Rows[0] - used, r.Rows[1] - used}}
	return &r
}
