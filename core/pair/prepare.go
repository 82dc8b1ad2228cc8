package pair

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// Prepared is all that exploration fixed for the bounds: nothing is chosen on the pairs that certify.
type Prepared struct {
	Event        threshold.Event         `json:"event"`            // for epsilon
	Steps        int                     `json:"steps,omitempty"`  // by which the pair differs, if more than one
	Alternatives []threshold.Alternative `json:"hedges,omitempty"` // other events for epsilon, with their shares of the error; the rest is Event's
	DeltaEvent   threshold.Event         `json:"deltaEvent"`       // for delta at the claimed epsilon
	MuEvent      threshold.Event         `json:"muEvent"`          // for mu
	Point        *audit.ProfilePoint     `json:"point,omitempty"`  // of a claim's curve, that is audited
	Goal         *DirectedPlan           `json:"goal,omitempty"`   // of the claim's own order, with all of the error
	Renyi        []DirectedPlan          `json:"renyi"`            // of all orders, each with an equal share of it
}

// DirectedPlan bounds the divergence of the first dataset from the second; reversed, of the second from it.
type DirectedPlan struct {
	bounds.RenyiPlan
	Reversed bool `json:"reversed,omitempty"`
}

func (d DirectedPlan) side(t bounds.Table) bounds.Table { return threshold.Turned(t, d.Reversed) }

// prepare chooses what each bound needs. The events for epsilon were chosen with the witness.
func (a *Audit) prepare(e Evidence) (*Prepared, error) {
	out, table := &Prepared{Event: e.Prepared.Event, Alternatives: e.Prepared.Alternatives, Steps: e.Prepared.Steps}, e.Explored
	a = a.grouped(out.Steps)
	if a.Claim.Kind == audit.Profile {
		point, at := a.choosePoint(table)
		out.Point, out.Event, out.Alternatives = &point, at, nil
		a = a.at(&point)
	}
	p := a.Plan
	eps, _ := a.dpLimits()
	out.DeltaEvent, _ = threshold.Best(table, func(c bounds.Counts) float64 { // the lower limit of p1 - e^eps p0
		lo, _ := threshold.Wilson(c.X, c.N1)
		_, up := threshold.Wilson(c.Y, c.N0)
		return phrase.Floor(lo-float64(math.Exp(eps)*up), 12)
	})
	out.MuEvent, _ = threshold.Best(table, muWorth)
	for _, alpha := range renyiOrders {
		d, err := tuneRenyi(table, alpha, p.Samples, p.Beta/float64(len(renyiOrders)))
		if err != nil {
			return out, err
		}
		out.Renyi = append(out.Renyi, d)
	}
	if !p.divergent() {
		return out, nil
	}
	best := 0.0
	for _, alpha := range p.orders() {
		d, err := tuneRenyi(table, alpha, p.Samples, p.Beta)
		if err != nil {
			return out, &audit.InputError{Field: "alpha", Found: audit.Number(alpha), Want: "an order at which the witness can be used", Remedy: err.Error()}
		}
		// The most for its share of the claim.
		value, se := renyiEstimate(d.side(table), d.H, alpha)
		v := value - 2*se
		if p.goal() == report.Rho {
			v /= alpha
		}
		if v = phrase.Floor(v, 9); out.Goal == nil || v > best+threshold.ValueMargin {
			out.Goal, best = &d, v
		}
	}
	return out, nil
}

