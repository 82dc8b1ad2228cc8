package pair

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// Run is one audit to be done.
type Run struct {
	Plan      Plan
	Catalogue audit.Catalogue
	Pool      *engine.Pool
	Generator audit.Generator
	Progress  func(Progress) // may be nil; called one at a time
	Now       func() float64 // seconds of a clock; nil: no timing
}

// Do runs the audit, see [report.Do]. One that is stopped has the sequential stage's bound alone.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Catalogue)
	if err != nil {
		return Report{}, err
	}
	return report.Do(ctx, a, &engine.Runner{Pool: r.Pool, Now: r.Now}, r.Progress, r.Generator)
}

// limits are what a replay does at most: what the report holds.
type limits struct {
	trials  int // beyond them it ends with a [report.Different]
	epochs  int // of the sequential stage
	samples int // certified
}

// Run implements [report.Audit].
func (a *Audit) Run(ctx context.Context, on *engine.Runner, tell func(Progress)) (Found, audit.Termination, error) {
	s := &state{Audit: a, on: on, told: tell}
	return s.ended(ctx, s.do(ctx))
}

type state struct {
	*Audit
	on        *engine.Runner
	found     Found
	searching bool // certifying nothing

	best     *Explored
	bestAt   int
	counted  tally
	event    *report.Event  // that is drawn while it is counted
	told     func(Progress) // may be nil
	telling  sync.Mutex
	progress Progress
	rows     [3]int         // outputs drawn: by the sequential stage, explored, certified
	whole    [2]int         // of these, of epochs and of pairs that are done
	paces    [2]engine.Pace // of the sequential stage, and of what runs beside it
}

// runsFailed begins a warning.
const runsFailed = "Some runs of the mechanism failed. A failure counts as an outcome, called error: "

// ended is what was found, and how a run ended that returned err.
func (s *state) ended(ctx context.Context, err error) (Found, audit.Termination, error) {
	if m, ok := s.Mechanism.(audit.Failing); ok && m.Failure() != "" {
		s.on.Warnings = append([]string{runsFailed + phrase.Block(m.Failure())}, s.on.Warnings...)
	}
	s.counted.into(s.found.Evidence)
	if err == nil {
		return s.found, s.found.completed(s.Plan), nil
	}
	_, spent := errors.AsType[*audit.SpentError](err)
	if r := s.found.Sequential; spent && ctx.Err() == nil && r != nil && r.Refuted > 0 {
		return s.found, audit.Termination{Reason: audit.Stopped, Message: phrase.Block(err.Error())}, nil
	}
	end, err := report.Ended(ctx, err)
	return s.found, end, err
}

// completed is how a run ended that nothing kept from its end.
func (f Found) completed(p Plan) audit.Termination {
	if p.Mode == UntilRefuted && f.Sequential.Refuted > 0 {
		return audit.Termination{Reason: audit.Refuted, Message: report.EndMessages[audit.Refuted]}
	}
	return audit.Termination{Reason: audit.Completed}
}

func (s *state) do(ctx context.Context) error {
	p := s.Plan
	s.tell(func(g *Progress) {
		g.Phase, g.Quantity, g.Letter = Exploring, s.goalRow().QuantityWords(), p.goal().Letter()
		if s.Claim.Kind != audit.Profile || p.goal() == report.Stretch { // exploration has yet to choose a point
			g.Claimed = s.Claim.Limit()
		}
		if p.isSequential() {
			g.Phase = Betting
		}
		g.Total = 2 * (p.bets() + p.Explore + p.certifies())
	})
	if p.isSequential() {
		err := s.testSequentially(ctx)
		r := s.found.Sequential
		if p.Mode == UntilRefuted && (r.Refuted > 0 || r.outputs() == 2*p.Samples) {
			return nil // whoever stops it then comes too late
		}
		if err != nil || p.Mode == UntilRefuted {
			return err
		}
		row, err := s.sequentialRow(r)
		if err != nil {
			return err
		}
		second := *s.second(r)
		if s.found.proven, second.proven = &row, row.LowerBound; s.Spec.Recording != nil {
			second.proven = new(0.0) // the rows that count the event were bet on too, and must not choose it
		}
		s.Audit = &second
		s.tell(func(g *Progress) { g.Phase = Exploring })
	}
	t := &s.on.Timing
	spent := []*float64{&t.Explore, &t.Explore, &t.Certify, &t.Bound}
	for i, run := range []func(context.Context) error{s.explore, s.prepare, s.certify, s.certificate} {
		if s.searching && i == 2 {
			break
		}
		if err := s.on.Timed(spent[i], func() error { return run(ctx) }); err != nil {
			return err
		}
	}
	s.tell(func(g *Progress) { g.Total = s.rows[0] + s.rows[1] + s.rows[2] })
	return nil
}

