package onerun

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/stream"
)

func (p Plan) Promise() report.Promise {
	return report.Promise{Claim: *p.Claim, Relation: p.Relation, Defaulted: p.DeltaDefaulted}
}

// Plan says what to audit in one run and how. Zero values mean the
// documented defaults. Neighbours differ by one canary that is there or not.
type Plan struct {
	Version    int          `json:"version"` // PlanVersion
	Source     string       `json:"source"`
	Parameters audit.Params `json:"parameters,omitempty"`
	Claim      *audit.Claim `json:"claim,omitempty"` // pure or approximate; no default
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is audit.AddRemove, the only one: a coin decides whether a canary is
	// there.
	Relation audit.Relation `json:"relation"`
	Design   source.Design  `json:"design,omitempty"`   // default: the source's first for one run
	CSV      *train.CSV     `json:"csv,omitempty"`      // how a file of examples is read
	Data     string         `json:"data,omitempty"`     // SHA-256 of the user's file
	Canaries int            `json:"canaries,omitempty"` // m; default: the source's
	// Sides of the guesses; default: both.
	Sides Sides `json:"sides,omitempty"`
	// Guesses are numbers of guesses, fixed before the run. One number, or several of
	// which the best counts and which share the allowed error. Default: chosen with the
	// sides, or bounds.OneRunGuesses(m); of the f-DP method bounds.OneRunGDPGuesses of the
	// canaries that may be guessed.
	Guesses    []int   `json:"guesses,omitempty"`
	GDPGuesses []int   `json:"gdpGuesses,omitempty"` // of the f-DP method; default: Guesses where given
	Beta       float64 `json:"beta,omitempty"`       // default 0.05
	Seed       uint64  `json:"seed"`
}

// ParsePlan reads a plan from JSON; unknown fields are refused.
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	err := audit.DecodeStrict(data, "one-run plan", &p)
	report.ReadDefaultDelta(data, p.Claim, &p.DeltaDefaulted)
	return p, err
}

// Audit is a plan that was checked and whose defaults are filled in.
type Audit struct {
	Plan  Plan
	Spec  source.Spec
	Setup source.Setup // K is the number of canaries
}

// mostOneRun bounds the canaries of a run.
const mostOneRun = 1 << 20

// Resolve checks a plan against the sources and fills in its defaults. file is the
// content of the user's file, nil if there is none.
func (p Plan) Resolve(sources []source.Spec, file []byte) (*Audit, error) {
	if p.Version != canary.PlanVersion {
		return nil, &audit.InputError{Field: "one-run plan: version", Path: "/version", Found: fmt.Sprint(p.Version), Want: fmt.Sprint(canary.PlanVersion)}
	}
	spec, err := source.FindSource(sources, p.Source)
	if err != nil {
		return nil, err
	}
	if spec.OneRun == nil {
		return nil, &audit.InputError{Field: "source", Found: fmt.Sprintf("%q", p.Source), Want: "one that can be audited in one run"}
	}
	if p.Relation == "" {
		p.Relation = audit.AddRemove
	}
	if p.Relation == audit.Replace {
		return nil, &audit.InputError{Field: "relation", Found: `"replace"`, Want: `"add-remove"`, Remedy: "the " + report.OneRunOfReplace + "; audit a claim under replace with dpscope canaries -relation replace"}
	}
	if err := report.CheckRelation(p.Relation, audit.AddRemove); err != nil {
		return nil, err
	}
	one := spec.OneRun
	// Claim, parameters and the file are handled as those of an audit by runs.
	whole := &canary.Audit{Plan: canary.Plan{Source: p.Source, Parameters: p.Parameters, Claim: p.Claim, DeltaDefaulted: p.DeltaDefaulted, Relation: audit.AddRemove, Design: p.Design, CSV: p.CSV, Data: p.Data}, Spec: spec}
	if err := whole.ResolveClaim(); err != nil {
		return nil, err
	}
	if err := report.ResolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return nil, err
	}
	if p.Canaries == 0 {
		p.Canaries = one.Canaries
	}
	if p.Canaries < 1 || p.Canaries > mostOneRun {
		return nil, &audit.InputError{Field: "m", Found: fmt.Sprint(p.Canaries), Want: fmt.Sprintf("in [1, %d]: the number of canaries", mostOneRun)}
	}
	if err := ResolveGuesses(p.Canaries, usualOfRun, &p.Sides, &p.Guesses, &p.GDPGuesses); err != nil {
		return nil, err
	}
	if p.Design == "" {
		p.Design = one.Designs[0]
	}
	if !slices.Contains(one.Designs, p.Design) {
		return nil, audit.UnknownName("design", string(p.Design), report.Texts(one.Designs))
	}
	whole.Plan.Design = p.Design
	if err := whole.ResolveRelation(); err != nil {
		return nil, err
	}
	whole.Setup.K = p.Canaries
	if err := whole.TakeFile(file); err != nil {
		return nil, err
	}
	if err := one.Check(&whole.Setup, p.Parameters); err != nil {
		return nil, err
	}
	p.Claim, p.Parameters, p.Data = whole.Plan.Claim, whole.Setup.Params, whole.Plan.Data
	return &Audit{p, spec, whole.Setup}, nil
}

