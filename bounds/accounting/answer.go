package accounting

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpscope/dpscope/audit"
)

// Account is the answer to a [Query]: a plain JSON value without NaN or
// infinity. Its bounds are rounded up to seven significant digits, lower ones down.
type Account struct {
	Query Query  `json:"query"` // with its defaults filled in
	Title string `json:"title"` // what was accounted, in words

	Curve []Point `json:"curve"` // finite values only; empty for approximate privacy
	// KL is the curve at order 1, MaxDivergence at infinity; nil if not finite.
	KL            *float64 `json:"kl,omitempty"`
	MaxDivergence *float64 `json:"maxDivergence,omitempty"`

	// Epsilon is the least valid epsilon at the query's delta, nil if none is
	// finite; Epsilons are all the ways to one, the loosest too.
	Epsilon  *float64    `json:"epsilon,omitempty"`
	Epsilons []Guarantee `json:"epsilons"`
	// Delta and Deltas likewise at AtEpsilon, if that was asked.
	Delta  *float64    `json:"delta,omitempty"`
	Deltas []Guarantee `json:"deltas,omitempty"`
	// Sigmas are the noise that one unsampled step would need for (AtEpsilon,
	// Delta); gaussian only, if AtEpsilon was asked.
	Sigmas []Noise `json:"sigmas,omitempty"`
	// Needed is the least noise of all steps that meets (TargetEpsilon, Delta), if that
	// was asked; Query has it where no noise was given.
	Needed *Needed `json:"needed,omitempty"`

	// Profile are points at which (epsilon, delta) holds, if they were asked for.
	Profile []audit.ProfilePoint `json:"profile,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// Point is one order of a curve.
type Point struct {
	Alpha      float64 `json:"alpha"`
	Divergence float64 `json:"divergence"` // nats
}

// Method names a way to a [Guarantee].
type Method string

const (
	MethodTight         Method = "renyi-tight"        // [BestEpsilon] with [Tight]
	MethodTightAtOrders Method = "renyi-tight-orders" // the same over the query's orders only
	MethodClassical     Method = "renyi-classical"    // [BestEpsilon] with [Classical]
	MethodZCDP          Method = "zcdp-classical"     // [ConcentratedEpsilon]
	MethodGaussian      Method = "gaussian-exact"     // [GaussianEpsilon]
	MethodBasic         Method = "basic-composition"
	MethodAdvanced      Method = "advanced-composition"  // [AdvancedEpsilon]
	MethodOptimal       Method = "optimal-composition"   // [OptimalEpsilon]
	MethodPublished     Method = "published-composition" // [PublishedAdvancedEpsilon]
	MethodLosses        Method = "privacy-loss"          // [Composition]
)

// sources of the methods.
var sources = map[Method]string{
	MethodTight:         "Balle et al. 2020, theorem 21; Canonne, Kamath and Steinke 2020, proposition 12",
	MethodTightAtOrders: "Balle et al. 2020, theorem 21; Canonne, Kamath and Steinke 2020, proposition 12",
	MethodClassical:     "Mironov 2017, proposition 3",
	MethodZCDP:          "Bun and Steinke 2016, proposition 1.3",
	MethodGaussian:      "Balle and Wang 2018, theorem 8",
	MethodBasic:         "Dwork and Roth 2014, theorem 3.16",
	MethodAdvanced:      "Dwork, Rothblum and Vadhan 2010, theorem III.3",
	MethodOptimal:       "Kairouz, Oh and Viswanath 2015, theorem 3.3",
	MethodPublished:     "Mironov 2017, corollary 1",
	MethodLosses:        "Koskela, Jälkö and Honkela 2020; Gopi, Lee and Wutschitz 2021; Doroshenko et al. 2022",
}

// Guarantee is one (Epsilon, Delta) that holds.
type Guarantee struct {
	Method  Method  `json:"method"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Order that gave it; nil where there is none, or it is infinite.
	Order *float64 `json:"order,omitempty"`
	Exact bool     `json:"exact"` // no smaller figure holds for all such mechanisms
	// AtLeast is a figure that does not hold, rounded down: the answer lies between the
	// two. Nil where no such thing is known.
	AtLeast *float64 `json:"atLeast,omitempty"`
	Source  string   `json:"source"` // where it is proven
}

