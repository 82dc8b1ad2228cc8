package pair

import (
	"fmt"
	"math"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// Pairs of a group differ by k steps of the relation, as the datasets tell. A mechanism that keeps
// (epsilon, delta) keeps the claim of k steps on them ([audit.Claim.Group]). Each pair is audited at
// its own k, and what is found of it is divided back.

const (
	maxGroup    = 64          // steps by which a pair may differ
	mostGrouped = 500         // epsilon of a group's claim, at most: that of any claim
	mostDelta   = 1 - 0x1p-40 // stands for 1 in bounds that need less: MaxSamples refute no claim of it
)

func (a *Audit) resolveGroup() error {
	p := &a.Plan
	if p.Group == 0 || p.Group == 1 {
		p.Group = 0
		return nil
	}
	want := ""
	switch {
	case p.Group < 0 || p.Group > maxGroup:
		want = fmt.Sprintf("in [1, %d]", maxGroup)
	case !a.Claim.IsDP():
		want = fmt.Sprintf("1 for the claim %s: the privacy of groups is known of (epsilon, delta)", a.Claim)
	case p.ThroughRenyi > 0:
		want = "1 in a test through the Rényi divergence"
	case p.Relation != audit.Replace && p.Relation != audit.AddRemove:
		want = fmt.Sprintf("1 under the relation %s", p.Relation)
	case float64(float64(p.Group)*a.Claim.Epsilon) > mostGrouped:
		want = fmt.Sprintf("at most %d for the claim %s", max(1, int(mostGrouped/a.Claim.Epsilon)), a.Claim)
	default:
		return nil
	}
	return &audit.InputError{Field: "group", Found: fmt.Sprint(p.Group), Want: want}
}

// steps checks a pair and says by how many steps of the relation it differs.
func (a *Audit) steps(p audit.Pair) (int, error) {
	return a.Plan.Relation.Steps(p, a.Domain, max(1, a.Plan.Group))
}

// grouped is the audit of pairs of so many steps, with the group's claim.
func (a *Audit) grouped(steps int) *Audit {
	if steps <= 1 {
		return a
	}
	c := a.Claim.Group(steps)
	c.Delta = min(c.Delta, mostDelta)
	return a.claiming(c)
}

// inUnits turns what a pair of so many steps says into that of one step.
func (e *Explored) inUnits(steps int) {
	if steps <= 1 {
		return
	}
	e.Prepared.Steps = steps
	share := func(v float64) float64 { return audit.Pick(v == threshold.Worthless, v, v/float64(steps)) }
	e.Value = share(e.Value)
	for i := range e.Learners {
		e.Learners[i].Value = share(e.Learners[i].Value)
	}
}

// The epsilons at which a group's bound at delta > 0 is taken.
const (
	groupRatio = 1.06 // of one and the next
	groupBelow = 48   // that lie below the claim
	groupAbove = 16
)

// perStep turns bounds on the epsilon of pairs that differ by k steps into one of the mechanism. of
// is the bound at a delta, each valid with the same confidence. At delta 0 it is divided. Else:
//
// Take epsilons g_1 < g_2 < ..., fixed beforehand, and the first of them at which of(the group's
// delta at g_j) <= k g_j; the bound is the larger of g_(j-1) and that bound over k. It holds with
// the confidence of one of them: let g_i be the first at or above the true epsilon. The pair keeps
// the group's delta at g_i, so but for the error of(...) <= k epsilon <= k g_i there, hence j <= i;
// if j = i the bound is at most epsilon, and if j < i it is at most g_j <= g_(i-1) < epsilon.
// above: epsilon is larger than the bound, not only at least that.
func perStep(claim audit.Claim, steps int, of func(delta float64) float64) (lower float64, above bool) {
	k := float64(steps)
	if claim.Delta == 0 {
		return phrase.Floor(of(0)/k, 6), false
	}
	g := claim.Epsilon
	for range groupBelow {
		g /= groupRatio
	}
	last := 0.0
	for i := range groupBelow + 1 + groupAbove {
		if i == groupBelow {
			g = claim.Epsilon // exactly
		}
		at := audit.DPClaim(g, claim.Delta).Group(steps)
		b := math.Inf(-1)
		if at.Delta < mostDelta {
			b = of(at.Delta)
		}
		if b <= at.Epsilon {
			if b = phrase.Floor(b/k, 6); b > last {
				return b, false
			}
			return last, last > 0
		}
		last = audit.Pick(i == groupBelow, g, phrase.Floor(g, 6)) // exactly where the claim itself is refuted
		g *= groupRatio
	}
	return last, true
}

// inGroup are the bounds where the pair differs by more than a step: of the claim's epsilon alone.
func (c certificate) inGroup(claim audit.Claim) Certified {
	k := c.Prepared.Steps
	f, _ := c.finding(report.Epsilon, Certified{})
	if f.Delta >= mostDelta { // a claim that allows anything
		f.PValue = new(1.0)
	}
	f.Delta, f.Group = claim.Delta, k
	lower, above := perStep(claim, k, func(delta float64) float64 {
		eps, _ := c.Prepared.bound(*c.Table, delta, c.Plan.Beta)
		return eps
	})
	lower = max(0, lower)
	f.LowerBound, f.Strict = &lower, above
	if f.Estimate != nil {
		f.Estimate = new(*f.Estimate / float64(k))
	}
	out := Certified{Bounds: []report.Row{f}, Renyi: []report.Row{}}
	for _, x := range c.published() {
		if x.ID == report.Epsilon {
			v, _ := perStep(audit.DPClaim(claim.Epsilon, 0), k, func(float64) float64 { return *x.Value })
			x.Value, x.Delta, x.Group = &v, claim.Delta, k
			out.Published = append(out.Published, x)
		}
	}
	if !(lower > claim.Epsilon || above && lower == claim.Epsilon) {
		out.Power = c.power()
		beta := c.Plan.Beta * c.Prepared.events()[0].Share
		n := c.Plan.Samples
		most, _ := perStep(claim, k, func(delta float64) float64 { return bounds.MaxCertifiable(n, n, delta, beta) })
		out.Power.Largest = max(0, most)
		if s := out.Power.Smallest; s != nil {
			*s = max(claim.Epsilon, -phrase.Floor(-*s/float64(k), 4))
			if out.Power.Largest <= claim.Epsilon {
				out.Power.Smallest = nil
			}
		}
	}
	return out
}
