package canary

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// PlanVersion is the version of the plan's JSON form, and of the statistics that its
// audit is made with.
const PlanVersion = 1

// Mode says when a bound holds.
type Mode string

// Modes of audits.
const (
	// Sequential: all trainings are bet on, each by what those before it showed. The
	// bound holds after every one of them, so the run may be stopped at any time, and go
	// on from its report.
	Sequential Mode = "sequential"
	// UntilRefuted: a sequential audit that ends when the claim is refuted.
	UntilRefuted Mode = "until-refuted"
	// Fixed: some runs choose the threshold, others certify; every interval bounds
	// epsilon, and none before all runs are there.
	Fixed Mode = "fixed"
)

// Plan says what to audit with canaries and how. Zero values mean the documented
// defaults.
type Plan struct {
	Version int `json:"version"`
	// Mode: default [Fixed] where runs are cheap and for a plan that says what a fixed
	// audit alone has (explore, interval, quantile), else [Sequential].
	Mode Mode `json:"mode,omitempty"`
	source.Subject
	Pool *source.Pool `json:"pool,omitempty"` // of the designs tail-singular and vectors

	// Runs n: of a fixed audit those that certify, of a sequential one all, the most that
	// there will be. Default: the source's, twice that where all count.
	Runs    int `json:"runs,omitempty"`
	K       int `json:"k,omitempty"`       // canaries inside; default ceil(sqrt n)
	M       int `json:"m,omitempty"`       // fresh canaries; default K
	Explore int `json:"explore,omitempty"` // exploration runs of a fixed audit; default n

	Interval bounds.CanaryInterval `json:"interval,omitempty"` // default paired-betting
	// Quantile q limits the threshold to the range between the q and the 1-q
	// quantile of the exploration scores of canaries inside; 0: any. In [0, 0.5).
	Quantile float64 `json:"quantile,omitempty"`
	Beta     float64 `json:"beta,omitempty"` // allowed error of the bound, in [1e-9, 0.5]; default 0.05
	Seed     uint64  `json:"seed"`           // at most audit.MaxSeed
}

// ParsePlan reads a plan from JSON; unknown fields are refused. A claim that names
// no delta has [DefaultDelta].
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	if err := audit.DecodeStrict(data, "canary plan", &p); err != nil {
		return Plan{}, err
	}
	report.ReadDefaultDelta(data, p.Claim, &p.DeltaDefaulted)
	return p, nil
}

// Audit is a plan that was checked and whose defaults are filled in.
type Audit struct {
	Plan  Plan // every field set
	Spec  source.Spec
	Setup source.Setup

	from *Parent // that the run goes on from; nil: it begins
	most int     // trainings of a replay; 0: the plan's
}

// Resolve checks a plan against the sources and fills in its defaults. file is
// the content of the user's file, nil if there is none.
func (p Plan) Resolve(sources []source.Spec, file []byte) (*Audit, error) {
	return p.resolve(sources, func(a *Audit) error { return a.Plan.TakeFile(a.Spec, &a.Setup, file) })
}