// Noise is one sigma for the Gaussian mechanism.
type Noise struct {
	Sigma  float64 `json:"sigma"`
	Words  string  `json:"words"`
	Source string  `json:"source"`
}

// Needed is the least noise that a target needs.
type Needed struct {
	Parameter string  `json:"parameter"` // sigma or scale
	Noise     float64 `json:"noise"`     // rounded up
	Source    string  `json:"source"`
}

// maxLossSteps are the most steps of which the losses are composed: beyond them the
// step of the grid is no longer small beside a loss.
const maxLossSteps = 1_000_000

// Targets between these are reached by noise that is accounted.
const (
	leastTarget = 0.001
	mostTarget  = 500
)

// maxOptimalSteps keeps the optimal composition to some 10^5 terms.
const maxOptimalSteps = 10_000_000

// Answer accounts. The error is the [audit.InputError] of [Query.Validate].
func Answer(q Query) (Account, error) {
	if err := q.Validate(); err != nil {
		return Account{}, err
	}
	q = q.filled()
	var needed *Needed
	if q.TargetEpsilon != nil {
		if needed = need(q); needed == nil {
			return Account{}, fault("targetEpsilon", number(*q.TargetEpsilon), fmt.Sprintf("reachable with noise in [%v, %v] times the sensitivity", leastNoise, mostNoise), "give a larger delta or fewer steps")
		}
		if noise := q.noise(); *noise == nil {
			*noise = &needed.Noise
		}
	}
	a := Account{Query: q, Title: title(q), Curve: []Point{}, Epsilons: []Guarantee{}, Needed: needed}
	w := worksheet{q: q, curve: q.Curve()}
	w.findParts()
	a.drawCurve(w.curve, q.Orders)
	for _, g := range w.epsilons() {
		if add(&a.Epsilons, g) && (a.Epsilon == nil || *a.Epsilon > a.Epsilons[len(a.Epsilons)-1].Epsilon) {
			a.Epsilon = &a.Epsilons[len(a.Epsilons)-1].Epsilon
		}
	}
	if q.AtEpsilon != nil {
		for _, g := range w.deltas() {
			if add(&a.Deltas, g) && (a.Delta == nil || *a.Delta > a.Deltas[len(a.Deltas)-1].Delta) {
				a.Delta = &a.Deltas[len(a.Deltas)-1].Delta
			}
		}
		if q.Mechanism == KindGaussian {
			a.Sigmas = sigmas(q)
		}
	}
	if q.Profile {
		a.Profile = w.profile()
	}
	a.Notes = w.notes(a)
	return a, nil
}

// add rounds and appends a guarantee that says something.
func add(all *[]Guarantee, g Guarantee) bool {
	if math.IsInf(g.Epsilon, 1) || math.IsNaN(g.Epsilon) || math.IsNaN(g.Delta) {
		return false
	}
	*all = append(*all, g)
	return true
}

func (a *Account) drawCurve(c Curve, orders []float64) {
	if c == nil {
		return
	}
	finite := func(alpha float64) *float64 {
		if v := roundUp(c.At(alpha)); !math.IsInf(v, 1) {
			return &v
		}
		return nil
	}
	if orders == nil {
		orders = defaultOrders
	}
	for _, alpha := range orders {
		if v := finite(alpha); v != nil {
			a.Curve = append(a.Curve, Point{alpha, *v})
		}
	}
	a.KL, a.MaxDivergence = finite(1), finite(math.Inf(1))
}

