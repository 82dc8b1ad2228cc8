package canary

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/canary/train"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/stream"
)

func (p Plan) Promise() report.Promise {
	return report.Promise{Claim: *p.Claim, Relation: p.Relation, Defaulted: p.DeltaDefaulted}
}

// PlanVersion is the version of the plan's JSON form.
const PlanVersion = 1

// Plan says what to audit with canaries and how. Zero values mean the documented
// defaults.
type Plan struct {
	Version    int          `json:"version"`
	Source     string       `json:"source"` // gaussian-sum, ...
	Parameters audit.Params `json:"parameters,omitempty"`
	// Claim of kind approximate or pure; no default.
	Claim *audit.Claim `json:"claim,omitempty"`
	// DeltaDefaulted: the claim named no delta and has DefaultDelta.
	DeltaDefaulted bool `json:"deltaDefaulted,omitempty"`
	// Relation is the neighbouring relation of the claim, audit.AddRemove or
	// audit.Replace; default: the source's first, add-remove.
	Relation audit.Relation `json:"relation"`
	Design   source.Design  `json:"design,omitempty"` // default: the source's first, sphere
	Pool     *source.Pool   `json:"pool,omitempty"`   // of the designs tail-singular and vectors
	// CSV says how a file of examples is read, for dp-sgd.
	CSV *train.CSV `json:"csv,omitempty"`
	// Data is the SHA-256 of the user's file, in hexadecimal: its content is
	// passed beside the plan. Empty: none, or whatever is passed.
	Data string `json:"data,omitempty"`

	Runs    int `json:"runs,omitempty"`    // n, certification runs; default: the source's
	K       int `json:"k,omitempty"`       // canaries inside; default ceil(sqrt n)
	M       int `json:"m,omitempty"`       // fresh canaries; default K
	Explore int `json:"explore,omitempty"` // exploration runs; default n

	Interval bounds.CanaryInterval `json:"interval,omitempty"` // default paired-betting
	// Quantile q limits the threshold to the range between the q and the 1-q
	// quantile of the exploration scores of canaries inside; 0: any. In [0, 0.5).
	Quantile float64 `json:"quantile,omitempty"`
	// Single runs the audit with one canary beside it, for equation 10. Default:
	// on where runs are cheap.
	Single *bool   `json:"single,omitempty"`
	Beta   float64 `json:"beta,omitempty"` // allowed error of the bound, in [1e-9, 0.5]; default 0.05
	Seed   uint64  `json:"seed"`           // at most audit.MaxSeed
}

// ParsePlan reads a plan from JSON; unknown fields are refused. A claim that names
// no delta has [DefaultDelta].
func ParsePlan(data []byte) (Plan, error) {
	var p Plan
	data = report.Renamed(data)
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
	Notes []string // what was changed from what was asked, in words
}

// Resolve checks a plan against the sources and fills in its defaults. file is
// the content of the user's file, nil if there is none.
func (p Plan) Resolve(sources []source.Spec, file []byte) (*Audit, error) {
	return p.resolve(sources, func(a *Audit) error { return a.TakeFile(file) })
}

