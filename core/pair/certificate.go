package pair

import (
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/phrase"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
	"github.com/dpscope/dpscope/core/pair/threshold"
	"github.com/dpscope/dpscope/core/report"
)

// Certified is what the counts came to. Its rows say no more in words than what they assume.
type Certified struct {
	Bounds    []report.Row           `json:"bounds"` // the goal's own first
	Renyi     []report.Row           `json:"renyi"`
	Tradeoff  []bounds.TradeoffPoint `json:"tradeoff"`
	Published []report.Row           `json:"published"`
	Power     *report.Power          `json:"power,omitempty"` // absent where the claim is refuted
}

// certificate is the bounds of an audit, of one step or of a group, that follow from evidence.
type certificate struct {
	*Audit
	*Evidence
}

func (c certificate) all() Certified {
	p := c.Plan
	out := Certified{Renyi: c.renyi()}
	goal := p.goal()
	for i, id := range []report.Quantity{goal, report.Epsilon, report.Delta, report.RenyiEpsilon, report.Rho, report.Mu, report.GaussianEpsilon} {
		if i > 0 && id == goal {
			continue
		}
		if f, ok := c.finding(id, out); ok {
			out.Bounds = append(out.Bounds, f)
		}
	}
	out.Tradeoff, out.Published = c.tradeoff(), c.published()
	if *out.Bounds[0].LowerBound <= p.Claim.Limit() {
		out.Power = c.power()
	}
	return out
}

func (c certificate) finding(id report.Quantity, sofar Certified) (report.Row, bool) {
	p, pr := c.Plan, c.Prepared
	eps, delta := c.dpLimits()
	f := report.Row{ID: id, Confidence: 1 - c.Plan.Beta, Valid: true}
	var lower float64
	switch id {
	case report.Epsilon:
		f.Delta = delta
		lower = c.epsilon(&f)
	case report.Delta:
		n := c.onEvent(&f, pr.DeltaEvent)
		f.Epsilon, f.Method = eps, bounds.MethodExact
		f.Estimate = new(float64(n.X)/float64(n.N1) - float64(math.Exp(eps)*(float64(n.Y)/float64(n.N0))))
		lower = bounds.ExactDelta(n, eps, c.Plan.Beta)
	case report.Mu:
		n := c.onEvent(&f, pr.MuEvent)
		f.Method, f.Assumption = bounds.MethodExact, assumeMu
		if e := normalQuantile(n.X, n.N1) - normalQuantile(n.Y, n.N0); e > 0 {
			f.Estimate = &e
		}
		if p.goal() == id {
			f.PValue = new(bounds.MuPValue(n, c.Claim.Mu, c.Plan.Beta))
		}
		lower = bounds.ExactMu(n, c.Plan.Beta)
	case report.GaussianEpsilon:
		if delta == 0 {
			return f, false
		}
		for _, m := range sofar.Bounds {
			if m.ID == report.Mu {
				f.Delta, f.Method, f.Direction, f.Assumption = delta, m.Method, m.Direction, assumeGaussian
				lower = bounds.GaussianEpsilon(*m.LowerBound, delta)
			}
		}
	case report.RenyiDivergence:
		lower = c.goalRenyi(&f)
	case report.RenyiEpsilon, report.Rho:
		if p.goal() == id {
			lower = fromDivergence(id, c.goalRenyi(&f), pr.Goal.Alpha)
		} else {
			for _, r := range sofar.Renyi {
				if v := fromDivergence(id, *r.LowerBound, r.Alpha); f.Method == "" || v > lower {
					lower, f.Alpha, f.Method, f.Direction = v, r.Alpha, r.Method, r.Direction
				}
			}
		}
		if id == report.Rho {
			lower = phrase.Floor(lower, 6)
		}
	}
	f.LowerBound = new(max(0, lower))
	return f, true
}

const (
	assumeMu       = "refutes every smaller mu of Gaussian DP; as a measure of privacy it holds only if the trade-off is Gaussian"
	assumeGaussian = "holds only if the trade-off is Gaussian"
)

func (c certificate) onEvent(f *report.Row, cut threshold.Event) bounds.Counts {
	n, explored := cut.Counts(*c.Table), cut.Counts(c.Explored)
	f.Event, f.Counts, f.Explored, f.Direction = &report.Event{Edge: cut.Edge, Above: cut.Above}, &n, &explored, cut.Direction()
	return n
}

func (c certificate) epsilon(f *report.Row) float64 {
	p := c.Plan
	eps, at := c.Prepared.bound(*c.Table, f.Delta, c.Plan.Beta)
	f.Method, f.Beta = bounds.MethodExact, at.Share*c.Plan.Beta
	n := c.onEvent(f, at.Event)
	if p.goal() == report.Epsilon {
		least := 1.0
		for _, h := range c.Prepared.events() {
			v := bounds.ClaimPValue(h.Counts(*c.Table), p.Claim.Epsilon, f.Delta, h.Share*p.Beta)
			least = min(least, v/h.Share)
		}
		f.PValue = &least
	}
	if ratio := (float64(n.X)/float64(n.N1) - f.Delta) / (float64(n.Y) / float64(n.N0)); ratio > 0 && !math.IsInf(ratio, 1) {
		f.Estimate = new(stream.Log(ratio))
	}
	return eps
}

