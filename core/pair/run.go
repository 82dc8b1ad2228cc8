package pair

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

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
	Rows   int   `json:"rows"`   // outputs drawn so far, both sides
	Total  int   `json:"total"`  // outputs to draw in all, both sides
	// Left is how many seconds the run still takes if what it has to do costs what the
	// epochs, pairs and shards of this phase that are done did; absent while too few are.
	Left *float64 `json:"left,omitempty"`
	// AtMost says that Left is the most: what follows costs less an output, or need not be
	// done once the claim is refuted.
	AtMost bool `json:"atMost,omitempty"`
	// Provisional is the bound on the goal so far: in exploration the best
	// value of a trial, in certification a bound from the counts so far, as if
	// the run ended here. It is not a certificate, unless Valid: then it holds
	// whenever the run is stopped. Where the claim is refuted it is absent until it is above
	// the claim.
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
	// Live is what certification has counted so far, absent before. It holds
	// during the call.
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
	Chart     Chart       `json:"chart"`
	Claim     audit.Claim `json:"claim"`
	Direction string      `json:"direction"` // of the event, as in a [report.Row]
	// Event is what is certified, absent in the sequential stage, which bets on all outputs.
	Event   *report.Event `json:"event,omitempty"`
	Rows    int           `json:"rows"` // outputs counted a side, of Samples
	Samples int           `json:"samples"`
	// Beta is the error that limits of the shares may have, of all charts together that the
	// run shows; Share is what this one has of it, absent where it has all.
	Beta  float64 `json:"beta"`
	Share float64 `json:"share,omitempty"`
}

// Run is one audit to be done.
type Run struct {
	Plan      Plan
	Catalogue audit.Catalogue
	Pool      *engine.Pool
	Generator audit.Generator
	Progress  func(Progress) // may be nil; called one at a time
	Now       func() float64 // seconds of a clock; nil: no timing

	mostTrials int // of a replay: beyond them the run ends with errMoreTrials; 0: any
}

// Do runs the audit. The report does not depend on the pool. When ctx ends
// first, it returns what there is, with verdict inconclusive and no bound but that of
// the sequential stage. When the run fails, it returns what there is and the error.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Catalogue)
	if err != nil {
		return Report{}, err
	}
	s := &state{Run: r, audit: a, pool: r.Pool, searchers: r.Pool}
	start := s.now()
	err = s.do(ctx)
	s.timing.Total = s.now() - start
	s.timing.Workers = r.Pool.Size()
	if err != nil && ctx.Err() != nil {
		return s.report(audit.Termination{Reason: audit.Stopped, Message: endMessages[audit.Stopped]})
	}
	if spent := new(audit.SpentError); errors.As(err, &spent) && s.raced != nil && s.raced.Refuted {
		return s.report(audit.Termination{Reason: audit.Stopped, Message: phrase.Block(err.Error())})
	}
	if err != nil {
		out, _ := s.report(audit.Termination{Reason: audit.Failed, Message: phrase.Block(err.Error())})
		return out, err
	}
	if s.refuted {
		return s.report(audit.Termination{Reason: audit.Refuted, Message: endMessages[audit.Refuted]})
	}
	return s.report(audit.Termination{Reason: audit.Completed})
}

// endMessages say why a run ended, but for one that failed.
var endMessages = map[audit.TerminationReason]string{
	audit.Stopped: "stopped before the end",
	audit.Refuted: "the claim was refuted before the end",
}

// state is a run under way.
type state struct {
	Run
	audit     *Audit
	timing    audit.Timing
	trials    []TrialNote
	best      *Explored
	bestAt    int
	prepared  Prepared
	counted   tally
	event     *report.Event // that is drawn while it is counted
	refuted   bool          // a run that ends there refuted the claim
	certified *Certified
	pool      *engine.Pool
	searchers *engine.Pool // what the sequential stage leaves of it
	warnings  []string
	raced     *Raced
	epochs    int // of the sequential stage, at most; 0: as the budget has it

	telling  sync.Mutex // the sequential stage runs beside exploration
	progress Progress
	rows     [3]int         // outputs drawn: by the sequential stage, explored, certified
	whole    [2]int         // of these, of epochs and of pairs that are done
	paces    [2]engine.Pace // of the sequential stage, and of what runs beside it
	betting  bool
}

