package pair

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/report"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
)

// Prepared is all that exploration fixed for the bounds on the chosen pair, so
// that nothing is chosen on the pairs that certify.
type Prepared struct {
	Event Cut `json:"event"` // for epsilon
	// Steps is by how many steps of the relation the pair differs, where it is more than
	// one.
	Steps      int     `json:"steps,omitempty" since:"0.3.0"`
	Hedges     []Hedge `json:"hedges,omitempty" since:"0.3.0"` // other events for epsilon, with their shares of the error; the rest is Event's
	DeltaEvent Cut     `json:"deltaEvent"`                     // for delta at the claimed epsilon
	DeltaStake float64 `json:"deltaStake,omitempty"`           // of betting on delta; 0: none, but limits of both rates
	MuEvent    Cut     `json:"muEvent"`                        // for mu
	// MuEpsilon is the epsilon at which delta of the event says most about mu;
	// an anytime-valid bound on mu is one on delta there.
	MuEpsilon float64 `json:"muEpsilon"`
	// Point is that of a claim's curve at which the audit is.
	Point *audit.ProfilePoint `json:"point,omitempty"`
	Goal  *DirectedPlan       `json:"goal,omitempty"` // of the claim's own order, with all of the error
	Renyi []DirectedPlan      `json:"renyi"`          // of all orders, each with an equal share of it
}

// DirectedPlan is the plan of a Rényi bound on the divergence of the first
// dataset from the second or, reversed, of the second from the first.
type DirectedPlan struct {
	bounds.RenyiPlan
	Reversed bool `json:"reversed,omitempty"`
}

func (d DirectedPlan) side(t bounds.Table) bounds.Table { return turned(t, d.Reversed) }

// prepare chooses on the exploration table what each bound needs.
func (a *Audit) prepare(table bounds.Table, event Cut, hedges []Hedge, steps int) (Prepared, error) {
	out := Prepared{Event: event, Hedges: hedges}
	if steps > 1 {
		out.Steps, a = steps, a.grouped(steps)
	}
	if a.Claim.Kind == audit.Profile {
		point, at := a.choosePoint(table)
		out.Point, out.Event, out.Hedges = &point, at, nil
		a = a.at(&point)
	}
	p := a.Plan
	eps, _ := a.dpLimits()
	out.DeltaEvent, _ = tableCut(table, func(c bounds.Counts) float64 { return deltaWorth(c, eps) })
	if p.Anytime {
		out.MuEvent, _ = tableCut(table, func(c bounds.Counts) float64 { _, mu := muEpsilon(c); return mu })
	} else {
		out.MuEvent, _ = tableCut(table, muWorth)
	}
	out.MuEpsilon, _ = muEpsilon(out.MuEvent.counts(table))
	if p.first() || p.Anytime {
		out.DeltaStake = deltaStake(out.DeltaEvent, table, p.Samples, eps, p.Beta)
	}
	for _, alpha := range renyiOrders {
		d, err := tuneRenyi(table, alpha, p.Samples, p.Beta/float64(len(renyiOrders)))
		if err != nil {
			return out, err
		}
		out.Renyi = append(out.Renyi, d)
	}
	switch goal := p.goal(); goal {
	case report.RenyiDivergence, report.RenyiEpsilon, report.Rho:
		best := 0.0
		for _, alpha := range p.orders() {
			d, err := tuneRenyi(table, alpha, p.Samples, p.Beta)
			if err != nil {
				return out, &audit.InputError{Field: "alpha", Found: audit.Number(alpha), Want: "an order at which the witness can be used", Remedy: err.Error()}
			}
			// The order that promises most for its share of the claim.
			value, se := renyiEstimate(d.side(table), d.H, alpha)
			v := value - 2*se
			if goal == report.Rho {
				v /= alpha
			}
			if v = phrase.Floor(v, 9); out.Goal == nil || v > best+valueMargin {
				out.Goal, best = &d, v
			}
		}
	}
	return out, nil
}

