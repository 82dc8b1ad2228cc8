package accounting

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpscope/dpscope/audit"
)

// Account is the answer to a [Query]: a plain JSON value without NaN or infinity. Bounds have seven
// significant digits.
type Account struct {
	Query Query  `json:"query"` // with its defaults filled in
	Title string `json:"title"` // what was accounted, in words

	Curve []Point `json:"curve"` // finite values only; empty for approximate privacy
	// KL is the curve at order 1, MaxDivergence at infinity; nil if not finite.
	KL            *float64 `json:"kl,omitempty"`
	MaxDivergence *float64 `json:"maxDivergence,omitempty"`

	// Epsilon is the least at the query's delta, Epsilons are all the ways to one. Delta and Deltas
	// likewise at AtEpsilon.
	Epsilon  *float64    `json:"epsilon,omitempty"`
	Epsilons []Guarantee `json:"epsilons"`
	Delta    *float64    `json:"delta,omitempty"`
	Deltas   []Guarantee `json:"deltas,omitempty"`
	// Needed is the least noise that meets (TargetEpsilon, Delta).
	Needed *Needed `json:"needed,omitempty"`

	// Outcomes answer Event, Factors answer Odds, in their order; none without a curve.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Factors  []Factor  `json:"factors,omitempty"`

	// Profile are points at which (epsilon, delta) holds.
	Profile []audit.ProfilePoint `json:"profile,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// Point is one order of a curve.
type Point struct {
	Alpha      float64 `json:"alpha"`
	Divergence float64 `json:"divergence"` // nats
	// Lemma is 2 alpha epsilon^2 over all steps, as published (Mironov 2017, lemma 1); pure steps
	// only.
	Lemma *float64 `json:"lemma,omitempty"`
}

// Outcome is the range of an event's probability on a neighbouring dataset.
type Outcome struct {
	Event float64 `json:"event"` // its probability on one dataset
	Range         // over all orders
	// Composed is the published upper end for composed pure steps, e^(2 sqrt(s log(1/q))) q with s
	// the sum of epsilon^2 (Mironov 2017, proposition 4).
	Composed *float64       `json:"composed,omitempty"`
	Orders   []OutcomeRange `json:"orders"` // at each order of the curve above 1, see [Preserve]
}

// Range is where a probability lies.
type Range struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// OutcomeRange is what one order says.
type OutcomeRange struct {
	Alpha float64 `json:"alpha"`
	Range
}

// Factor bounds by Markov's inequality how probable it is that the posterior odds of one dataset
// over a neighbour are more than Odds times the prior ones (Mironov 2017, section III): the delta
// of [Classical] at epsilon = log Odds.
type Factor struct {
	Odds        float64       `json:"odds"`
	Probability float64       `json:"probability"` // at the best order
	Orders      []FactorOrder `json:"orders"`      // at each order of the curve above 1
}

// FactorOrder is what one order says; Mean is absent where it is too large to write.
type FactorOrder struct {
	Alpha       float64  `json:"alpha"`
	Mean        *float64 `json:"mean,omitempty"` // bound on the mean of the factor's power of alpha-1
	Probability float64  `json:"probability"`
}

// Method names a way to a [Guarantee].
type Method string

const (
	MethodRenyiOptimal Method = "renyi-optimal"
	MethodTight        Method = "renyi-tight"
	MethodClassical    Method = "renyi-classical"
	MethodGaussian     Method = "gaussian-exact"
	MethodBasic        Method = "basic-composition"
	MethodAdvanced     Method = "advanced-composition"
	MethodOptimal      Method = "optimal-composition"
	MethodPublished    Method = "published-composition"
	MethodLosses       Method = "privacy-loss"
)

// Title is what it is called beside others.
func (m Method) Title() string { return methods[m].title }

var methods = map[Method]struct{ title, source string }{
	MethodGaussian:     {"Gaussian noise itself", "Balle and Wang 2018, theorem 8"},
	MethodLosses:       {"distribution of the privacy loss", "Koskela, Jälkö and Honkela 2020; Gopi, Lee and Wutschitz 2021; Doroshenko et al. 2022"},
	MethodOptimal:      {"optimal composition", "Kairouz, Oh and Viswanath 2015, theorem 3.3"},
	MethodRenyiOptimal: {"Rényi curve, optimal conversion", "Asoodeh, Liao, Calmon, Kosut and Sankar 2021"},
	MethodTight:        {"Rényi curve, tight conversion", "Balle et al. 2020, theorem 21; Canonne, Kamath and Steinke 2020, proposition 12"},
	MethodClassical:    {"Rényi curve, classical conversion", "Mironov 2017, proposition 3"},
	MethodBasic:        {"basic composition", "Dwork and Roth 2014, theorem 3.16"},
	MethodAdvanced:     {"advanced composition", "Dwork, Rothblum and Vadhan 2010, theorem III.3"},
	MethodPublished:    {"composition as published", "Mironov 2017, corollary 1"},
}

// Guarantee is one (Epsilon, Delta) that holds.
type Guarantee struct {
	Method  Method  `json:"method"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Order that gave it; nil where there is none, or it is infinite.
	Order *float64 `json:"order,omitempty"`
	Exact bool     `json:"exact"` // no smaller figure holds for all such mechanisms
	// AtLeast is a figure that does not hold, rounded down; nil where none is known.
	AtLeast *float64 `json:"atLeast,omitempty"`
	Source  string   `json:"source"` // where it is proven
}