// runsFailed begins the warning about runs of a mechanism that failed.
const runsFailed = "Runs of the mechanism failed, which counts as an outcome of theirs, called error: "

// report concludes from what there is.
func (s *state) report(end audit.Termination) (Report, error) {
	f := Found{Trials: s.trials, Raced: s.raced}
	if s.best != nil && s.counted.table.Bins > 0 {
		f.Evidence = s.evidence()
	}
	r, err := conclude(s.Catalogue, s.audit, f, end, s.certified)
	if m, ok := s.audit.Mechanism.(audit.Failing); ok && m.Failure() != "" {
		r.Warnings = append(r.Warnings, runsFailed+phrase.Block(m.Failure()))
	}
	r.Generator, r.Timing, r.Warnings = s.Generator, s.timing, append(r.Warnings, s.warnings...)
	return r, err
}

// evidence is what the bounds rest on.
func (s *state) evidence() *Evidence {
	e := &Evidence{Pair: s.trials[s.bestAt].Pair, Witness: s.best.Witness, Learners: s.best.Learners, Edges: s.best.Edges,
		Prepared: s.prepared, Explored: s.best.Table, Chart: s.best.Chart}
	if s.counted.rows > 0 {
		e.Chart = e.Chart.with(s.counted.chart, s.counted.plane)
		t := s.counted.table
		e.Table = &t
	}
	return e
}

func (s *state) now() float64 {
	if s.Now == nil {
		return 0
	}
	return s.Now()
}

func (s *state) tell(change func(*Progress)) {
	s.telling.Lock()
	defer s.telling.Unlock()
	change(&s.progress)
	if v := s.progress.Provisional; v != nil && s.progress.Refuted > 0 && *v <= s.progress.Claimed {
		s.progress.Provisional = nil // that the claim is refuted says more
	}
	s.progress.Rows = s.rows[0] + s.rows[1] + s.rows[2]
	if s.Progress != nil {
		s.estimate(&s.progress)
		s.Progress(s.progress)
	}
}

// estimate tells how long the run still takes: as long as the longer of its two strands,
// the sequential stage and what runs beside it.
func (s *state) estimate(g *Progress) {
	p, now := s.audit.Plan, s.now()
	left, known := 0.0, true
	if s.betting {
		left, known = s.paces[0].Left(now, string(Betting), s.whole[0], 2*s.audit.raceBudget())
	}
	g.AtMost = s.betting
	if g.Phase == Exploring || g.Phase == Certifying {
		done, total := s.rows[2], 2*p.Samples
		if g.Phase == Exploring {
			done, total, g.AtMost = s.whole[1], total+2*p.Explore, true
		}
		other, ok := s.paces[1].Left(now, string(g.Phase), done, total)
		left, known = max(left, other), known && ok
	}
	g.Left = nil
	if known && left > 0 {
		g.Left = &left
	}
}

func (s *state) do(ctx context.Context) error {
	p := s.audit.Plan
	s.betting = p.races()
	s.tell(func(g *Progress) {
		g.Phase, g.Quantity, g.Letter, g.Claimed = Exploring, s.goalWords(), s.audit.Plan.goal().Letter(), s.audit.progressLimit()
		if p.races() {
			g.Total = 2 * s.audit.raceBudget()
		}
		if p.Mode == UntilRefuted {
			g.Phase = Betting
		} else {
			g.Total += 2*p.Explore + 2*p.Samples
		}
	})
	if p.Mode == UntilRefuted {
		err := s.race(ctx, s.pool)
		if s.refuted = s.raced.Refuted; s.refuted || s.raced.outputs() == 2*s.audit.raceBudget() {
			return nil // whoever stops it then comes too late
		}
		return err
	}
	wait := func() error { return nil }
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if p.races() {
		done := make(chan error, 1)
		bettors := s.pool
		if bettors.Size() > 1 {
			bettors, s.searchers = s.pool.Split(1)
		}
		go func() {
			err := s.race(ctx, bettors)
			if err != nil {
				cancel(err)
			}
			done <- err
		}()
		wait = sync.OnceValue(func() error { return <-done })
		defer wait()
	}
	for _, phase := range []struct {
		spent *float64
		run   func(context.Context) error
	}{{&s.timing.Explore, s.explore}, {&s.timing.Explore, s.prepare}, {&s.timing.Certify, s.certify}, {&s.timing.Bound, s.certificate}} {
		start := s.now()
		err := phase.run(ctx)
		*phase.spent += s.now() - start
		if err != nil {
			if raced := wait(); raced != nil && context.Cause(ctx) == raced {
				return raced
			}
			return err
		}
	}
	if err := wait(); err != nil {
		return err
	}
	s.tell(func(g *Progress) { g.Total = s.rows[0] + s.rows[1] + s.rows[2] })
	if n := p.Samples; n != s.counted.rows {
		return fmt.Errorf("certified %d outputs of %d", s.counted.rows, n)
	}
	return nil
}