// resolve does it with what take makes of the data.
func (p Plan) resolve(sources []source.Spec, take func(*Audit) error) (*Audit, error) {
	if p.Version != PlanVersion {
		return nil, &audit.InputError{Field: "canary plan: version", Found: fmt.Sprint(p.Version), Want: fmt.Sprint(PlanVersion)}
	}
	a := &Audit{Plan: p}
	var err error
	if a.Spec, err = source.FindSource(sources, p.Source); err != nil {
		return nil, err
	}
	for _, step := range []func() error{a.ResolveClaim, a.ResolveRelation, a.resolveCounts, a.resolveBound, func() error { return take(a) }} {
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

func (a *Audit) ResolveClaim() error {
	claim, err := report.ResolveClaim(a.Plan.Claim, a.Plan.DeltaDefaulted)
	if err != nil {
		return err
	}
	params, err := audit.ResolveParams(a.Spec.Params, a.Plan.Parameters, claim)
	if err != nil {
		return fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	a.Plan.Claim, a.Setup.Claim, a.Setup.Params = &claim, claim, params
	return nil
}

func (a *Audit) ResolveRelation() error {
	p := &a.Plan
	if p.Relation == "" {
		p.Relation = a.Spec.Relations[0]
	}
	if err := report.CheckRelation(p.Relation, a.Spec.Relations...); err != nil {
		return err
	}
	if p.Design == "" {
		p.Design = a.Spec.Designs[0]
	}
	if !slices.Contains(a.Spec.Designs, p.Design) {
		return audit.UnknownName("design", string(p.Design), report.Texts(a.Spec.Designs))
	}
	a.Setup.Relation, a.Setup.Design, a.Setup.CSV = p.Relation, p.Design, p.CSV
	if p.CSV != nil && !a.Spec.TakesData {
		return &audit.InputError{Field: "csv", Found: "given for " + a.Spec.Name, Want: "absent: it takes no file of examples"}
	}
	pools := p.Design == source.TailSingular || p.Design == source.Vectors
	if p.Pool != nil && !pools {
		return &audit.InputError{Field: "pool", Found: fmt.Sprintf("given for the design %q", p.Design), Want: fmt.Sprintf("absent but for %q and %q", source.TailSingular, source.Vectors)}
	}
	if p.Pool != nil {
		a.Setup.Pool = *p.Pool
	}
	if !pools {
		return nil
	}
	if a.Setup.Pool.Scale == "" {
		a.Setup.Pool.Scale = source.UnitNorm
	}
	if known := []source.Scale{source.UnitNorm, source.MedianNorm, source.OwnNorm}; !slices.Contains(known, a.Setup.Pool.Scale) {
		return audit.UnknownName("scale", string(a.Setup.Pool.Scale), report.Texts(known))
	}
	if a.Setup.Pool.Tail != 0 && p.Design != source.TailSingular {
		return &audit.InputError{Field: "tail", Found: fmt.Sprint(a.Setup.Pool.Tail), Want: fmt.Sprintf("absent but for the design %q", source.TailSingular)}
	}
	return nil
}

func (a *Audit) resolveCounts() error {
	p := &a.Plan
	if p.Runs == 0 {
		p.Runs = a.Spec.Runs
	}
	if p.Runs < 1 || p.Runs > source.MaxRuns {
		return &audit.InputError{Field: "runs", Found: fmt.Sprint(p.Runs), Want: fmt.Sprintf("in [1, %d]", source.MaxRuns)}
	}
	if p.K == 0 {
		p.K = int(math.Ceil(math.Sqrt(float64(p.Runs))))
	}
	if p.M == 0 {
		p.M = p.K
	}
	for _, n := range []struct {
		name, what string
		value      int
	}{{"k", "number of canaries inside", p.K}, {"m", "number of fresh canaries", p.M}} {
		if n.value < 1 || n.value > source.MaxCanaries {
			return &audit.InputError{Field: n.name, Found: fmt.Sprint(n.value), Want: fmt.Sprintf("in [1, %d]: the %s", source.MaxCanaries, n.what)}
		}
	}
	most := source.MaxScores / (p.K + p.M)
	if p.Explore == 0 {
		if p.Explore = p.Runs; p.Explore > most {
			p.Explore = most
			a.Notes = append(a.Notes, fmt.Sprintf("explored with %d runs, the most whose scores fit into memory, instead of %d", most, p.Runs))
		}
	}
	if p.Explore < 1 || p.Explore > most {
		return &audit.InputError{Field: "explore", Found: fmt.Sprint(p.Explore), Want: fmt.Sprintf("in [1, %d] with k = %d and m = %d", most, p.K, p.M), Remedy: "0 means as many as runs, up to that"}
	}
	a.Setup.K, a.Setup.M = p.K, p.M
	return nil
}

func (a *Audit) resolveBound() error {
	p := &a.Plan
	if err := report.ResolveBetaSeed(&p.Beta, p.Seed); err != nil {
		return err
	}
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
	if least := p.Interval.MinRuns(p.K, p.M, p.Claim.Delta, p.Beta); p.Runs < least {
		return &audit.InputError{Field: "runs", Found: fmt.Sprint(p.Runs), Want: fmt.Sprintf("at least %d: no outcome of fewer certifies anything by the interval %s at beta = %v", least, p.Interval, p.Beta)}
	}
	if math.IsNaN(p.Quantile) || p.Quantile < 0 || p.Quantile >= 0.5 {
		return &audit.InputError{Field: "quantile", Found: fmt.Sprint(p.Quantile), Want: "in [0, 0.5)", Remedy: "0.1 keeps the threshold between the 10 % and the 90 % quantile of the scores of canaries inside, 0 lets it be any"}
	}
	if p.Single == nil {
		on := a.Spec.Baseline && p.K > 1
		p.Single = &on
	}
	return nil
}

// TakeFile checks the user's file against the plan and prepares it.
func (a *Audit) TakeFile(file []byte) error {
	p := &a.Plan
	needs := a.Spec.NeedsData != nil && a.Spec.NeedsData(p.Design)
	switch {
	case file == nil && (needs || p.Data != ""):
		return &audit.InputError{Field: "data", Found: "absent", Want: fmt.Sprintf("a file for the design %q of %s", p.Design, a.Spec.Name), Remedy: "give a CSV file of vectors, one a line"}
	case file == nil:
		return nil
	case !needs && !a.Spec.TakesData:
		return &audit.InputError{Field: "data", Found: "given", Want: fmt.Sprintf("absent for the design %q of %s", p.Design, a.Spec.Name)}
	}
	sum := stream.SHA256(file)
	found := hex.EncodeToString(sum[:])
	if p.Data != "" && p.Data != found {
		return &audit.InputError{Field: "data", Found: "a file with SHA-256 " + found, Want: "the file with SHA-256 " + p.Data, Remedy: "give the file that the audit was made with"}
	}
	p.Data = found
	a.Setup.Data = file
	if a.Spec.Prepare == nil {
		return nil
	}
	data, err := a.Spec.Prepare(&a.Setup, file)
	a.Setup.Data = data
	return err
}

// single is the same audit with one canary, for equation 10.
func (a *Audit) single() *Audit {
	b := *a
	off := false
	b.Plan.K, b.Plan.M, b.Plan.Single = 1, 1, &off
	b.Setup.K, b.Setup.M = 1, 1
	b.Notes = nil
	return &b
}