// Needed is the least noise that a target needs.
type Needed struct {
	Parameter string  `json:"parameter"` // sigma or scale
	Noise     float64 `json:"noise"`     // rounded up
	Source    string  `json:"source"`
}

// maxLossSteps are the most: beyond, the grid's step is not small beside a loss.
const maxLossSteps = 1_000_000

// Targets between these are reached by noise that is accounted.
const (
	leastTarget = 0.001
	mostTarget  = 500
)

// maxOptimalSteps keeps the optimal composition to some 10^5 terms.
const maxOptimalSteps = 10_000_000

// Answer accounts a query.
func Answer(q Query) (Account, error) {
	if err := q.Validate(); err != nil {
		return Account{}, err
	}
	q = q.filled()
	var needed *Needed
	if q.TargetEpsilon != nil {
		if needed = need(q); needed == nil {
			return Account{}, audit.Fault("targetEpsilon", *q.TargetEpsilon, fmt.Sprintf("reachable with noise in [%v, %v] times the sensitivity", leastNoise, mostNoise), "give a larger delta or fewer steps")
		}
		if noise := q.noise(); *noise == nil {
			*noise = &needed.Noise
		}
	}
	parts, _ := q.parts() // which Validate has read
	a := Account{Query: q, Title: title(parts), Curve: []Point{}, Epsilons: []Guarantee{}, Needed: needed}
	w := newWorksheet(q, parts)
	a.drawCurve(w)
	a.askEvents(w)
	best := func(list []Guarantee, of func(g Guarantee) float64) *float64 {
		if len(list) == 0 {
			return nil
		}
		return new(slices.Min(audit.Each(list, of)))
	}
	a.Epsilons = append(a.Epsilons, w.epsilons(*q.Delta)...)
	a.Epsilon = best(a.Epsilons, func(g Guarantee) float64 { return g.Epsilon })
	if q.AtEpsilon != nil {
		a.Deltas = w.deltas(*q.AtEpsilon)
		a.Delta = best(a.Deltas, func(g Guarantee) float64 { return g.Delta })
	}
	if q.Profile {
		a.Profile = w.profile()
	}
	a.Notes = w.notes(a)
	return a, nil
}

func (a *Account) drawCurve(w worksheet) {
	c, orders := w.curve, w.q.Orders
	if c == nil {
		return
	}
	finite := func(alpha float64) *float64 { return audit.Finite(roundUp(c.At(alpha))) }
	if orders == nil {
		orders = defaultOrders
	}
	for _, alpha := range orders {
		if v := finite(alpha); v != nil && alpha > 1 { // order 1 is KL
			p := Point{Alpha: alpha, Divergence: *v}
			if w.pure() {
				p.Lemma = new(roundUp(2 * alpha * w.sums.squares))
			}
			a.Curve = append(a.Curve, p)
		}
	}
	a.KL, a.MaxDivergence = finite(1), finite(inf)
}

func (a *Account) askEvents(w worksheet) {
	if w.curve == nil {
		return
	}
	within := func(lo, hi float64) Range { return Range{roundDown(lo), min(1, roundUp(hi))} }
	for _, q := range w.q.Event {
		o := Outcome{Event: q, Range: within(BestPreserve(w.curve, q)), Orders: []OutcomeRange{}}
		if w.pure() {
			o.Composed = new(min(1, roundUp(min(1, q*math.Exp(2*math.Sqrt(-w.sums.squares*math.Log(q)))))))
		}
		for _, p := range a.Curve {
			o.Orders = append(o.Orders, OutcomeRange{p.Alpha, within(Preserve(q, w.curve.At(p.Alpha), p.Alpha))})
		}
		a.Outcomes = append(a.Outcomes, o)
	}
	for _, odds := range w.q.Odds {
		chance := func(delta float64) float64 { return min(1, roundUp(delta)) }
		f := Factor{Odds: odds, Probability: chance(BestDelta(w.curve, math.Log(odds), Classical).Delta), Orders: []FactorOrder{}}
		for _, p := range a.Curve {
			d := w.curve.At(p.Alpha)
			x := FactorOrder{Alpha: p.Alpha, Probability: chance(Classical.Delta(d, p.Alpha, math.Log(odds)))}
			if mean := roundUp(math.Exp((p.Alpha - 1) * d)); mean < 1e300 {
				x.Mean = &mean
			}
			f.Orders = append(f.Orders, x)
		}
		a.Factors = append(a.Factors, f)
	}
}