// race runs the sequential stage.
func (s *state) race(ctx context.Context, pool *engine.Pool) error {
	start := s.now()
	var sofar *Raced
	var accounts []account
	begin := func() { sofar, accounts = &Raced{Pairs: []audit.Pair{}, Epochs: []Epoch{}}, s.audit.accounts() }
	begin()
	ev := events(s, 0, func(_ int, g *Progress, r *Raced) {
		sofar, s.rows[0], s.betting = r, r.outputs(), false
		g.Total -= 2*s.audit.raceBudget() - s.rows[0]
		if r.Refuted {
			g.Refuted = s.rows[0]
		}
	})
	lost := ev.Lost
	ev.Lost = func(i int, err error) {
		begin()
		lost(i, err)
	}
	ev.Part = func(_ int, part *Raced) {
		s.tell(func(g *Progress) {
			sofar.Pairs, sofar.Epochs, sofar.Refuted = append(sofar.Pairs, part.Pairs...), append(sofar.Epochs, part.Epochs...), part.Refuted
			s.whole[0], s.betting = sofar.outputs(), !part.Refuted
			if sofar.Chart = part.Chart; part.Chart != nil && g.Phase != Certifying && g.Phase != Bounding {
				g.Live = &Live{Chart: part.Chart.Chart, Claim: s.audit.Claim, Rows: part.Chart.rows(), Samples: s.audit.raceBudget(), Beta: s.audit.Plan.Beta, Share: part.Chart.Share}
			}
			for _, e := range part.Epochs {
				if s.audit.follow(accounts, sofar.Pairs, e) != nil {
					return // the whole will tell
				}
			}
			g.Betted = &Betted{PValue: min(1, math.Exp(-accounts[0].most)/(1-belowShare)/s.audit.Plan.raceShare()), Outputs: s.whole[0], Pairs: len(sofar.Pairs)}
			if part.Refuted {
				g.Refuted = g.Betted.Outputs
			}
			if s.audit.Plan.Mode == UntilRefuted {
				v := s.audit.rejected(accounts)
				g.Provisional, g.Valid, g.Trial, g.Trials = &v, true, len(sofar.Pairs), s.audit.Plan.Trials
			}
		})
	}
	_, err := engine.Do(ctx, pool, []Race{{Plan: s.audit.Plan, Epochs: s.epochs}}, ev)
	s.timing.Bet = s.now() - start
	s.raced = sofar
	return err
}

// finder makes the finder of the plan, or the one that holds its only pair.
func (a *Audit) finder(cat audit.Catalogue) (audit.Finder, error) {
	p := a.Plan
	if p.Pair != nil {
		return onePair{*p.Pair}, nil
	}
	if a.Spec.Recording != nil {
		return onePair{a.Spec.Pairs(p.Parameters, p.Relation)[0]}, nil
	}
	spec, err := cat.Finder(p.Finder)
	if err != nil {
		return nil, err
	}
	problem := audit.FinderProblem{Relation: p.Relation, Domain: a.Domain,
		Candidates: a.Spec.Pairs(p.Parameters, p.Relation),
		Stream:     stream.New(stream.Key{Seed: p.Seed, Purpose: purposeFind}),
		Trials:     p.Trials,
		Group:      max(1, p.Group)}
	if a.Spec.Table != nil {
		problem.Table = a.Spec.Table(p.Parameters)
	}
	return spec.New(problem)
}

