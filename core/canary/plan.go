package canary

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/mechanisms/train"
)

// PlanVersion is that of a plan's JSON form, and of its statistics.
const PlanVersion = 1

// Mode says when a bound holds.
type Mode string

const (
	// Sequential: all trainings are bet on, each by what those before it showed. The bound holds after
	// each: the run may be stopped at any time, and go on.
	Sequential   Mode = "sequential"
	UntilRefuted Mode = "until-refuted" // sequential, but ends when the claim is refuted
	// Fixed: some runs choose the threshold, others certify; no interval holds before all are there.
	Fixed Mode = "fixed"
	// OneRun: a fair coin puts each of K canaries in, and who was in is guessed (Steinke, Nasr and
	// Jagielski 2023).
	OneRun Mode = "one-run"
)

// Plan says what to audit with canaries and how. Zero values mean defaults.
type Plan struct {
	Version int `json:"version"`
	// Mode: default [Fixed] where runs are cheap or explore, interval or quantile are set, else [Sequential].
	Mode Mode `json:"mode,omitempty"`

	Source string `json:"source"` // gaussian-sum, ...
	// Trainer is the program whose trainings are audited; the source is [source.TrainerName].
	Trainer    *source.Trainer `json:"trainer,omitempty"`
	Parameters audit.Params    `json:"parameters,omitempty"`
	Claim      *audit.Claim    `json:"claim,omitempty"` // approximate or pure; no default
	// DeltaDefaulted: the claim named no delta and has [report.DefaultDelta].
	DeltaDefaulted bool           `json:"deltaDefaulted,omitempty"`
	Relation       audit.Relation `json:"relation"`         // default: the source's first; of one run add-remove
	Design         source.Design  `json:"design,omitempty"` // default: the source's first
	CSV            *train.CSV     `json:"csv,omitempty"`    // how a file of examples is read, for dp-sgd
	// Data is the SHA-256 of the user's file, in hexadecimal. Empty: none, or whatever is passed.
	Data string       `json:"data,omitempty"`
	Pool *source.Pool `json:"pool,omitempty"` // of the designs tail-singular and vectors

	// Runs n: those that certify, of a sequential audit the most. Default: the source's, or twice that.
	Runs    int `json:"runs,omitempty"`
	K       int `json:"k,omitempty"`       // canaries inside; default ceil(sqrt n); of one run all, default the source's
	M       int `json:"m,omitempty"`       // fresh canaries; default K; none of one run
	Explore int `json:"explore,omitempty"` // exploration runs of a fixed audit; default n

	Interval bounds.CanaryInterval `json:"interval,omitempty"` // default paired-betting
	// Quantile q keeps the threshold between the q and the 1-q quantile of exploration scores inside; 0: any.
	Quantile             float64 `json:"quantile,omitempty"`
	membership.GuessPlan         // of one run; sides by default are both
	Beta                 float64 `json:"beta,omitempty"` // allowed error of the bound, in [1e-9, 0.5]; default 0.05
	Seed                 uint64  `json:"seed"`           // at most audit.MaxSeed
}

// ParsePlan reads a plan from JSON; unknown fields are refused.
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

// Resolve checks a plan and fills in its defaults. file is the user's, nil if there is none.
func (p Plan) Resolve(sources []source.Spec, file []byte) (*Audit, error) {
	return p.resolve(sources, func(a *Audit) error { return a.takeFile(file) })
}

