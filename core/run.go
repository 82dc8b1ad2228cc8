package core

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/core/bound"
	"github.com/dpscope/dpscope/core/stream"
)

// Phase is a stage of a run.
type Phase string

const (
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
	// Provisional is the bound so far: in exploration the best value of a
	// trial, in certification a bound from the counts so far, as if the run
	// ended here. It is not a certificate.
	Provisional *float64 `json:"provisional,omitempty"`
	Message     string   `json:"message,omitempty"` // a worker was lost
}

// Run is one audit to be done.
type Run struct {
	Plan      Plan
	Catalogue Catalogue
	Pool      *Pool
	Generator Generator
	Progress  func(Progress) // may be nil; called one at a time
	Now       func() float64 // seconds of a clock; nil: no timing
}

// Do runs the audit. The report does not depend on the pool. When ctx ends
// first, it returns what there is, with verdict inconclusive and no certified
// bound. When the run fails, it returns what there is and the error.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Catalogue)
	if err != nil {
		return Report{}, err
	}
	s := &state{Run: r, audit: a, pool: r.Pool}
	start := s.now()
	err = s.do(ctx)
	s.timing.Total = s.now() - start
	s.timing.Workers = r.Pool.Size()
	if err != nil && ctx.Err() != nil {
		return s.report(Termination{Reason: Stopped, Message: "stopped before the end"}), nil
	}
	if err != nil {
		return s.report(Termination{Reason: Failed, Message: err.Error()}), err
	}
	return s.report(Termination{Reason: Completed}), nil
}

// state is a run under way.
type state struct {
	Run
	audit    *Audit
	timing   Timing
	trials   []TrialNote
	best     *Explored
	bestAt   int
	counted  Counted
	bound    *bound.Result
	power    *Power
	pool     *Pool
	warnings []string

	progress Progress
}

func (s *state) now() float64 {
	if s.Now == nil {
		return 0
	}
	return s.Now()
}

func (s *state) tell(change func(*Progress)) {
	change(&s.progress)
	if s.Progress != nil {
		s.Progress(s.progress)
	}
}

func (s *state) do(ctx context.Context) error {
	p := s.audit.Plan
	for _, phase := range []struct {
		spent *float64
		run   func(context.Context) error
	}{{&s.timing.Explore, s.explore}, {&s.timing.Certify, s.certify}, {&s.timing.Bound, s.certificate}} {
		start := s.now()
		err := phase.run(ctx)
		*phase.spent = s.now() - start
		if err != nil {
			return err
		}
	}
	if p.Samples != s.counted.Rows {
		return fmt.Errorf("certified %d outputs of %d", s.counted.Rows, p.Samples)
	}
	return nil
}

// finder makes the finder of the plan, or the one that holds its only pair.
func (s *state) finder() (Finder, error) {
	p := s.audit.Plan
	if p.Pair != nil {
		return onePair{*p.Pair}, nil
	}
	spec, err := s.Catalogue.Finder(p.Finder)
	if err != nil {
		return nil, err
	}
	return spec.New(FinderProblem{Relation: p.Relation, Domain: s.audit.Domain,
		Candidates: s.audit.Spec.Pairs(p.Parameters, p.Relation),
		Stream:     stream.New(stream.Key{Seed: p.Seed, Purpose: purposeFind})})
}

// onePair proposes the user's pair.
type onePair struct{ pair Pair }

func (o onePair) Propose(history []Trial, budget int) []Pair {
	if len(history) > 0 || budget < 1 {
		return nil
	}
	return []Pair{o.pair}
}