// onePair proposes the user's pair.
type onePair struct{ pair audit.Pair }

func (o onePair) Propose(history []audit.Trial, budget int) []audit.Pair {
	if len(history) > 0 || budget < 1 {
		return nil
	}
	return []audit.Pair{o.pair}
}

// events relays a pool's events as progress. stage is that of [state.rows].
func events[R any](s *state, stage int, done func(int, *Progress, *R)) engine.Events[R] {
	before := s.rows[stage]
	return engine.Events[R]{
		Rows: func(total int) { s.tell(func(g *Progress) { s.rows[stage] = before + total; g.Message = "" }) },
		Done: func(i int, res *R) { s.tell(func(g *Progress) { done(i, g, res) }) },
		Lost: func(_ int, err error) {
			s.tell(func(g *Progress) {
				s.warnings = append(s.warnings, engine.LostWorker+phrase.Line(err.Error()))
				g.Message = phrase.Line(err.Error())
			})
		},
	}
}

// goalWords name the goal.
func (s *state) goalWords() string {
	f := report.Row{ID: s.audit.Plan.goal(), Alpha: s.audit.Plan.ThroughRenyi}
	_, f.Delta = s.audit.dpLimits()
	if f.ID == report.RenyiDivergence {
		f.Alpha = s.audit.Claim.Alpha
	}
	return f.QuantityWords()
}

// prepare fixes all that the bounds need, on a worker: it may take a second.
func (s *state) prepare(ctx context.Context) error {
	task := Prepare{Plan: s.audit.Plan, Explored: s.best.Table, Event: s.best.Event, Hedges: s.best.Hedges}
	if s.audit.Plan.Group > 1 {
		steps, err := s.audit.steps(s.trials[s.bestAt].Pair)
		if err != nil {
			return err
		}
		task.Steps = steps
	}
	results, err := engine.Do(ctx, s.pool, []Prepare{task}, engine.Events[Prepared]{})
	if err != nil {
		return err
	}
	s.prepared = *results[0]
	s.start()
	return nil
}

// start begins to count.
func (s *state) start() {
	s.best.Chart = s.best.Chart.bordered(s.best.Edges, s.prepared.Event)
	s.counted = newTally(s.best.Edges, s.best.Chart, s.prepared.Event)
	if s.Progress != nil {
		if m, err := s.best.Witness.decode(s.Catalogue, s.audit.Columns); err == nil {
			s.event = described(s.audit.Columns, s.best.Chart, m, s.best.Edges, s.prepared.Event)
		}
	}
}

// waveShards is how many shards are under way before their sums are taken, at
// most: a long run does not keep all of its shards in memory.
const waveShards = 256

// certify counts pairs of fresh outputs of the chosen pair, shard after shard.
func (s *state) certify(ctx context.Context) error {
	s.tell(func(g *Progress) { g.Phase, g.Provisional = Certifying, nil })
	divided, err := engine.Divide(s.pool, "certify", s.audit.shards(), func(lo, hi int) ([]*Counted, error) { return s.part(ctx, lo, hi) }, func(_, _ int, c *Counted) error { return s.counted.add(*c) })
	if !divided {
		err = s.draw(ctx, 0, s.audit.shards())
	}
	return err
}

// draw certifies the shards in [lo, hi), a wave at a time.
func (s *state) draw(ctx context.Context, lo, hi int) error {
	show := s.provisional()
	for ; lo < hi; lo += waveShards {
		if err := s.wave(ctx, lo, min(lo+waveShards, hi), show); err != nil {
			return err
		}
	}
	return nil
}

// part is what the shards in [lo, hi) count together, for a machine that joins parts.
func (s *state) part(ctx context.Context, lo, hi int) ([]*Counted, error) {
	whole := s.pool
	s.pool = whole.Plain()
	defer func() { s.pool = whole }()
	if err := s.draw(ctx, lo, hi); err != nil {
		return nil, err
	}
	return []*Counted{s.counted.packed()}, nil
}