// OneRunning is what an audit in one run tells that it does.
const OneRunning canary.Phase = "one-run"

// Task is the one run of an audit. It returns a [OneRunEvidence].
type Task struct {
	Plan Plan   `json:"plan"`           // resolved
	Data []byte `json:"data,omitempty"` // the user's file
}

// Kind and Name implement [engine.Task].
func (Task) Kind() string { return "one-run/draw" }

func (t Task) Name() string { return "the run of source " + t.Plan.Source }

// Executors execute the tasks of audits in one run.
func Executors(sources []source.Spec) engine.Executors {
	return engine.Executors{engine.NewExecutor(func(t Task, hook engine.Hook) (*Evidence, error) { return t.execute(sources, hook) })}
}

// LocalOneRunPool is a pool of n goroutines for audits in one run.
func LocalPool(sources []source.Spec, n int) *engine.Pool {
	return engine.LocalPool(Executors(sources), n)
}

// execute runs the source once. The streams are those of a shard.
func (t Task) execute(sources []source.Spec, hook engine.Hook) (*Evidence, error) {
	a, err := t.Plan.Resolve(sources, t.Data)
	if err != nil {
		return nil, err
	}
	m := a.Plan.Canaries
	src, err := a.Spec.OneRun.New(a.Setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	if x, ok := src.(source.Interruptible); ok && hook != nil {
		x.InterruptedBy(func() error { return hook(0) })
	}
	scores, member := make([]float64, m), make([]bool, m)
	diverged, err := src.OneRun(stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: "canary/one-run", Trial: m}), scores, member)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	one := &Evidence{Guesses: []Guess{}, GDPGuesses: []Guess{}}
	one.Diverged = source.Useless(scores) || diverged
	for _, in := range member {
		if in {
			one.In++
		}
	}
	one.Guesses, one.GDPGuesses = a.Plan.guessing().Made(scores, member)
	if hook != nil {
		err = hook(1)
	}
	return one, err
}

// Evidence is what the bounds of one run are computed from.
type Evidence struct {
	In         int     `json:"in"` // canaries that were in
	Diverged   bool    `json:"diverged"`
	Guesses    []Guess `json:"guesses"`
	GDPGuesses []Guess `json:"gdpGuesses"`
}

// check refuses what no run of this plan gives.
func (e Evidence) check(p Plan) error {
	if err := p.guessing().Check(e.Guesses, e.GDPGuesses); err != nil {
		return err
	}
	if e.In < 0 || e.In > p.Canaries {
		return &audit.InputError{Field: "in", Found: fmt.Sprint(e.In), Want: fmt.Sprintf("in [0, %d]", p.Canaries)}
	}
	return nil
}

// OneRun is one such audit to be done.
type Run struct {
	Plan      Plan
	File      []byte // the user's, nil if there is none
	Sources   []source.Spec
	Pool      *engine.Pool
	Generator audit.Generator
	Now       func() float64 // seconds of a clock; nil: no timing
}

// Do runs the audit. When ctx ends first the report has no bound and the verdict
// is inconclusive.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Sources, r.File)
	if err != nil {
		return Report{}, err
	}
	now := func() float64 {
		if r.Now == nil {
			return 0
		}
		return r.Now()
	}
	start := now()
	ev, warnings, err := r.draw(ctx, a)
	end := audit.Termination{Reason: audit.Completed}
	switch {
	case err != nil && ctx.Err() != nil:
		end, err = audit.Termination{Reason: audit.Stopped, Message: report.StoppedMessage}, nil
	case err != nil:
		end = audit.Termination{Reason: audit.Failed, Message: err.Error()}
	}
	report := assemble(a, ev, end, warnings)
	report.Generator = r.Generator
	report.Timing.Total, report.Timing.Workers = now()-start, r.Pool.Size()
	report.Timing.Certify = report.Timing.Total
	return report, err
}

func (r Run) draw(ctx context.Context, a *Audit) (ev *Evidence, warnings []string, err error) {
	results, err := engine.Do(ctx, r.Pool, []Task{{Plan: a.Plan, Data: r.File}}, engine.Events[Evidence]{
		Lost: func(_ int, err error) { warnings = append(warnings, engine.LostWorker+err.Error()) },
	})
	if err == nil {
		ev = results[0]
		err = ev.check(a.Plan)
	}
	if err != nil {
		return nil, warnings, err
	}
	return ev, warnings, nil
}