// worksheet is a filled query and what is known of its composition.
type worksheet struct {
	q      Query
	part   // what holds of all parts together, but for eps, delta, worst and lossy
	parts  []part
	sums   stepwise    // of the parts, if stepwise
	losses Composition // nil where they say no more than what is exact, or are not known
	brief  bool        // no lower figure of epsilon is asked for
}

type part struct {
	q     Query
	k     int   // steps
	curve Curve // of all of them; nil with approximate privacy
	// eps and delta of one step for the group, if it has such a guarantee; both attained if worst.
	stepwise   bool
	eps, delta float64
	worst      bool
	gaussian   bool    // unsampled Gaussian noise,
	square     float64 // the sum over the steps of its mu^2
	lossy      Lossy   // nil where no laws are known that dominate a step
}

func (q Query) part() part {
	p := part{q: q, k: *q.Steps}
	n := float64(p.k)
	if q.Mechanism == KindApproximate {
		p.eps, p.delta = groupApproximate(*q.Epsilon, *q.StepDelta, *q.Group)
		// A group whose delta reaches 1 has no guarantee.
		if p.stepwise, p.worst = p.delta < 1 && p.eps != inf, *q.Group == 1; p.stepwise {
			p.lossy = ApproximateDP{p.eps, p.delta}
		}
		return p
	}
	step := Group(q.step(), *q.Group)
	p.curve = Repeat{step, p.k}
	p.lossy, _ = step.(Lossy)
	if g, ok := step.(Gaussian); ok {
		p.gaussian, p.square = true, 2*n*g.At(1)
		return p
	}
	if top := step.At(inf); top != inf && q.Mechanism != KindRenyi && q.Mechanism != KindConcentrated {
		p.stepwise, p.eps = true, top
		if p.worst = q.Mechanism == KindPure || q.Mechanism == KindRandomisedResponse; p.worst {
			p.lossy = ApproximateDP{Epsilon: top}
		}
	}
	return p
}

func newWorksheet(q Query, queries []Query) worksheet {
	w := worksheet{q: q, part: part{stepwise: true, gaussian: true}}
	var curves Sum
	for _, each := range queries {
		p := each.part()
		w.parts, w.k = append(w.parts, p), w.k+p.k
		w.stepwise, w.gaussian = w.stepwise && p.stepwise, w.gaussian && p.gaussian
		if p.stepwise {
			w.sums.add(p.eps, p.delta, p.k)
		}
		w.square += p.square
		if p.curve != nil {
			curves = append(curves, p.curve)
		}
		if p.lossy != nil {
			w.losses = append(w.losses, Entry{p.lossy, p.k})
		}
	}
	if len(curves) == len(w.parts) {
		w.curve = kept{curves, map[float64]float64{}}
	}
	// What has one part that is the worst of its guarantee is exact without them.
	if len(w.losses) < len(w.parts) || w.k > maxLossSteps || w.gaussian || len(w.parts) == 1 && !q.Mechanism.noise() {
		w.losses = nil
	}
	return w
}

func (w *worksheet) single() bool { return len(w.parts) == 1 }

func (w *worksheet) pure() bool { return w.stepwise && w.sums.delta == 0 }

type way struct {
	method         Method
	exact          bool
	epsilon, delta func(at float64) figure
}

// figure is a value, one that does not hold (NaN: none known) and the order that gave it (0: none).
type figure struct{ value, least, order float64 }

// plain is a way without order and lower figure.
func plain(value func(at float64) float64) func(at float64) figure {
	return func(at float64) figure { return figure{value(at), math.NaN(), 0} }
}

