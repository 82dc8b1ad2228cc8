package canary

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Progress is what a run tells while it works.
type Progress struct {
	Phase Phase `json:"phase"`
	Runs  int   `json:"runs"`  // drawn so far in all phases
	Total int   `json:"total"` // to draw in all
	// Left is how many seconds the runs that are to come take if each costs what those
	// that are done did; absent while too few are.
	Left *float64 `json:"left,omitempty"`
	// Certified runs so far, those that diverged among all, and the bound of
	// every interval on them, as if the audit were planned to end here: none is a
	// certificate, but in a sequential audit (Holds). They are not computed at every call.
	Certified int         `json:"certified"`
	Diverged  int         `json:"diverged,omitempty"`
	Bounds    []LiveBound `json:"bounds,omitempty"`
	Holds     bool        `json:"holds,omitempty"`
	Claimed   float64     `json:"claimed"`
	Message   string      `json:"message,omitempty"` // a worker was lost
}

// LiveBound is the bound of one interval on the runs so far, at least 0.
type LiveBound struct {
	Interval bounds.CanaryInterval `json:"interval"`
	Epsilon  float64               `json:"epsilon"`
}

// Looks is about how often a run computes the bounds of its progress.
const Looks = 40

// Run is one audit to be done.
type Run struct {
	Plan      Plan
	File      []byte // the user's, nil if there is none
	Sources   []source.Spec
	Pool      *engine.Pool // of workers that know the sources
	Generator audit.Generator
	Progress  func(Progress) // may be nil; called one at a time
	Now       func() float64 // seconds of a clock; nil: no timing
	// Continue is the report that the run goes on from, see [Report.Continue]; nil: none.
	Continue *Parent
}

// Do runs the audit, see [report.Do]. A run that is stopped has a bound only where the
// audit is sequential.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resume(r.Sources, r.File, r.Continue)
	if err != nil {
		return Report{}, err
	}
	return report.Do(ctx, a, &engine.Runner{Pool: r.Pool, Now: r.Now}, r.Progress, r.Generator)
}

// state is a run under way.
type state struct {
	*Audit
	on       *engine.Runner
	evidence *Evidence

	told     func(Progress) // may be nil
	progress Progress
	looked   int // certified runs at the last look
	pace     engine.Pace

	sum bounds.CanaryTable // of a fixed audit

	leader   *leader // of a sequential one
	scores   []float64
	diverged int
	waiting  map[int]*Drawn // by their first training, until those before them are there
}

func newState(a *Audit, on *engine.Runner, tell func(Progress)) *state {
	s := &state{Audit: a, on: on, told: tell, pace: engine.Pace{Even: a.Plan.Trainer != nil}, sum: bounds.NewCanaryTable(a.Plan.K, a.Plan.M), waiting: map[int]*Drawn{}}
	s.progress.Total, s.progress.Claimed = a.Plan.Explore+a.Plan.Runs, a.Plan.Claim.Epsilon
	if !a.Plan.sequential() {
		s.evidence = &Evidence{}
	} else if s.leader = newLeader(a.Plan); a.from != nil {
		a.from.resume(s)
	}
	return s
}

// Run implements [report.Audit].
func (a *Audit) Run(ctx context.Context, on *engine.Runner, tell func(Progress)) (*Evidence, audit.Termination, error) {
	s := newState(a, on, tell)
	err := s.do(ctx)
	end, err := report.Ended(ctx, err)
	return s.evidence, end, err
}

func (s *state) tell() {
	if s.told != nil {
		s.progress.Left = nil
		if left, ok := s.pace.Left(s.on.Clock(), "", s.progress.Runs, s.progress.Total); ok && left > 0 {
			s.progress.Left = &left
		}
		s.told(s.progress)
	}
}