// tuneRenyi plans the bound of one order, in the direction that promises more.
func tuneRenyi(table bounds.Table, alpha float64, n int, beta float64) (DirectedPlan, error) {
	var best DirectedPlan
	promised := math.Inf(-1)
	for _, reversed := range []bool{false, true} {
		h := renyiWitness(table, alpha, reversed)
		value, se := renyiEstimate(threshold.Turned(table, reversed), h, alpha)
		if v := phrase.Floor(value-2*se, 9); v > promised+threshold.ValueMargin {
			promised, best = v, DirectedPlan{RenyiPlan: bounds.RenyiPlan{Alpha: alpha, H: h}, Reversed: reversed}
		}
	}
	plan, err := bounds.TuneRenyi(best.side(table), best.H, alpha, n, beta)
	if err != nil {
		return best, err
	}
	// Platforms differ in the last bits, and the report holds the numbers.
	decimals := 6 + max(0, int(math.Ceil(math.Log10(alpha))))
	for i := range plan.H {
		plan.H[i] = phrase.Round(plan.H[i], decimals)
	}
	if x := plan.Lambda; x > 0 {
		plan.Lambda = phrase.Floor(x, 5-int(math.Floor(math.Log10(x))))
	} else {
		plan.Lambda = 0
	}
	best.RenyiPlan = plan
	return best, plan.Validate()
}

func (p Prepared) check(plan Plan, bins int) error {
	orders, plans := slices.Clone(renyiOrders), p.Renyi
	if p.Goal != nil {
		orders, plans = append(orders, p.Goal.Alpha), append(slices.Clip(plans), *p.Goal)
	}
	err := audit.First(
		plan.checkPoint(p.Point),
		audit.Require(p.Steps == 0 || p.Steps >= 2 && p.Steps <= plan.Group, "prepared.steps", p.Steps, "absent, or at least 2 and at most the plan's group of %d", max(1, plan.Group)),
		audit.Require(plan.divergent() == (p.Goal != nil), "prepared.goal", audit.Pick(p.Goal != nil, "there", "absent"), "there if and only if the claim is tested through a divergence"),
		audit.Require(len(p.Renyi) == len(renyiOrders), "prepared.renyi", fmt.Sprintf("of %d orders", len(p.Renyi)), "%v", len(renyiOrders)),
		audit.Require(len(p.Alternatives) <= threshold.MostAlternatives, "prepared.hedges", fmt.Sprintf("%d of them", len(p.Alternatives)), "at most %d", threshold.MostAlternatives),
	)
	if err != nil {
		return err
	}
	if p.Goal != nil {
		err = audit.Require(slices.Contains(plan.orders(), p.Goal.Alpha), "prepared.goal.alpha", audit.Number(p.Goal.Alpha), "one of %v", plan.orders())
	}
	cuts := []threshold.Event{p.Event, p.DeltaEvent, p.MuEvent}
	for _, h := range p.Alternatives {
		cuts = append(cuts, h.Event)
		err = audit.First(err, audit.Require(h.Share == threshold.AlternativeShare, "prepared.hedges: share", audit.Number(h.Share), "%s", audit.Number(threshold.AlternativeShare)))
	}
	for _, c := range cuts {
		err = audit.First(err, c.Check(bins-1))
	}
	for i, d := range plans {
		err = audit.First(err,
			audit.Require(d.Alpha == orders[i], fmt.Sprintf("prepared.renyi[%d].alpha", i), audit.Number(d.Alpha), "%s", audit.Number(orders[i])),
			audit.Require(len(d.H) == bins, "prepared: h", fmt.Sprintf("%d numbers", len(d.H)), "%d, one a bin", bins))
		if invalid := d.Validate(); err == nil && invalid != nil {
			err = &audit.InputError{Field: "prepared", Found: "a Rényi " + invalid.Error(), Want: "one that can be used"}
		}
	}
	return err
}

// bound is the largest of the events' exact bounds, each at its share of beta, and its event.
func (p Prepared) bound(t bounds.Table, delta, beta float64) (eps float64, at threshold.Alternative) {
	eps = math.Inf(-1)
	for i, h := range p.events() {
		if e := bounds.Exact(h.Counts(t), delta, h.Share*beta); i == 0 || e > eps {
			eps, at = e, h
		}
	}
	return eps, at
}

// events are the main event and its alternatives, whose shares sum to 1.
func (p Prepared) events() []threshold.Alternative {
	main := threshold.Alternative{Event: p.Event, Share: 1}
	for _, h := range p.Alternatives {
		main.Share -= h.Share
	}
	return append([]threshold.Alternative{main}, p.Alternatives...)
}