func (p Plan) resolve(sources []source.Spec, take func(*Audit) error) (*Audit, error) {
	err := report.CheckPlanVersion("canary plan", p.Version, PlanVersion)
	if err != nil {
		return nil, err
	}
	a := &Audit{Plan: p}
	if a.Spec, err = a.Plan.spec(sources); err != nil {
		return nil, err
	}
	if p.Mode == OneRun {
		err := audit.First(audit.Require(len(a.Spec.OneRunDesigns) > 0, "source", fmt.Sprintf("%q", p.Source), "one that can be audited in one run"),
			audit.Remedy(report.OneRunOfReplace+"; audit a claim under replace with dpscope canaries -relation replace",
				audit.Require(p.Relation != audit.Replace, "relation", `"replace"`, `"add-remove"`)))
		if err != nil {
			return nil, err
		}
		a.Spec.Relations, a.Spec.Designs = []audit.Relation{audit.AddRemove}, a.Spec.OneRunDesigns
	}
	for _, step := range []func() error{a.resolveSource, func() error { return audit.At("/mode", a.resolveMode()) }, a.resolveCounts, a.resolveBound, func() error { return take(a) }, a.check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	a.Plan.Parameters = a.Setup.Params
	if a.Setup.Pool != (source.Pool{}) {
		a.Plan.Pool = new(a.Setup.Pool)
	}
	return a, nil
}

// StatedClaim is what the audit is against; of a plan with a claim.
func (p Plan) StatedClaim() report.StatedClaim {
	return report.StatedClaim{Claim: *p.Claim, Relation: p.Relation, Defaulted: p.DeltaDefaulted}
}

// resolveSource says what a source is to be made of, but for K, M and the file.
func (a *Audit) resolveSource() error {
	p, spec := &a.Plan, a.Spec
	claim, err := report.ResolveClaim(p.Claim, p.DeltaDefaulted)
	if err != nil {
		return err
	}
	params, err := audit.ResolveParams(spec.Params, p.Parameters, claim)
	if err != nil {
		return fmt.Errorf("source %s: %w", spec.Name, err)
	}
	p.Claim = &claim
	p.Relation, p.Design = cmp.Or(p.Relation, spec.Relations[0]), cmp.Or(p.Design, spec.Designs[0])
	pools := p.Design == source.TailSingular || p.Design == source.Vectors
	a.Setup = source.Setup{Params: params, Claim: claim, Relation: p.Relation, Design: p.Design, CSV: p.CSV, Trainer: p.Trainer}
	if pools {
		a.Setup.Pool = *cmp.Or(p.Pool, &source.Pool{})
		a.Setup.Pool.Scale = cmp.Or(a.Setup.Pool.Scale, source.UnitNorm)
	}
	return audit.First(report.CheckRelation(p.Relation, spec.Relations...), report.OneOf("design", p.Design, spec.Designs...),
		audit.At("/csv", audit.Require(p.CSV == nil || spec.TakesData, "csv", "given for "+spec.Name, "absent: it takes no file of examples")),
		audit.At("/pool", audit.Require(p.Pool == nil || pools, "pool", fmt.Sprintf("given for the design %q", p.Design), "absent except for %q and %q", source.TailSingular, source.Vectors)))
}

func (a *Audit) takeFile(file []byte) error {
	p, spec, s := &a.Plan, a.Spec, &a.Setup
	found, sum, vectors := audit.Absent, "", s.Design == source.Vectors
	if file != nil {
		sum = fmt.Sprintf("%x", sha256.Sum256(file))
		found = "a file with SHA-256 " + sum
	}
	same := audit.Require(p.Data == "" || p.Data == sum, "data", found, "the file with SHA-256 %s", p.Data)
	p.Data, s.Data = sum, file
	return audit.At("/data", audit.First(
		audit.Remedy("give a CSV file of vectors, one a line", audit.Require(file != nil || !vectors, "data", audit.Absent, "a file for the design %q", s.Design)),
		audit.Require(file == nil || vectors || spec.TakesData, "data", "given", "absent for the design %q of %s", s.Design, spec.Name),
		audit.Remedy("give the file that the audit was made with", same)))
}

// spec is the source of a plan. A trainer that is not among them is only named.
func (p *Plan) spec(sources []source.Spec) (source.Spec, error) {
	name, t := &p.Source, p.Trainer
	if t == nil {
		if *name == source.TrainerName {
			return source.Spec{}, &audit.InputError{Field: "trainer", Path: "/trainer", Found: audit.Absent, Want: "the program that trains", Remedy: "name it with -exec (docs/training.md)"}
		}
		return audit.Find("source", *name, sources, func(s source.Spec) string { return s.Name })
	}
	if *name = cmp.Or(*name, source.TrainerName); *name != source.TrainerName {
		return source.Spec{}, &audit.InputError{Field: "source", Found: fmt.Sprintf("%q with a trainer", *name), Want: fmt.Sprintf("%q or absent", source.TrainerName)}
	}
	if err := t.Check(); err != nil {
		return source.Spec{}, err
	}
	if i := slices.IndexFunc(sources, func(s source.Spec) bool { return s.Name == source.TrainerName }); i >= 0 {
		return sources[i], nil
	}
	return source.TrainerSpec(nil), nil
}

func (a *Audit) check() error {
	switch one := a.Plan.Mode == OneRun; {
	case one && a.Spec.CheckOneRun != nil:
		return a.Spec.CheckOneRun(&a.Setup, a.Plan.Parameters)
	case !one && a.Spec.Check != nil:
		return a.Spec.Check(&a.Setup)
	}
	return nil
}

func (p Plan) sequential() bool { return p.Mode == Sequential || p.Mode == UntilRefuted }

// twoStaged: the plan says what only a fixed audit has.
func (p Plan) twoStaged() bool {
	return p.Explore != 0 || p.Interval != "" && p.Interval != bounds.CanaryPairedBetting || p.Quantile != 0
}

// UsualRuns is how many runs a plan has that names neither a mode nor a number.
func UsualRuns(s source.Spec) int { return audit.Pick(s.Cheap, s.Runs, 2*s.Runs) }

func (a *Audit) resolveMode() error {
	p := &a.Plan
	p.Mode = cmp.Or(p.Mode, audit.Pick(a.Spec.Cheap || p.twoStaged(), Fixed, Sequential))
	guesses := p.Sides != "" || len(p.Guesses)+len(p.GDPGuesses) > 0
	without := func(holds bool, what, remedy string) error {
		return audit.Remedy(remedy, audit.Require(holds, "mode", fmt.Sprintf("%q with %s", p.Mode, what), "without them"))
	}
	several := p.Runs > 1 || p.Runs < 0 || p.M != 0 || p.Pool != nil
	return audit.First(report.OneOf("mode", p.Mode, Sequential, UntilRefuted, Fixed, OneRun),
		without(p.Mode != OneRun || !several && !p.twoStaged(), "runs, m, pool, explore, interval or quantile", "one run has k canaries, each included by a fair coin"),
		without(p.Mode == OneRun || !guesses, "sides or guesses", "canaries are guessed in one run: dpscope one-run"),
		without(!p.sequential() || !p.twoStaged(), fmt.Sprintf("explore, quantile or an interval other than %s", bounds.CanaryPairedBetting),
			"a sequential audit bets on every training, at a threshold that it learns as it goes; those settings belong to -fixed"))
}

func (a *Audit) resolveCounts() error {
	p := &a.Plan
	if err := report.ResolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return err
	}
	if p.Mode == OneRun {
		p.Runs, p.K = 1, cmp.Or(p.K, source.OneRunCanaries)
	} else {
		p.Runs = cmp.Or(p.Runs, audit.Pick(p.sequential(), 2, 1)*a.Spec.Runs) // a fixed audit explores with as many
		p.K = cmp.Or(p.K, int(math.Ceil(math.Sqrt(float64(max(1, p.Runs))))))
		p.M = cmp.Or(p.M, p.K)
	}
	if err := p.checkNumbers(); err != nil {
		return err
	}
	a.Setup.K, a.Setup.M = p.K, p.M
	most := p.mostExplored()
	if p.Mode == Fixed {
		p.Explore = cmp.Or(p.Explore, min(p.Runs, most))
		return audit.Remedy("0 means as many as runs, up to that",
			audit.Require(p.Explore >= 1 && p.Explore <= most, "explore", p.Explore, "in [1, %d] with k = %d and m = %d", most, p.K, p.M))
	}
	return audit.At("n", audit.Remedy("so many scores fit into memory; use -fixed for more runs",
		audit.Require(!p.sequential() || p.Runs <= most, "runs", p.Runs, "at most %d with k = %d and m = %d", most, p.K, p.M)))
}