// deltaWorth is the lower limit of p1 - e^eps p0 at Wilson limits.
func deltaWorth(c bounds.Counts, eps float64) float64 {
	lo, _ := wilson(c.X, c.N1)
	_, up := wilson(c.Y, c.N0)
	return phrase.Floor(lo-float64(math.Exp(eps)*up), 12)
}

// muEpsilon is the epsilon, of a grid, at which a lower limit of delta of the
// event says most about mu, and that mu.
func muEpsilon(c bounds.Counts) (best, most float64) {
	for eps := 0.0; eps <= 12; eps += 0.25 {
		if mu := phrase.Floor(bounds.GaussianMuFromDelta(deltaWorth(c, eps), eps), 4); mu > most {
			best, most = eps, mu
		}
	}
	return best, most
}

// deltaStake is the stake of betting on delta where that promises more than
// Clopper-Pearson limits, and 0 where it does not.
func deltaStake(cut Cut, table bounds.Table, n int, eps, beta float64) float64 {
	t := cut.side(table)
	scale := float64(n) / float64(t.Pairs())
	c := t.Event(cut.bins(t.Bins))
	// What would come out if certification repeated the exploration.
	again := bounds.Counts{X: int(math.Round(scale * float64(c.X))), N1: n, Y: int(math.Round(scale * float64(c.Y))), N0: n}
	again.X, again.Y = min(again.X, n), min(again.Y, n)
	f := indicator(cut, t.Bins)
	stake := roundDigits(bounds.TuneScoreDelta(t, f, n, eps, beta))
	if !(stake > 0) {
		return 0
	}
	// The pairs of independent outputs with these rates.
	x, y := float64(again.X)/float64(n), float64(again.Y)/float64(n)
	pairs := eventTable([4]int{int(float64(n) * x * y), int(float64(n) * x * (1 - y)), int(float64(n) * (1 - x) * y), int(float64(n) * (1 - x) * (1 - y))})
	if pairs.Pairs() == 0 || bounds.ScoreDelta(pairs, []float64{1, 0}, eps, beta, stake) <= bounds.LowerDelta(again, eps, beta) {
		return 0
	}
	return stake
}

// eventTable is a table of two bins, inside an event and outside, from pair
// counts 11, 10, 01, 00.
func eventTable(n [4]int) bounds.Table {
	t := bounds.NewTable(2)
	copy(t.N, n[:])
	return t
}

// indicator is the event as a score by bin.
func indicator(cut Cut, n int) []float64 {
	f := make([]float64, n)
	for k, in := range cut.bins(n) {
		if in {
			f[k] = 1
		}
	}
	return f
}

// tuneRenyi plans the bound of one order, in the direction that promises more.
func tuneRenyi(table bounds.Table, alpha float64, n int, beta float64) (DirectedPlan, error) {
	var best DirectedPlan
	promised := math.Inf(-1)
	for _, reversed := range []bool{false, true} {
		t := turned(table, reversed)
		h := renyiWitness(table, alpha, reversed)
		value, se := renyiEstimate(t, h, alpha)
		if v := phrase.Floor(value-2*se, 9); v > promised+valueMargin {
			promised = v
			best = DirectedPlan{RenyiPlan: bounds.RenyiPlan{Alpha: alpha, H: h}, Reversed: reversed}
		}
	}
	plan, err := bounds.TuneRenyi(turned(table, best.Reversed), best.H, alpha, n, beta)
	if err != nil {
		return best, err
	}
	// Platforms differ in the last bits, and the report holds the numbers.
	decimals := 6 + max(0, int(math.Ceil(math.Log10(alpha))))
	for i := range plan.H {
		plan.H[i] = roundTo(plan.H[i], decimals)
	}
	plan.Lambda = roundDigits(plan.Lambda)
	if plan.Method == bounds.MethodRenyiBerryEsseen {
		plan.Lambda = 0
	}
	best.RenyiPlan = plan
	return best, plan.Validate()
}

