package pair

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/report"
)

func (c certificate) power() *report.Power {
	p := c.Plan
	n, limit := p.Samples, p.Claim.Limit()
	out := &report.Power{}
	var smallest float64
	share := c.Prepared.events()[0].Share
	switch p.goal() {
	case report.Epsilon:
		_, delta := c.dpLimits()
		out.Largest = c.largest(n, share)
		if n > searchedReach {
			smallest = math.Inf(1) // it would take longer than the audit
			break
		}
		rare := c.Prepared.Event.Counts(c.Explored)
		smallest = bounds.SmallestDetectable(limit, delta, c.Plan.Beta*share, n, n, roughRate(rare.Y, rare.N0))
	case report.Mu:
		out.Largest = c.largest(n, 1)
		rare := c.Prepared.MuEvent.Counts(c.Explored)
		smallest = smallestMu(limit, n, c.Plan.Beta, roughRate(rare.Y, rare.N0))
	default:
		d := *c.Prepared.Goal
		out.Largest = fromDivergence(p.goal(), c.largestRenyi(d, n), d.Alpha)
		smallest = c.smallestRenyi(d, n)
	}
	if out.Largest = max(0, out.Largest); out.Largest <= limit && !p.divergent() {
		out.Needed, out.Unit = report.Least(n+1, MaxSamples, func(n int) bool { return c.largest(n, share) > limit }), "samples a side"
	}
	if !math.IsInf(smallest, 0) && !math.IsNaN(smallest) && out.Largest > limit {
		// Rounded up: it is what could have been seen, not what was.
		smallest = max(limit, -phrase.Floor(-smallest, 4))
		out.Smallest = &smallest
	}
	return out
}

// largest is a bound that no outcome of n samples a side exceeds, by a method with this share of the
// error; +Inf for goals of which it depends on the witness.
func (a *Audit) largest(n int, share float64) float64 {
	switch beta := a.Plan.Beta; a.Plan.goal() {
	case report.Epsilon:
		_, delta := a.dpLimits()
		return bounds.MaxCertifiable(n, n, delta, beta*share)
	case report.Mu:
		return bounds.ExactMu(bounds.Counts{X: n, N1: n, Y: 0, N0: n}, beta)
	}
	return math.Inf(1)
}

// TooSmall says before anything is drawn that no outcome refutes the claim; empty where one may.
func (a *Audit) TooSmall() string {
	n, limit := a.Plan.Samples, a.Claim.Limit()
	if a.Plan.isSequential() && a.leastBet() <= n || !a.Plan.isSequential() && a.largest(n, 1) > limit {
		return ""
	}
	words := fmt.Sprintf("%s samples a side cannot refute the claim of %s", phrase.Grouped(n), audit.Number(limit))
	needed := a.leastBet()
	if !a.Plan.isSequential() {
		needed = report.Least(n+1, MaxSamples, func(n int) bool { return a.largest(n, 1) > limit })
	}
	if needed > 0 && needed <= MaxSamples {
		words += fmt.Sprintf(": at least %s are needed", phrase.Grouped(needed))
	}
	return words
}

// largestRenyi is the most that an outcome of n pairs certifies: every pair is the one of most wealth.
func (c certificate) largestRenyi(d DirectedPlan, n int) float64 {
	low, high := slices.Index(d.H, slices.Min(d.H)), slices.Index(d.H, slices.Max(d.H))
	best := bounds.NewTable(c.Table.Bins)
	best.N[high*best.Bins+low] = n
	return bounds.Renyi(best, d.RenyiPlan, c.Plan.Beta)
}

const (
	powerSteps = 8    // of bisection
	powerTop   = 64.0 // largest power of the explored ratio
	// searchedReach is the most outputs a side for which the smallest epsilon is searched.
	searchedReach = 100_000_000
)

// smallestRenyi is about the smallest value of the goal that shows in half of all runs of n pairs: by
// bisection over distributions whose ratio by bin is a power of the explored one. +Inf if none does.
func (c certificate) smallestRenyi(d DirectedPlan, n int) float64 {
	q := bounds.Smoothed(d.side(c.Explored).Second())
	h := renyiWitness(c.Explored, d.Alpha, d.Reversed) // the explored log ratio
	louder := func(s float64) []float64 {
		p, top, sum := make([]float64, len(q)), slices.Max(h), 0.0
		for k := range p {
			p[k] = float64(q[k] * math.Exp(s*(h[k]-top)))
			sum += p[k]
		}
		for k := range p {
			p[k] /= sum
		}
		return p
	}
	p := c.Plan
	shows := func(s float64) bool {
		return fromDivergence(p.goal(), bounds.Renyi(expectedTable(louder(s), q, n), d.RenyiPlan, c.Plan.Beta), d.Alpha) > p.Claim.Limit()
	}
	low, high := 0.0, 1.0
	for !shows(high) {
		if low, high = high, 2*high; high > powerTop {
			return math.Inf(1)
		}
	}
	for range powerSteps {
		if mid := (low + high) / 2; shows(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return fromDivergence(p.goal(), binDivergence(louder(high), q, d.Alpha), d.Alpha)
}

func binDivergence(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for k := range p {
		if p[k] > 0 {
			sum += float64(q[k] * math.Exp(alpha*math.Log(p[k]/q[k])))
		}
	}
	return math.Log(sum) / (alpha - 1)
}

// expectedTable is of n pairs of independent outputs; sums along its cells are exact.
func expectedTable(p, q []float64, n int) bounds.Table {
	t := bounds.NewTable(len(p))
	sum, done := 0.5, 0
	for a := range p {
		for b := range q {
			sum += float64(float64(n) * p[a] * q[b])
			k := max(0, int(sum)-done)
			t.N[a*t.Bins+b] = k
			done += k
		}
	}
	return t
}

// smallestMu is the smallest mu whose expected counts refute the claim, for an event of that rate on
// the second dataset; +Inf if there is none.
func smallestMu(claim float64, n int, beta, rate float64) float64 {
	y := int(math.Round(rate * float64(n)))
	shows := func(x int) bool { return bounds.ExactMu(bounds.Counts{X: x, N1: n, Y: y, N0: n}, beta) > claim }
	if !shows(n) {
		return math.Inf(1)
	}
	high := y + 1 + sort.Search(n-y-1, func(i int) bool { return shows(y + 1 + i) })
	return normalQuantile(high, n) - normalQuantile(y, n)
}