func (w *worksheet) ways() []way {
	var all []way
	if w.gaussian && w.square != inf {
		mu := math.Sqrt(w.square)
		all = append(all, way{MethodGaussian, true, plain(func(delta float64) float64 { return GaussianEpsilon(1, mu, delta) }),
			plain(func(eps float64) float64 { return GaussianDelta(1, mu, eps) })})
	}
	if w.losses != nil {
		all = append(all, way{MethodLosses, false,
			func(delta float64) figure {
				lower, upper := w.losses.epsilon(delta, !w.brief)
				return figure{upper, lower, 0}
			},
			func(eps float64) figure {
				if lower, upper := w.losses.Delta(eps); upper < 1 && !w.below(eps) {
					return figure{upper, lower, 0}
				}
				return figure{value: math.NaN()} // says nothing
			}})
	}
	p := w.parts[0]
	if w.stepwise && w.single() && p.k <= maxOptimalSteps {
		all = append(all, way{MethodOptimal, p.worst, plain(func(delta float64) float64 { return OptimalEpsilon(p.eps, p.delta, p.k, delta) }),
			plain(func(eps float64) float64 { return OptimalDelta(p.eps, p.delta, p.k, eps) })})
	}
	if w.curve != nil {
		for i, by := range []Conversion{Optimal, Tight, Classical} {
			method := []Method{MethodRenyiOptimal, MethodTight, MethodClassical}[i]
			all = append(all, way{method, false, func(delta float64) figure {
				best := BestEpsilon(w.curve, delta, by)
				return figure{best.Epsilon, math.NaN(), best.Alpha}
			}, func(eps float64) figure {
				best := BestDelta(w.curve, eps, by)
				return figure{best.Delta, math.NaN(), best.Alpha}
			}})
		}
	}
	only := func(m Method, epsilon func(delta float64) float64) {
		all = append(all, way{m, false, plain(epsilon), nil})
	}
	if w.stepwise {
		only(MethodBasic, func(delta float64) float64 {
			if w.sums.delta > delta {
				return inf
			}
			return w.sums.eps
		})
		only(MethodAdvanced, w.sums.advanced)
		if w.pure() && w.single() {
			only(MethodPublished, func(delta float64) float64 { return PublishedAdvancedEpsilon(p.eps, p.k, delta) })
		}
	}
	return all
}

// below reports that the largest log ratio is at most eps, so that delta is 0.
func (w *worksheet) below(eps float64) bool {
	return w.curve != nil && w.curve.At(inf) <= eps || w.curve == nil && w.pure() && w.sums.eps <= eps
}

// guarantee is what a way gives; false where that is nothing.
func (by way) guarantee(x figure) (Guarantee, bool) {
	g := Guarantee{Method: by.method, Exact: by.exact, Source: methods[by.method].source}
	if x.order > 1 && x.order != inf {
		g.Order = new(roundNear(x.order))
	}
	if !math.IsNaN(x.least) {
		g.AtLeast = new(roundDown(x.least))
	}
	return g, !math.IsNaN(x.value) && x.value != inf
}

func (w *worksheet) epsilons(delta float64) (all []Guarantee) {
	for _, by := range w.ways() {
		eps := by.epsilon(delta)
		if g, ok := by.guarantee(eps); ok {
			if g.Epsilon, g.Delta = roundUp(eps.value), delta; by.method == MethodBasic {
				g.Delta = roundUp(w.sums.delta)
			}
			all = append(all, g)
		}
	}
	return all
}

func (w *worksheet) deltas(eps float64) (all []Guarantee) {
	for _, by := range w.ways() {
		if by.delta == nil {
			continue
		}
		delta := by.delta(eps)
		if g, ok := by.guarantee(delta); ok {
			if !w.below(eps) { // no delta is 0, though it may be too small for a float64
				delta.value = max(delta.value, math.SmallestNonzeroFloat64)
			}
			g.Epsilon, g.Delta = eps, min(1, roundUp(delta.value))
			all = append(all, g)
		}
	}
	return all
}

// need finds the noise for a target; nil if none is enough.
func need(q Query) *Needed {
	name := q.Mechanism.Parameters()[0]
	eps, delta, reach := *q.TargetEpsilon, *q.Delta, float64(*q.Group)**q.Sensitivity
	if q.Mechanism == KindGaussian && *q.Rate == 1 {
		return &Needed{name, roundUp(GaussianSigma(eps, delta, reach*math.Sqrt(float64(*q.Steps)))), "Balle and Wang 2018, algorithm 1"}
	}
	noise := LeastNoise(eps, delta, func(noise float64) Composition {
		*q.noise() = &noise
		q.Sensitivity = new(1.0)
		return Composition{{q.step().(Lossy), *q.Steps}}
	})
	if noise == inf {
		return nil
	}
	return &Needed{name, roundUp(noise * reach), methods[MethodLosses].source}
}

func (w *worksheet) profile() []audit.ProfilePoint {
	w.brief = true
	var points []audit.ProfilePoint
	for e := 0.5; e <= 12; e += 0.5 {
		delta := math.Pow(10, -e)
		best := inf
		for _, g := range w.epsilons(delta) {
			best = min(best, g.Epsilon)
		}
		if delta = roundUp(delta); best <= mostTarget && (len(points) == 0 || best > points[len(points)-1].Epsilon) {
			points = append(points, audit.ProfilePoint{Epsilon: best, Delta: delta})
		} else if n := len(points); n > 0 && best == points[n-1].Epsilon {
			points[n-1].Delta = delta
		}
	}
	return points
}

// roundNear is for orders, which need no direction.
func roundNear(x float64) float64 {
	scale := math.Pow10(5 - int(math.Floor(math.Log10(x))))
	if v := math.Round(x*scale) / scale; v > 1 {
		return v
	}
	return x
}