// worksheet is a filled query and what is known of it besides the curve.
type worksheet struct {
	q     Query
	curve Curve // nil for approximate privacy
	// eps and delta of one step for the group, if it has such a guarantee; both
	// attained if worst.
	stepwise   bool
	eps, delta float64
	worst      bool
	// rho of the whole, if it is known; from noise of that rho, if gaussian.
	concentrated bool
	rho          float64
	gaussian     bool        // unsampled Gaussian noise of mu = sqrt(2 rho)
	losses       Composition // nil where they say no more than what is exact, or are not known
}

func (w *worksheet) findParts() {
	q, n := w.q, float64(*w.q.Steps)
	switch q.Mechanism {
	case KindApproximate:
		w.eps, w.delta = GroupApproximate(*q.Epsilon, *q.StepDelta, *q.Group)
		// A group whose delta reaches 1 has no guarantee.
		w.stepwise, w.worst = w.delta < 1 && !math.IsInf(w.eps, 1), *q.Group == 1
		return
	case KindConcentrated:
		w.concentrated, w.rho = true, n*GroupConcentrated(*q.Rho, *q.Group)
		return
	}
	step := Group(q.step(), *q.Group)
	if m, ok := step.(Lossy); ok && q.isNoise() && *q.Steps <= maxLossSteps {
		w.losses = Composition{{m, *q.Steps}}
	}
	if g, ok := step.(Gaussian); ok {
		w.concentrated, w.gaussian, w.rho, w.losses = true, true, n*g.At(1), nil
		return
	}
	if top := step.At(math.Inf(1)); !math.IsInf(top, 1) && q.Mechanism != KindRenyi {
		w.stepwise, w.eps = true, top
		w.worst = q.Mechanism == KindPure || q.Mechanism == KindRandomisedResponse
		w.concentrated, w.rho = true, n*PureRho(top)
	}
}

var conversions = map[Method]Conversion{MethodTight: Tight, MethodClassical: Classical}

func guarantee(m Method, eps, delta, alpha float64, exact bool) Guarantee {
	g := Guarantee{Method: m, Epsilon: eps, Delta: delta, Exact: exact, Source: sources[m]}
	if alpha > 1 && !math.IsInf(alpha, 1) {
		g.Order = new(roundNear(alpha))
	}
	return g
}

func between(eps, delta, least float64) Guarantee {
	g := guarantee(MethodLosses, eps, delta, 0, false)
	g.AtLeast = &least
	return g
}

func (w *worksheet) epsilons() []Guarantee {
	q, delta := w.q, *w.q.Delta
	var all []Guarantee
	put := func(m Method, eps, alpha float64, exact bool) {
		all = append(all, guarantee(m, roundUp(eps), delta, alpha, exact))
	}
	if w.gaussian && !math.IsInf(w.rho, 1) {
		put(MethodGaussian, GaussianEpsilon(1, math.Sqrt(2*w.rho), delta), 0, true)
	}
	if w.losses != nil {
		if lower, upper := w.losses.Epsilon(delta); !math.IsInf(upper, 1) {
			all = append(all, between(roundUp(upper), delta, roundDown(lower)))
		}
	}
	k := *q.Steps
	if w.stepwise && k <= maxOptimalSteps {
		put(MethodOptimal, OptimalEpsilon(w.eps, w.delta, k, delta), 0, w.worst)
	}
	if w.curve != nil {
		if q.Orders != nil {
			best := BestEpsilonAt(w.curve, delta, Tight, q.Orders)
			put(MethodTightAtOrders, best.Epsilon, best.Alpha, false)
		}
		for _, m := range []Method{MethodTight, MethodClassical} {
			best := BestEpsilon(w.curve, delta, conversions[m])
			put(m, best.Epsilon, best.Alpha, false)
		}
	}
	if w.concentrated && !math.IsInf(w.rho, 1) {
		put(MethodZCDP, ConcentratedEpsilon(w.rho, delta), 0, false)
	}
	if w.stepwise {
		if eps, d := BasicComposition(w.eps, w.delta, k); d <= delta {
			all = append(all, guarantee(MethodBasic, roundUp(eps), roundUp(d), 0, false))
		}
		put(MethodAdvanced, AdvancedEpsilon(w.eps, w.delta, k, delta), 0, false)
		if w.delta == 0 {
			if eps, err := PublishedAdvancedEpsilon(w.eps, k, delta); err == nil {
				put(MethodPublished, eps, 0, false)
			}
		}
	}
	return all
}

