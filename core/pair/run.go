package pair

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/chart"
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

// limits are what a replay does at most: no more than what the report holds took.
type limits struct {
	trials  int // beyond them it ends with a [report.Different]
	epochs  int // of the sequential stage
	samples int // certified
}

// Run implements [report.Audit].
func (a *Audit) Run(ctx context.Context, on *engine.Runner, tell func(Progress)) (Found, audit.Termination, error) {
	s := newState(a, on, tell)
	return s.ended(ctx, s.do(ctx))
}

// state is a run under way.
type state struct {
	*Audit
	on        *engine.Runner
	found     Found
	searching bool // and certifying nothing

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

func newState(a *Audit, on *engine.Runner, tell func(Progress)) *state {
	return &state{Audit: a, on: on, told: tell}
}

// runsFailed begins the warning about runs of a mechanism that failed.
const runsFailed = "Some runs of the mechanism failed. A failure counts as an outcome, called error: "

// ended is what was found, and how a run ended that returned err.
func (s *state) ended(ctx context.Context, err error) (Found, audit.Termination, error) {
	if m, ok := s.Mechanism.(audit.Failing); ok && m.Failure() != "" {
		s.on.Warnings = append([]string{runsFailed + phrase.Block(m.Failure())}, s.on.Warnings...)
	}
	s.counted.into(s.found.Evidence)
	spent := new(audit.SpentError)
	switch {
	case err == nil:
		return s.found, s.found.completed(s.Plan), nil
	case ctx.Err() == nil && errors.As(err, &spent) && s.found.Sequential != nil && s.found.Sequential.Refuted > 0:
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
		err := s.testSequentially(ctx, s.on.Pool)
		if p.Mode == UntilRefuted && (s.found.Sequential.Refuted > 0 || s.found.Sequential.outputs() == 2*s.Plan.Samples) {
			return nil // whoever stops it then comes too late
		}
		if err != nil || p.Mode == UntilRefuted {
			return err
		}
		row, err := s.sequentialRow(s.found.Sequential)
		if err != nil {
			return err
		}
		second := *s.second(s.found.Sequential)
		s.found.proven, second.proven = &row, row.LowerBound
		s.Audit = &second
		s.tell(func(g *Progress) { g.Phase = Exploring })
	}
	err := s.stages(ctx)
	if err == nil {
		s.tell(func(g *Progress) { g.Total = s.rows[0] + s.rows[1] + s.rows[2] })
	}
	return err
}

// stages search, and certify what was found.
func (s *state) stages(ctx context.Context) error {
	t := &s.on.Timing
	stages := []struct {
		spent *float64
		run   func(context.Context) error
	}{{&t.Explore, s.explore}, {&t.Explore, s.prepare}, {&t.Certify, s.certify}, {&t.Bound, s.certificate}}
	if s.searching {
		stages = stages[:2]
	}
	for _, stage := range stages {
		if err := s.on.Timed(stage.spent, func() error { return stage.run(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// run runs the sequential stage.
func (s *state) testSequentially(ctx context.Context, pool *engine.Pool) error {
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
		_, err := engine.Do(ctx, pool, []SequentialTest{task}, ev)
		return err
	})
	s.found.Sequential = sofar
	return err
}

// finder makes the finder of the plan, or the one that holds its only pair.
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

// prepare fixes all that the bounds need, on a worker: it may take a second.
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

// certificate computes the bounds on a worker: it may take a second.
func (s *state) certificate(ctx context.Context) error {
	if s.counted.Rows != s.Plan.Samples {
		return nil // a replay of a run that ended before
	}
	s.tell(func(g *Progress) { g.Phase = Bounding })
	e := *s.found.Evidence
	s.counted.into(&e)
	results, err := engine.Do(ctx, s.on.Pool, []Bound{{s.of(), e}}, engine.Events[Certified]{})
	if err != nil {
		return err
	}
	s.found.certified = results[0]
	return nil
}

// Phase is a stage of a run.
type Phase string

const (
	Betting    Phase = "bet" // the sequential stage alone
	Exploring  Phase = "explore"
	Certifying Phase = "certify"
	Bounding   Phase = "bound"
)

// Progress is what a run tells while it works.
type Progress struct {
	Phase  Phase `json:"phase"`
	Trial  int   `json:"trial"`  // trials explored so far
	Trials int   `json:"trials"` // at most so many
	Rows   int   `json:"rows"`   // outputs drawn so far, both sides; a recorded one for each stage that took it
	Total  int   `json:"total"`  // outputs to draw in all, both sides
	// Left is how many seconds the run still takes if what it has to do costs what the
	// epochs, pairs and shards of this phase that are done did; absent while too few are.
	Left *float64 `json:"left,omitempty"`
	// AtMost says that Left is the most: what follows costs less, or need not be done at all.
	AtMost bool `json:"atMost,omitempty"`
	// Provisional is the bound on the goal so far: in exploration the best value of a trial, in
	// certification a bound as if the run ended here. It is no certificate, unless Valid: then it
	// holds whenever the run is stopped. Once the claim is refuted it is absent until above it.
	Provisional *float64 `json:"provisional,omitempty"`
	Valid       bool     `json:"valid,omitempty"`
	Quantity    string   `json:"quantity"`          // what it bounds, in words
	Letter      string   `json:"letter"`            // that stands for it
	Claimed     float64  `json:"claimed"`           // what the claim allows
	Pairs       int      `json:"pairs,omitempty"`   // certification pairs that it was computed from
	Message     string   `json:"message,omitempty"` // a worker was lost
	// Refuted, above 0, is after how many outputs of all pairs and sides the sequential
	// stage refuted the claim: that stands, whatever else the run finds.
	Refuted int `json:"refuted,omitempty"`
	// Betted is how far the sequential stage came, once it is there.
	Betted *Betted `json:"betted,omitempty"`
	// Live is what certification has counted so far, absent before. It holds during the call.
	Live *Live `json:"live,omitempty"`
}

// Betted is how far a sequential stage came.
type Betted struct {
	PValue  float64 `json:"pValue"`  // of the claim, valid at any time, for all of the error
	Outputs int     `json:"outputs"` // of all pairs and sides
	Pairs   int     `json:"pairs"`   // that were drawn from
}

// Live is the chart of a run on its way: of its certification or, before, of its
// sequential stage, where it is that of the pair in the lead.
type Live struct {
	Chart     chart.Chart `json:"chart"`
	Claim     audit.Claim `json:"claim"`
	Direction string      `json:"direction"` // of the event, as in a [report.Row]
	// Event is what is certified, absent in the sequential stage, which bets on all outputs.
	Event   *report.Event `json:"event,omitempty"`
	Rows    int           `json:"rows"` // outputs counted a side, of Samples
	Samples int           `json:"samples"`
	// Beta is the error that limits of the shares may have, of all charts together that the
	// run shows; Share is what this one has of it, absent where it has all.
	Beta   float64 `json:"beta"`
	Share  float64 `json:"share,omitempty"`
	People People  `json:"people"` // of the pair that is counted
	Output string  `json:"output"` // what is released is called
}

// output is what the mechanism releases: its only column as its author called it.
func (a *Audit) output() string {
	if len(a.Columns) == 1 {
		return chart.Called(a.Columns[0].Name)
	}
	return "output"
}

func (s *state) tell(change func(*Progress)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	change(&s.progress)
	if v := s.progress.Provisional; v != nil && s.progress.Refuted > 0 && *v <= s.progress.Claimed {
		s.progress.Provisional = nil // that the claim is refuted says more
	}
	s.progress.Rows = s.rows[0] + s.rows[1] + s.rows[2]
	if s.told != nil {
		s.estimate(&s.progress)
		s.told(s.progress)
	}
}

// estimate tells how long the run still takes.
func (s *state) estimate(g *Progress) {
	p := s.Plan
	done, total, pace := s.rows[2], 2*p.Samples, &s.paces[1]
	g.Left, g.AtMost = nil, g.Phase == Betting || g.Phase == Exploring
	switch g.Phase {
	case Betting:
		done, pace = s.whole[0], &s.paces[0]
	case Exploring:
		done, total = s.whole[1], total+2*p.Explore
	case Certifying:
	default:
		return
	}
	if left, known := pace.Left(s.on.Clock(), string(g.Phase), done, total); known && left > 0 {
		g.Left = &left
	}
}

// events relays a pool's events as progress. stage is that of [state.rows].
func events[R any](s *state, stage int, done func(int, *Progress, *R)) engine.Events[R] {
	before := s.rows[stage]
	return engine.Events[R]{
		Rows: func(total int) { s.tell(func(g *Progress) { s.rows[stage] = before + total; g.Message = "" }) },
		Done: func(i int, res *R) { s.tell(func(g *Progress) { done(i, g, res) }) },
		Lost: func(_ int, err error) {
			s.tell(func(g *Progress) {
				s.on.Warnings = append(s.on.Warnings, engine.LostWorker+phrase.Line(err.Error()))
				g.Message = phrase.Line(err.Error())
			})
		},
	}
}

// provisionalBounds is how many bounds, each dearer than a shard, are shown on the way, at most.
const provisionalBounds = 50

// provisional shows the bound so far, as shards are merged.
func (s *state) provisional() func(*Progress) {
	if s.told == nil || s.found.Sequential != nil { // which has the bound
		return func(*Progress) {}
	}
	every, done := max(1, s.shards(s.Plan.Samples)/provisionalBounds), 0
	roughly := s.rough()
	return func(g *Progress) {
		if done++; done%every == 0 {
			g.Provisional, g.Pairs = new(max(0, phrase.Floor(roughly(), 6))), s.counted.Rows
		}
	}
}

// rough is a quick bound on the goal from the counts so far.
func (s *state) rough() func() float64 {
	p, pr, explored := s.Plan, s.found.Evidence.Prepared, s.found.Evidence.Explored
	switch p.goal() {
	case report.Epsilon:
		_, delta := s.at(pr.Point).grouped(pr.Steps).dpLimits()
		split := bounds.TuneSplit(pr.Event.Counts(explored), p.Samples, p.Samples, delta, p.Beta)
		return func() float64 {
			return bounds.ClopperPearson(pr.Event.Counts(s.counted.table()), delta, p.Beta, split) / float64(max(1, pr.Steps))
		}
	case report.Mu:
		return func() float64 { return bounds.GaussianMu(pr.MuEvent.Counts(s.counted.table()), p.Beta) }
	}
	return func() float64 {
		return fromDivergence(p.goal(), bounds.Renyi(pr.Goal.side(s.counted.table()), pr.Goal.RenyiPlan, p.Beta), pr.Goal.Alpha)
	}
}
