package onerun

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// PlanVersion is the version of the plan's JSON form, and of what it leaves open.
const PlanVersion = 1

// Plan says what to audit in one run and how. Zero values mean the
// documented defaults. Neighbours differ by one canary that is there or not.
type Plan struct {
	Version int `json:"version"`
	source.Subject
	Canaries int `json:"canaries,omitempty"` // m; default: the source's
	// Guesses; sides by default are both.
	membership.GuessPlan
	Beta float64 `json:"beta,omitempty"` // default 0.05
	Seed uint64  `json:"seed"`
}

func (p Plan) rule() membership.Rule {
	return membership.Rule{Usual: membership.UsualOfRun, Claim: *p.Claim, Beta: p.Beta}
}

func (p Plan) guessing() membership.Guessing {
	return membership.Guessing{GuessPlan: p.GuessPlan, M: p.Canaries, Rule: p.rule()}
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

	file []byte // the user's
}

// mostOneRun bounds the canaries of a run.
const mostOneRun = 1 << 20

// Resolve checks a plan against the sources and fills in its defaults. file is the
// content of the user's file, nil if there is none.
func (p Plan) Resolve(sources []source.Spec, file []byte) (*Audit, error) {
	if err := report.CheckPlanVersion("one-run plan", p.Version, PlanVersion); err != nil {
		return nil, err
	}
	spec, err := p.Subject.Spec(sources)
	if err != nil {
		return nil, err
	}
	one := spec.OneRun
	if one == nil {
		return nil, &audit.InputError{Field: "source", Found: fmt.Sprintf("%q", p.Source), Want: "one that can be audited in one run"}
	}
	if p.Relation == audit.Replace {
		return nil, &audit.InputError{Field: "relation", Found: `"replace"`, Want: `"add-remove"`, Remedy: report.OneRunOfReplace + "; audit a claim under replace with dpscope canaries -relation replace"}
	}
	spec.Relations = []audit.Relation{audit.AddRemove}
	setup, err := p.Setup(spec, one.Designs, nil)
	if err != nil {
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
	if err := p.GuessPlan.Resolve(p.Canaries, p.rule()); err != nil {
		return nil, err
	}
	setup.K = p.Canaries
	if err := p.TakeFile(spec, &setup, file); err != nil {
		return nil, err
	}
	if err := one.Check(&setup, p.Parameters); err != nil {
		return nil, err
	}
	p.Parameters = setup.Params
	return &Audit{p, spec, setup, file}, nil
}

// Keys are the settings of an audit in one run, in the order in which a report
// names them.
func Keys() []settings.Key[Plan] {
	keys := []settings.Key[Plan]{source.SourceKey(subject, func(s source.Spec) bool { return s.OneRun != nil })}
	keys = append(keys, source.ClaimKeys(func(p *Plan) (**audit.Claim, *bool) { return &p.Claim, &p.DeltaDefaulted }, "", "0 is a claim of pure differential privacy")...)
	keys = append(keys, []settings.Key[Plan]{
		{Name: "relation", Always: true, At: settings.Word(func(p *Plan) *audit.Relation { return &p.Relation }),
			Usage: "neighbouring relation of the claim: add-remove, the only one, since a coin decides whether a canary is included"},
		{Name: "design", At: settings.Word(func(p *Plan) *source.Design { return &p.Design }),
			Usage: "distribution of the canaries: orthogonal, sphere, random-gradients, data-poisoning; default: the source's first"},
	}...)
	keys = append(keys, source.CSVKeys(subject, "the file")...)
	keys = append(keys, settings.Key[Plan]{Name: "m", Field: "canaries", Always: true, At: settings.Whole(func(p *Plan) *int { return &p.Canaries }), Range: settings.In(1, mostOneRun),
		Usage: "number of canaries, each included by a fair coin; default: the source's",
		Form:  &settings.Form{Place: "one", Label: "Canaries, m", Hint: "of one run"}})
	keys = append(keys, membership.GuessKeys(func(p *Plan) *membership.GuessPlan { return &p.GuessPlan })...)
	return append(keys, source.EndKeys(func(p *Plan) (*float64, *uint64) { return &p.Beta, &p.Seed }, func(p *Plan) *audit.Params { return &p.Parameters })...)
}

// TrainerKeys are those of [Keys] and the program that trains, which only a command runs.
func TrainerKeys() []settings.Key[Plan] {
	return append(Keys(), source.TrainerKey(subject))
}

func subject(p *Plan) *source.Subject { return &p.Subject }

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p := a.Plan
	otherwise := Plan{Subject: source.Subject{Design: a.Spec.OneRun.Designs[0]}, Beta: 0.05}
	otherwise.GuessPlan = p.guessing().Otherwise()
	keys := Keys()
	if p.Trainer != nil {
		keys = settings.Without(TrainerKeys(), "source")
	}
	return p.Again("one-run", settings.Written(keys, p, otherwise), a.Spec, a.Setup)
}
