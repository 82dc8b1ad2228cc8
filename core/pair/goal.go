package pair

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// renyiOrders are the orders at which every report bounds the divergence, all together.
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

// divergent: the goal is bounded through a divergence.
func (p Plan) divergent() bool {
	return slices.Contains([]report.Quantity{report.RenyiDivergence, report.RenyiEpsilon, report.Rho}, p.goal())
}

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

// orders are those that exploration may choose for the goal, the claim's first.
func (p Plan) orders() []float64 {
	switch p.goal() {
	case report.RenyiDivergence:
		// The divergence grows with the order, so a bound of a lower one holds.
		lower := slices.DeleteFunc(slices.Clone(renyiOrders), func(alpha float64) bool { return alpha >= p.Claim.Alpha })
		return append([]float64{p.Claim.Alpha}, lower...)
	case report.RenyiEpsilon:
		return []float64{p.ThroughRenyi}
	}
	return renyiOrders
}

// dpLimits are the claim's epsilon and delta, else the mechanism's own.
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

// worth ranks pairs: about the bound on the goal that validation outputs with these tables would give.
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

// foresee ranks the learners of one pair: about the bound that certification will give. Each half of the
// validation outputs is bounded by what the other suggests, as on the same outputs the score that chance
// favours most in the tails has the largest value; for epsilon by the counts of both, which a rare event
// needs. Where halves are too small, and for other goals, it is value, the worth.
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
			both = both.Add(event.CountsOf(half[1-i][0], half[1-i][1]))
		}
		mean = bounds.Exact(both, delta, a.Plan.Beta)
	default:
		return value
	}
	return math.Max(threshold.Worthless, phrase.Floor(mean, 6))
}

func (a *Audit) bestOrder(halves [2]bounds.Table) (alpha, value float64) {
	for _, order := range a.Plan.orders() {
		v := renyiWorth(halves, order)
		if goal := a.Plan.goal(); v > 0 || goal != report.RenyiEpsilon {
			v = fromDivergence(goal, v, order)
		}
		if alpha == 0 || v > value {
			alpha, value = order, v
		}
	}
	return alpha, value
}

func muWorth(c bounds.Counts) float64 {
	lo, _ := threshold.Wilson(c.X, c.N1)
	_, up := threshold.Wilson(c.Y, c.N0)
	if lo <= 0 || up >= 1 || lo <= up {
		return threshold.Worthless
	}
	return mathext.NormalQuantile(lo) - mathext.NormalQuantile(up)
}

// renyiWorth is D_alpha less one standard error, in both directions, each half tried on the other.
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

// renyiWitness is the witness of D_alpha by bin that the table suggests. Bins are in the order of the
// score, which rises with the ratio of the first dataset to the second.
func renyiWitness(t bounds.Table, alpha float64, reversed bool) []float64 {
	h := bounds.CalibrateRenyiOrdered(t, alpha)
	if reversed {
		for i := range h {
			h[i] = -h[i]
		}
	}
	return h
}

// renyiEstimate is R^h = alpha/(alpha-1) log mean exp((alpha-1) h) on the first dataset less
// log mean exp(alpha h) on the second, with its standard error by the delta method.
func renyiEstimate(t bounds.Table, h []float64, alpha float64) (value, se float64) {
	k, top := alpha/(alpha-1), slices.Max(h)
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

// roughRate adds half a count to both outcomes.
func roughRate(k, n int) float64 { return (float64(k) + 0.5) / (float64(n) + 1) }

func normalQuantile(k, n int) float64 { return mathext.NormalQuantile(roughRate(k, n)) }

// A claim that is a curve is refuted at a point that exploration chose, with the event: the audit is
// one of the (epsilon, delta) there, on fresh outputs, with all of the error. So a mechanism that
// keeps the curve is refuted no more often than one that keeps that claim.

// at is the audit of such a point; nil: of the claim as it is.
func (a *Audit) at(point *audit.ProfilePoint) *Audit {
	if point == nil {
		return a
	}
	return a.claiming(audit.DPClaim(point.Epsilon, point.Delta))
}

const betPoints = 4

// stretched are points evenly along the curve, their epsilons times a factor. What keeps them at one
// factor keeps them at every larger one.
func (a *Audit) stretched(factor float64) []bounds.Point {
	all := a.Claim.Profile.Points
	n := min(betPoints, len(all))
	return audit.Listed(n, func(i int) bounds.Point {
		p := all[i*(len(all)-1)/max(1, n-1)]
		return bounds.Point{Epsilon: float64(factor * p.Epsilon), Delta: p.Delta}
	})
}

func (a *Audit) statedClaim(point *audit.ProfilePoint) string {
	words := a.Claim.String()
	if point == nil {
		return words
	}
	if s := a.Claim.Profile.Source; s != "" {
		words += " (" + s + ")"
	}
	return a.at(point).Claim.String() + ", of " + words
}

// explorePoint is the claim of exploration: the point of the least delta that a hundred outputs are.
func (a *Audit) explorePoint() audit.Claim {
	points := a.Claim.Profile.Points
	best := points[0]
	for _, p := range points {
		if p.Delta >= 100/float64(max(1, a.Plan.Samples)) {
			best = p
		}
	}
	return audit.DPClaim(best.Epsilon, best.Delta)
}

// choosePoint is where on the curve an event promises most: the excess of p1 - e^epsilon p0 over
// delta, less its standard error in exploration, in those of certification.
func (a *Audit) choosePoint(table bounds.Table) (point audit.ProfilePoint, event threshold.Event) {
	best := math.Inf(-1)
	for _, p := range a.Claim.Profile.Points {
		ratio := stream.Exp(p.Epsilon)
		cut, v := threshold.Best(table, func(c bounds.Counts) float64 {
			p1, p0 := roughRate(c.X, c.N1), roughRate(c.Y, c.N0)
			excess := p1 - float64(ratio*p0) - p.Delta
			spread := math.Sqrt(float64(p1*(1-p1)) + float64(float64(ratio*ratio)*float64(p0*(1-p0))))
			explored, certified := spread/math.Sqrt(float64(c.N1)), spread/math.Sqrt(float64(a.Plan.Samples))
			return phrase.Floor((excess-explored)/certified, 6)
		})
		if v > best+threshold.ValueMargin {
			point, event, best = p, cut, v
		}
	}
	return point, event
}

func (p Plan) checkPoint(point *audit.ProfilePoint) error {
	curve := p.Claim != nil && p.Claim.Kind == audit.Profile && p.Claim.Profile != nil
	if point == nil {
		return audit.Require(!curve, "prepared.point", audit.Absent, "the point of the claim's curve that exploration chose")
	}
	if !curve {
		return audit.Fault("prepared.point", "there", fmt.Sprintf("absent except for a claim of kind %q", audit.Profile))
	}
	known := slices.Contains(p.Claim.Profile.Points, *point)
	return audit.Require(known, "prepared.point", audit.DPClaim(point.Epsilon, point.Delta), "a point of the claim's curve")
}
