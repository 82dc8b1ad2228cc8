package calibration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// Plan is what is to be measured.
type Plan struct {
	Runs       int      `json:"runs"` // of a cell whose audits are cheap
	Samples    int      `json:"samples"`
	Explore    int      `json:"explore"`
	Trials     int      `json:"trials"`
	Beta       float64  `json:"beta"`
	Seed       uint64   `json:"seed"`
	Cheap      bool     `json:"cheap,omitempty"`      // without learners that take more than a tenth of a second
	Mechanisms []string `json:"mechanisms,omitempty"` // names; where they are given, no other is audited
	// Learners and Finders are names; where either is given, nothing else is measured.
	Learners []string `json:"learners,omitempty"`
	Finders  []string `json:"finders,omitempty"`
}

// AnytimeSamples are the least of an audit until the claim is refuted: some tens of epochs.
const AnytimeSamples = 5 * pair.BlockRows

const (
	mostRuns = 1_000_000
	// Runs of a cell about a guarantee, fixed and anytime, as multiples of the plan's.
	guaranteeRuns, anytimeRuns = 4, 2
	finderShare                = 3 // of the plan's runs, one in so many for a cell about a finder
	fewestRuns                 = 4
	mostTrials                 = 16 // of a cell whose finder asks for more than the plan has
)

// expensive are the learners that take long, with their share of the runs.
var expensive = map[string]int{
	"mlp": 5, "chebyshev": 5, "mmd-tester": 5,
	"hockeystick-tester": wide, "renyi-tester": wide,
}

// wide is the share of networks with a hundred units a layer. They explore the first pair alone.
const wide = 25

