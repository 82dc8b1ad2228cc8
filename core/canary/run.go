package canary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Progress is what a run tells while it works.
type Progress struct {
	Phase Phase `json:"phase"`
	Runs  int   `json:"runs"`  // drawn so far in all phases
	Total int   `json:"total"` // to draw in all
	// Left is how many seconds the runs to come take; absent while too few are done.
	Left *float64 `json:"left,omitempty"`
	// Certified runs so far, those that diverged, and now and then every interval's bound, as if the audit
	// were planned to end here: no certificate unless Holds.
	Certified int         `json:"certified"`
	Diverged  int         `json:"diverged,omitempty"`
	Bounds    []LiveBound `json:"bounds,omitempty"`
	Holds     bool        `json:"holds,omitempty"`
	Claimed   float64     `json:"claimed"`
	Message   string      `json:"message,omitempty"`
	// Scored are runs since the last call, at most [MostScored] scores in all. To look at them changes no
	// error rate: they explore, or were bet on before; runs that certify a fixed audit leave none.
	Scored []membership.Scored `json:"scored,omitempty"`
}

// MostScored is how many scores a run tells of while it works.
const MostScored = 100_000

// LiveBound is the bound of one interval on the runs so far, at least 0.
type LiveBound struct {
	Interval bounds.CanaryInterval `json:"interval"`
	Epsilon  float64               `json:"epsilon"`
}

// Looks is about how often a run computes the bounds of its progress.
const Looks = 40

type state struct {
	*Audit
	on       *engine.Runner
	evidence *Evidence

	told     func(Progress)
	progress Progress
	looked   int // certified runs at the last look
	shown    int // runs that show was given
	scored   int // scores that it told of
	pace     engine.Pace

	sum      Drawn // of the runs that certify; of a sequential audit their scores
	diverged int   // of them

	leader  *leader
	waiting map[int]*Drawn // by their first training, until those before them are there
}

func newState(a *Audit, on *engine.Runner, tell func(Progress), ev *Evidence) *state {
	s := &state{Audit: a, on: on, told: tell, evidence: ev, pace: engine.Pace{Even: a.Plan.Trainer != nil}, waiting: map[int]*Drawn{}}
	s.progress.Total, s.progress.Claimed = a.Plan.Explore+a.Plan.Runs, a.Plan.Claim.Epsilon
	if a.Plan.sequential() {
		s.leader = newLeader(a.Plan)
	}
	if a.from != nil {
		s.sum.Scores, s.diverged = slices.Clip(a.from.scores), a.from.report.Evidence.Runs.Certified.Diverged
		s.leader.takeAll(a.from.scores)
	}
	return s
}

func (a *Audit) Run(ctx context.Context, on *engine.Runner, tell func(Progress)) (*Evidence, audit.Termination, error) {
	s := newState(a, on, tell, nil)
	var err error
	if a.Plan.Mode == Fixed {
		err = on.Timed(&on.Timing.Explore, func() error { return s.explore(ctx) })
	}
	if err == nil {
		spent := audit.Pick(s.leader != nil, &on.Timing.Bet, &on.Timing.Certify)
		err = on.Timed(spent, func() error { return s.certify(ctx) })
	}
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
	s.progress.Scored = nil
}

// explore chooses the threshold of a fixed audit.
func (s *state) explore(ctx context.Context) error {
	p := s.Plan
	s.evidence = &Evidence{Runs: &membership.Gathered{}}
	all, err := s.draw(ctx, Exploring, 0, p.Explore, 0, func(*Drawn) {})
	if err != nil {
		return err
	}
	drawn, e := joined(all), s.evidence
	aim := membership.Aim{Interval: p.Interval, Quantile: p.Quantile, Delta: p.Claim.Delta, Beta: p.Beta, Runs: p.Runs}
	*e.Runs = membership.NewExplored(p.K, p.M, drawn.Scores).Choose(aim)
	e.Runs.Explored.Diverged, e.Runs.ScoreSample = len(drawn.Diverged), membership.Portray(p.K, p.M, drawn.Scores)
	e.Membership = membership.OfRuns(p.K, p.M, drawn.Scores, p.Beta)
	return ctx.Err()
}