func (w *worksheet) deltas() []Guarantee {
	q, eps := w.q, *w.q.AtEpsilon
	// Below the largest log ratio no delta is 0, though it may be too small for a
	// float64.
	pure := w.curve != nil && w.curve.At(math.Inf(1)) <= eps || w.curve == nil && w.delta == 0 && float64(*q.Steps)*w.eps <= eps
	var all []Guarantee
	put := func(m Method, delta, alpha float64, exact bool) {
		if !pure {
			delta = math.Max(delta, math.SmallestNonzeroFloat64)
		}
		all = append(all, guarantee(m, eps, math.Min(1, roundUp(delta)), alpha, exact))
	}
	if w.gaussian && !math.IsInf(w.rho, 1) {
		put(MethodGaussian, GaussianDelta(1, math.Sqrt(2*w.rho), eps), 0, true)
	}
	if w.losses != nil && !pure {
		if lower, upper := w.losses.Delta(eps); upper < 1 {
			put(MethodLosses, upper, 0, false)
			all[len(all)-1].AtLeast = new(roundDown(lower))
		}
	}
	if k := *q.Steps; w.stepwise && k <= maxOptimalSteps {
		put(MethodOptimal, OptimalDelta(w.eps, w.delta, k, eps), 0, w.worst)
	}
	if w.curve != nil {
		for _, m := range []Method{MethodTight, MethodClassical} {
			best := BestDelta(w.curve, eps, conversions[m])
			put(m, best.Delta, best.Alpha, false)
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
		return Composition{{Group(q.step(), 1).(Lossy), *q.Steps}}
	})
	if math.IsInf(noise, 1) {
		return nil
	}
	return &Needed{name, roundUp(noise * reach), sources[MethodLosses]}
}

// profile is the least epsilon of all ways at each of some deltas, by epsilon.
func (w *worksheet) profile() []audit.ProfilePoint {
	var points []audit.ProfilePoint
	for e := 0.5; e <= 12; e += 0.5 {
		delta := math.Pow(10, -e)
		at := *w
		at.q.Delta = &delta
		best := math.Inf(1)
		for _, g := range at.epsilons() {
			best = math.Min(best, g.Epsilon)
		}
		if delta = roundUp(delta); best <= mostTarget && (len(points) == 0 || best > points[len(points)-1].Epsilon) {
			points = append(points, audit.ProfilePoint{Epsilon: best, Delta: delta})
		} else if n := len(points); n > 0 && best == points[n-1].Epsilon {
			points[n-1].Delta = delta
		}
	}
	return points
}

// sigmas is the calibration of one step for one group.
func sigmas(q Query) []Noise {
	reach := float64(*q.Group) * *q.Sensitivity
	all := []Noise{{Sigma: roundUp(GaussianSigma(*q.AtEpsilon, *q.Delta, reach)),
		Words: "analytic, the minimum", Source: "Balle and Wang 2018, algorithm 1"}}
	if sigma, err := ClassicalGaussianSigma(*q.AtEpsilon, *q.Delta, reach); err == nil {
		all = append(all, Noise{Sigma: roundUp(sigma), Words: "classical, sqrt(2 log(1.25/delta))/epsilon", Source: "Dwork and Roth 2014, theorem A.1"})
	}
	return all
}

// roundNear is for orders, which need no direction.
func roundNear(x float64) float64 {
	scale := math.Pow10(5 - int(math.Floor(math.Log10(x))))
	if v := math.Round(x*scale) / scale; v > 1 {
		return v
	}
	return x
}

