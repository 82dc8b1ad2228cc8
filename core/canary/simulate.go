package canary

import (
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// Simulation is an audit whose scores are all kept, so that it can be judged by
// one interval after the other, each at a threshold of its own, as figures need
// it. It has the random streams of the audit itself: what [Simulation.Judge]
// says by the plan's interval is what its report says.
type Simulation struct {
	audit  *Audit
	scores [2][]float64 // of exploration and certification, K in and M out a run

	explored, certified *membership.Explored
}

// Simulate draws all runs of an audit. It holds (explore + n)(K + M) numbers.
func Simulate(a *Audit) (*Simulation, error) {
	s := &Simulation{audit: a}
	src, err := a.Spec.New(a.Setup)
	if err != nil {
		return nil, err
	}
	for i, runs := range []int{a.Plan.Explore, a.Plan.Runs} {
		err := a.each(src, []Phase{Exploring, Certifying}[i], 0, runs, func(_ int, run []float64, _ bool) error {
			s.scores[i] = append(s.scores[i], run...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s.sorted(), nil
}

func (s *Simulation) sorted() *Simulation {
	k, m := s.audit.Plan.K, s.audit.Plan.M
	s.explored, s.certified = membership.NewExplored(k, m, s.scores[0]), membership.NewExplored(k, m, s.scores[1])
	return s
}

// Part is the audit of some of the runs, of exploration as of certification, from first on.
func (s *Simulation) Part(first, runs int) *Simulation {
	a := *s.audit
	a.Plan.Explore, a.Plan.Runs = runs, runs
	part, each := &Simulation{audit: &a}, a.Plan.K+a.Plan.M
	for i, scores := range s.scores {
		part.scores[i] = scores[first*each : (first+runs)*each]
	}
	return part.sorted()
}

// Swapped is the audit whose exploration runs are the certification runs of this one, and
// the other way round.
func (s *Simulation) Swapped() *Simulation {
	return &Simulation{audit: s.audit, scores: [2][]float64{s.scores[1], s.scores[0]}, explored: s.certified, certified: s.explored}
}

// Judged is what one interval makes of a simulation.
type Judged struct {
	Epsilon         float64 // not rounded up to 0; -Inf where nothing is bounded
	Threshold       float64
	Explored, Table bounds.CanaryTable
}

// Judge chooses the threshold for an interval, between the quantiles quantile and
// 1-quantile of the scores inside, and computes its bound.
func (s *Simulation) Judge(kind bounds.CanaryInterval, quantile float64) Judged {
	p := s.audit.Plan
	p.Interval, p.Quantile = kind, quantile
	c := s.explored.Choose(p.aim())
	j := Judged{Threshold: c.Threshold, Explored: *c.Explored.Table, Table: s.certified.Table(c.Threshold)}
	j.Epsilon = bounds.CanaryEpsilon(kind, j.Table, p.Claim.Delta, p.Beta, c.Stakes)
	return j
}
