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
// outputs of its own: what was loud by chance is not chosen by them again.
const (
	halving       = 4 // one pair in so many goes on, with so many times the outputs
	leastLearners = 2 // learners that go on with a pair, at least; else half of them
)

// firstRound is how many outputs a side every pair gets first, and how many pairs there may be.
func (p Plan) firstRound() (outputs, pairs int) {
	pairs = audit.Pick(p.Pair != nil, 1, p.Trials)
	if outputs = p.Explore / unitsOf(pairs); outputs >= MinSamples {
		return outputs, pairs
	}
	// Too few for all: half goes to the first round, half to the loudest.
	if pairs = min(pairs, p.Explore/(2*MinSamples)); pairs > 1 {
		return MinSamples, pairs
	}
	return p.Explore, 1
}

// halved are rounds of so many pairs: each of one pair in halving, with so many times the outputs.
func halved(pairs, outputs int) (list []round) {
	for ; ; pairs, outputs = (pairs+halving-1)/halving, outputs*halving {
		if list = append(list, round{pairs, outputs}); pairs == 1 {
			return list
		}
	}
}

type round struct{ pairs, outputs int }

// unitsOf is how many times the first round's outputs of a pair all rounds of so many pairs take.
func unitsOf(pairs int) (units int) {
	for _, r := range halved(pairs, 1) {
		units += r.pairs * r.outputs
	}
	return units
}

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
	if left/unitsOf(pairs) < MinSamples {
		pairs = 1
	}
	return halved(pairs, left/unitsOf(pairs))
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
		for i, pair := range pairs {
			if _, err := s.steps(pair); err != nil {
				return fmt.Errorf("finder %s proposed: %w", p.Finder, err)
			}
			tasks[i] = s.Explore(len(history)+i, pair, outputs)
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

// bestLearners are the names of the better half of the learners, and of the catalogue's first, which
// costs least and tells rare values that few outputs do not show.
func bestLearners(notes []LearnerNote) (names []string) {
	list := slices.Clone(notes)
	sort.SliceStable(list, func(i, j int) bool { return cmp.Less(list[j].Value, list[i].Value) })
	for _, n := range append(list[:min(len(list), max(leastLearners, (len(list)+1)/2))], notes[0]) {
		if len(names) == 0 || n.Value > threshold.Worthless && !slices.Contains(names, n.Learner) {
			names = append(names, n.Learner)
		}
	}
	return names
}