// wave certifies the shards in [lo, hi). Results are merged in the order of the
// shards as soon as all before them are there, so that what was merged when a run is
// stopped can be replayed.
func (s *state) wave(ctx context.Context, lo, hi int, show func(*Progress)) error {
	parent := ctx
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	p, tasks := s.audit.Plan, s.certifyTasks(lo, hi)
	held := make([]*Counted, len(tasks))
	next := 0
	var broken error
	_, err := engine.Do(ctx, s.pool, tasks, events(s, 2, func(i int, g *Progress, c *Counted) {
		held[i] = c
		for next < len(held) && held[next] != nil && broken == nil {
			if broken = s.counted.add(*held[next]); broken != nil {
				cancel(broken)
				return
			}
			held[next] = nil
			next++
			show(g)
			if s.Progress != nil {
				g.Live = &Live{Chart: s.best.Chart.with(s.counted.chart, s.counted.plane), Claim: s.audit.at(s.prepared.Point).grouped(s.prepared.Steps).Claim, Direction: s.prepared.Event.direction(), Event: s.event, Rows: s.counted.rows, Samples: p.Samples, Beta: p.Beta}
			}
		}
	}))
	var failed *engine.TaskError
	switch {
	case broken != nil:
		return broken
	case errors.As(err, &failed) && failed.Index > next:
		// What came before the failure was cut off by it, and may fail itself: that
		// must not depend on who was faster.
		if err := s.wave(parent, lo+next, lo+failed.Index, show); err != nil {
			return err
		}
	}
	return err
}

// provisionalBounds is how many bounds a certification shows on its way, at
// most: a bound costs more than a shard's counts.
const provisionalBounds = 50

// provisional shows the bound so far, as shards are merged.
func (s *state) provisional() func(*Progress) {
	if s.Progress == nil {
		return func(*Progress) {}
	}
	every, done := max(1, s.audit.shards()/provisionalBounds), 0
	roughly := s.rough()
	return func(g *Progress) {
		if done++; done%every == 0 {
			v := lowerBound(phrase.Floor(roughly(), 6))
			g.Provisional, g.Pairs = &v, s.counted.rows
		}
	}
}

// rough is a quick bound on the goal from the counts so far.
func (s *state) rough() func() float64 {
	p, pr := s.audit.Plan, s.prepared
	switch p.goal() {
	case report.Epsilon:
		_, delta := s.audit.at(pr.Point).grouped(pr.Steps).dpLimits()
		split := bounds.TuneSplit(pr.Event.counts(s.best.Table), p.Samples, p.Samples, delta, p.Beta)
		return func() float64 {
			return bounds.ClopperPearson(pr.Event.counts(s.counted.table), delta, p.Beta, split) / float64(max(1, pr.Steps))
		}
	case report.Mu:
		return func() float64 { return bounds.GaussianMu(pr.MuEvent.counts(s.counted.table), p.Beta) }
	}
	return func() float64 {
		return s.audit.fromDivergence(bounds.Renyi(pr.Goal.side(s.counted.table), pr.Goal.RenyiPlan, p.Beta), pr.Goal.Alpha)
	}
}

// certifyTasks are the shards in [lo, hi).
func (s *state) certifyTasks(lo, hi int) []Certify {
	neighbours, ch := s.trials[s.bestAt].Pair, s.best.Chart.with([4][]int{}, [2][]int{})
	later := ch
	later.Plane = nil // counted in the first shards only
	tasks := make([]Certify, hi-lo)
	for i := range tasks {
		ch := ch
		if (lo+i)*s.audit.shardRows() >= planeRows {
			ch = later
		}
		tasks[i] = Certify{Plan: s.audit.Plan, Pair: neighbours, Shard: lo + i, Witness: s.best.Witness, Edges: s.best.Edges, Event: s.prepared.Event, Chart: ch}
	}
	return tasks
}

// certificate computes the bounds, and what the samples could have shown, on a
// worker: it may take a second.
func (s *state) certificate(ctx context.Context) error {
	s.tell(func(g *Progress) { g.Phase = Bounding })
	results, err := engine.Do(ctx, s.pool, []Bound{s.boundTask()}, engine.Events[Certified]{})
	if err != nil {
		return err
	}
	s.certified = results[0]
	return nil
}

