package main

import (
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/membership"
)

// simulation is a fixed audit with canaries whose scores are all kept, so that it can be
// judged by one interval after the other, each at a threshold of its own. What it says by
// the plan's interval is what its report says.
type simulation struct {
	plan                canary.Plan
	scores              [2][]float64 // of exploration and certification, K in and M out a run
	explored, certified *membership.Explored
}

// simulate draws all runs of an audit. It holds (explore + n)(K + M) numbers.
func simulate(a *canary.Audit) (*simulation, error) {
	explored, err := a.Scores(canary.Exploring, a.Plan.Explore)
	if err != nil {
		return nil, err
	}
	certified, err := a.Scores(canary.Certifying, a.Plan.Runs)
	return newSimulation(a.Plan, explored, certified), err
}

func newSimulation(p canary.Plan, explored, certified []float64) *simulation {
	return &simulation{p, [2][]float64{explored, certified}, membership.NewExplored(p.K, p.M, explored), membership.NewExplored(p.K, p.M, certified)}
}

// part is the audit of some of the runs, of exploration as of certification, from first on.
func (s *simulation) part(first, runs int) *simulation {
	p, size := s.plan, s.plan.K+s.plan.M
	p.Explore, p.Runs = runs, runs
	return newSimulation(p, s.scores[0][first*size:(first+runs)*size], s.scores[1][first*size:(first+runs)*size])
}

// swapped is the audit whose exploration runs are the certification runs of this one, and
// the other way round.
func (s *simulation) swapped() *simulation {
	return &simulation{s.plan, [2][]float64{s.scores[1], s.scores[0]}, s.certified, s.explored}
}

// judged is what one interval makes of a simulation.
type judged struct {
	Epsilon   float64 // not rounded up to 0; -Inf where nothing is bounded
	Threshold float64
	Table     bounds.CanaryTable
}

// judge chooses the threshold for an interval, between the quantiles quantile and
// 1-quantile of the scores inside, and computes its bound.
func (s *simulation) judge(kind bounds.CanaryInterval, quantile float64) judged {
	p := s.plan
	c := s.explored.Choose(membership.Aim{Interval: kind, Quantile: quantile, Delta: p.Claim.Delta, Beta: p.Beta, Runs: p.Runs})
	j := judged{Threshold: c.Threshold, Table: s.certified.Table(c.Threshold)}
	j.Epsilon = bounds.CanaryEpsilon(kind, j.Table, p.Claim.Delta, p.Beta, c.Stakes)
	return j
}