func (s *state) do(ctx context.Context) error {
	if s.Plan.sequential() {
		return s.bet(ctx)
	}
	if err := s.on.Timed(&s.on.Timing.Explore, func() error { return s.explore(ctx) }); err != nil {
		return err
	}
	return s.on.Timed(&s.on.Timing.Certify, func() error {
		_, err := s.draw(ctx, Certifying, 0, s.Plan.Runs, s.Plan.Explore, s.certified)
		return s.counted(err)
	})
}

// explore draws runs, and chooses the threshold by them.
func (s *state) explore(ctx context.Context) error {
	p := s.Plan
	all, err := s.draw(ctx, Exploring, 0, p.Explore, 0, nil)
	if err != nil {
		return err
	}
	drawn, ev := joined(all), &s.evidence.Gathered
	scores, diverged := drawn.Scores, drawn.Diverged
	e := membership.NewExplored(p.K, p.M, scores)
	if e.Runs() != p.Explore {
		return fmt.Errorf("explored %d runs of %d", e.Runs(), p.Explore)
	}
	*ev = e.Choose(p.aim())
	ev.Explored.Diverged = diverged
	ev.ScoreSample, s.evidence.Membership = membership.Portray(p.K, p.M, scores), membership.OfRuns(p.K, p.M, scores, p.Beta)
	return ctx.Err()
}

// certified takes runs that certify.
func (s *state) certified(d *Drawn) {
	s.sum.Merge(*d.Table)
	s.evidence.Certified.Diverged += d.Diverged
	s.look()
}

// counted puts what certified into the evidence, after a certification that ended with err.
func (s *state) counted(err error) error {
	if s.sum.Runs() > 0 {
		s.evidence.Certified.Table = &s.sum
	}
	if err == nil && s.sum.Runs() != s.Plan.Runs {
		err = fmt.Errorf("certified %d runs of %d", s.sum.Runs(), s.Plan.Runs)
	}
	return err
}

// look computes the live bounds, now and then.
func (s *state) look() {
	p, n := s.Plan, s.sum.Runs()
	s.progress.Certified, s.progress.Diverged = n, s.evidence.Certified.Diverged
	if s.told == nil || n < p.Runs && n-s.looked < p.Runs/Looks {
		return
	}
	s.looked = n
	s.progress.Bounds = nil
	delta := p.Claim.Delta
	for _, kind := range bounds.CanaryIntervals() {
		if kind.Check(p.K, p.M, n, delta, p.Beta) == nil {
			s.progress.Bounds = append(s.progress.Bounds, LiveBound{kind, math.Max(0, bounds.CanaryEpsilon(kind, s.sum, delta, p.Beta, s.evidence.Stakes))})
		}
	}
}

// fewRuns is how many runs a task has, at least, of sources whose runs are cheap.
const fewRuns = 16

// errRefuted ends the drawing of an audit until refuted.
var errRefuted = errors.New("the claim is refuted")

// over reports whether the claim of an audit until it is refuted is.
func (s *state) over() bool { return s.Plan.Mode == UntilRefuted && s.leader.sequence.Refuted() }