func (s *state) boundTask() Bound {
	return Bound{Plan: s.audit.Plan, Table: s.counted.table, Explored: s.best.Table, Prepared: s.prepared}
}

// Outputs are drawn in blocks of BlockRows and streams in shards of ShardRows
// outputs. Both are part of what makes a report replay: changing one changes
// which random numbers an output is made of.
const (
	BlockRows = audit.BlockRows
	ShardRows = 4 * BlockRows
)

// Explore is the task of drawing outputs on both datasets of a pair and learning
// what tells them apart. It returns an [Explored].
type Explore struct {
	Plan     Plan       `json:"plan"` // resolved, as in all tasks
	Trial    int        `json:"trial"`
	Pair     audit.Pair `json:"pair"`
	Round    int        `json:"round,omitempty"`    // of successive halving; its outputs are its own
	Outputs  int        `json:"outputs"`            // a side
	Learners []string   `json:"learners,omitempty"` // default: all that the plan allows
}

// Prepare is the task of choosing, on exploration counts, what the bounds need. It
// returns a [Prepared].
type Prepare struct {
	Plan     Plan         `json:"plan"`
	Explored bounds.Table `json:"explored"` // validation pairs
	Event    Cut          `json:"event"`
	Hedges   []Hedge      `json:"hedges,omitempty"`
	Steps    int          `json:"steps,omitempty"` // by which the pair differs; 0: one
}

// Certify is the task of drawing one shard of outputs on both datasets and counting
// how a witness sees them. It returns a [Counted].
type Certify struct {
	Plan    Plan       `json:"plan"`
	Pair    audit.Pair `json:"pair"`
	Shard   int        `json:"shard"`
	Witness Witness    `json:"witness"`
	Edges   []float64  `json:"edges"` // of the bins of the score
	Event   Cut        `json:"event"` // drawn in the chart
	Chart   Chart      `json:"chart"` // what to draw, without counts
}

// Bound is the task of turning counts into lower confidence bounds. It returns a
// [Certified].
type Bound struct {
	Plan     Plan         `json:"plan"`
	Explored bounds.Table `json:"explored"` // exploration pairs
	Table    bounds.Table `json:"table"`    // certification pairs
	Prepared Prepared     `json:"prepared"`
}

// Kind and Name implement [engine.Task].
func (Explore) Kind() string { return "pair/explore" }
func (Prepare) Kind() string { return "pair/prepare" }
func (Certify) Kind() string { return "pair/certify" }
func (Bound) Kind() string   { return "pair/bound" }

func (t Explore) Name() string {
	return fmt.Sprintf("explore, trial %d of mechanism %s", t.Trial, t.Plan.Mechanism)
}
func (t Prepare) Name() string { return "prepare the bounds of mechanism " + t.Plan.Mechanism }
func (t Certify) Name() string {
	return fmt.Sprintf("certify, shard %d of mechanism %s", t.Shard, t.Plan.Mechanism)
}
func (t Bound) Name() string { return "bound mechanism " + t.Plan.Mechanism }

// Unwatched implements [engine.Unwatched].
func (Prepare) Unwatched() {}
func (Bound) Unwatched()   {}

// Executors execute the tasks of audits of the catalogue's mechanisms.
func Executors(cat audit.Catalogue) engine.Executors {
	return engine.Executors{
		engine.NewExecutor(func(t Explore, hook engine.Hook) (*Explored, error) { return t.execute(cat, hook) }),
		engine.NewExecutor(func(t Race, hook engine.Hook) (*Raced, error) { return t.execute(cat, hook) }),
		engine.NewExecutor(func(t Prepare, _ engine.Hook) (*Prepared, error) { return t.execute(cat) }),
		engine.NewExecutor(func(t Certify, hook engine.Hook) (*Counted, error) { return t.execute(cat, hook) }),
		engine.NewExecutor(func(t Bound, _ engine.Hook) (*Certified, error) { return t.execute(cat) }),
	}
}