const mostOneRun = 1 << 20 // canaries of one run

func (p Plan) checkNumbers() error {
	number := func(name string, value, most int, what string) error {
		return audit.Require(value >= 1 && value <= most, name, value, "in [1, %d]%s", most, what)
	}
	runs, counts := source.MaxRuns, audit.First(number("k", p.K, source.MaxCanaries, ": the number of canaries inside"), number("m", p.M, source.MaxCanaries, ": the number of fresh canaries"))
	if p.Mode == OneRun {
		runs, counts = 1, audit.At("m", number("k", p.K, mostOneRun, ": the number of canaries"))
	}
	beta := p.Beta
	return audit.First(audit.At("n", number("runs", p.Runs, runs, "")), counts, audit.Require(beta != 0, "beta", 0, "in [1e-9, 0.5]"), report.ResolveBetaSeed(&beta, p.Seed))
}

func (a *Audit) resolveBound() error {
	p := &a.Plan
	if p.Mode == OneRun {
		return p.GuessPlan.Resolve(p.K, p.rule())
	}
	p.Interval = cmp.Or(p.Interval, bounds.CanaryPairedBetting)
	if err := report.OneOf("interval", p.Interval, bounds.CanaryIntervals()...); err != nil {
		return err
	}
	if l := p.Interval.Order(); min(p.K, p.M) < l {
		return &audit.InputError{Field: "k", Found: fmt.Sprintf("%d with m = %d", p.K, p.M), Want: fmt.Sprintf("at least %d each for the interval %s, which uses %d moments", l, p.Interval, l),
			Remedy: fmt.Sprintf("raise k and m, or use the interval %s", bounds.CanaryPairedBetting)}
	}
	least := p.Interval.MinRuns(p.K, p.M, p.Claim.Delta, p.Beta)
	if p.sequential() {
		least = report.Least(1, source.MaxRuns, func(n int) bool { return p.ceiling(n) > 0 })
	}
	return audit.First(
		audit.At("n", audit.Require(p.Runs >= least, "runs", p.Runs, "at least %d: no outcome of fewer certifies anything by the interval %s at beta = %v", least, p.Interval, p.Beta)),
		audit.Remedy("0.1 keeps the threshold between the 10 % and the 90 % quantile of the scores of canaries inside, 0 allows any threshold",
			audit.Require(p.Quantile >= 0 && p.Quantile < 0.5, "quantile", p.Quantile, "in [0, 0.5)")),
	)
}

