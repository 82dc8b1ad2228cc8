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

	most int // trainings of a replay; 0: the plan's
}

// state is a run under way.
type state struct {
	Run
	audit    *Audit
	evidence *Evidence
	timing   audit.Timing
	warnings []string
	progress Progress
	looked   int // certified runs at the last look
	pace     engine.Pace
	leader   *leader
	scores   []float64 // of a sequential audit
	diverged int
}

// Do runs the audit. The report does not depend on the pool. When ctx ends first,
// it returns what there is, without a bound and with verdict inconclusive. When
// the run fails, it returns what there is and the error.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Sources, r.File)
	if err != nil {
		return Report{}, err
	}
	s := &state{Run: r, audit: a, pace: engine.Pace{Even: a.Plan.Trainer != nil}}
	if err := s.resume(); err != nil {
		return Report{}, err
	}
	start := s.now()
	err = s.do(ctx)
	s.timing.Total, s.timing.Workers = s.now()-start, r.Pool.Size()
	end, err := report.Ended(ctx, err)
	made := Conclude(a, s.evidence, end, s.warnings)
	made.Generator, made.Timing = r.Generator, s.timing
	if r.Continue != nil {
		made.Continued = r.Continue.parts()
	}
	return made, err
}

func (s *state) now() float64 {
	if s.Now == nil {
		return 0
	}
	return s.Now()
}

func (s *state) tell() {
	if s.Progress != nil {
		s.progress.Left = nil
		if left, ok := s.pace.Left(s.now(), "", s.progress.Runs, s.progress.Total); ok && left > 0 {
			s.progress.Left = &left
		}
		s.Progress(s.progress)
	}
}

func (s *state) do(ctx context.Context) error {
	p := s.audit.Plan
	s.progress.Total, s.progress.Claimed = p.Explore+p.Runs, p.Claim.Epsilon
	if p.sequential() {
		return s.bet(ctx)
	}
	s.evidence = &Evidence{}
	return s.gather(ctx)
}

// gather explores, chooses the threshold and certifies.
func (s *state) gather(ctx context.Context) error {
	p := s.audit.Plan
	start := s.now()
	var scores []float64
	diverged := 0
	s.progress.Phase = Exploring
	drawn, err := s.draw(ctx, Task{Phase: Exploring}, p.Explore, 0, nil)
	s.timing.Explore += s.now() - start
	for _, d := range drawn {
		if d != nil {
			scores = append(scores, source.UnpackFloats(d.Scores)...)
			diverged += d.Diverged
		}
	}
	ev := &s.evidence.Gathered
	ev.Explored.Diverged = diverged
	if err != nil {
		return err
	}
	e := membership.NewExplored(p.K, p.M, scores)
	if e.Runs() != p.Explore {
		return fmt.Errorf("explored %d runs of %d", e.Runs(), p.Explore)
	}
	*ev = e.Choose(p.aim())
	ev.Explored.Diverged = diverged
	ev.Portrait, s.evidence.Membership = membership.Portray(p.K, p.M, scores), membership.OfRuns(p.K, p.M, scores, p.Beta)
	if err := ctx.Err(); err != nil {
		return err
	}

	start = s.now()
	s.progress.Phase = Certifying
	s.looked = 0
	sum := bounds.NewCanaryTable(p.K, p.M)
	_, err = s.draw(ctx, Task{Phase: Certifying, Cut: ev.Threshold}, p.Runs, p.Explore, func(d *Drawn) {
		sum.Merge(*d.Table)
		ev.Certified.Diverged += d.Diverged
		s.look(sum)
	})
	s.timing.Certify += s.now() - start
	if sum.Runs() > 0 {
		ev.Certified.Table = &sum
	}
	if err == nil && sum.Runs() != p.Runs {
		err = fmt.Errorf("certified %d runs of %d", sum.Runs(), p.Runs)
	}
	return err
}

// look computes the live bounds, now and then.
func (s *state) look(sum bounds.CanaryTable) {
	p, n := s.audit.Plan, sum.Runs()
	s.progress.Certified, s.progress.Diverged = n, s.evidence.Certified.Diverged
	if s.Progress == nil || n < p.Runs && n-s.looked < p.Runs/Looks {
		return
	}
	s.looked = n
	s.progress.Bounds = nil
	delta := p.Claim.Delta
	for _, kind := range bounds.CanaryIntervals() {
		if kind.Check(p.K, p.M, n, delta, p.Beta) == nil {
			s.progress.Bounds = append(s.progress.Bounds, LiveBound{kind, math.Max(0, bounds.CanaryEpsilon(kind, sum, delta, p.Beta, s.evidence.Stakes))})
		}
	}
}

// fewRuns is how many runs a task has, at least, of sources whose runs are cheap.
const fewRuns = 16

// errRefuted ends the drawing of an audit until refuted.
var errRefuted = errors.New("the claim is refuted")