// roundDigits rounds a positive number down to six significant digits or so.
func roundDigits(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return phrase.Floor(x, 5-int(math.Floor(math.Log10(x))))
}

func roundTo(x float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(x*scale) / scale
}

// check refuses what does not fit the plan or the bins.
func (p Prepared) check(plan Plan, bins int) error {
	edges := bins - 1
	if err := plan.checkPoint(p.Point); err != nil {
		return err
	}
	if p.Steps != 0 && (p.Steps < 2 || p.Steps > plan.Group) {
		return &audit.InputError{Field: "prepared.steps", Found: fmt.Sprint(p.Steps), Want: fmt.Sprintf("absent, or at least 2 and at most the plan's group of %d", max(1, plan.Group))}
	}
	var own bool
	switch plan.goal() {
	case report.RenyiDivergence, report.RenyiEpsilon, report.Rho:
		own = true
	}
	if own != (p.Goal != nil) {
		return &audit.InputError{Field: "prepared.goal", Found: map[bool]string{true: "there", false: "absent"}[p.Goal != nil], Want: "there if and only if the claim is tested through a divergence"}
	}
	if own && !slices.Contains(plan.orders(), p.Goal.Alpha) {
		return &audit.InputError{Field: "prepared.goal.alpha", Found: audit.Number(p.Goal.Alpha), Want: fmt.Sprintf("one of %v", plan.orders())}
	}
	if len(p.Renyi) != len(renyiOrders) {
		return &audit.InputError{Field: "prepared.renyi", Found: fmt.Sprintf("of %d orders", len(p.Renyi)), Want: fmt.Sprint(len(renyiOrders))}
	}
	for i, d := range p.Renyi {
		if d.Alpha != renyiOrders[i] {
			return &audit.InputError{Field: fmt.Sprintf("prepared.renyi[%d].alpha", i), Found: audit.Number(d.Alpha), Want: audit.Number(renyiOrders[i])}
		}
	}
	if n := len(p.Hedges); n > 0 && (plan.first() || plan.Anytime) || n > mostHedges {
		return &audit.InputError{Field: "prepared.hedges", Found: fmt.Sprintf("%d of them", n), Want: fmt.Sprintf("at most %d, and none in an anytime run or a plan of version 1", mostHedges)}
	}
	cuts := []Cut{p.Event, p.DeltaEvent, p.MuEvent}
	for _, h := range p.Hedges {
		cuts = append(cuts, h.Cut)
		if h.Share != hedgeShare {
			return &audit.InputError{Field: "prepared.hedges: share", Found: audit.Number(h.Share), Want: audit.Number(hedgeShare)}
		}
	}
	for _, c := range cuts {
		if err := c.check(edges); err != nil {
			return err
		}
	}
	if !(p.DeltaStake >= 0) || math.IsInf(p.DeltaStake, 1) {
		return &audit.InputError{Field: "prepared.deltaStake", Found: audit.Number(p.DeltaStake), Want: "a finite number, at least 0"}
	}
	if !(p.MuEpsilon >= 0 && p.MuEpsilon <= 50) {
		return &audit.InputError{Field: "prepared.muEpsilon", Found: audit.Number(p.MuEpsilon), Want: "in [0, 50]"}
	}
	plans := p.Renyi
	if p.Goal != nil {
		plans = append(append([]DirectedPlan{}, plans...), *p.Goal)
	}
	for _, d := range plans {
		if len(d.H) != bins {
			return &audit.InputError{Field: "prepared: h", Found: fmt.Sprintf("%d numbers", len(d.H)), Want: fmt.Sprintf("%d, one a bin", bins)}
		}
		if err := d.Validate(); err != nil {
			return &audit.InputError{Field: "prepared", Found: "a Rényi " + err.Error(), Want: "one that can be used"}
		}
	}
	return nil
}
