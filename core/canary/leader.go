package canary

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/membership"
)

// leader bets on trainings one by one: on the event that did best so far. What it does
// is a function of the scores in their order, and of neither how many trainings are
// planned nor when somebody looks, so that a run that goes on is one run.
type leader struct {
	k, m     int
	claim    float64
	delta    float64
	sequence *bounds.CanarySequence
	runs     []float64 // scores, K in and M out a run, each side sorted
	in       []float64 // of use, those of the runs that were learnt from, sorted
	pooled   []float64
	learnt   int // runs
	next     int // runs before the next epoch
	Epochs   []Epoch
}

// newLeader follows an audit.
func newLeader(p Plan) *leader {
	l := &leader{k: p.K, m: p.M, claim: p.Claim.Epsilon, delta: p.Claim.Delta, sequence: p.sequence()}
	l.begin(0, bounds.CanarySums{})
	l.next = 1
	return l
}

// sequence is the bound of an audit that has seen nothing.
func (p Plan) sequence() *bounds.CanarySequence {
	return bounds.NewCanarySequence(p.K, p.M, p.Claim.Epsilon, p.Claim.Delta, p.Beta)
}

func (l *leader) begin(threshold float64, past bounds.CanarySums) {
	l.sequence.Epoch(past)
	l.Epochs = append(l.Epochs, Epoch{First: l.sequence.Runs(), Threshold: threshold, Learnt: past})
}

// trained is how many trainings there were.
func (l *leader) trained() int { return len(l.runs) / (l.k + l.m) }

// take bets on a training, and learns from it.
func (l *leader) take(scores []float64) {
	n := len(l.runs)
	l.runs = append(l.runs, scores...)
	in, out := l.runs[n:n+l.k], l.runs[n+l.k:]
	slices.Sort(in)
	slices.Sort(out)
	e := &l.Epochs[len(l.Epochs)-1]
	x, y := membership.AboveSorted(in, e.Threshold), membership.AboveSorted(out, e.Threshold)
	l.sequence.Observe(x, y)
	e.add(x, y)
	if n = l.trained(); n == l.next {
		l.begin(l.choose())
		l.next = n + n/8 + 1
	}
}

// takeAll takes the scores of trainings, one after the other.
func (l *leader) takeAll(scores []float64) {
	for size := l.k + l.m; len(scores) >= size; scores = scores[size:] {
		l.take(scores[:size])
	}
}

// What an epoch's event is chosen by.
const (
	leaderRanks = 60 // thresholds
	patience    = 8  // times the past that the verdict may still take, to be worth betting on
	halvings    = 12 // of the span of epsilons
)

// choose is the event of the next epoch, and the past at it: that by which the claim is
// refuted soonest; or, where it is refuted already or far from it, that by which the
// largest epsilon is rejected if as many trainings come as there were.
func (l *leader) choose() (threshold float64, past bounds.CanarySums) {
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
		return candidates[at].at, candidates[at].past
	}
	at, growth := best(lo)
	if growth == 0 { // nothing shows anything: what separates the rates most
		most := math.Inf(-1)
		for i, c := range candidates {
			if gap := float64(c.past.X)/float64(l.k) - float64(c.past.Y)/float64(l.m); gap > most {
				at, most = i, gap
			}
		}
		return candidates[at].at, candidates[at].past
	}
	for range halvings {
		mid := float64((lo + hi) / 2)
		if i, ok := within(mid, n); ok {
			at, lo = i, mid
		} else {
			hi = mid
		}
	}
	return candidates[at].at, candidates[at].past
}

// candidate is an event with the past at it.
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
	for q := range leaderRanks {
		if len(l.in) == 0 {
			break
		}
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