// LocalPool is a pool of n goroutines for audits of the catalogue's mechanisms.
func LocalPool(cat audit.Catalogue, n int) *engine.Pool { return engine.LocalPool(Executors(cat), n) }

// blockRows is how many outputs a mechanism is asked for at a time.
func (a *Audit) blockRows() int {
	if a.Spec.Block == nil {
		return BlockRows
	}
	return min(max(1, a.Spec.Block(a.Plan.Parameters)), BlockRows)
}

// shardRows is how many outputs a side one shard of certification draws: where outputs
// take long there is work for all workers.
func (a *Audit) shardRows() int {
	if n := a.blockRows(); n < BlockRows {
		return min(slowBlocks*n, ShardRows)
	}
	return ShardRows
}

// slowBlocks are the blocks of a shard where outputs take long.
const slowBlocks = 16

// shards is how many shards certification has at most.
func (a *Audit) shards() int {
	n := a.shardRows()
	return (a.Plan.Samples + n - 1) / n
}

// Explored is what exploring one pair found.
type Explored struct {
	Witness Witness   `json:"witness"`
	Edges   []float64 `json:"edges"` // of the bins of its score
	Event   Cut       `json:"event"` // that shows the largest epsilon
	Hedges  []Hedge   `json:"hedges,omitempty"`
	// Value is about the lower bound on the goal that the witness shows on the
	// validation split, for ranking only.
	Value    float64       `json:"value"`
	Table    bounds.Table  `json:"table"` // validation pairs
	Chart    Chart         `json:"chart"`
	Learners []LearnerNote `json:"learners"`

	promised float64 // ranks learners as Value ranks pairs
}

// LearnerNote says how one learner of a portfolio did.
type LearnerNote struct {
	Learner string  `json:"learner"`
	Value   float64 `json:"value"`
	Note    string  `json:"note,omitempty"` // why it dropped out
}

// Counted is what one shard of certification adds.
type Counted struct {
	Rows  int      `json:"rows"`  // outputs drawn a side
	Cells []byte   `json:"cells"` // counts of pairs of bins, packed
	Chart [4][]int `json:"chart"` // counts a bin: first, first in the event, second, second in the event
	// Plane holds the counts of the chart's plane, packed, where the task has one.
	Plane [2][]byte `json:"plane,omitzero"`
}

// tally is the sum of shards.
type tally struct {
	rows  int
	table bounds.Table
	of    Chart
	event Cut
	chart [4][]int
	plane [2][]int // nil where the chart has none
}

func newTally(edges []float64, ch Chart, event Cut) tally {
	return tally{table: bounds.NewTable(len(edges) + 1), of: ch, event: event, plane: ch.Plane.counts()}
}

// packed is the sum as one shard would have told it.
func (t *tally) packed() *Counted {
	c := &Counted{Rows: t.rows, Cells: packCounts(t.table.N), Chart: t.chart}
	for side, cells := range t.plane {
		if cells != nil {
			c.Plane[side] = packCounts(cells)
		}
	}
	return c
}

// add merges another shard.
func (t *tally) add(c Counted) error {
	cells, err := unpackCounts(c.Cells, len(t.table.N))
	if err != nil {
		return err
	}
	counted := bounds.Table{Bins: t.table.Bins, N: cells}
	if n := counted.Pairs(); n != c.Rows {
		return fmt.Errorf("a shard counts %d pairs of %d outputs a side", n, c.Rows)
	}
	if err := t.of.with(c.Chart, [2][]int{}).counts(counted, t.event); err != nil {
		return err
	}
	for side, packed := range c.Plane {
		if len(packed) == 0 {
			continue
		}
		cells, err := unpackCounts(packed, len(t.plane[side]))
		if err != nil {
			return err
		}
		for i, n := range cells {
			t.plane[side][i] += n
		}
	}
	t.rows += c.Rows
	for i, n := range cells {
		t.table.N[i] += n
	}
	for k := range t.chart {
		if t.chart[k] == nil {
			t.chart[k] = make([]int, len(c.Chart[k]))
		}
		for i, n := range c.Chart[k] {
			t.chart[k][i] += n
		}
	}
	return nil
}