func (c certificate) goalRenyi(f *report.Row) float64 {
	d := *c.Prepared.Goal
	t := d.side(*c.Table)
	f.Alpha, f.Method, f.Direction = d.Alpha, d.Method, threshold.DirectionOf(d.Reversed)
	if f.ID == report.RenyiDivergence {
		f.Alpha = c.Claim.Alpha // a bound of a lower order holds here too
	}
	e, _ := renyiEstimate(t, d.H, d.Alpha)
	f.Estimate = new(fromDivergence(f.ID, e, d.Alpha))
	claimed, _ := c.Claim.ImpliedRenyi(d.Alpha)
	v, lower := bounds.RenyiPValue(t, d.RenyiPlan, claimed), bounds.Renyi(t, d.RenyiPlan, c.Plan.Beta)
	if v <= c.Plan.Beta && lower <= claimed {
		v = math.Nextafter(c.Plan.Beta, 1) // the bound decides; larger is valid
	}
	f.PValue = &v
	return lower
}

func fromDivergence(to report.Quantity, d, alpha float64) float64 {
	switch to {
	case report.Rho:
		return d / alpha
	case report.RenyiEpsilon:
		return bounds.EpsilonFromRenyi(d, alpha)
	}
	return d
}

func (c certificate) renyi() []report.Row {
	out := make([]report.Row, len(c.Prepared.Renyi))
	share := c.Plan.Beta / float64(len(out))
	for i, d := range c.Prepared.Renyi {
		f := report.Row{ID: report.RenyiDivergence, Alpha: d.Alpha, Method: d.Method, Beta: share, Valid: true, Direction: threshold.DirectionOf(d.Reversed)}
		t := d.side(*c.Table)
		lower := max(0, bounds.Renyi(t, d.RenyiPlan, share))
		estimate, _ := renyiEstimate(t, d.H, d.Alpha)
		for _, below := range out[:i] {
			if below.Alpha < f.Alpha && *below.LowerBound > lower {
				lower, f.Method, f.Direction = *below.LowerBound, below.Method, below.Direction
				f.Note = "as at a smaller order: the divergence does not fall as the order grows"
			}
		}
		f.LowerBound, f.Estimate = &lower, &estimate
		out[i] = f
	}
	return out
}

// tradeoff is the band of the event's direction. Bins enter where the numerator's side is likelier first.
func (c certificate) tradeoff() []bounds.TradeoffPoint {
	order := audit.Listed(c.Table.Bins, func(k int) int { return k })
	if !c.Prepared.Event.Reversed {
		slices.Reverse(order)
	}
	points := bounds.TradeoffBand(c.Prepared.Event.Side(*c.Table), order, c.Plan.Beta)
	for i, q := range points {
		points[i].FPRLower, points[i].FNRLower = phrase.Floor(q.FPRLower, 9), phrase.Floor(q.FNRLower, 9)
		points[i].FPRUpper, points[i].FNRUpper = min(1, -phrase.Floor(-q.FPRUpper, 9)), min(1, -phrase.Floor(-q.FNRUpper, 9))
		points[i].FPR, points[i].FNR = phrase.Round(q.FPR, 9), phrase.Round(q.FNR, 9)
	}
	return points
}

const katzDeltaFault = "certifies nothing: Katz' interval, extended to delta by the delta method; its error exceeds the nominal one near p = delta; no interval if the event never occurred on the second side"

func (c certificate) published() []report.Row {
	eps, delta := c.dpLimits()
	t := c.Prepared.Event.Side(*c.Table)
	var out []report.Row
	add := func(p report.Row, value float64) {
		if !math.IsInf(value, 0) && !math.IsNaN(value) {
			value = phrase.Floor(value, 6)
			p.Value = &value
			out = append(out, p)
		}
	}
	katz := report.Row{ID: report.Epsilon, Delta: delta, Method: published.MethodKatzDelta, Note: katzDeltaFault}
	if delta == 0 {
		katz.Method, katz.Note = published.MethodKatz, "valid only in the limit of many outputs; no interval if the event never occurred on the second side"
	}
	add(katz, published.Katz(c.Prepared.Event.Counts(*c.Table), delta, c.Plan.Beta))
	d := c.Prepared.Goal
	if i := slices.IndexFunc(c.Prepared.Renyi, func(r DirectedPlan) bool { return r.Alpha == 2 }); d == nil && i >= 0 {
		d = &c.Prepared.Renyi[i]
	}
	if d != nil {
		if v := published.Renyi(d.side(*c.Table), d.H, d.Alpha, c.Plan.Beta); !math.IsInf(v, 0) {
			add(report.Row{ID: report.RenyiDivergence, Alpha: d.Alpha, Method: published.MethodRenyiPublished,
				Note: "a factor alpha/(alpha-1) and half of the exponent are missing; it fails on rare events"}, max(0, v))
		}
		add(report.Row{ID: report.RenyiDivergence, Alpha: d.Alpha, Method: published.MethodRenyiCorrected, Note: "corrected, and far looser than the bound that certifies"},
			published.CorrectedRenyi(d.side(*c.Table), d.H, d.Alpha, c.Plan.Beta))
	}
	if n := t.Pairs(); n > 0 {
		// The eta at which this many outputs are what algorithm 3 asks for.
		eta := math.Sqrt(12 * (1 + math.Exp(2*eps)) / float64(n))
		if float64(n) >= published.HistogramSamples(t.Bins, eps, eta, c.Plan.Beta)*(1-1e-12) {
			add(report.Row{ID: report.Delta, Epsilon: eps, Method: published.MethodHistogramPublished, Note: "its bias is not below eta: with many bins it reports a violation for equal distributions"},
				max(0, published.HistogramDivergence(t.First(), t.Second(), eps)-eta))
		}
		add(report.Row{ID: report.Delta, Epsilon: eps, Method: published.MethodHistogram, Note: "corrected; its slack grows with the square root of the number of bins"},
			published.HistogramDelta(t.First(), t.Second(), eps, c.Plan.Beta))
	}
	return out
}
