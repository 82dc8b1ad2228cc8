package canary

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/stream"
)

// OneRunSource is run once with canaries of which a fair coin of its own puts each
// into the dataset or leaves it out.
type OneRunSource interface {
	// OneRun fills in a score and the membership of each of len(scores) canaries.
	// Scores are computed without the membership; the larger the likelier the
	// canary was in. Where the output is no use all are -MaxFloat64 and diverged is
	// set.
	OneRun(st *stream.Stream, scores []float64, member []bool) (diverged bool, err error)
}

// OneRunSpec says how a source is audited in one run.
type OneRunSpec struct {
	Designs  []Design // the first is the default
	Canaries int      // default m
	// Check refuses a setup, whose K is m, and fills in what it leaves open. given
	// are the parameters that the user set.
	Check func(s *Setup, given audit.Params) error
	New   func(s Setup) (OneRunSource, error)
}

// OneRunPlan says what to audit in one run and how. Zero values mean the
// documented defaults. Neighbours differ by one canary that is there or not.
type OneRunPlan struct {
	Version    int          `json:"version"` // PlanVersion
	Source     string       `json:"source"`
	Parameters audit.Params `json:"parameters,omitempty"`
	Claim      *audit.Claim `json:"claim,omitempty"` // pure or approximate; no default
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is audit.AddRemove, the only one: a coin decides whether a canary is
	// there.
	Relation audit.Relation `json:"relation"`
	Design   Design         `json:"design,omitempty"`   // default: the source's first for one run
	CSV      *train.CSV     `json:"csv,omitempty"`      // how a file of examples is read
	Data     string         `json:"data,omitempty"`     // SHA-256 of the user's file
	Canaries int            `json:"canaries,omitempty"` // m; default: the source's
	// Sides of the guesses; default: both.
	Sides Sides `json:"sides,omitempty"`
	// Guesses are numbers of guesses, fixed before the run. One number, or several of
	// which the best counts and which share the allowed error. Default: chosen with the
	// sides, or bound.OneRunGuesses(m); of the f-DP method bound.OneRunGDPGuesses of the
	// canaries that may be guessed.
	Guesses    []int   `json:"guesses,omitempty"`
	GDPGuesses []int   `json:"gdpGuesses,omitempty"` // of the f-DP method; default: Guesses where given
	Beta       float64 `json:"beta,omitempty"`       // default 0.05
	Seed       uint64  `json:"seed"`
}

// ParseOneRunPlan reads a plan from JSON; unknown fields are refused.
func ParseOneRunPlan(data []byte) (OneRunPlan, error) {
	var p OneRunPlan
	err := audit.DecodeStrict(data, "one-run plan", &p)
	defaultDelta(data, p.Claim, &p.DeltaDefaulted)
	return p, err
}

// OneRunAudit is a plan that was checked and whose defaults are filled in.
type OneRunAudit struct {
	Plan  OneRunPlan
	Spec  SourceSpec
	Setup Setup // K is the number of canaries
}

// mostOneRun bounds the canaries of a run.
const mostOneRun = 1 << 20

// Resolve checks a plan against the sources and fills in its defaults. file is the
// content of the user's file, nil if there is none.
func (p OneRunPlan) Resolve(sources []SourceSpec, file []byte) (*OneRunAudit, error) {
	if p.Version != PlanVersion {
		return nil, &audit.InputError{Field: "one-run plan: version", Path: "/version", Found: fmt.Sprint(p.Version), Want: fmt.Sprint(PlanVersion)}
	}
	spec, err := findSource(sources, p.Source)
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
		return nil, &audit.InputError{Field: "relation", Found: `"replace"`, Want: `"add-remove"`, Remedy: "the " + oneRunOfReplace + "; audit a claim under replace with dpscope canaries -relation replace"}
	}
	if err := checkRelation(p.Relation, audit.AddRemove); err != nil {
		return nil, err
	}
	one := spec.OneRun
	// Claim, parameters and the file are handled as those of an audit by runs.
	whole := &Audit{Plan: Plan{Source: p.Source, Parameters: p.Parameters, Claim: p.Claim, DeltaDefaulted: p.DeltaDefaulted, Relation: audit.AddRemove, Design: p.Design, CSV: p.CSV, Data: p.Data}, Spec: spec}
	if err := whole.resolveClaim(); err != nil {
		return nil, err
	}
	if err := resolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return nil, err
	}
	if p.Canaries == 0 {
		p.Canaries = one.Canaries
	}
	if p.Canaries < 1 || p.Canaries > mostOneRun {
		return nil, &audit.InputError{Field: "m", Found: fmt.Sprint(p.Canaries), Want: fmt.Sprintf("in [1, %d]: the number of canaries", mostOneRun)}
	}
	if err := resolveGuesses(p.Canaries, usualOfRun, &p.Sides, &p.Guesses, &p.GDPGuesses); err != nil {
		return nil, err
	}
	if p.Design == "" {
		p.Design = one.Designs[0]
	}
	if !slices.Contains(one.Designs, p.Design) {
		return nil, audit.UnknownName("design", string(p.Design), texts(one.Designs))
	}
	whole.Plan.Design = p.Design
	if err := whole.resolveRelation(); err != nil {
		return nil, err
	}
	whole.Setup.K = p.Canaries
	if err := whole.takeFile(file); err != nil {
		return nil, err
	}
	if err := one.Check(&whole.Setup, p.Parameters); err != nil {
		return nil, err
	}
	p.Claim, p.Parameters, p.Data = whole.Plan.Claim, whole.Setup.Params, whole.Plan.Data
	return &OneRunAudit{p, spec, whole.Setup}, nil
}