func (p Plan) rule() membership.Rule {
	return membership.Rule{Usual: membership.UsualOfRun, Claim: *p.Claim, Beta: p.Beta}
}

func (p Plan) guessing() membership.Guessing {
	return membership.Guessing{GuessPlan: p.GuessPlan, M: p.K, Rule: p.rule()}
}

// ceiling is the largest bound that n runs can give.
func (p Plan) ceiling(n int) float64 {
	if p.sequential() {
		return bounds.CanarySequenceCeiling(p.M, n, p.Claim.Delta, p.Beta)
	}
	return bounds.CanaryCeiling(p.Interval, p.K, p.M, n, p.Claim.Delta, p.Beta)
}

func (p Plan) mostExplored() int { return source.MaxScores / (p.K + p.M) }

// Keys are the settings, in the order in which a report names them.
func Keys() []settings.Key[Plan] {
	return slices.Concat(firstKeys(false, "; the source's own noise follows it unless -param sets it", "no noise of Gaussian kind keeps a claim of 0"), []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove or replace; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Neighbours", Hint: "of the claim"}},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: sphere, orthogonal, random-gradients, tail-singular, vectors, data-poisoning; default: the source's first",
			Form:  &settings.Form{Place: "run", Label: "Canaries", Hint: "their distribution"}},
		{Name: "tail", Field: "pool/tail", At: settings.Whole(func(p *Plan) *int { return &p.pool().Tail }), Range: settings.In(1, train.FeaturesMost),
			Usage: "how many singular vectors; default: half of all",
			Form:  &settings.Form{Place: "file", Label: "Tail", Hint: "number of singular vectors, from the smallest values", Empty: "half of all"}},
		{Name: "scale", Field: "pool/scale", At: settings.Word(func(p *Plan) *source.Scale { return &p.pool().Scale }),
			Usage: "norm of vectors from a file and of singular vectors: unit, or median (of the rows); default unit",
			Form:  &settings.Form{Place: "file", Label: "Norm of the vectors"}},
	}, csvKeys("a file of examples"), []settings.Key[Plan]{
		{Name: "n", Field: "runs", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Runs }), Range: settings.In(1, source.MaxRuns),
			Usage: "runs to certify, or all runs of a sequential audit; default: the source's",
			Form:  &settings.Form{Place: "run", Label: "Runs, n", Hint: "to certify"}},
		{Name: "k", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.K }), Range: settings.In(1, source.MaxCanaries),
			Usage: "canaries inside a run; default: the square root of -n",
			Form:  &settings.Form{Place: "run", Label: "Canaries inside, K", Hint: "a run", Empty: "√n"}},
		{Name: "m", At: settings.Whole(func(p *Plan) *int { return &p.M }), Range: settings.In(1, source.MaxCanaries),
			Usage: "fresh canaries a run; default: as many as -k",
			Form:  &settings.Form{Place: "run", Label: "Fresh canaries, M", Hint: "per run; they are cheap", Empty: "K"}},
		{Name: "explore", At: settings.Whole(func(p *Plan) *int { return &p.Explore }), Range: settings.In(1, source.MaxScores),
			Usage: "exploration runs of a fixed audit, for the threshold; default: as many as -n",
			Form:  &settings.Form{Place: "more", Label: "Exploration runs", Hint: "for the threshold", Empty: "n"}},
		{Name: "interval", At: settings.Word(func(p *Plan) *bounds.CanaryInterval { return &p.Interval }),
			Usage: "how the bound is computed; default paired-betting. The report has all",
			Form:  &settings.Form{Place: "more", Label: "Interval", Hint: "the report has all; this one decides", Wide: true}},
		{Name: "quantile", At: settings.Number(func(p *Plan) *float64 { return &p.Quantile }), Range: settings.From(0, 0.5),
			Usage: "keep the threshold between the q and 1 - q quantiles of the scores inside, where q is this number; 0: anywhere",
			Form:  &settings.Form{Place: "more", Label: "Threshold range", Hint: "q: between the q and 1 − q quantile of the scores inside; 0: anywhere", Empty: "0"}},
		{Name: "sequential", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Sequential),
			Usage: "bet on every training, using the trainings before it: the bound holds after each, so the run may be stopped (Ctrl-C) and continued later; the default if runs are expensive",
			Form:  &settings.Form{Place: "more", Label: "Sequential", Hint: "every run counts; the bound holds whenever you stop"}},
		{Name: "until-refuted", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, UntilRefuted),
			Usage: "a sequential audit that ends when the claim is refuted",
			Form:  &settings.Form{Place: "more", Label: "Until refuted", Hint: "sequential; the run ends when the claim is refuted"}},
		{Name: "fixed", Field: "mode", At: settings.Is(func(p *Plan) *Mode { return &p.Mode }, Fixed),
			Usage: "some runs choose the threshold and -n others certify, by every interval; the default if runs are cheap",
			Form:  &settings.Form{Place: "more", Label: "Fixed", Hint: "some runs choose the threshold, others certify"}},
	}, lastKeys())
}