// Cells are: for every mechanism that keeps its claim, at a setting in which some pair meets it
// where one is known, every learner that applies and every finder; every kind of claim at its exact
// value. left is what was left out, and why.
func (p Plan) Cells(cat audit.Catalogue) (cells []Cell, left []string, err error) {
	for _, name := range p.Learners {
		if _, err := cat.Learner(name); err != nil && name != audit.Auto {
			return nil, nil, err
		}
	}
	for _, name := range p.Finders {
		if _, err := cat.Finder(name); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range p.Mechanisms {
		m, err := cat.Mechanism(name)
		sound := audit.Require(m.Fault == "", "mechanisms", fmt.Sprintf("%q", name), "mechanisms that keep their claim")
		if err = audit.First(err, audit.Remedy("a mechanism with a fault has no false alarms", sound)); err != nil {
			return nil, nil, err
		}
	}
	l := list{Plan: p, cat: cat}
	some := len(p.Learners)+len(p.Finders) > 0
	for _, m := range cat.Mechanisms {
		if m.Fault != "" || !p.wants(m.Name) {
			continue
		}
		if !some || len(p.Learners) > 0 {
			err = l.learners(m)
		}
		if err == nil && (!some || len(p.Finders) > 0) {
			err = l.finders(m)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if !some {
		err = l.guarantees()
	}
	return l.cells, l.left, err
}

func (p Plan) wants(mechanism string) bool {
	return len(p.Mechanisms) == 0 || slices.Contains(p.Mechanisms, mechanism)
}

type list struct {
	Plan
	cat   audit.Catalogue
	cells []Cell
	left  []string
}

// marginal is added to exact losses, so that rounding leaves no claim below the truth.
const marginal = 1e-9

func (l *list) base(m audit.MechanismSpec, s audit.Tight) pair.Plan {
	p := pair.Plan{Version: pair.PlanVersion, Mechanism: m.Name, Parameters: s.Params, Samples: l.Samples, Explore: l.Explore,
		Trials: l.Trials, Beta: l.Beta, Mode: pair.Fixed, Finder: audit.Auto, Learner: audit.Auto}
	if s.Exact > 0 {
		p.Claim = new(audit.DPClaim(s.Exact+marginal, 0))
	}
	return p
}

func (l *list) add(c Cell) error {
	a, err := c.Plan.Resolve(l.cat)
	if err != nil {
		return audit.Of(c.Name, err)
	}
	c.Claim, c.Plan.Claim, c.Plan.Parameters = a.Claim, a.Plan.Claim, a.Plan.Parameters
	if c.Plan.Mode == pair.UntilRefuted {
		c.Name += ", anytime"
	}
	c.Runs = max(c.Runs, min(l.Runs, fewestRuns))
	l.cells = append(l.cells, c)
	return nil
}

func (l *list) learners(m audit.MechanismSpec) error {
	s := *cmp.Or(m.Tight, new(audit.Tight)) // at its defaults where it does not say
	plan := l.base(m, s)
	a, err := plan.Resolve(l.cat)
	if err != nil {
		return err
	}
	if s.Exact > 0 {
		plan.Pair = &m.Pairs(a.Plan.Parameters, a.Plan.Relation)[0]
	}
	for _, k := range append([]audit.LearnerSpec{{Name: audit.Auto}}, l.cat.Learners...) {
		name, share := k.Name, max(1, expensive[k.Name])
		if asked := slices.Contains(l.Learners, name); (len(l.Learners) > 0 || l.Cheap && share > 1) && !asked {
			continue
		}
		if name != audit.Auto && k.Applies(a.Columns) != nil {
			continue
		}
		c := Cell{Block: Learners, Name: fmt.Sprintf("learner %s on %s", name, m.Name), Subject: name, Plan: plan, Runs: l.Runs / share, tight: s}
		c.Plan.Learner = name
		if share == wide {
			c.Plan.Trials = 1
		}
		c.Met = s.Pair > 0 && s.Pair <= c.Plan.Trials
		if name == "float-bits" && s.Floats {
			c.Unjudged = "adds its noise in floating point, which this learner reads: the claim holds for real numbers"
		}
		if err := l.add(c); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) finders(m audit.MechanismSpec) error {
	var s audit.Tight // at its own claim where that of a pair is exact
	if m.Tight != nil && !(m.Tight.Exact > 0) {
		s = *m.Tight
	}
	for _, f := range l.cat.Finders {
		if len(l.Finders) > 0 && !slices.Contains(l.Finders, f.Name) {
			continue
		}
		if p, err := audit.ResolveParams(m.Params, nil, audit.Claim{}); err == nil && !f.Fits(m, p) {
			continue
		}
		plan := l.base(m, s)
		plan.Finder = f.Name
		if err := l.giveTrials(&plan, f); err != nil {
			l.left = append(l.left, fmt.Sprintf("finder %s on %s: %v", f.Name, m.Name, err))
			continue
		}
		c := Cell{Block: Finders, Name: fmt.Sprintf("finder %s on %s", f.Name, m.Name), Subject: f.Name, Plan: plan, Runs: l.Runs / finderShare, Met: s.Pair > 0}
		if err := l.add(c); err != nil {
			return err
		}
	}
	return nil
}

// giveTrials gives a plan the trials that its finder needs, at most mostTrials.
func (l *list) giveTrials(plan *pair.Plan, f audit.FinderSpec) error {
	for ; ; plan.Trials++ {
		a, err := plan.Resolve(l.cat)
		if err != nil {
			return err
		}
		if _, err = f.New(a.Problem(stream.New(stream.Key{Purpose: "calibration"}))); err == nil || plan.Trials >= max(mostTrials, l.Trials) {
			return err
		}
	}
}

// Small is a plan of a minute, of mechanisms whose claims are met on a pair in reach.
func Small() Plan {
	return Plan{Runs: 40, Samples: 1000, Explore: 1000, Trials: 3, Beta: 0.05, Seed: 1, Learners: []string{audit.Auto},
		Mechanisms: []string{"randomised-response", "laplace-mean", "noisy-max-exponential", "noisy-histogram", "rappor-once"}}
}

// Block is what the cells of a plan are about.
type Block string

const (
	Learners   Block = "learners"   // each learner, with the default finder
	Finders    Block = "finders"    // each finder, with the default learner
	Guarantees Block = "guarantees" // each kind of claim, at its exact value
)

// Cell is one plan to be run under many seeds. Its claim holds.
type Cell struct {
	Block   Block       `json:"block"`
	Name    string      `json:"name"`    // no two cells of a plan have the same
	Subject string      `json:"subject"` // the learner, finder or kind of claim
	Plan    pair.Plan   `json:"plan"`    // but the seed
	Claim   audit.Claim `json:"claim"`
	// Met: on some pair that is within the cell's reach the truth is the claim.
	Met  bool `json:"met"`
	Runs int  `json:"runs"`
	// Unjudged says why alarms are not counted against dpscope; empty where they are.
	Unjudged string `json:"unjudged,omitempty"`

	tight audit.Tight
}

// Outcome is how one run ended.
type Outcome struct {
	Verdict audit.Verdict
	Share   float64 // certified bound over what the claim allows; 0 where there is none
	Note    string  // why it failed
}

// Audit does run number run, from 0. A run that fails, as where a learner learns nothing, is an outcome;
// one that was stopped, workers that were lost, and a plan that is refused, are errors.
func (c Cell) Audit(ctx context.Context, cat audit.Catalogue, pool *engine.Pool, seed uint64, run int) (Outcome, error) {
	plan := c.Plan
	plan.Seed = stream.New(stream.Key{Seed: seed, Purpose: "calibration/" + c.Name, Trial: run}).Uint64() & audit.MaxSeed
	if _, err := plan.Resolve(cat); err != nil {
		return Outcome{}, err
	}
	report, err := pair.Run{Plan: plan, Catalogue: cat, Pool: pool}.Do(ctx)
	o := Outcome{Verdict: report.Verdict}
	switch {
	case err == nil && report.Termination.Reason == audit.Stopped:
		return Outcome{}, context.Cause(ctx)
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, engine.ErrWorkerLost):
		return Outcome{}, err
	case err != nil:
		o.Note = err.Error()
	}
	if report.LowerBound != nil {
		o.Share = *report.LowerBound / c.Claim.Limit()
	}
	return o, nil
}

// guarantee is a claim that the first pair of a mechanism meets exactly.
type guarantee struct {
	mechanism  string
	parameters audit.Params
	claim      audit.Claim
	through    float64 // order, for a pure claim; 0: tested by an event
}

// guarantees on three pairs of laws whose every quantity is known: randomised response, Laplace
// noise of scale 1/epsilon on a count that moves by 1, and Gaussians mu = 1/sigma apart.
func guarantees() []guarantee {
	answers := func(epsilon float64, claim audit.Claim, through float64) guarantee {
		return guarantee{"randomised-response", audit.Params{"epsilon": {Number: epsilon}}, claim, through}
	}
	laplace := func(epsilon float64, claim audit.Claim) guarantee {
		return guarantee{"noisy-histogram", audit.Params{"epsilon": {Number: epsilon}, "bins": {Number: 1}}, claim, 0}
	}
	gaussian := func(sigma float64, claim audit.Claim) guarantee {
		return guarantee{"dp-sgd", audit.Params{"sigma": {Number: sigma}, "clip": {Number: 1}}, claim, 0}
	}
	renyi := func(alpha, epsilon float64) audit.Claim {
		return audit.Claim{Kind: audit.Renyi, Alpha: alpha, Epsilon: epsilon}
	}
	mu := func(mu float64) audit.Claim { return audit.Claim{Kind: audit.GaussianDP, Mu: mu} }
	rho := func(rho float64) audit.Claim { return audit.Claim{Kind: audit.ZCDP, Rho: rho} }
	all := []guarantee{
		answers(1, audit.DPClaim(1, 0), 0),
		answers(0.1, audit.DPClaim(0.1, 0), 0),
		answers(4, audit.DPClaim(4, 0), 0),
		laplace(1, audit.DPClaim(1, 0)),

		gaussian(2, audit.DPClaim(0.5, accounting.GaussianDelta(2, 1, 0.5))),
		gaussian(1, audit.DPClaim(1, accounting.GaussianDelta(1, 1, 1))),
		gaussian(1, audit.DPClaim(accounting.GaussianEpsilon(1, 1, 0.01), 0.01)),
		// Laplace noise at e < epsilon: delta = 1 - e^((e-epsilon)/2).
		laplace(1, audit.DPClaim(0.5, 1-stream.Exp(-0.25))),
	}
	for _, alpha := range []float64{1.25, 2, 8} {
		all = append(all, gaussian(2, renyi(alpha, accounting.Gaussian{Sigma: 2, Sensitivity: 1}.At(alpha))))
	}
	for _, alpha := range []float64{2, 16} {
		all = append(all, laplace(1, renyi(alpha, accounting.Laplace{Scale: 1, Sensitivity: 1}.At(alpha))))
	}
	return append(all,
		answers(1, renyi(4, audit.RandomisedResponseRenyi(1, 4)), 0),
		gaussian(2, rho(0.125)), gaussian(1, rho(0.5)),
		gaussian(2, mu(0.5)), gaussian(1, mu(1)),
		answers(1, mu(audit.GaussianMuOfPure(1)), 0),
		answers(1, audit.DPClaim(1, 0), 2), answers(1, audit.DPClaim(1, 0), 8), answers(0.1, audit.DPClaim(0.1, 0), 2),
	)
}

// guarantees are on the first pair and with histograms, which see all that one number shows.
func (l *list) guarantees() error {
	for _, anytime := range []bool{false, true} {
		for _, g := range guarantees() {
			m, err := l.cat.Mechanism(g.mechanism)
			if err != nil || !l.wants(m.Name) {
				continue // a catalogue may be without it
			}
			plan := l.base(m, audit.Tight{Params: g.parameters})
			plan.Claim, plan.ThroughRenyi, plan.Learner = &g.claim, g.through, "histogram"
			runs := guaranteeRuns * l.Runs
			if anytime {
				runs = anytimeRuns * l.Runs
				plan.Mode, plan.Explore = pair.UntilRefuted, 0
				plan.Samples = max(plan.Samples, AnytimeSamples)
			}
			a, err := plan.Resolve(l.cat)
			if err != nil {
				return err
			}
			plan.Pair = &m.Pairs(a.Plan.Parameters, a.Plan.Relation)[0]
			name, kind := fmt.Sprintf("%s on %s", g.claim, g.mechanism), string(g.claim.Kind)
			if g.through > 0 {
				name, kind = fmt.Sprintf("%s through alpha = %g on %s", g.claim, g.through, g.mechanism), "pure, through Rényi"
			}
			if err := l.add(Cell{Block: Guarantees, Name: name, Subject: kind, Plan: plan, Runs: runs, Met: true}); err != nil {
				return err
			}
		}
	}
	return nil
}