func (w *worksheet) notes(a Account) []string {
	q := w.q
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch {
	case w.gaussian:
		say("Composed Gaussian noise is one Gaussian mechanism, so its epsilon is exact; values from the Renyi curve are for comparison.")
	case q.Mechanism == KindGaussian:
		say("Poisson sampling: each record takes part in a step independently with probability %v, and neighbours differ by adding or removing one record. This does not hold for batches of fixed size, or for replacing a record.", *q.Rate)
	case q.Mechanism == KindLaplace && *q.Rate < 1:
		say("Poisson sampling: each record takes part in a step independently with probability %v, and neighbours differ by adding or removing one record. The curve is that of pure privacy at the largest log ratio.", *q.Rate)
	case w.stepwise && w.worst && *q.Steps > 1:
		say("The optimal composition is exact for the worst mechanism of this guarantee.")
	case q.Mechanism == KindRenyi:
		say("Only one order of the Renyi curve is known, so the conversion uses that order.")
	}
	if w.losses != nil {
		say("The privacy loss distribution is that of this mechanism, so no proof can give a value below its lower figure.")
	}
	if q.Mechanism == KindApproximate {
		say("An (epsilon, delta) guarantee alone bounds no Renyi divergence, so there is no curve.")
		if !w.stepwise {
			say("For a group of %d there is no guarantee: delta reaches 1.", *q.Group)
		}
	}
	if *q.Group > 1 {
		switch q.Mechanism {
		case KindRandomisedResponse:
			say("If a group reports one bit in all, its epsilon is that of one record. If each member reports a bit, pure epsilon is multiplied by the group size.")
		case KindGaussian, KindRenyi:
			if !w.gaussian {
				c := stability(*q.Group)
				say("Group privacy by the general rule: for alpha >= 2, the divergence at alpha is 3^%d times that of one record at order %d alpha.", c, 1<<c)
			}
		case KindApproximate:
			say("One step for the group is (%.7g, %.7g).", roundUp(w.eps), roundUp(w.delta))
		}
	}
	if w.stepwise && *q.Steps > maxOptimalSteps {
		say("The optimal composition is not computed above %d steps.", maxOptimalSteps)
	}
	if a.Epsilon == nil {
		say("No finite epsilon holds at this delta.")
	}
	return all
}

// title says what is accounted.
func title(q Query) string {
	var b strings.Builder
	if *q.Steps > 1 {
		fmt.Fprintf(&b, "%d steps of ", *q.Steps)
	}
	switch q.Mechanism {
	case KindGaussian:
		fmt.Fprintf(&b, "Gaussian noise, sigma %v, sensitivity %v", *q.Sigma, *q.Sensitivity)
		if *q.Rate < 1 {
			fmt.Fprintf(&b, ", Poisson sampling at rate %v", *q.Rate)
		}
	case KindLaplace:
		fmt.Fprintf(&b, "Laplace noise, scale %v, sensitivity %v", *q.Scale, *q.Sensitivity)
		if *q.Rate < 1 {
			fmt.Fprintf(&b, ", Poisson sampling at rate %v", *q.Rate)
		}
	case KindRandomisedResponse:
		fmt.Fprintf(&b, "randomised response, true with probability %v", *q.P)
	case KindPure:
		fmt.Fprintf(&b, "a pure mechanism, epsilon %v", *q.Epsilon)
	case KindApproximate:
		fmt.Fprintf(&b, "an approximate mechanism, epsilon %v, delta %v", *q.Epsilon, *q.StepDelta)
	case KindRenyi:
		fmt.Fprintf(&b, "a Renyi mechanism, epsilon %v at order %v", *q.Epsilon, *q.Alpha)
	case KindConcentrated:
		fmt.Fprintf(&b, "a zero-concentrated mechanism, rho %v", *q.Rho)
	case KindGaussianDP:
		fmt.Fprintf(&b, "a Gaussian-private mechanism, mu %v", *q.Mu)
	}
	if *q.Group > 1 {
		fmt.Fprintf(&b, ", for groups of %d", *q.Group)
	}
	words := b.String()
	return strings.ToUpper(words[:1]) + words[1:]
}
