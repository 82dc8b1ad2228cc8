package pair

import (
	"math"

	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/report"
)

// monitor follows the goal of an anytime run through its looks. The bound holds
// at all looks at once, so the run may stop whenever it likes.
type monitor struct {
	audit *Audit
	cut   Cut
	event *bounds.Monitor      // epsilon
	table *bounds.TableMixture // everything else
	turn  bool                 // the table is to be swapped
	wager *bounds.EventMixture // at the claim, for the p-value
	best  float64              // largest wealth at the claim, log
	next  int                  // pairs at the next look
}

// lookShare is the least share by which the pairs grow from look to look, once
// there are many.
const lookShare = 0.005

func newMonitor(a *Audit, p Prepared, bins int) *monitor {
	m := &monitor{audit: a, cut: p.Event}
	_, delta := a.dpLimits()
	beta := a.Plan.Beta
	switch a.Plan.goal() {
	case report.Epsilon:
		m.event = bounds.NewMonitor(a.Claim.Epsilon, delta, beta)
		m.wager = bounds.NewEventMixture(a.Claim.Epsilon, delta)
	case report.Mu:
		m.cut, m.turn = p.MuEvent, p.MuEvent.Reversed
		m.table = bounds.NewDeltaMonitor(indicator(p.MuEvent, bins), p.MuEpsilon, beta)
	default:
		m.turn = p.Goal.Reversed
		m.table = bounds.NewRenyiMonitor(p.Goal.H, p.Goal.Alpha, beta)
	}
	return m
}

// look takes the table of all pairs so far and returns the bound on the goal.
func (m *monitor) look(p Prepared, t bounds.Table, last bool) float64 {
	pairs := t.Pairs()
	if pairs >= m.next || last {
		m.next = pairs + int(lookShare*float64(pairs))
		if m.event != nil {
			n11, n10, n01, n00 := m.cut.side(t).PairCounts(m.cut.bins(t.Bins))
			m.event.Observe(n11, n10, n01, n00)
			m.best = math.Max(m.best, m.wager.LogWealth(n11, n10, n01, n00)-1e-9)
		} else {
			m.table.Observe(turned(t, m.turn))
		}
	}
	return m.bound(p)
}

func (m *monitor) bound(p Prepared) float64 {
	var x float64
	switch goal := m.audit.Plan.goal(); {
	case m.event != nil:
		x = m.event.LowerBound()
	case goal == report.Mu:
		x = bounds.GaussianMuFromDelta(m.table.LowerBound(), p.MuEpsilon)
	default:
		x = m.audit.fromDivergence(m.table.LowerBound(), p.Goal.Alpha)
	}
	return lowerBound(phrase.Floor(x, 6))
}

// pValue of the claim; none but for events.
func (m *monitor) pValue() *float64 {
	if m.event == nil {
		return nil
	}
	v := math.Min(1, math.Exp(-m.best))
	return &v
}

// anytimeMethod is that of the goal's bound in an anytime run.
func (a *Audit) anytimeMethod() bounds.Method {
	switch a.Plan.goal() {
	case report.Epsilon:
		return bounds.MethodEventMixture
	case report.Mu:
		return bounds.MethodScoreMixture
	}
	return bounds.MethodRenyiMixture
}
