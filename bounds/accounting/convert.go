package accounting

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// Conversion is a way from Renyi to (epsilon, delta) differential privacy.
type Conversion int

const (
	// Tight is d + log((alpha-1)/alpha) - (log delta + log alpha)/(alpha-1) (Balle et al. 2020,
	// theorem 21; Canonne, Kamath and Steinke 2020, proposition 12).
	Tight Conversion = iota
	// Classical is d + log(1/delta)/(alpha-1) (Mironov 2017, proposition 3), never below Tight.
	Classical
	// Optimal is the best that follows from one order (Asoodeh, Liao, Calmon, Kosut and Sankar
	// 2021).
	Optimal
)

// epsilon is what a divergence of at most d nats at order alpha gives at delta, or +Inf where that
// is seen not to be below best.
func (c Conversion) epsilon(d, alpha, delta, best float64) float64 {
	mustConvert(d, alpha)
	mustBeDelta(delta)
	tight := max(0, d+(c.credit(alpha)-math.Log(delta))/(alpha-1))
	if c != Optimal || tight == 0 || d == inf {
		return tight
	}
	low := 0.0
	if alpha*delta < 1 { // as B is at most 1
		low = max(0, tight+math.Log(-math.Expm1(-(alpha-1)*d))/(alpha-1))
	}
	holds := func(eps float64) bool { return optimalMoment(alpha, eps, math.Log(delta)) >= (alpha-1)*d }
	return within(low, tight, best, holds)
}

// within is [least], or +Inf where that is seen not to be below best.
func within(lo, hi, best float64, holds func(float64) bool) float64 {
	if best < hi && !holds(best) {
		return inf
	}
	return least(lo, hi, holds)
}

// Delta is what a divergence of at most d nats at order alpha gives at eps: in [0, 1].
func (c Conversion) Delta(d, alpha, eps float64) float64 {
	return math.Exp(min(0, c.logDelta(d, alpha, eps, inf)))
}

// logDelta is the logarithm of Delta, not cut, or +Inf where that is seen not to be below best.
func (c Conversion) logDelta(d, alpha, eps, best float64) float64 {
	mustConvert(d, alpha)
	mustBeEpsilon(eps)
	tight := (alpha-1)*(d-eps) + c.credit(alpha)
	if c != Optimal || d == inf || d == 0 {
		return tight
	}
	low := min(-math.Log(alpha), tight+math.Log(-math.Expm1(-(alpha-1)*d)))
	holds := func(log float64) bool { return optimalMoment(alpha, eps, log) >= (alpha-1)*d }
	return within(low, min(0, tight), best, holds)
}

// optimalMoment is the least (alpha-1) D_alpha(P||Q), in nats, of any P and Q with P(S) - e^eps
// Q(S) = delta for some S. Putting outputs together, in S or not, raises no divergence, so P and Q
// may be coins of p and q = (p-delta) e^-eps: it is the logarithm of the least over p of
//
//	A + B = p^alpha q^(1-alpha) + (1-p)^alpha (1-q)^(1-alpha),
//
// which is convex in p. It grows with eps and delta. So a divergence of at most d implies (eps,
// delta) if and only if (alpha-1) d is at most this, and [Tight] is what is left without B. A is
// least at p = alpha delta, B falls with p: the least of both lies beyond.
func optimalMoment(alpha, eps, logDelta float64) float64 {
	// p = delta (1 + e^-x), so that p - delta = delta e^-x.
	value := func(x float64) float64 {
		softer := max(-x, 0) + math.Log1p(math.Exp(-math.Abs(x))) // log(1 + e^-x)
		p := math.Exp(min(0, logDelta+softer))
		a := logDelta + softer + (alpha-1)*(eps+x+softer)
		b := alpha*math.Log1p(-p) - (alpha-1)*math.Log1p(-math.Exp(logDelta-x-eps))
		if m := math.Max(a, b); !math.IsInf(m, 0) {
			return m + math.Log1p(math.Exp(-math.Abs(a-b)))
		}
		return a
	}
	lo, hi := logDelta-math.Log(-math.Expm1(logDelta)), -math.Log(alpha-1)
	if lo >= hi {
		return value(lo)
	}
	least := inf
	bounds.Golden(lo, hi, 1e-8, func(x float64) float64 {
		v := value(x)
		least = min(least, v)
		return v
	})
	return least
}

// credit is log(delta e^((alpha-1)(epsilon-d))), convex in alpha and at most 0.
func (c Conversion) credit(alpha float64) float64 {
	if c == Classical {
		return 0
	}
	return (alpha-1)*math.Log1p(-1/alpha) - math.Log(alpha)
}

func mustConvert(d, alpha float64) {
	bounds.Must(bounds.CheckAlpha(alpha))
	bounds.Refuse(!(d >= 0), "a divergence is at least 0")
}

// Converted is a guarantee and its order.
type Converted struct {
	Epsilon, Delta float64
	Alpha          float64 // +Inf: pure differential privacy gives as much
}

