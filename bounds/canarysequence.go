package bounds

import (
	"sort"

	"github.com/dpscope/dpscope/audit/stream"
)

// CanarySums are sums over past trainings of X, the canaries inside that are in the event, and Y,
// the fresh ones.
type CanarySums struct {
	Runs int `json:"runs"`
	X    int `json:"x"`
	Y    int `json:"y"`
	XX   int `json:"xx"` // of X^2
	YY   int `json:"yy"`
	XY   int `json:"xy"`
}

// Add counts a training.
func (s *CanarySums) Add(x, y int) {
	s.Runs, s.X, s.Y, s.XX, s.YY, s.XY = s.Runs+1, s.X+x, s.Y+y, s.XX+x*x, s.YY+y*y, s.XY+x*y
}

// Validate reports sums that no trainings with k canaries inside and m fresh ones have.
func (s CanarySums) Validate(k, m int) error {
	n := s.Runs
	return require(n >= 0 && n <= maxTrials && s.X >= 0 && s.X <= n*k && s.Y >= 0 && s.Y <= n*m &&
		s.XX >= s.X && s.XX <= s.X*k && s.YY >= s.Y && s.YY <= s.Y*m && s.XY >= 0 && s.XY <= s.X*m && s.XY <= s.Y*k,
		"no trainings with k = %[2]d and m = %[3]d give the sums %+[1]v", s, k, m)
}

// What a bet is made of. They weigh power only.
const (
	mostStake    = 0.9 // largest share of the wealth at risk in a training
	shrunkBy     = 3   // a stake learnt from n trainings is n/(n+3) of the best
	enoughSpread = 8   // trainings from which on their own spread counts
)

// Bet is the stake on the next training against e^eps = th, and about what the log wealth grows by;
// 0 where the past shows nothing.
//
// With W = X/K - th Y/M - delta it is about the log-optimal stake, the mean of W over its mean
// square. One more fresh canary is taken to be in the event. The variance is the larger of that of
// independent canaries and that seen, which common shocks raise.
func (s CanarySums) Bet(k, m int, th, delta float64) (stake, growth float64) {
	if s.Runs == 0 {
		return 0, 0
	}
	n, K, M := float64(s.Runs), float64(k), float64(m)
	a, b := float64(s.X)/float64(n*K), float64(s.Y+1)/float64(n*M)
	mean := a - float64(th*b) - delta
	if !(mean > 0) {
		return 0, 0
	}
	th2 := float64(th * th)
	v := float64(a*(1-a))/K + max(0, float64(float64(th2*b)*(1-b))/M)
	if s.Runs >= enoughSpread {
		x, y := float64(s.X)/K, float64(s.Y)/M
		xx, yy, xy := float64(s.XX)/float64(K*K)-float64(x*x)/n, float64(s.YY)/float64(M*M)-float64(y*y)/n, float64(s.XY)/float64(K*M)-float64(x*y)/n
		v = max(v, (xx+float64(th2*yy)-float64(2*float64(th*xy)))/(n-1))
	}
	v += float64(mean * mean)
	stake = float64(min(mostStake/(th+delta), mean/v) * (n / (n + shrunkBy)))
	return stake, float64(stake*mean) - float64(float64(stake*stake)*v)/2
}

// CanarySequence is a lower bound on epsilon from canaries in trainings that come one by one. It
// ever exceeds the true epsilon with probability at most beta.
//
// An epoch of trainings has one event, and one stake lambda for each eps, by [CanarySums.Bet] of
// the trainings before it at that event. The wealth against eps is the product over trainings of
//
//	1 + lambda W,  W = X/K - e^eps Y/M - delta,  0 <= lambda <= .9/(e^eps + delta).
//
// Given past trainings, of which event and stakes are functions, a training is independent of
// these, and under (eps, delta)-DP E W <= 0 as in [CanaryEpsilon]. A factor is at least .1. So the
// wealth is a test supermartingale; it ever reaches 1/beta with probability at most beta (Ville
// 1939; Waudby-Smith and Ramdas 2024). Canaries that fair coins put in have K = M and delta =
// CoinDelta(delta).
//
// A hypothesis of a fixed grid is rejected once its wealth has reached 1/beta and all smaller ones
// are rejected: the bound errs only if the first true one is.
type CanarySequence struct {
	k, m   int
	delta  float64
	goal   float64
	claim  int // place in the grid of what is just above the claim
	above  float64
	next   int // the first hypothesis that is not rejected
	runs   int
	epochs []canaryEpoch
	at     canaryStake // of the first that is not rejected
	own    canaryStake // of the claim
	most   float64     // the largest log wealth against the claim
}

type canaryEpoch struct {
	past  CanarySums
	table CanaryTable
}

// canaryStake is a hypothesis with its log wealth, and its stake in the epoch.
type canaryStake struct{ eps, th, eValue, stake float64 }

// NewCanarySequence panics unless 1 <= k, m <= 65536 and the rest is in range.
func NewCanarySequence(k, m int, claim, delta, beta float64) *CanarySequence {
	NewCanaryTable(k, m)
	Must(CheckClaim(claim), CheckDelta(delta), CheckBeta(beta))
	s := &CanarySequence{k: k, m: m, delta: delta, goal: -stream.Log(beta) + 1e-9, above: claim + max(2e-6, 1e-9*claim)}
	s.claim = 1 + sort.Search(gridSteps, func(i int) bool { return float64(i)*gridStep >= claim })
	s.own = s.against(claim)
	s.at = s.against(s.hypothesis(0))
	return s
}