// bet draws trainings, bets on them in their order, and learns from each. Those beyond
// the one that ended the run are not counted, wherever they were under way.
func (s *state) bet(ctx context.Context) error {
	p, start := s.audit.Plan, s.now()
	if s.leader == nil {
		s.leader = newLeader(p)
	}
	first, most := s.leader.trained(), p.Runs
	if s.most > 0 {
		most = s.most
	}
	size := p.K + p.M
	s.progress.Phase, s.progress.Total, s.progress.Holds = Betting, p.Runs, true
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := map[int]*Drawn{} // by their first training, until those before them are there
	over := func() bool { return p.Mode == UntilRefuted && s.leader.sequence.Refuted() }
	if over() {
		most = first // the run that this goes on from has all
	}
	_, err := s.draw(ctx, Task{Phase: Betting, First: first}, most-first, first, func(d *Drawn) {
		for waiting[d.first] = d; !over(); {
			n := s.leader.trained()
			d := waiting[n]
			if d == nil {
				break
			}
			delete(waiting, n)
			scores := source.UnpackFloats(d.Scores)
			for i := 0; i < d.Runs && !over(); i++ {
				run := scores[i*size:][:size]
				s.scores = append(s.scores, run...)
				if i < len(d.Worst) && d.Worst[i] {
					s.diverged++
				}
				s.leader.take(run)
			}
		}
		s.lookSequential()
		if over() {
			cancel(errRefuted)
		}
	})
	s.timing.Bet += s.now() - start
	if s.leader.trained() > 0 {
		ev, bad := s.leader.evidence(p, s.scores, s.diverged)
		if bad != nil {
			return bad
		}
		s.evidence = ev
	}
	if over() || s.leader.trained() == p.Runs {
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
	if n := q.Runs(); s.Progress == nil || n == s.looked || n < s.audit.Plan.Runs && n-s.looked < s.audit.Plan.Runs/(8*Looks) {
		return
	}
	s.looked = q.Runs()
	s.progress.Bounds = []LiveBound{{bounds.CanaryPairedBetting, math.Max(0, bounds.RoundDown(q.LowerBound()))}}
}

// draw spreads runs over the pool and returns what the tasks returned, in their
// order, nil where one did not finish.
func (s *state) draw(ctx context.Context, t Task, runs, before int, done func(*Drawn)) ([]*Drawn, error) {
	if t.Phase != Exploring {
		divided, err := s.divide(ctx, t, runs, before, done)
		if divided {
			return nil, err
		}
	}
	t.Plan, t.Data = s.audit.Plan, s.audit.Setup.Data
	grain := max(1, s.audit.Spec.ShardRuns)
	if t.Phase == Betting && grain < fewRuns {
		grain = 1 // a look after every training
	}
	var tasks []Task
	for first, end := t.First, t.First+runs; first < end; first += grain {
		t.First, t.Runs = first, min(grain, end-first)
		tasks = append(tasks, t)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var bad error
	drawn, err := engine.Do(ctx, s.Pool, tasks, engine.Events[Drawn]{
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
			s.warnings = append(s.warnings, engine.LostWorker+err.Error())
			s.progress.Message = err.Error()
			s.tell()
		},
	})
	if bad != nil {
		return nil, bad
	}
	return drawn, err
}

// divide does the runs of a stage that other machines draw too, see [engine.Divide]. A
// sequential audit has one allocation, all of the plan's runs, as who draws a part does
// not know what the bets on others came to; runs beyond its end are not counted.
func (s *state) divide(ctx context.Context, t Task, runs, before int, done func(*Drawn)) (bool, error) {
	stage := fmt.Sprintf("%s, %d canaries in and %d out", t.Phase, s.audit.Plan.K, s.audit.Plan.M)
	first := t.First
	return engine.Divide(s.Pool, stage, runs, func(lo, hi int) ([]*Drawn, error) {
		whole := s.Pool
		s.Pool = whole.Plain()
		defer func() { s.Pool = whole }()
		t.First = first + lo
		all, err := s.draw(ctx, t, hi-lo, before, nil)
		if err != nil {
			return nil, err
		}
		return []*Drawn{joined(all)}, nil
	}, func(lo, hi int, d *Drawn) error {
		t.Plan, t.First, t.Runs = s.audit.Plan, first+lo, hi-lo
		if err := d.check(t); err != nil {
			return err
		}
		d.first = t.First
		done(d)
		return nil
	})
}

// joined is what one task of all the runs would have returned.
func joined(all []*Drawn) *Drawn {
	sum := &Drawn{}
	for _, d := range all {
		if d.Worst != nil && sum.Worst == nil {
			sum.Worst = make([]bool, sum.Runs)
		}
		if sum.Worst != nil {
			sum.Worst = append(sum.Worst, d.Worst...)
			sum.Worst = append(sum.Worst, make([]bool, sum.Runs+d.Runs-len(sum.Worst))...)
		}
		sum.Runs += d.Runs
		sum.Diverged += d.Diverged
		sum.Scores = append(sum.Scores, d.Scores...)
		switch {
		case d.Table == nil:
		case sum.Table == nil:
			t := *d.Table
			sum.Table = &t
		default:
			sum.Table.Merge(*d.Table)
		}
	}
	return sum
}

// check refuses what no task of this plan returns.
func (d Drawn) check(t Task) error {
	p, runs := t.Plan, t.Runs
	ok := d.Runs == runs && d.Diverged >= 0 && d.Diverged <= runs
	if t.Phase != Certifying {
		ok = ok && len(d.Scores) == 8*runs*(p.K+p.M) && len(d.Worst) <= runs
	} else {
		ok = ok && d.Table != nil && d.Table.Validate() == nil && d.Table.K == p.K && d.Table.M == p.M && d.Table.Runs() == runs
	}
	if !ok {
		return fmt.Errorf("a %s task of %d runs returned something else", t.Phase, runs)
	}
	return nil
}
