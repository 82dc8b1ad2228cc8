package bounds

import (
	"math"
	"slices"
)

// Monitor is a lower bound on epsilon for one event that may be looked at after
// any number of pairs and stopped at any moment: the probability that it ever
// exceeds log((p1-delta)/p0) is at most beta, over all looks together.
//
// Its hypotheses are a grid eps_1 < eps_2 < ..., fixed in advance: steps of .002
// from 0 to 20, the claim, and a value just above it, so that a bound that refutes
// the claim exceeds it. eps_i counts as rejected once the wealth of its
// [EventMixture] has reached 1/beta at some look and all smaller ones are
// rejected; the bound is the last rejected one. The hypotheses are nested, so it
// errs only if the first true one is ever rejected (fixed-sequence testing,
// Ville), and no monotonicity of the wealth in epsilon is needed. A wealth is
// followed from the look at which its predecessor is rejected on: the counts
// hold all that came before.
//
// Conditions: pairs independent of one another, the event fixed beforehand.
type Monitor struct {
	grid  []float64
	next  int // the first hypothesis that is not rejected
	claim int
	delta float64
	goal  float64
	pairs int
	at    *EventMixture // of grid[next], nil at the end of the grid
}

const (
	monitorStep = 0.002
	monitorTop  = 20.0
)

// NewMonitor panics unless claim is finite and at least 0, delta in [0, 1) and
// beta in (0, 1).
func NewMonitor(claim, delta, beta float64) *Monitor {
	mustBeClaim(claim, delta)
	refuse(CheckBeta(beta) != nil, "beta out of range")
	m := &Monitor{delta: delta, goal: math.Log(1/beta) + 1e-9, claim: -1}
	above := claim + math.Max(2e-6, 1e-9*claim)
	for i := 0; float64(i)*monitorStep <= monitorTop; i++ {
		m.grid = append(m.grid, float64(i)*monitorStep)
	}
	m.grid = slices.Compact(slices.Sorted(slices.Values(append(m.grid, claim, above))))
	m.claim = slices.Index(m.grid, above)
	m.at = NewEventMixture(m.grid[0], delta)
	return m
}

// Observe takes the counts of all pairs so far, the earlier ones included. Less
// than a microsecond, and some four more for each step that the bound climbs.
// It panics if there are fewer pairs than at the last look.
func (m *Monitor) Observe(n11, n10, n01, n00 int) {
	pairs := n11 + n10 + n01 + n00
	refuse(pairs < m.pairs, "a look has fewer pairs than the one before it")
	m.pairs = pairs
	for m.at != nil && m.at.LogWealth(n11, n10, n01, n00) >= m.goal+1e-14*float64(pairs) {
		m.next++
		m.at = nil
		if m.next < len(m.grid) {
			m.at = NewEventMixture(m.grid[m.next], m.delta)
		}
	}
}

// LowerBound is the bound now; it never falls. -Inf if nothing is rejected.
func (m *Monitor) LowerBound() float64 {
	if m.next == 0 {
		return math.Inf(-1)
	}
	return m.grid[m.next-1]
}

// ClaimRejected reports whether the bound exceeds the claim, on which a run may
// stop.
func (m *Monitor) ClaimRejected() bool { return m.next > m.claim }

func mustBeClaim(eps, delta float64) {
	refuse(!(eps >= 0) || math.IsInf(eps, 1) || CheckDelta(delta) != nil, "a claim needs a finite epsilon >= 0 and a delta in [0, 1)")
}

// MethodEventMixture is [Monitor].
const MethodEventMixture Method = "anytime-event-mixture"

// mixtureStakes are the stakes of a mixture as shares of the largest allowed:
// .001 and 24 values in geometric progression from .002 to .98.
var mixtureStakes = func() []float64 {
	const n = 24
	u := make([]float64, 1, n+1)
	u[0] = 0.001
	for i := range n {
		u = append(u, 0.002*math.Pow(0.98/0.002, float64(i)/(n-1)))
	}
	return u
}()

// EventMixture is the wealth of a gambler who bets against one claim
// (eps, delta) on an event, a function of the counts of pairs alone. With
// W = 1[first in] - e^eps 1[second in] - delta it is
//
//	E = (1/J) sum_j prod over pairs (1 + lambda_j W),  lambda_j = u_j/(e^eps + delta),
//
// u_j = .001 and 24 values from .002 to .98. Under the claim each product is a
// non-negative martingale or supermartingale that begins at 1, and so is their
// mean: the probability that E ever reaches 1/beta, however often it is looked
// at, is at most beta (Ville 1939; mixtures: Robbins 1970). Outputs must be
// independent over pairs; within a pair they need not be. The event is fixed.
type EventMixture struct {
	logs [][4]float64 // log(1 + lambda_j w) for the pairs 11, 10, 01, 00
}

// NewEventMixture panics unless eps is finite and delta in [0, 1).
func NewEventMixture(eps, delta float64) *EventMixture {
	mustBeFinite(eps)
	refuse(CheckDelta(delta) != nil, "delta outside [0, 1); call CheckDelta first")
	m := &EventMixture{logs: make([][4]float64, len(mixtureStakes))}
	th := math.Exp(eps)
	for j, u := range mixtureStakes {
		lambda := u / (th + delta)
		for i, w := range [4]float64{1 - th - delta, 1 - delta, -th - delta, -delta} {
			m.logs[j][i] = math.Log1p(lambda * w)
		}
	}
	return m
}

// LogWealth returns log E after pairs with these counts: n10 with the first
// output in the event and the second outside, and so on. Less than a
// microsecond.
func (m *EventMixture) LogWealth(n11, n10, n01, n00 int) float64 {
	refuse(n11 < 0 || n10 < 0 || n01 < 0 || n00 < 0, "negative count")
	a, b, c, d := float64(n11), float64(n10), float64(n01), float64(n00)
	var logs [64]float64
	for j := range m.logs {
		l := &m.logs[j]
		logs[j] = a*l[0] + b*l[1] + c*l[2] + d*l[3]
	}
	return logMean(logs[:len(m.logs)])
}

// logMean returns log of the mean of exp(v).
func logMean(v []float64) float64 {
	top := largest(v)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		if x > top-50 {
			sum += math.Exp(x - top)
		}
	}
	return top + math.Log(sum/float64(len(v)))
}