// OneRunKeys are those of an audit in one run.
func OneRunKeys() []settings.Key[Plan] {
	return slices.Concat(firstKeys(true, "", "0 is a claim of pure differential privacy"), []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove, the only one, since a coin decides whether a canary is included"},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: orthogonal, sphere, random-gradients, data-poisoning; default: the source's first"},
	}, csvKeys("the file"), []settings.Key[Plan]{{Name: "m", Field: "k", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.K }), Range: settings.In(1, mostOneRun),
		Usage: "number of canaries, each included by a fair coin; default: the source's",
		Form:  &settings.Form{Place: "one", Label: "Canaries, m", Hint: "of one run"}}},
		membership.GuessKeys(func(p *Plan) *membership.GuessPlan { return &p.GuessPlan }), lastKeys())
}

// firstKeys are the source, the first of which is preset, and the claim.
func firstKeys(oneRun bool, epsilon, delta string) []settings.Key[Plan] {
	var names []string
	for _, s := range source.Sources() {
		if !oneRun || len(s.OneRunDesigns) > 0 {
			names = append(names, s.Name)
		}
	}
	return append([]settings.Key[Plan]{{Name: "source", Always: true, At: settings.Word(func(p *Plan) *string { return &p.Source }), Preset: names[0],
		Usage: "what is audited: " + strings.Join(names, ", "),
		Form:  &settings.Form{Place: "source", Label: "What is audited", Wide: true}}},
		membership.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, epsilon, delta)...)
}

