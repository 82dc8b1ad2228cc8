package pair

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// renyiOrders are the orders at which every report bounds the divergence, all
// together at its confidence.
var renyiOrders = []float64{1.25, 1.5, 2, 3, 4, 6, 8, 16, 32}

// goal is the quantity that the claim limits: what decides the verdict.
func (p Plan) goal() report.Quantity {
	switch {
	case p.Claim.Kind == audit.Renyi:
		return report.RenyiDivergence
	case p.Claim.Kind == audit.ZCDP:
		return report.Rho
	case p.Claim.Kind == audit.GaussianDP:
		return report.Mu
	case p.Claim.Kind == audit.Profile && p.Mode == UntilRefuted:
		return report.Stretch
	case p.ThroughRenyi > 0:
		return report.RenyiEpsilon
	}
	return report.Epsilon
}

// divergent reports whether the goal is bounded through a divergence.
func (p Plan) divergent() bool {
	g := p.goal()
	return g == report.RenyiDivergence || g == report.RenyiEpsilon || g == report.Rho
}

// goalRow is a row of the goal, without a bound.
func (a *Audit) goalRow() report.Row {
	f := report.Row{ID: a.Plan.goal()}
	switch f.ID {
	case report.Epsilon:
		_, f.Delta = a.dpLimits()
	case report.RenyiDivergence:
		f.Alpha = a.Claim.Alpha
	case report.RenyiEpsilon:
		f.Alpha = a.Plan.ThroughRenyi
	}
	return f
}

// orders are the orders among which the goal's own is chosen on exploration, the
// claim's first.
func (p Plan) orders() []float64 {
	switch p.goal() {
	case report.RenyiDivergence:
		// The divergence grows with the order, so a bound of a lower one holds.
		orders := []float64{p.Claim.Alpha}
		for _, alpha := range renyiOrders {
			if alpha < p.Claim.Alpha {
				orders = append(orders, alpha)
			}
		}
		return orders
	case report.RenyiEpsilon:
		return []float64{p.ThroughRenyi}
	}
	return renyiOrders
}

// dpLimits are the limits of the rows about (epsilon, delta): the claim's where it is of that
// kind, else the mechanism's own.
func (a *Audit) dpLimits() (epsilon, delta float64) {
	claim := a.Claim
	if claim.Kind == audit.Profile {
		claim = a.explorePoint()
	}
	for _, c := range []audit.Claim{claim, a.Spec.Claim(a.Plan.Parameters)} {
		if c.IsDP() && c.Epsilon > 0 {
			return c.Epsilon, c.Delta
		}
	}
	return 1, 0
}

// learnClaim is the claim that learners see.
func (a *Audit) learnClaim() audit.Claim {
	if alpha := a.Plan.ThroughRenyi; alpha > 0 {
		limit, _ := a.Claim.ImpliedRenyi(alpha)
		return audit.Claim{Kind: audit.Renyi, Alpha: alpha, Epsilon: limit}
	}
	if a.Claim.Kind == audit.Profile {
		return a.explorePoint()
	}
	return a.Claim
}

// worth ranks pairs by what learners found, on validation outputs: about the lower
// bound on the goal that these outputs would give. halves are the tables of the two
// halves of the validation pairs.
func (a *Audit) worth(c threshold.Choice, halves [2]bounds.Table) float64 {
	v := threshold.Worthless
	switch {
	case a.Plan.divergent():
		_, v = a.bestOrder(halves)
	case a.Plan.goal() == report.Epsilon:
		return c.Value
	case a.Plan.goal() == report.Mu:
		_, v = threshold.Best(halves[0].Add(halves[1]), muWorth)
	}
	if !(v > threshold.Worthless) {
		return threshold.Worthless
	}
	return phrase.Floor(v, 9) // platforms differ in the last bits
}

// leastHalved is how many validation outputs a side are judged by halves, at least.
const leastHalved = 2000