// explore tries the finder's pairs and keeps the loudest.
func (s *state) explore(ctx context.Context) error {
	p := s.audit.Plan
	find, err := s.finder()
	if err != nil {
		return fmt.Errorf("finder %s: %w", p.Finder, err)
	}
	trials := p.Trials
	if p.Pair != nil {
		trials = 1
	}
	var history []Trial
	rowsBefore := 0
	for len(history) < trials {
		pairs := find.Propose(history, trials-len(history))
		if len(pairs) == 0 {
			break
		}
		tasks := make([]Task, len(pairs))
		for i := range pairs {
			if err := p.Relation.Check(pairs[i], s.audit.Domain); err != nil {
				return fmt.Errorf("finder %s proposed: %w", p.Finder, err)
			}
			tasks[i] = Task{Version: TaskVersion, Kind: ExploreTask, Plan: p, Trial: len(history) + i, Pair: &pairs[i]}
		}
		s.tell(func(g *Progress) {
			g.Phase, g.Trials, g.Total = Exploring, trials, 2*trials*p.Explore+2*p.Samples
		})
		results, err := s.pool.Do(ctx, tasks, s.events(rowsBefore, func(g *Progress, res Result) {
			g.Trial++
			if v := max(0, res.Explored.Value); g.Provisional == nil || v > *g.Provisional {
				g.Provisional = &v
			}
		}))
		for i, res := range results {
			if res == nil {
				continue // stopped or failed
			}
			e := res.Explored
			history = append(history, Trial{Index: len(history), Pair: pairs[i], Value: e.Value})
			s.trials = append(s.trials, TrialNote{Trial: tasks[i].Trial, Pair: pairs[i], Value: e.Value, Learner: e.Witness.Learner})
			if s.best == nil || e.Value > s.best.Value+valueMargin {
				s.best, s.bestAt = e, len(s.trials)-1
			}
		}
		if err != nil {
			return err
		}
		rowsBefore += 2 * len(tasks) * p.Explore
	}
	if s.best == nil {
		return fmt.Errorf("finder %s proposed no pair", p.Finder)
	}
	s.trials[s.bestAt].Chosen = true
	// A finder may have fewer pairs than there were trials.
	s.progress.Total = rowsBefore + 2*p.Samples
	return nil
}

// events relays a pool's events as progress.
func (s *state) events(rowsBefore int, done func(*Progress, Result)) Events {
	return Events{
		Rows: func(total int) { s.tell(func(g *Progress) { g.Rows = rowsBefore + total; g.Message = "" }) },
		Done: func(_ int, res Result) { s.tell(func(g *Progress) { done(g, res) }) },
		Lost: func(_ int, err error) {
			s.warnings = append(s.warnings, fmt.Sprintf("a worker was lost and its task ran again: %v", err))
			s.tell(func(g *Progress) { g.Message = err.Error() })
		},
	}
}

// certify counts the chosen witness on fresh samples of the chosen pair.
func (s *state) certify(ctx context.Context) error {
	p := s.audit.Plan
	pair := s.trials[s.bestAt].Pair
	tasks := certifyTasks(p, pair, s.best.Witness, s.best.Chart)
	rowsBefore := s.progress.Rows
	s.tell(func(g *Progress) { g.Phase, g.Provisional = Certifying, nil })
	results, err := s.pool.Do(ctx, tasks, s.events(rowsBefore, s.provisional(len(tasks))))
	s.counted = mergeShards(results)
	return err
}

// provisionalBounds is how many bounds a certification shows on its way, at
// most: a bound costs more than a shard's counts.
const provisionalBounds = 50

// provisional shows the bound so far, as shards come in.
func (s *state) provisional(shards int) func(*Progress, Result) {
	p := s.audit.Plan
	if s.Progress == nil {
		return func(*Progress, Result) {}
	}
	split := bound.TuneSplit(s.best.Counts, p.Samples, p.Samples, p.Claim.Delta, p.Beta)
	every, done := max(1, shards/provisionalBounds), 0
	sofar := Counted{}
	return func(g *Progress, res Result) {
		sofar.add(*res.Counted)
		if done++; done%every != 0 {
			return
		}
		v := lowerBound(floorTo(bound.ClopperPearson(sofar.counts(s.best.Reversed), p.Claim.Delta, p.Beta, split), 6))
		g.Provisional = &v
	}
}

// certifyTasks cuts certification into shards.
func certifyTasks(p Plan, pair Pair, w Witness, ch Chart) []Task {
	ch = ch.with([4][]int{})
	tasks := make([]Task, (p.Samples+ShardRows-1)/ShardRows)
	for i := range tasks {
		tasks[i] = Task{Version: TaskVersion, Kind: CertifyTask, Plan: p, Pair: &pair, Shard: i, Witness: &w, Chart: &ch}
	}
	return tasks
}

// mergeShards adds up the shards before the first one that is missing, so that
// partial counts can be replayed too.
func mergeShards(results []*Result) Counted {
	var sum Counted
	for _, res := range results {
		if res == nil {
			break
		}
		sum.add(*res.Counted)
	}
	return sum
}

// certificate computes the bound, and what the samples could have shown, on a
// worker: it may take a second.
func (s *state) certificate(ctx context.Context) error {
	s.tell(func(g *Progress) { g.Phase = Bounding })
	c := s.counted.counts(s.best.Reversed)
	task := Task{Version: TaskVersion, Kind: BoundTask, Plan: s.audit.Plan, Counts: &c, Explored: &s.best.Counts}
	results, err := s.pool.Do(ctx, []Task{task}, Events{})
	if err != nil {
		return err
	}
	s.bound, s.power = results[0].Bound, results[0].Power
	return nil
}