func csvKeys(file string) []settings.Key[Plan] {
	return []settings.Key[Plan]{
		{Name: "label", Field: "csv/label", At: settings.Text(func(p *Plan) *string { return &p.csv().Label }),
			Usage: "column of the labels in " + file + ", its name or number; default the last",
			Form:  &settings.Form{Place: "file", Label: "Column of the labels", Hint: "its name or number", Empty: "the last"}},
		{Name: "bounds", Field: "csv/lower csv/upper", At: settings.Limits(func(p *Plan) (*float64, *float64) { return &p.csv().Lower, &p.csv().Upper }),
			Usage: "declared bounds of all features of " + file + ", as LOW,HIGH; default -1,1",
			Form:  &settings.Form{Place: "file", Label: "Bounds of all features", Hint: "declared, not taken from the data: LOW,HIGH", Empty: "-1,1"}},
		{Name: "scaling", Field: "csv/scaling", At: settings.Word(func(p *Plan) *string { return &p.csv().Scaling }),
			Usage: "of " + file + ": box (each feature into [-1, 1] by the bounds) or unit (each row to norm 1); default box",
			Form:  &settings.Form{Place: "file", Label: "Scaling"}},
	}
}

func lastKeys() []settings.Key[Plan] {
	return membership.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })
}

// TrainerKey is the program that trains, which only a command runs.
func TrainerKey() settings.Key[Plan] {
	return settings.Key[Plan]{Name: "exec", Field: "trainer/command", At: settings.Text(func(p *Plan) *string {
		p.Trainer = cmp.Or(p.Trainer, &source.Trainer{})
		return &p.Trainer.Command
	}).Then(func(p *Plan, _ string) { p.Source = source.TrainerName }),
		Usage: "`command` that trains for this audit instead of a source: a program, in any language, that reads the members as a JSON line and writes the scores of one training as a JSON line (docs/training.md). Quotes are read as in a shell, but no shell runs"}
}

func (p *Plan) csv() *train.CSV {
	p.CSV = cmp.Or(p.CSV, &train.CSV{})
	return p.CSV
}

func (p *Plan) pool() *source.Pool {
	p.Pool = cmp.Or(p.Pool, &source.Pool{})
	return p.Pool
}

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p, keys, command := a.Plan, Keys(), "canaries"
	otherwise := Plan{Design: a.Spec.Designs[0], Pool: &source.Pool{Scale: source.UnitNorm}, M: p.K,
		Explore: audit.Pick(p.Mode == Fixed, p.Runs, 0), Interval: bounds.CanaryPairedBetting, Beta: 0.05}
	switch {
	case p.Mode == OneRun:
		keys, command, otherwise.GuessPlan = OneRunKeys(), "one-run", p.guessing().Otherwise()
	case (p.Mode == Fixed) == a.Spec.Cheap && p.Mode != UntilRefuted:
		otherwise.Mode = p.Mode // it goes without saying
	}
	if p.Trainer != nil {
		keys = append(settings.Without(keys, "source"), TrainerKey())
	}
	defaults, _ := audit.ResolveParams(a.Spec.Params, nil, a.Setup.Claim) // nil where they do not fit the claim: all are said
	args := append(settings.Written(keys, p, otherwise), a.Setup.Params.Changed(a.Spec.Params, defaults)...)
	r := audit.Reproduce{CLI: audit.CommandOf("dpscope "+command, args)}
	if p.Trainer == nil {
		r.URL = audit.FragmentOf(append([]audit.Argument{{Name: "view", Value: command}}, args...))
	} else if !p.Trainer.DrawnAgain() {
		r.Note = "Another run gives different counts: the same request gave different scores."
	}
	if csv := p.CSV; csv != nil && (csv.Header != "" || len(csv.Classes) > 0 || len(csv.Bounds) > 0) {
		r.Note = "The command has no flags for header, classes and single bounds of the file; the report's plan has them. "
	}
	if p.Data != "" {
		r.CLI += " -data FILE"
		r.Note += "FILE is the file with SHA-256 " + p.Data + "; the address does not contain it."
	}
	return r
}