// foresee ranks the learners of one pair: about the bound that certification will give,
// from the scores of validation outputs and the tables of their halves. Each half is
// bounded by what the other suggests, as certification is by exploration, for epsilon by the
// counts of both together, which a rare event needs: the largest value on the same outputs is
// that of the score which chance favours most in the tails.
// value is the worth, which ranks learners where the goal is neither epsilon nor a
// divergence, and where halves are too small to show what all together do.
func (a *Audit) foresee(value float64, scores [2][]float64, halves [2]bounds.Table) float64 {
	if min(len(scores[0]), len(scores[1])) < leastHalved {
		return value
	}
	mean := 0.0
	switch {
	case a.Plan.divergent():
		alpha, _ := a.bestOrder(halves)
		for i := range halves {
			d, err := tuneRenyi(halves[i], alpha, halves[1-i].Pairs(), a.Plan.Beta)
			if err != nil {
				return value
			}
			mean += float64(fromDivergence(a.Plan.goal(), bounds.Renyi(d.side(halves[1-i]), d.RenyiPlan, a.Plan.Beta), alpha) / 2)
		}
	case a.Plan.goal() == report.Epsilon:
		_, delta := a.dpLimits()
		var half [2][2][]float64 // by half and side, sorted
		for i := range half {
			for side, all := range scores {
				n := len(all) / 2
				half[i][side] = slices.Sorted(slices.Values(all[i*n : (i+1)*n]))
			}
		}
		var both bounds.Counts // of both halves, each in the event that the other suggests
		for i, one := range half {
			event, _ := threshold.Choose(one[0], one[1], delta, a.Plan.Beta, a.Plan.Samples, nil)
			c := event.CountsOf(half[1-i][0], half[1-i][1])
			both = bounds.Counts{X: both.X + c.X, N1: both.N1 + c.N1, Y: both.Y + c.Y, N0: both.N0 + c.N0}
		}
		mean = bounds.Exact(both, delta, a.Plan.Beta)
	default:
		return value
	}
	return math.Max(threshold.Worthless, phrase.Floor(mean, 6))
}

// bestOrder is the order whose divergence shows most of the goal, and how much.
func (a *Audit) bestOrder(halves [2]bounds.Table) (alpha, value float64) {
	for _, order := range a.Plan.orders() {
		v := renyiWorth(halves, order)
		if v > 0 || a.Plan.goal() != report.RenyiEpsilon {
			v = fromDivergence(a.Plan.goal(), v, order)
		}
		if alpha == 0 || v > value {
			alpha, value = order, v
		}
	}
	return alpha, value
}

// muWorth is the mu of an event at Wilson limits.
func muWorth(c bounds.Counts) float64 {
	lo, _ := threshold.Wilson(c.X, c.N1)
	_, up := threshold.Wilson(c.Y, c.N0)
	if lo <= 0 || up >= 1 || lo <= up {
		return threshold.Worthless
	}
	return mathext.NormalQuantile(lo) - mathext.NormalQuantile(up)
}

// renyiWorth is a lower limit of D_alpha, one standard error below the
// estimate: the witness of each half is tried on the other one, in both
// directions.
func renyiWorth(halves [2]bounds.Table, alpha float64) float64 {
	best := threshold.Worthless
	for _, reversed := range []bool{false, true} {
		sum := 0.0
		for i := range halves {
			value, se := renyiEstimate(threshold.Turned(halves[1-i], reversed), renyiWitness(halves[i], alpha, reversed), alpha)
			sum += value - se
		}
		best = math.Max(best, sum/2)
	}
	return best
}

// renyiWitness is the witness of D_alpha by bin that the table suggests, for the
// divergence of the first dataset from the second or, reversed, the other way.
// Bins are in the order of the score, which rises with the ratio of the first
// to the second.
func renyiWitness(t bounds.Table, alpha float64, reversed bool) []float64 {
	h := bounds.CalibrateRenyiOrdered(t, alpha)
	if reversed {
		for i := range h {
			h[i] = -h[i]
		}
	}
	return h
}

// renyiEstimate is R^h = alpha/(alpha-1) log mean exp((alpha-1) h) on the first
// dataset less log mean exp(alpha h) on the second, with its standard error by
// the delta method.
func renyiEstimate(t bounds.Table, h []float64, alpha float64) (value, se float64) {
	k := alpha / (alpha - 1)
	top := math.Inf(-1)
	for _, v := range h {
		top = math.Max(top, v)
	}
	n := float64(t.Pairs())
	moments := func(counts []int, scale float64) (log, relative float64) {
		mean, squares := 0.0, 0.0
		for i, c := range counts {
			z := math.Exp(scale * (h[i] - top))
			share := float64(float64(c) / n * z)
			mean += share
			squares += float64(share * z)
		}
		return math.Log(mean) + float64(scale*top), math.Max(0, squares/float64(mean*mean)-1) / n
	}
	logA, varA := moments(t.First(), alpha-1)
	logB, varB := moments(t.Second(), alpha)
	return float64(k*logA) - logB, math.Sqrt(float64(k*k*varA) + varB)
}

// roughRate is a share, half a count added to both outcomes.
func roughRate(k, n int) float64 { return (float64(k) + 0.5) / (float64(n) + 1) }

// normalQuantile is Phi^-1 of the rate.
func normalQuantile(k, n int) float64 { return mathext.NormalQuantile(roughRate(k, n)) }
