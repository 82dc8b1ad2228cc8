package canary

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// leader bets on trainings one by one, on the event that did best so far: a function of the scores in
// their order, so that a run that goes on is one run.
type leader struct {
	k, m     int
	claim    float64
	delta    float64
	sequence *bounds.CanarySequence
	runs     []float64 // scores, K in and M out a run, each side sorted
	in       []float64 // of use, of the runs learnt from, sorted
	pooled   []float64
	learnt   int // runs
	next     int // runs before the next epoch
	Epochs   []Epoch
}

func newLeader(p Plan) *leader {
	l := &leader{k: p.K, m: p.M, claim: p.Claim.Epsilon, delta: p.Claim.Delta, sequence: p.sequence(), next: 1}
	l.begin(candidate{})
	return l
}

func (p Plan) sequence() *bounds.CanarySequence {
	return bounds.NewCanarySequence(p.K, p.M, p.Claim.Epsilon, p.Claim.Delta, p.Beta)
}

func (l *leader) begin(event candidate) {
	l.sequence.Epoch(event.past)
	l.Epochs = append(l.Epochs, Epoch{First: l.sequence.Runs(), Threshold: event.at, Learnt: event.past})
}

func (l *leader) trained() int { return len(l.runs) / (l.k + l.m) }

func (l *leader) take(scores []float64) {
	n := len(l.runs)
	l.runs = append(l.runs, scores...)
	in, out := l.runs[n:n+l.k], l.runs[n+l.k:]
	slices.Sort(in)
	slices.Sort(out)
	e := &l.Epochs[len(l.Epochs)-1]
	x, y := membership.AboveSorted(in, e.Threshold), membership.AboveSorted(out, e.Threshold)
	l.sequence.Observe(x, y)
	e.Counts = binary.AppendUvarint(binary.AppendUvarint(e.Counts, uint64(x)), uint64(y))
	if n = l.trained(); n == l.next {
		l.begin(l.choose())
		l.next = n + n/8 + 1
	}
}

func (l *leader) takeAll(scores []float64) {
	for size := l.k + l.m; len(scores) >= size; scores = scores[size:] {
		l.take(scores[:size])
	}
}

const (
	leaderRanks = 60 // thresholds
	patience    = 8  // times the past that a verdict may take, to be bet on
	halvings    = 12 // of the span of epsilons
)

// choose is the next epoch's event, and the past at it: that by which the claim is refuted soonest; or,
// where it is refuted already or far from it, that by which the largest epsilon is rejected if as many
// trainings come as there were.
func (l *leader) choose() candidate {
	candidates := l.candidates()
	best := func(eps float64) (at int, growth float64) {
		th := stream.Exp(eps)
		for i, c := range candidates {
			if _, g := c.past.Bet(l.k, l.m, th, l.delta); g > growth {
				at, growth = i, g
			}
		}
		return at, growth
	}
	n := float64(l.trained())
	within := func(eps, runs float64) (at int, ok bool) {
		at, growth := best(eps)
		return at, growth > 0 && float64(growth*runs) >= l.sequence.Goal()-l.sequence.LogEValue(eps)
	}
	lo, hi := l.sequence.Frontier(), l.claim
	if l.sequence.Refuted() {
		hi = max(lo, stream.Log(float64(n*float64(l.m))))
	} else if at, ok := within(l.claim, float64(patience*n)); ok {
		return candidates[at]
	}
	at, growth := best(lo)
	if growth == 0 { // nothing shows anything: what separates the rates most
		gap := func(c candidate) float64 { return float64(c.past.X)/float64(l.k) - float64(c.past.Y)/float64(l.m) }
		return slices.MaxFunc(candidates, func(a, b candidate) int { return cmp.Compare(gap(a), gap(b)) })
	}
	for range halvings {
		mid := float64((lo + hi) / 2)
		if i, ok := within(mid, n); ok {
			at, lo = i, mid
		} else {
			hi = mid
		}
	}
	return candidates[at]
}

type candidate struct {
	at   float64
	past bounds.CanarySums
}

// candidates are thresholds halfway below quantiles of the scores inside; never none.
func (l *leader) candidates() []candidate {
	size := l.k + l.m
	for ; l.learnt < l.trained(); l.learnt++ {
		for i, x := range l.runs[l.learnt*size:][:size] {
			if membership.Unscored(x) {
				continue
			}
			if l.pooled = append(l.pooled, x); i < l.k {
				l.in = append(l.in, x)
			}
		}
	}
	slices.Sort(l.in)
	slices.Sort(l.pooled)
	var list []candidate
	for q := range audit.Pick(len(l.in) > 0, leaderRanks, 0) {
		v := l.in[len(l.in)*q/leaderRanks]
		i, _ := slices.BinarySearch(l.pooled, v)
		if i == 0 {
			continue // all are at least that
		}
		below := l.pooled[i-1]
		at := float64(below/2) + float64(v/2)
		if !(at >= below && at < v) {
			at = below
		}
		if n := len(list); n == 0 || list[n-1].at != at {
			list = append(list, candidate{at: at})
		}
	}
	if list == nil {
		list = []candidate{{}}
		if len(l.pooled) > 0 {
			list[0].at = l.pooled[len(l.pooled)-1]
		}
	}
	for i := range list {
		c := &list[i]
		for r := range l.trained() {
			run := l.runs[r*size:][:size]
			c.past.Add(membership.AboveSorted(run[:l.k], c.at), membership.AboveSorted(run[l.k:], c.at))
		}
	}
	return list
}

