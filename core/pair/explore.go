package pair

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// The second stage looks for a pair and a witness by successive halving (Jamieson and Talwalkar,
// Non-stochastic best arm identification and hyperparameter optimization, 2016). Every round has
// outputs of its own, so that a pair that was loud by chance is not chosen by them again.
const (
	halving       = 4 // one pair in so many goes on, with so many times the outputs
	leastLearners = 2 // learners that go on with a pair, at least; else half of them
)

// firstRound is how many outputs a side every pair gets first, and how many pairs there may be.
func (p Plan) firstRound() (outputs, pairs int) {
	pairs = p.Trials
	if p.Pair != nil {
		pairs = 1
	}
	if outputs = p.Explore / unitsOf(pairs); outputs >= MinSamples {
		return outputs, pairs
	}
	// Too few for all: half goes to the first round, half to the loudest.
	if pairs = min(pairs, p.Explore/(2*MinSamples)); pairs > 1 {
		return MinSamples, pairs
	}
	return p.Explore, 1
}

// unitsOf is how many times the first round's outputs of a pair all rounds of so many pairs take.
func unitsOf(pairs int) int {
	units, each := 0, 1
	for ; ; pairs = (pairs + halving - 1) / halving {
		units += pairs * each
		if pairs == 1 {
			return units
		}
		each *= halving
	}
}

type round struct{ pairs, outputs int }

// laterRounds are the rounds after the first, in which so many pairs were explored. Where a finder
// had fewer pairs than there may be, and what is left gives all a round's step more, all go on.
func (p Plan) laterRounds(pairs int) []round {
	each, _ := p.firstRound()
	left := p.Explore - pairs*each
	if left < MinSamples {
		return nil
	}
	if left/unitsOf(pairs) < halving*each {
		pairs = (pairs + halving - 1) / halving
	}
	for pairs > 1 && left/unitsOf(pairs) < MinSamples {
		pairs = 1
	}
	var list []round
	for each = left / unitsOf(pairs); ; each *= halving {
		list = append(list, round{pairs, each})
		if pairs == 1 {
			return list
		}
		pairs = (pairs + halving - 1) / halving
	}
}

// lastRound is how many outputs a side the last round gives each pair, after so many pairs.
func (p Plan) lastRound(pairs int) int {
	if later := p.laterRounds(pairs); len(later) > 0 {
		return later[len(later)-1].outputs
	}
	each, _ := p.firstRound()
	return each
}

// contender is a pair that was explored, in its last round.
type contender struct {
	trial int // place in the list of trials
	found *Explored
}

// explore tries the finder's pairs and keeps the loudest.
func (s *state) explore(ctx context.Context) error {
	p := s.Plan
	find, err := s.finder()
	if err != nil {
		return fmt.Errorf("finder %s: %w", p.Finder, err)
	}
	outputs, trials := p.firstRound()
	var history []audit.Trial
	var list []contender
	for len(history) < trials {
		pairs := find.Propose(history, trials-len(history))
		if len(pairs) == 0 {
			break
		}
		if s.most != nil && len(history)+len(pairs) > s.most.trials {
			return &report.Different{What: "trials", How: fmt.Sprintf("the search goes on beyond the %d trials that the report lists", s.most.trials)}
		}
		tasks := make([]Explore, len(pairs))
		for i := range pairs {
			if _, err := s.steps(pairs[i]); err != nil {
				return fmt.Errorf("finder %s proposed: %w", p.Finder, err)
			}
			tasks[i] = s.Explore(len(history)+i, pairs[i], outputs)
		}
		results, err := s.round(ctx, tasks, trials)
		for i, e := range results {
			if e == nil {
				continue // stopped or failed
			}
			list = append(list, contender{len(history), e})
			history = append(history, audit.Trial{Index: len(history), Pair: pairs[i], Value: e.Value})
			note := TrialNote{Trial: tasks[i].Trial, Pair: pairs[i], Value: e.Value, Learner: e.Witness.Learner, Outputs: outputs}
			s.found.Trials = append(s.found.Trials, note)
		}
		s.choose(list)
		if err != nil {
			return err
		}
	}
	if s.best == nil {
		return fmt.Errorf("finder %s proposed no pair", p.Finder)
	}
	for i, r := range p.laterRounds(len(history)) {
		sort.SliceStable(list, func(i, j int) bool { return cmp.Less(list[j].found.Value, list[i].found.Value) })
		list = list[:min(r.pairs, len(list))]
		sort.Slice(list, func(i, j int) bool { return list[i].trial < list[j].trial })
		tasks := make([]Explore, len(list))
		for k, c := range list {
			t := s.found.Trials[c.trial]
			tasks[k] = s.Explore(t.Trial, t.Pair, r.outputs)
			tasks[k].Round, tasks[k].Learners = i+1, bestLearners(c.found.Learners)
		}
		results, err := s.round(ctx, tasks, trials)
		for k, e := range results {
			if e != nil {
				t := &s.found.Trials[list[k].trial]
				t.Value, t.Learner = e.Value, e.Witness.Learner
				t.Outputs += r.outputs
				list[k].found = e
			}
		}
		if err != nil {
			return err
		}
		s.choose(list)
	}
	s.found.Trials[s.bestAt].Chosen = true
	// A finder may have fewer pairs than there were trials.
	s.tell(func(g *Progress) { g.Total -= 2*p.Explore - s.rows[1] })
	return nil
}

func (s *state) round(ctx context.Context, tasks []Explore, trials int) ([]*Explored, error) {
	return engine.Do(ctx, s.on.Pool, tasks, events(s, 1, func(i int, g *Progress, e *Explored) {
		s.whole[1] += 2 * tasks[i].Outputs
		if g.Trials = trials; tasks[0].Round == 0 {
			g.Trial++
		}
		if v := max(0, e.Value); !g.Valid && (g.Provisional == nil || v > *g.Provisional) {
			g.Provisional = &v
		}
	}))
}

// choose keeps the loudest; of those that are alike, the earliest.
func (s *state) choose(list []contender) {
	s.best = nil
	for _, c := range list {
		if s.best == nil || c.found.Value > s.best.Value+threshold.ValueMargin {
			s.best, s.bestAt = c.found, c.trial
		}
	}
}

// bestLearners are the names of the better half of the learners, and of the first.
func bestLearners(notes []LearnerNote) []string {
	list := slices.Clone(notes)
	sort.SliceStable(list, func(i, j int) bool { return cmp.Less(list[j].Value, list[i].Value) })
	var names []string
	for _, n := range list[:min(len(list), max(leastLearners, (len(list)+1)/2))] {
		if n.Value > threshold.Worthless || len(names) == 0 {
			names = append(names, n.Learner)
		}
	}
	// The first of the catalogue costs least, and tells rare values that few outputs do not show.
	if first := notes[0]; first.Value > threshold.Worthless && !slices.Contains(names, first.Learner) {
		names = append(names, first.Learner)
	}
	return names
}