// OneRunning is what an audit in one run tells that it does.
const OneRunning Phase = "one-run"

// OneRunTask is the one run of an audit. It returns a [OneRunEvidence].
type OneRunTask struct {
	Plan OneRunPlan `json:"plan"`           // resolved
	Data []byte     `json:"data,omitempty"` // the user's file
}

// Kind and Name implement [engine.Task].
func (OneRunTask) Kind() string   { return "one-run/draw" }
func (t OneRunTask) Name() string { return "the run of source " + t.Plan.Source }

// execute runs the source once. The streams are those of a shard.
func (t OneRunTask) execute(sources []SourceSpec, hook engine.Hook) (*OneRunEvidence, error) {
	a, err := t.Plan.Resolve(sources, t.Data)
	if err != nil {
		return nil, err
	}
	m := a.Plan.Canaries
	src, err := a.Spec.OneRun.New(a.Setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	if x, ok := src.(interruptible); ok && hook != nil {
		x.interruptedBy(func() error { return hook(0) })
	}
	scores, member := make([]float64, m), make([]bool, m)
	diverged, err := src.OneRun(stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: "canary/one-run", Trial: m}), scores, member)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	one := &OneRunEvidence{Guesses: []Guess{}, GDPGuesses: []Guess{}}
	one.Diverged = useless(scores) || diverged
	for _, in := range member {
		if in {
			one.In++
		}
	}
	one.Guesses, one.GDPGuesses = a.Plan.guessing().made(scores, member)
	if hook != nil {
		err = hook(1)
	}
	return one, err
}

// OneRunEvidence is what the bounds of one run are computed from.
type OneRunEvidence struct {
	In         int     `json:"in"` // canaries that were in
	Diverged   bool    `json:"diverged"`
	Guesses    []Guess `json:"guesses"`
	GDPGuesses []Guess `json:"gdpGuesses"`
}

// check refuses what no run of this plan gives.
func (e OneRunEvidence) check(p OneRunPlan) error {
	if err := p.guessing().check(e.Guesses, e.GDPGuesses); err != nil {
		return err
	}
	if e.In < 0 || e.In > p.Canaries {
		return &audit.InputError{Field: "in", Found: fmt.Sprint(e.In), Want: fmt.Sprintf("in [0, %d]", p.Canaries)}
	}
	return nil
}

// OneRun is one such audit to be done.
type OneRun struct {
	Plan      OneRunPlan
	File      []byte // the user's, nil if there is none
	Sources   []SourceSpec
	Pool      *engine.Pool
	Generator audit.Generator
	Now       func() float64 // seconds of a clock; nil: no timing
}

// Do runs the audit. When ctx ends first the report has no bound and the verdict
// is inconclusive.
func (r OneRun) Do(ctx context.Context) (OneRunReport, error) {
	a, err := r.Plan.Resolve(r.Sources, r.File)
	if err != nil {
		return OneRunReport{}, err
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
		end, err = audit.Termination{Reason: audit.Stopped, Message: stoppedMessage}, nil
	case err != nil:
		end = audit.Termination{Reason: audit.Failed, Message: err.Error()}
	}
	report := assembleOneRun(a, ev, end, warnings)
	report.Generator = r.Generator
	report.Timing.Total, report.Timing.Workers = now()-start, r.Pool.Size()
	report.Timing.Certify = report.Timing.Total
	return report, err
}