// resolve does it with what take makes of the data.
func (p Plan) resolve(sources []source.Spec, take func(*Audit) error) (*Audit, error) {
	err := report.CheckPlanVersion("canary plan", p.Version, PlanVersion)
	if err != nil {
		return nil, err
	}
	a := &Audit{Plan: p}
	if a.Spec, err = a.Plan.Subject.Spec(sources); err != nil {
		return nil, err
	}
	if a.Setup, err = a.Plan.Setup(a.Spec, a.Spec.Designs, p.Pool); err != nil {
		return nil, err
	}
	for _, step := range []func() error{a.resolveMode, a.resolveCounts, a.resolveBound, func() error { return take(a) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if a.Spec.Check != nil {
		if err := a.Spec.Check(&a.Setup); err != nil {
			return nil, err
		}
	}
	a.Plan.Parameters = a.Setup.Params
	if a.Setup.Pool != (source.Pool{}) {
		pool := a.Setup.Pool
		a.Plan.Pool = &pool
	}
	return a, nil
}

// sequential reports whether all trainings are bet on.
func (p Plan) sequential() bool { return p.Mode == Sequential || p.Mode == UntilRefuted }

// twoStaged reports whether the plan says what only a fixed audit has.
func (p Plan) twoStaged() bool {
	return p.Explore != 0 || p.Interval != "" && p.Interval != bounds.CanaryPairedBetting || p.Quantile != 0
}

// UsualRuns is how many runs a plan has that names neither a mode nor a number.
func UsualRuns(s source.Spec) int {
	if s.Cheap {
		return s.Runs
	}
	return 2 * s.Runs
}

// usualMode is that of a plan that names none.
func (a *Audit) usualMode() Mode {
	if a.Spec.Cheap || a.Plan.twoStaged() {
		return Fixed
	}
	return Sequential
}

// resolveMode checks what the audit is after.
func (a *Audit) resolveMode() error {
	p := &a.Plan
	if p.Mode == "" {
		p.Mode = a.usualMode()
	}
	switch {
	case !slices.Contains([]Mode{Sequential, UntilRefuted, Fixed}, p.Mode):
		return audit.UnknownName("mode", string(p.Mode), report.Texts([]Mode{Sequential, UntilRefuted, Fixed}))
	case p.sequential() && p.twoStaged():
		return &audit.InputError{Field: "mode", Found: fmt.Sprintf("%q with explore, quantile or an interval other than %s", p.Mode, bounds.CanaryPairedBetting), Want: "without them",
			Remedy: "a sequential audit bets on every training, at a threshold that it learns as it goes; those settings are of -fixed"}
	}
	return nil
}

func (a *Audit) resolveCounts() error {
	p := &a.Plan
	if p.Runs == 0 {
		if p.Runs = a.Spec.Runs; p.sequential() {
			p.Runs *= 2 // a fixed audit explores with as many
		}
	}
	if p.K == 0 {
		p.K = int(math.Ceil(math.Sqrt(float64(max(1, p.Runs)))))
	}
	if p.M == 0 {
		p.M = p.K
	}
	if err := report.ResolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return err
	}
	if err := p.checkNumbers(); err != nil {
		return err
	}
	most := p.mostExplored()
	if p.sequential() {
		if p.Runs > most {
			return &audit.InputError{Field: "runs", Path: "n", Found: fmt.Sprint(p.Runs), Want: fmt.Sprintf("at most %d with k = %d and m = %d", most, p.K, p.M), Remedy: "so many scores fit into memory; use -fixed for more runs"}
		}
		a.Setup.K, a.Setup.M = p.K, p.M
		return nil
	}
	if p.Explore == 0 {
		p.Explore = min(p.Runs, most)
	}
	if p.Explore < 1 || p.Explore > most {
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("in [1, %d] with k = %d and m = %d", most, p.K, p.M), Remedy: "0 means as many as runs, up to that"}
	}
	a.Setup.K, a.Setup.M = p.K, p.M
	return nil
}

// checkNumbers refuses numbers that no audit has.
func (p Plan) checkNumbers() error {
	for _, n := range []struct {
		name, path, what string
		value, most      int
	}{{"runs", "n", "", p.Runs, source.MaxRuns}, {"k", "", ": the number of canaries inside", p.K, source.MaxCanaries}, {"m", "", ": the number of fresh canaries", p.M, source.MaxCanaries}} {
		if n.value < 1 || n.value > n.most {
			return &audit.InputError{Field: n.name, Path: n.path, Found: fmt.Sprint(n.value), Want: fmt.Sprintf("in [1, %d]%s", n.most, n.what)}
		}
	}
	if beta := p.Beta; beta != 0 {
		return report.ResolveBetaSeed(&beta, p.Seed)
	}
	return &audit.InputError{Field: "beta", Found: "0", Want: "in [1e-9, 0.5]"}
}

