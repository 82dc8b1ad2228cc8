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
	if CheckBeta(beta) != nil {
		panic("bounds: beta out of range")
	}
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
	if pairs < m.pairs {
		panic("bounds: a look has fewer pairs than the one before it")
	}
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
	if !(eps >= 0) || math.IsInf(eps, 1) || CheckDelta(delta) != nil {
		panic("bounds: a claim needs a finite epsilon >= 0 and a delta in [0, 1)")
	}
}