var errRefuted = errors.New("the claim is refuted")

func (s *state) over() bool { return s.Plan.Mode == UntilRefuted && s.leader.sequence.Refuted() }

// certify draws the runs that certify. Trainings beyond the one that refuted a claim are not counted.
func (s *state) certify(ctx context.Context) error {
	first, most := s.certified(), cmp.Or(s.most, s.Plan.Runs)
	if s.over() {
		most = first // the run that this goes on from has all
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, err := s.draw(ctx, s.Plan.Mode.phase(), first, most, first+s.Plan.Explore, func(d *Drawn) {
		if s.take(d); s.over() {
			cancel(errRefuted)
		}
	})
	return s.counted(most, err)
}

func (s *state) take(d *Drawn) {
	if s.leader != nil {
		s.waiting[d.First] = d
	} else {
		s.sum.add(d)
		s.diverged += len(d.Diverged)
	}
	size := s.Plan.K + s.Plan.M
	for d := s.waiting[s.certified()]; d != nil && !s.over(); d = s.waiting[s.certified()] {
		n := s.certified()
		delete(s.waiting, n)
		for i := 0; i < d.Runs && !s.over(); i++ {
			run := d.Scores[i*size:][:size]
			s.sum.Scores = append(s.sum.Scores, run...)
			if len(d.Diverged) > 0 && d.Diverged[0] == n+i {
				s.diverged, d.Diverged = s.diverged+1, d.Diverged[1:]
			}
			s.leader.take(run)
		}
	}
	s.look()
}

func (s *state) certified() int {
	if s.leader != nil {
		return s.leader.trained()
	}
	return s.sum.Runs
}

// counted puts what certified into the evidence: of at most so many runs, which ended with err.
func (s *state) counted(most int, err error) error {
	n := s.certified()
	switch {
	case n == 0:
	case s.leader != nil:
		ev, bad := s.leader.evidence(s.Plan, s.sum.Scores, s.diverged)
		if bad != nil {
			return bad
		}
		s.evidence = ev
	case s.Plan.Mode == OneRun:
		s.evidence = s.sum.OneRun
	default:
		s.evidence.Runs.Certified = membership.Counted{Table: s.sum.Table, Diverged: s.diverged}
	}
	if n == s.Plan.Runs || s.over() {
		return nil // whoever stops it then comes too late
	}
	if err == nil && n != most {
		err = fmt.Errorf("%d runs of %d", n, most)
	}
	return err
}

// look computes the live bounds: of many runs now and then.
func (s *state) look() {
	p, n, step := s.Plan, s.certified(), s.Plan.Runs/audit.Pick(s.leader != nil, 8*Looks, Looks)
	s.progress.Certified, s.progress.Diverged = n, s.diverged
	if s.told == nil || p.Mode == OneRun || n == s.looked || n < p.Runs && n-s.looked < step {
		return
	}
	s.looked, s.progress.Bounds = n, nil
	if s.leader != nil {
		s.progress.Bounds = []LiveBound{{bounds.CanaryPairedBetting, math.Max(0, bounds.RoundDown(s.leader.sequence.LowerBound()))}}
		return
	}
	for _, kind := range bounds.CanaryIntervals() {
		if kind.Check(p.K, p.M, n, p.Claim.Delta, p.Beta) == nil {
			s.progress.Bounds = append(s.progress.Bounds, LiveBound{kind, math.Max(0, bounds.CanaryEpsilon(kind, *s.sum.Table, p.Claim.Delta, p.Beta, s.evidence.Runs.Stakes))})
		}
	}
}

// show hands on whole runs for whoever looks on, of an exploration evenly from all tasks.
func (s *state) show(d *Drawn) {
	p, room := s.Plan, MostScored
	if s.shown += d.Runs; s.progress.Phase == Exploring {
		room = int(math.Ceil(min(1, float64(s.shown)/float64(p.Explore)) * MostScored))
	}
	if n := min(len(d.Scores), (room-s.scored)/(p.K+p.M)*(p.K+p.M)); n > 0 {
		s.scored += n
		s.progress.Scored = []membership.Scored{{First: d.First, K: p.K, M: p.M, Scores: d.Scores[:n]}}
	}
}

// fewRuns is how many runs a task of a cheap source has at least.
const fewRuns = 16

// draw returns the runs in [first, end), drawn in tasks of the source's grain; done hears each as it comes.
// before are the runs drawn before.
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
			t.Cut = s.evidence.Runs.Threshold
		}
		tasks = append(tasks, t)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var bad error
	drawn, err := engine.Do(ctx, s.on.Pool, tasks, engine.Events[Drawn]{
		Rows: func(total int) { s.progress.Runs, s.progress.Message = before+total, ""; s.tell() },
		Done: func(i int, d *Drawn) {
			if err := d.check(s.Plan, phase, tasks[i].First, tasks[i].Runs); err != nil {
				bad = err
				cancel(err)
			} else if bad == nil {
				done(d)
				s.show(d)
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

func joined(all []*Drawn) *Drawn {
	sum := &Drawn{First: all[0].First}
	for _, d := range all {
		sum.add(d)
	}
	return sum
}

// Search implements [report.Shared]: it explores for a fixed audit, and does all of one run.
func (a *Audit) Search(ctx context.Context, on *engine.Runner, tell func(Progress)) (*Evidence, error) {
	s := newState(a, on, tell, nil)
	var err error
	switch a.Plan.Mode {
	case Fixed:
		err = s.explore(ctx)
	case OneRun:
		err = s.certify(ctx)
	}
	return s.evidence, err
}

// Pieces implements [report.Shared]: runs, of a sequential audit all, as who draws a part does not know
// what the bets on others came to; those beyond its end do not count.
func (a *Audit) Pieces(ev *Evidence) (int, error) {
	p := a.Plan
	switch {
	case (ev == nil) != p.sequential() || ev != nil && ev.Runs != nil && ev.Runs.Certified.Table != nil:
		return 0, &audit.InputError{Field: "search", Found: "of another audit", Want: "explored runs of a fixed audit, the one run of one in one run, nothing of a sequential audit"}
	case ev == nil:
		return p.Runs, nil
	}
	return audit.Pick(p.Mode == OneRun, 0, p.Runs), ev.check(p)
}

func (a *Audit) Draw(ctx context.Context, on *engine.Runner, tell func(Progress), ev *Evidence, first, end int) (any, error) {
	all, err := newState(a, on, tell, ev).draw(ctx, a.Plan.Mode.phase(), first, end, a.Plan.Explore, func(*Drawn) {})
	if err != nil {
		return nil, err
	}
	return joined(all), nil
}

func (a *Audit) Join(ev *Evidence, parts iter.Seq2[report.Part, error]) (*Evidence, audit.Termination, error) {
	s := newState(a, &engine.Runner{}, nil, ev)
	end := audit.Termination{Reason: audit.Completed}
	for part, err := range parts {
		var d Drawn
		if err == nil {
			err = audit.DecodeStrict(part.Result, "partial: runs", &d)
		}
		if err == nil {
			err = d.check(a.Plan, a.Plan.Mode.phase(), part.First, part.End-part.First)
		}
		if err != nil {
			return ev, end, err
		}
		s.take(&d)
	}
	if a.Plan.Mode == OneRun {
		return ev, end, nil
	}
	err := s.counted(a.Plan.Runs, nil)
	return s.evidence, end, err
}