func (a *Audit) resolveBound() error {
	p := &a.Plan
	if p.Interval == "" {
		p.Interval = bounds.CanaryPairedBetting
	}
	if !slices.Contains(bounds.CanaryIntervals(), p.Interval) {
		return audit.UnknownName("interval", string(p.Interval), report.Texts(bounds.CanaryIntervals()))
	}
	if l := p.Interval.Order(); min(p.K, p.M) < l {
		return &audit.InputError{Field: "k", Found: fmt.Sprintf("%d with m = %d", p.K, p.M), Want: fmt.Sprintf("at least %d each for the interval %s, which uses %d moments", l, p.Interval, l),
			Remedy: fmt.Sprintf("raise k and m, or use the interval %s", bounds.CanaryPairedBetting)}
	}
	if least := p.leastRuns(); p.Runs < least {
		return &audit.InputError{Field: "runs", Path: "n", Found: fmt.Sprint(p.Runs), Want: fmt.Sprintf("at least %d: no outcome of fewer certifies anything by the interval %s at beta = %v", least, p.Interval, p.Beta)}
	}
	if math.IsNaN(p.Quantile) || p.Quantile < 0 || p.Quantile >= 0.5 {
		return &audit.InputError{Field: "quantile", Found: fmt.Sprint(p.Quantile), Want: "in [0, 0.5)", Remedy: "0.1 keeps the threshold between the 10 % and the 90 % quantile of the scores of canaries inside, 0 lets it be any"}
	}
	return nil
}

// ceiling is the largest bound that n runs can give.
func (p Plan) ceiling(n int) float64 {
	if p.sequential() {
		return bounds.CanarySequenceCeiling(p.M, n, p.Claim.Delta, p.Beta)
	}
	return bounds.CanaryCeiling(p.Interval, p.K, p.M, n, p.Claim.Delta, p.Beta)
}

// aim is what the threshold of a fixed audit is chosen for.
func (p Plan) aim() membership.Aim {
	return membership.Aim{Interval: p.Interval, Quantile: p.Quantile, Delta: p.Claim.Delta, Beta: p.Beta, Runs: p.Runs}
}

// leastRuns is how many can certify anything.
func (p Plan) leastRuns() int {
	if p.sequential() {
		return report.Least(1, source.MaxRuns, func(n int) bool { return p.ceiling(n) > 0 })
	}
	return p.Interval.MinRuns(p.K, p.M, p.Claim.Delta, p.Beta)
}

// mostExplored are the exploration runs whose scores fit into memory.
func (p Plan) mostExplored() int { return source.MaxScores / (p.K + p.M) }