// Bets is the evidence of a sequential audit: what was bet on, and what came of it.
type Bets struct {
	Epochs []Epoch `json:"epochs"`
	// Scores of all trainings, K in and M out each, packed as [membership.Floats]; absent beyond 3 MiB.
	Scores []byte `json:"scores,omitempty"`
}

// Epoch is a stretch of trainings with one event.
type Epoch struct {
	First     int     `json:"first"`     // training
	Threshold float64 `json:"threshold"` // a canary is in the event if its score exceeds it
	// Learnt are the trainings before, at this threshold: the stakes follow from them.
	Learnt bounds.CanarySums `json:"learnt"`
	// Counts are, of each training, the canaries inside in the event and the fresh ones, as uvarints.
	Counts []byte `json:"counts"`
}

const mostScores = 3 << 20

// follow bets again as the epochs say. tell, which may be nil, hears every training bet on.
func (b *Bets) follow(p Plan, tell func(x, y int)) (*bounds.CanarySequence, error) {
	s := p.sequence()
	for i, e := range b.Epochs {
		at := fmt.Sprintf("report: evidence.sequential.epochs[%d].", i)
		err := audit.First(
			audit.Require(e.First == s.Runs(), at+"first", e.First, "%d", s.Runs()),
			audit.Require(e.Learnt.Validate(p.K, p.M) == nil && e.Learnt.Runs == e.First, at+"learnt", fmt.Sprintf("of %d trainings", e.Learnt.Runs), "sums of the %d trainings before", e.First),
			audit.Require(e.Threshold-e.Threshold == 0, at+"threshold", e.Threshold, "finite"),
		)
		if err != nil {
			return nil, err
		}
		s.Epoch(e.Learnt)
		for b := e.Counts; len(b) > 0; {
			x, xn := binary.Uvarint(b)
			y, yn := binary.Uvarint(b[max(xn, 0):])
			if xn <= 0 || yn <= 0 || x > uint64(p.K) || y > uint64(p.M) {
				return nil, audit.Fault("report: evidence.sequential.epochs.counts", "something else",
					fmt.Sprintf("pairs of counts, at most %d and %d", p.K, p.M))
			}
			if s.Observe(int(x), int(y)); i > 0 && tell != nil {
				tell(int(x), int(y))
			}
			b = b[xn+yn:]
		}
	}
	return s, audit.Require(s.Runs() <= p.Runs, "report: evidence.sequential", fmt.Sprintf("%d trainings", s.Runs()), "at most %d, as the plan says", p.Runs)
}

// table counts the trainings that were bet on; nil of none.
func (b *Bets) table(p Plan) (*bounds.CanaryTable, error) {
	t := bounds.NewCanaryTable(p.K, p.M)
	_, err := b.follow(p, func(x, y int) { t.Add(x, y, 1) })
	if len(t.Cells) == 0 {
		return nil, err
	}
	return &t, err
}

// evidence is what l did; scores are in the order of the trainings.
func (l *leader) evidence(p Plan, scores []float64, diverged int) (*Evidence, error) {
	b := &Bets{Epochs: l.Epochs}
	if n := len(b.Epochs); n > 1 && len(b.Epochs[n-1].Counts) == 0 {
		b.Epochs = b.Epochs[:n-1] // nothing came of it yet
	}
	if 8*len(scores) <= mostScores {
		b.Scores = membership.Floats(scores).Pack()
	}
	t, err := b.table(p)
	if err != nil {
		return nil, err
	}
	return &Evidence{Sequential: b, Membership: membership.OfRuns(p.K, p.M, scores, p.Beta), Runs: &membership.Gathered{
		Threshold: b.Epochs[len(b.Epochs)-1].Threshold, Certified: membership.Counted{Table: t, Diverged: diverged},
		Ties: len(l.pooled) > 0 && l.pooled[0] == l.pooled[len(l.pooled)-1], ScoreSample: membership.Portray(p.K, p.M, scores)}}, nil
}

// replayed is the evidence that follows from scores; how many diverged is given.
func replayed(p Plan, packed []byte, diverged int) (*leader, *Evidence, error) {
	scores := membership.UnpackFloats(packed)
	if i := audit.NonFinite(scores); i >= 0 {
		return nil, nil, &audit.InputError{Field: "report: evidence.sequential.scores", Found: fmt.Sprint(scores[i]), Want: "finite"}
	}
	l := newLeader(p)
	l.takeAll(scores)
	ev, err := l.evidence(p, scores, diverged)
	return l, ev, err
}