// The hypotheses beside the claim's own two: steps of gridStep from 0 to gridTop.
const (
	gridStep  = 0.002
	gridTop   = 20.0
	gridSteps = int(gridTop/gridStep) + 1
)

// hypothesis is the place-th: steps up to the claim, it, a value just above, and the steps beyond;
// +Inf behind the last.
func (s *CanarySequence) hypothesis(place int) float64 {
	switch i := place - s.claim; {
	case i < -1:
		return float64(place) * gridStep
	case i == -1:
		return s.own.eps
	case i == 0:
		return s.above
	default:
		i += sort.Search(gridSteps, func(i int) bool { return float64(i)*gridStep > s.above }) - 1
		if i >= gridSteps {
			return inf
		}
		return float64(i) * gridStep
	}
}

// Epoch begins an epoch with another event, of which past are the trainings so far.
func (s *CanarySequence) Epoch(past CanarySums) {
	Refuse(past.Runs != s.runs || past.Validate(s.k, s.m) != nil, "an epoch learns from the trainings before it")
	s.epochs = append(s.epochs, canaryEpoch{past, NewCanaryTable(s.k, s.m)})
	for _, h := range []*canaryStake{&s.own, &s.at} {
		h.stake, _ = past.Bet(s.k, s.m, h.th, s.delta)
	}
}

// factor is the log of what a training multiplies the wealth by.
func (s *CanarySequence) factor(th, stake float64, x, y int) float64 {
	if stake == 0 {
		return 0
	}
	w := float64(x)/float64(s.k) - float64(th*float64(y))/float64(s.m) - s.delta
	return stream.Log1p(float64(stake * w))
}

// Observe takes a training with x canaries inside and y fresh ones in the event.
func (s *CanarySequence) Observe(x, y int) {
	Refuse(len(s.epochs) == 0, "a training before the first epoch")
	s.epochs[len(s.epochs)-1].table.Add(x, y, 1)
	s.runs++
	for _, h := range []*canaryStake{&s.own, &s.at} {
		h.eValue += s.factor(h.th, h.stake, x, y)
	}
	s.most = max(s.most, s.own.eValue)
	for s.at.eValue >= s.Goal() {
		s.next++
		s.at = s.against(s.hypothesis(s.next))
	}
}

// Goal is the log wealth that rejects, with a margin for the rounding of sums.
func (s *CanarySequence) Goal() float64 { return s.goal + float64(1e-14*float64(s.runs)) }

// against is the hypothesis eps after all trainings so far.
func (s *CanarySequence) against(eps float64) canaryStake {
	h := canaryStake{eps: eps, th: stream.Exp(eps)}
	if eps == inf {
		return h
	}
	for _, e := range s.epochs {
		h.stake, _ = e.past.Bet(s.k, s.m, h.th, s.delta)
		for _, c := range e.table.Cells {
			h.eValue += float64(float64(c.Runs) * s.factor(h.th, h.stake, c.X, c.Y))
		}
	}
	return h
}

// LogEValue is the log wealth against a finite eps after all trainings so far.
func (s *CanarySequence) LogEValue(eps float64) float64 {
	Must(CheckEpsilon(eps))
	return s.against(eps).eValue
}

// Runs is the number of trainings so far.
func (s *CanarySequence) Runs() int { return s.runs }

// LowerBound is the bound now; it never falls. -Inf if nothing is rejected.
func (s *CanarySequence) LowerBound() float64 {
	if s.next == 0 {
		return -inf
	}
	return s.hypothesis(s.next - 1)
}

// Frontier is the smallest epsilon of the grid that is not rejected, or the last one.
func (s *CanarySequence) Frontier() float64 {
	if s.at.eps == inf {
		return s.LowerBound()
	}
	return s.at.eps
}

// Refuted reports whether the bound exceeds the claim.
func (s *CanarySequence) Refuted() bool { return s.next > s.claim }

// PValue is a p-value of the claim that holds at every look.
func (s *CanarySequence) PValue() float64 { return min(1, stream.Exp(-s.most+1e-9)) }

// CanarySequenceCeiling is a bound that no outcome of n trainings exceeds, if an epoch begins after
// each.
func CanarySequenceCeiling(m, n int, delta, beta float64) float64 {
	NewCanaryTable(1, m)
	mustBeRuns(n)
	Must(CheckDelta(delta), CheckBeta(beta))
	reaches := func(eps float64) bool {
		// No training wins more than the largest stake times 1 - delta, and none is bet on while
		// one fresh canary would weigh more than all inside.
		th := stream.Exp(eps)
		sum := 0.0
		for i := 1; i < n; {
			next := min(n, i+1+i/64)
			if th/float64(float64(next-1)*float64(m)) < 1-delta {
				// The stake of the last of the trainings that are taken together.
				l := float64(next - 1)
				sum += float64(float64(next-i) * stream.Log1p(float64(mostStake/(th+delta)*(l/(l+shrunkBy))*(1-delta))))
			}
			i = next
		}
		return sum >= -stream.Log(beta)
	}
	least := sort.Search(gridSteps, func(i int) bool { return !reaches(float64(i) * gridStep) })
	if least == 0 {
		return -inf
	}
	return RoundDown(float64(least) * gridStep)
}