// Keys are the settings of an audit with canaries, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := []settings.Key[Plan]{source.SourceKey(subject, func(source.Spec) bool { return true })}
	keys = append(keys, source.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted },
		"; the source's own noise follows it unless -param sets it", "no noise of Gaussian kind keeps a claim of 0")...)
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove or replace; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Neighbours", Hint: "of the claim"}},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Canaries", Hint: "their distribution"}},
		{Name: "tail", Field: "pool/tail", At: settings.Whole(func(p *Plan) *int { return &p.pool().Tail }), Range: settings.In(1, source.MaxCells),
			Usage: "how many singular vectors; default: half of all",
			Form:  &settings.Form{Place: "file", Label: "Tail", Hint: "how many singular vectors, those of the smallest values", Empty: "half of all"}},
		{Name: "scale", Field: "pool/scale", At: settings.Word(func(p *Plan) *source.Scale { return &p.pool().Scale }),
			Usage: "norm of vectors from a file and of singular vectors: unit, median (of the rows) or own; default unit",
			Form:  &settings.Form{Place: "file", Label: "Norm of the vectors"}},
		{Name: "distinct", Field: "pool/distinct", At: settings.Switch(func(p *Plan) *bool { return &p.pool().Distinct }),
			Usage: "no vector of the file comes twice in a run",
			Form:  &settings.Form{Place: "file", Label: "No vector twice in a run"}},
	}...)
	keys = append(keys, source.CSVKeys(subject, "a file of examples")...)
	return append(append(keys, []settings.Key[Plan]{
		{Name: "n", Field: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, source.MaxRuns),
			Usage: "runs to certify, or of a sequential audit all runs; default: the source's",
			Form:  &settings.Form{Place: "run", Label: "Runs, n", Hint: "to certify"}},
		{Name: "k", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.K }), Range: settings.In(1, source.MaxCanaries),
			Usage: "canaries inside a run; default: the square root of -n",
			Form:  &settings.Form{Place: "run", Label: "Canaries inside, K", Hint: "a run", Empty: "√n"}},
		{Name: "m", At: settings.Whole(func(p *Plan) *int { return &p.M }), Range: settings.In(1, source.MaxCanaries),
			Usage: "fresh canaries a run; default: as many as -k",
			Form:  &settings.Form{Place: "run", Label: "Fresh canaries, M", Hint: "a run; they cost little", Empty: "K"}},
		{Name: "explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(1, source.MaxScores),
			Usage: "exploration runs of a fixed audit, for the threshold; default: as many as -n",
			Form:  &settings.Form{Place: "more", Label: "Exploration runs", Hint: "for the threshold", Empty: "n"}},
		{Name: "interval", At: settings.Word(func(p *Plan) *bounds.CanaryInterval { return &p.Interval }),
			Usage: "how the bound is computed; default paired-betting. The report has all",
			Form:  &settings.Form{Place: "more", Label: "Interval", Hint: "the report has all; this one decides", Wide: true}},
		{Name: "quantile", At: settings.Number(func(p *Plan) *float64 { return &p.Quantile }), Range: settings.From(0, 0.5),
			Usage: "keep the threshold between this quantile of the scores inside and its mirror image; 0: anywhere",
			Form:  &settings.Form{Place: "more", Label: "Threshold range", Hint: "q: between the q and 1 − q quantile of the scores inside; 0: anywhere", Empty: "0"}},
		{Name: "sequential", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Sequential),
			Usage: "bet on every training, by what those before it showed: the bound holds after each, so that the run may be stopped (Ctrl-C) and go on tomorrow; the default where runs are dear",
			Form:  &settings.Form{Place: "more", Label: "Sequential", Hint: "every run counts, and the bound holds whenever you stop"}},
		{Name: "until-refuted", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, UntilRefuted),
			Usage: "a sequential audit that ends when the claim is refuted",
			Form:  &settings.Form{Place: "more", Label: "Until refuted", Hint: "sequential, and the run ends by itself once the claim is refuted"}},
		{Name: "fixed", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Fixed),
			Usage: "some runs choose the threshold and -n others certify, by every interval; the default where runs are cheap",
			Form:  &settings.Form{Place: "more", Label: "Fixed", Hint: "some runs choose the threshold, others certify"}},
	}...), source.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })...)
}

// TrainerKeys are those of [Keys] and the program that trains, which only a command runs.
func TrainerKeys() []settings.Key[Plan] {
	return append(Keys(), source.TrainerKey(subject))
}

func subject(p *Plan) *source.Subject { return &p.Subject }

// pool is that of the plan, to be set.
func (p *Plan) pool() *source.Pool {
	if p.Pool == nil {
		p.Pool = &source.Pool{}
	}
	return p.Pool
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p := a.Plan
	otherwise := Plan{Subject: source.Subject{Design: a.Spec.Designs[0]}, Pool: &source.Pool{Scale: source.UnitNorm}, M: p.K, Explore: p.Runs, Interval: bounds.CanaryPairedBetting, Beta: 0.05}
	if (p.Mode == Fixed) == a.Spec.Cheap && p.Mode != UntilRefuted {
		otherwise.Mode = p.Mode // it goes without saying
	}
	if p.sequential() {
		otherwise.Explore = 0
	}
	keys := Keys()
	if p.Trainer != nil {
		keys = settings.Without(TrainerKeys(), "source")
	}
	return p.Again("canaries", settings.Written(keys, p, otherwise), a.Spec, a.Setup)
}