// bet draws trainings, bets on them in their order, and learns from each. Those beyond
// the one that ended the run are not counted, wherever they were under way.
func (s *state) bet(ctx context.Context) error {
	first, most := s.leader.trained(), s.Plan.Runs
	if s.most > 0 {
		most = s.most
	}
	if s.over() {
		most = first // the run that this goes on from has all
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := s.on.Timed(&s.on.Timing.Bet, func() error {
		_, err := s.draw(ctx, Betting, first, most, first, func(d *Drawn) {
			s.trained(d)
			if s.over() {
				cancel(errRefuted)
			}
		})
		return err
	})
	return s.betted(most, err)
}

// trained takes trainings to bet on, once those before them are there.
func (s *state) trained(d *Drawn) {
	size := s.Plan.K + s.Plan.M
	for s.waiting[d.first] = d; !s.over(); {
		n := s.leader.trained()
		d := s.waiting[n]
		if d == nil {
			break
		}
		delete(s.waiting, n)
		for i := 0; i < d.Runs && !s.over(); i++ {
			run := d.Scores[i*size:][:size]
			s.scores = append(s.scores, run...)
			if i < len(d.Worst) && d.Worst[i] {
				s.diverged++
			}
			s.leader.take(run)
		}
	}
	s.lookSequential()
}

// betted is the evidence of the bets, of a run of so many trainings at most that ended with
// err.
func (s *state) betted(most int, err error) error {
	if s.leader.trained() > 0 {
		ev, bad := s.leader.evidence(s.Plan, s.scores, s.diverged)
		if bad != nil {
			return bad
		}
		s.evidence = ev
	}
	if s.over() || s.leader.trained() == s.Plan.Runs {
		return nil // whoever stops it then comes too late
	}
	if err == nil && s.leader.trained() != most {
		err = fmt.Errorf("%d trainings of %d", s.leader.trained(), most)
	}
	return err
}

// lookSequential tells the bound so far, which holds: after every training, of many now
// and then.
func (s *state) lookSequential() {
	q := s.leader.sequence
	s.progress.Certified, s.progress.Diverged = q.Runs(), s.diverged
	if n := q.Runs(); s.told == nil || n == s.looked || n < s.Plan.Runs && n-s.looked < s.Plan.Runs/(8*Looks) {
		return
	}
	s.looked = q.Runs()
	s.progress.Bounds = []LiveBound{{bounds.CanaryPairedBetting, math.Max(0, bounds.RoundDown(q.LowerBound()))}}
}

// draw spreads the runs in [first, end) over the pool, and returns what the tasks returned,
// in their order; done, which may be nil, is told of each as soon as it is there. before is
// how many runs of the audit were drawn before.
func (s *state) draw(ctx context.Context, phase Phase, first, end, before int, done func(*Drawn)) ([]*Drawn, error) {
	s.progress.Phase, s.progress.Holds, s.looked = phase, phase == Betting, 0
	grain := max(1, s.Spec.ShardRuns)
	if phase == Betting && grain < fewRuns {
		grain = 1 // a look after every training
	}
	var tasks []Task
	for ; first < end; first += grain {
		t := Task{Plan: s.Plan, Data: s.Setup.Data, Phase: phase, First: first, Runs: min(grain, end-first), audit: s.Audit}
		if phase == Certifying {
			t.Cut = s.evidence.Threshold
		}
		tasks = append(tasks, t)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var bad error
	drawn, err := engine.Do(ctx, s.on.Pool, tasks, engine.Events[Drawn]{
		Rows: func(total int) { s.progress.Runs, s.progress.Message = before+total, ""; s.tell() },
		Done: func(i int, d *Drawn) {
			d.first = tasks[i].First
			if err := d.check(tasks[i]); err != nil {
				bad = err
				cancel(err)
			} else if done != nil && bad == nil {
				done(d)
			}
			s.tell()
		},
		Lost: func(_ int, err error) {
			s.on.Warnings = append(s.on.Warnings, engine.LostWorker+err.Error())
			s.progress.Message = err.Error()
			s.tell()
		},
	})
	if bad != nil {
		return nil, bad
	}
	return drawn, err
}

// check refuses what no task of this plan returns.
func (d Drawn) check(t Task) error {
	p, runs := t.Plan, t.Runs
	ok := d.Runs == runs && d.Diverged >= 0 && d.Diverged <= runs
	if t.Phase != Certifying {
		ok = ok && len(d.Scores) == runs*(p.K+p.M) && len(d.Worst) <= runs
	} else {
		ok = ok && d.Table != nil && d.Table.Validate() == nil && d.Table.K == p.K && d.Table.M == p.M && d.Table.Runs() == runs
	}
	if !ok {
		return fmt.Errorf("a %s task of %d runs returned something else", t.Phase, runs)
	}
	return nil
}