// BestEpsilon is the least epsilon that the conversion gives at delta, over all orders. If
// (alpha-1) times the curve is convex, as for a Renyi divergence (van Erven and Harremoes 2014,
// corollary 2), so is (alpha-1) epsilon, and epsilon has one local minimum: a grid brackets it,
// golden sections refine it. Otherwise the result is still valid.
func BestEpsilon(c Curve, delta float64, conv Conversion) Converted {
	mustBeDelta(delta)
	value := func(d, alpha, best float64) float64 { return conv.epsilon(d, alpha, delta, best) }
	// Above alpha, epsilon is at least what randomised response at d has: log(e^d - delta (1+e^d)).
	hopeless := func(d, best float64) bool { return delta < 0.5 && d+math.Log1p(-2*delta) > best }
	best := Converted{Delta: delta, Alpha: inf, Epsilon: c.At(inf)}
	near := 2.0
	if conv == Optimal {
		near = BestEpsilon(c, delta, Tight).Alpha
	}
	if alpha, eps := minimise(c, near, value, hopeless); eps < best.Epsilon {
		best.Alpha, best.Epsilon = alpha, eps
	}
	return best
}

// BestDelta is the least delta that the conversion gives at eps, over all orders, found as in
// [BestEpsilon], its logarithm being convex in alpha.
func BestDelta(c Curve, eps float64, conv Conversion) Converted {
	mustBeEpsilon(eps)
	best := Converted{Epsilon: eps, Alpha: inf, Delta: 0}
	if c.At(inf) <= eps {
		return best
	}
	value := func(d, alpha, best float64) float64 { return conv.logDelta(d, alpha, eps, best) }
	// Above alpha, delta is at least what randomised response at d has.
	hopeless := func(d, best float64) bool {
		return d > eps && math.Log(-math.Expm1(eps-d))-math.Log1p(math.Exp(-d)) > best
	}
	near := 2.0
	if conv == Optimal {
		near = BestDelta(c, eps, Tight).Alpha
	}
	alpha, log := minimise(c, near, value, hopeless)
	best.Alpha, best.Delta = alpha, math.Exp(min(0, log))
	return best
}

// The grid of minimise, in alpha - 1.
const (
	leastExcess = 1e-6
	mostExcess  = 1e9
	excessRatio = 1.3
)

// minimise is the order of the least value found, and it: from near, a grid that ends where
// hopeless, the corners, and golden sections. What is not below atMost may be told as +Inf.
func minimise(c Curve, near float64, value func(d, alpha, atMost float64) float64, hopeless func(d, best float64) bool) (at, best float64) {
	at, best = 2, inf
	try := func(alpha, atMost float64) (d, v float64) {
		d = c.At(alpha)
		if v = value(d, alpha, atMost); v < best {
			at, best = alpha, v
		}
		return d, v
	}
	if near != inf {
		try(near, best)
	}
	for t := leastExcess; t < mostExcess; t *= excessRatio {
		if d, _ := try(1+t, best); hopeless(d, best) {
			break
		}
	}
	for _, alpha := range corners(c) {
		try(alpha, best)
	}
	if best == inf {
		return at, best
	}
	bounds.Golden(math.Log((at-1)/excessRatio), math.Log((at-1)*excessRatio), 1e-7, func(x float64) float64 {
		_, v := try(1+math.Exp(x), inf)
		return v
	})
	return at, best
}

// BestPreserve is [Preserve] at the best order for either end. q lies in (0, 1).
func BestPreserve(c Curve, q float64) (lo, hi float64) {
	bounds.Refuse(!(q > 0 && q < 1), "needs a probability inside (0, 1)")
	top, log := c.At(inf), math.Log(q)
	_, up := minimise(c, 2, func(d, alpha, _ float64) float64 { return (1 - 1/alpha) * (log + d) }, func(d, best float64) bool { return log+d > best })
	_, down := minimise(c, 2, func(d, alpha, _ float64) float64 { return d - log/(1-1/alpha) }, func(d, best float64) bool { return d-log > best })
	return math.Exp(-min(down, top-log)), math.Exp(min(0, min(up, top+log)))
}

// Preserve is the range of an event's probability on one dataset when it is q on a neighbouring one
// and the Renyi divergence at order alpha is at most d nats, both ways:
//
//	e^-d q^(alpha/(alpha-1)) <= p <= (e^d q)^((alpha-1)/alpha),
//
// the upper end at most 1 (Mironov 2017, proposition 10, by Hölder's inequality; the lower end
// exchanges p and q).
func Preserve(q, d, alpha float64) (lo, hi float64) {
	bounds.Refuse(!(q >= 0 && q <= 1 && d >= 0 && alpha > 1), "no probability, or divergence below 0, or order not above 1")
	if q == 0 {
		return 0, 0
	}
	inverse := 1 / alpha
	return math.Exp(math.Log(q)/(1-inverse) - d), math.Exp(min(0, (1-inverse)*(math.Log(q)+d)))
}
