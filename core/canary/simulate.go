package canary

import (
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/stream"
)

// Simulation is an audit whose scores are all kept, so that it can be judged by
// one interval after the other, each at a threshold of its own, as figures need
// it. It has the random streams of the audit itself: what [Simulation.Judge]
// says by the plan's interval is what its report says.
type Simulation struct {
	audit               *Audit
	explored, certified *membership.Explored
}

// Simulate draws all runs of an audit. It holds (explore + n)(K + M) numbers.
func Simulate(a *Audit) (*Simulation, error) {
	s := &Simulation{audit: a}
	for _, x := range []struct {
		phase Phase
		runs  int
		to    **membership.Explored
	}{{Exploring, a.Plan.Explore, &s.explored}, {Certifying, a.Plan.Runs, &s.certified}} {
		src, err := a.Spec.New(a.Setup)
		if err != nil {
			return nil, err
		}
		k, m := a.Plan.K, a.Plan.M
		scores := make([]float64, 0, x.runs*(k+m))
		for i := range x.runs {
			scores = scores[:len(scores)+k+m]
			run := scores[len(scores)-k-m:]
			if _, err := src.Run(stream.New(a.key(x.phase, i)), run[:k], run[k:]); err != nil {
				return nil, err
			}
			source.Useless(run[:k])
			source.Useless(run[k:])
		}
		*x.to = membership.NewExplored(k, m, scores)
	}
	return s, nil
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

// Bet is what a sequential audit came to.
type Bet struct {
	Refuted int     // trainings after which the claim was refuted; 0: it was not
	Epsilon float64 // after all of them, not rounded up to 0; -Inf where nothing is bounded
}

// SimulateBets makes a sequential audit without its report, with the random streams of
// the audit itself.
func SimulateBets(a *Audit) (Bet, error) {
	src, err := a.Spec.New(a.Setup)
	if err != nil {
		return Bet{}, err
	}
	var b Bet
	l := newLeader(a.Plan)
	scores := make([]float64, a.Plan.K+a.Plan.M)
	in, out := scores[:a.Plan.K], scores[a.Plan.K:]
	for i := range a.Plan.Runs {
		if _, err := src.Run(stream.New(a.key(Betting, i)), in, out); err != nil {
			return Bet{}, err
		}
		source.Useless(in)
		source.Useless(out)
		if l.take(scores); l.sequence.Refuted() && b.Refuted == 0 {
			if b.Refuted = i + 1; a.Plan.Mode == UntilRefuted {
				break
			}
		}
	}
	b.Epsilon = bounds.RoundDown(l.sequence.LowerBound())
	return b, nil
}