func (r OneRun) draw(ctx context.Context, a *OneRunAudit) (ev *OneRunEvidence, warnings []string, err error) {
	results, err := engine.Do(ctx, r.Pool, []OneRunTask{{Plan: a.Plan, Data: r.File}}, engine.Events[OneRunEvidence]{
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

// sumOneRun is the Gaussian sum of the canaries that are in: unit vectors,
// orthonormal or uniform on the sphere.
type sumOneRun struct {
	d      int
	sigma  float64
	sphere bool
}

// OneRun implements [OneRunSource]. Orthonormal canaries see themselves and noise,
// at a cost of O(m); those on the sphere each other too, at O(m min(m, d)).
func (g sumOneRun) OneRun(st *stream.Stream, scores []float64, member []bool) (bool, error) {
	m := len(scores)
	coins := make([]float64, m)
	st.Bernoulli(coins, 0.5)
	for i, c := range coins {
		member[i] = c != 0
	}
	if !g.sphere {
		st.Gaussian(scores, g.sigma)
		for i, c := range coins {
			scores[i] += c
		}
		return false, nil
	}
	// As in gaussianSum.Run.
	rank := min(m, g.d)
	rows, sum, noise := make([]float64, m*rank), make([]float64, rank), make([]float64, rank)
	for i := range m {
		row := rows[i*rank:][:min(i+1, rank)]
		w := min(i, g.d)
		st.Gaussian(row[:w], 1)
		square := squared(row[:w])
		if i < g.d {
			rest := chiSquare(st, g.d-i)
			row[i] = math.Sqrt(rest)
			square += rest
		}
		scale := 1 / math.Sqrt(square)
		for j := range row {
			row[j] = float64(row[j] * scale)
			if member[i] {
				sum[j] += row[j]
			}
		}
	}
	st.Gaussian(noise, g.sigma)
	for j, x := range noise {
		sum[j] += x
	}
	for i := range m {
		scores[i] = 0
		for j, x := range rows[i*rank:][:min(i+1, rank)] {
			scores[i] += float64(x * sum[j])
		}
	}
	return false, nil
}

func sumOneRunSpec() *OneRunSpec {
	return &OneRunSpec{
		Designs: []Design{Orthogonal, Sphere}, Canaries: 1000,
		Check: func(s *Setup, given audit.Params) error {
			if s.Design == Sphere && s.K > mostCanaries {
				return &audit.InputError{Field: "m", Found: fmt.Sprint(s.K), Want: fmt.Sprintf("at most %d on the sphere", mostCanaries), Remedy: fmt.Sprintf("use the design %q", Orthogonal)}
			}
			if s.Design != Orthogonal || s.K <= s.Params.Int("d") {
				return nil
			}
			if _, ok := given["d"]; ok || s.K > mostDimensions {
				return &audit.InputError{Field: "m", Found: fmt.Sprint(s.K), Want: fmt.Sprintf("at most d = %d: canaries are orthogonal", s.Params.Int("d")),
					Remedy: fmt.Sprintf("lower m, raise d, or use the design %q", Sphere)}
			}
			s.Params["d"] = audit.ParamValue{Number: float64(s.K)}
			return nil
		},
		New: func(s Setup) (OneRunSource, error) {
			return sumOneRun{s.Params.Int("d"), sumSigma(s), s.Design == Sphere}, nil
		},
	}
}

func trainedOneRunSpec() *OneRunSpec {
	return &OneRunSpec{
		Designs: []Design{RandomGradients, DataPoisoning}, Canaries: 1000,
		Check: func(s *Setup, _ audit.Params) error {
			c, data, err := trainConfig(*s)
			if err != nil {
				return err
			}
			if s.K > train.CanariesMost {
				return &audit.InputError{Field: "m", Found: fmt.Sprint(s.K), Want: fmt.Sprintf("at most %d canaries in one training", train.CanariesMost)}
			}
			s.Params["sigma"] = audit.ParamValue{Number: c.Sigma}
			// The rest of the limit depends on the model; building one for its size is cheap
			// but for the reference training of final-model access.
			if c.Access == train.Final {
				return nil
			}
			model, err := train.New(c, data)
			if err != nil {
				return err
			}
			return audit.At("m", model.CheckCanaries(s.K))
		},
		New: func(s Setup) (OneRunSource, error) {
			c, data, err := trainConfig(s)
			if err != nil {
				return nil, err
			}
			model, err := train.New(c, data)
			if err != nil {
				return nil, err
			}
			if err := model.CheckCanaries(s.K); err != nil {
				return nil, err
			}
			return trained{model}, nil
		},
	}
}