func (s *state) testSequentially(ctx context.Context) error {
	task := s.SequentialTest()
	if s.most != nil {
		task.Epochs = s.most.epochs
	}
	var sofar *SequentialResult
	var accounts *accounts
	begin := func() { sofar, accounts = &SequentialResult{Pairs: []audit.Pair{}, Epochs: []Epoch{}}, s.accounts() }
	begin()
	ev := events(s, 0, func(_ int, g *Progress, r *SequentialResult) {
		sofar, s.rows[0] = r, r.outputs()
		g.Total -= 2*s.Plan.Samples - s.rows[0]
		g.Refuted = r.Refuted
	})
	lost := ev.Lost
	ev.Lost = func(i int, err error) {
		begin()
		lost(i, err)
	}
	ev.Part = func(_ int, part *SequentialResult) {
		s.tell(func(g *Progress) {
			sofar.Pairs, sofar.Epochs, sofar.Refuted = append(sofar.Pairs, part.Pairs...), append(sofar.Epochs, part.Epochs...), part.Refuted
			s.whole[0] = sofar.outputs()
			if sofar.Chart = part.Chart; part.Chart != nil {
				g.Live = &Live{Chart: part.Chart.Chart, Claim: s.Claim, Rows: part.Chart.rows(), Samples: s.Plan.Samples, Beta: s.Plan.Beta, Share: part.Chart.Share,
					People: PeopleOf(Shown(nil, sofar), s.Plan.Relation, s.recording()), Output: s.output()}
			}
			if s.told == nil {
				return
			}
			for _, e := range part.Epochs {
				if accounts.follow(sofar.Pairs, e) != nil {
					return // the whole will tell
				}
			}
			g.Betted = &Betted{PValue: min(1, math.Exp(-accounts.claim().most)), Outputs: s.whole[0], Pairs: len(sofar.Pairs)}
			g.Refuted = part.Refuted
			g.Provisional, g.Valid, g.Trial, g.Trials = new(accounts.bound()), true, len(sofar.Pairs), s.Plan.Trials
		})
	}
	if s.most != nil && s.most.epochs == 0 { // the run was stopped before the first
		s.found.Sequential = sofar
		return nil
	}
	err := s.on.Timed(&s.on.Timing.Bet, func() error {
		_, err := engine.Do(ctx, s.on.Pool, []SequentialTest{task}, ev)
		return err
	})
	s.found.Sequential = sofar
	return err
}

func (a *Audit) finder() (audit.Finder, error) {
	p := a.Plan
	if p.Pair != nil {
		return &audit.PairList{*p.Pair}, nil
	}
	if a.Spec.Recording != nil {
		return &audit.PairList{a.Spec.Pairs(p.Parameters, p.Relation)[0]}, nil
	}
	spec, err := a.cat.Finder(p.Finder)
	if err != nil {
		return nil, err
	}
	return spec.New(a.Problem(stream.New(stream.Key{Seed: p.Seed, Purpose: purposeFind})))
}

// Problem is what a finder of the audit is given.
func (a *Audit) Problem(s *stream.Stream) audit.FinderProblem {
	p := a.Plan
	problem := audit.FinderProblem{Relation: p.Relation, Domain: a.Domain, Candidates: a.Spec.Pairs(p.Parameters, p.Relation), Stream: s, Trials: p.Trials, Group: max(1, p.Group)}
	if a.Spec.Table != nil {
		problem.Table = a.Spec.Table(p.Parameters)
	}
	return problem
}

// prepare and certificate work on a worker: they may take a second.
func (s *state) prepare(ctx context.Context) error {
	e, m := s.best.Evidence, s.best.model
	results, err := engine.Do(ctx, s.on.Pool, []Prepare{{s.of(), e}}, engine.Events[Prepared]{})
	if err == nil && m == nil { // it was learnt elsewhere
		m, err = e.Witness.decode(s.Audit)
	}
	if err != nil {
		return err
	}
	e.Prepared, e.Chart = *results[0], e.Chart.Bordered(e.Edges, results[0].Event)
	s.start(&e, m)
	return nil
}

func (s *state) certificate(ctx context.Context) error {
	if s.counted.Rows != s.Plan.Samples {
		return nil // a replay of a run that ended before
	}
	s.tell(func(g *Progress) { g.Phase = Bounding })
	e := *s.found.Evidence
	s.counted.into(&e)
	results, err := engine.Do(ctx, s.on.Pool, []Bound{{s.of(), e}}, engine.Events[Certified]{})
	s.found.certified = results[0]
	return err
}
