package accounting

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
)

// Curve bounds the Renyi divergence of outputs on neighbouring datasets, whichever comes first.
type Curve interface {
	// At is the bound in nats at alpha in [1, +Inf], which does not fall with alpha: at 1 on the
	// Kullback-Leibler divergence, at +Inf on the largest log ratio.
	At(alpha float64) float64
}

var inf = math.Inf(1)

// Gaussian is the noise N(0, Sigma^2) on a value of this L2 sensitivity, attained (Mironov 2017,
// corollary 3).
type Gaussian struct{ Sigma, Sensitivity float64 }

func (g Gaussian) Validate() error { return checkNoise("sigma", g.Sigma, g.Sensitivity) }

func checkNoise(field string, noise, sensitivity float64) error {
	return cmp.Or(checkPositive(field, noise), checkPositive("sensitivity", sensitivity))
}

func (g Gaussian) At(alpha float64) float64 {
	mustBeOrder(alpha)
	mu := g.Sensitivity / g.Sigma
	return alpha * mu * mu / 2
}

// Laplace is Laplace noise on a value of this L1 sensitivity (Mironov 2017, corollary 2), attained.
// With s = Sensitivity/Scale:
//
//	log(alpha/(2 alpha-1) e^((alpha-1)s) + (alpha-1)/(2 alpha-1) e^(-alpha s))/(alpha-1).
type Laplace struct{ Scale, Sensitivity float64 }

func (l Laplace) Validate() error { return checkNoise("scale", l.Scale, l.Sensitivity) }

func (l Laplace) At(alpha float64) float64 {
	mustBeOrder(alpha)
	s := l.Sensitivity / l.Scale
	t := alpha - 1
	switch {
	case alpha == inf:
		return s
	case t*s > 500:
		return s + (math.Log(alpha/(2*alpha-1))+math.Log1p(t/alpha*math.Exp(-(2*alpha-1)*s)))/t
	case alpha*s < 0.5:
		// The sum over n >= 2 of s^n (t^(n-1) + (-1)^n alpha^(n-1))/n!: the first-order terms
		// cancel.
		sum, up, down := 0.0, s, -s
		for n := 2.0; n < 20; n++ {
			up, down = up*t*s/n, down*-alpha*s/n
			sum += up + down
		}
		return logOver(t, alpha*sum/(2*alpha-1))
	}
	return logOver(t, (alpha*expOver(t, s)+math.Expm1(-alpha*s))/(2*alpha-1))
}

func expOver(t, s float64) float64 {
	if t == 0 {
		return s
	}
	return math.Expm1(t*s) / t
}

func logOver(t, x float64) float64 {
	if t == 0 {
		return x
	}
	return math.Log1p(t*x) / t
}

// PureDP is any mechanism that is Epsilon differentially private: that of the largest divergence is
// randomised response ([audit.RandomisedResponseRenyi]).
type PureDP struct{ Epsilon float64 }

func (p PureDP) Validate() error { return checkEpsilon("epsilon", p.Epsilon) }

func (p PureDP) At(alpha float64) float64 {
	mustBeOrder(alpha)
	switch {
	case alpha == 1:
		return p.Epsilon * math.Tanh(p.Epsilon/2)
	case alpha == inf:
		return p.Epsilon
	}
	return audit.RandomisedResponseRenyi(p.Epsilon, alpha)
}

// RandomisedResponse reports a bit truthfully with probability P and flipped otherwise (Mironov
// 2017, proposition 5). Attained.
type RandomisedResponse struct{ P float64 }

func (r RandomisedResponse) Validate() error {
	return audit.Remedy("the probability of the true answer", audit.Require(r.P > 0 && r.P < 1, "p", r.P, "above 0 and below 1"))
}

// At is that of pure differential privacy at |log(P/(1-P))|.
func (r RandomisedResponse) At(alpha float64) float64 {
	return PureDP{math.Abs(math.Log(r.P) - math.Log1p(-r.P))}.At(alpha)
}

// Concentrated is Rho zero-concentrated privacy: Rho alpha (Bun and Steinke 2016, definition 1.1).
type Concentrated struct{ Rho float64 }

func (c Concentrated) Validate() error { return checkEpsilon("rho", c.Rho) }

func (c Concentrated) At(alpha float64) float64 {
	mustBeOrder(alpha)
	return audit.Pick(c.Rho == 0, 0, c.Rho*alpha)
}

// RenyiDP is a mechanism of which (Alpha, Epsilon) Renyi differential privacy is known: Epsilon up
// to Alpha, by monotony.
type RenyiDP struct{ Alpha, Epsilon float64 }

func (r RenyiDP) Validate() error {
	return audit.First(checkAlpha(r.Alpha), checkEpsilon("epsilon", r.Epsilon))
}

func (r RenyiDP) At(alpha float64) float64 {
	mustBeOrder(alpha)
	return audit.Pick(alpha > r.Alpha, inf, r.Epsilon)
}

func (r RenyiDP) corners() []float64 { return []float64{r.Alpha} }

// Repeat is the adaptive composition of K mechanisms of one curve (Mironov 2017, proposition 1).
type Repeat struct {
	Curve Curve
	K     int
}

func (r Repeat) At(alpha float64) float64 { return float64(r.K) * r.Curve.At(alpha) }

func (r Repeat) corners() []float64 { return corners(r.Curve) }

// Sum is the adaptive composition of mechanisms (Mironov 2017, proposition 1).
type Sum []Curve

func (s Sum) At(alpha float64) float64 {
	mustBeOrder(alpha)
	total := 0.0
	for _, c := range s {
		total += c.At(alpha)
	}
	return total
}

func (s Sum) corners() []float64 { return slices.Concat(audit.Each(s, corners)...) }

// kept is a curve that computes no order twice: of sampled noise each is an integral.
type kept struct {
	Curve
	values map[float64]float64
}

func (k kept) At(alpha float64) float64 {
	v, ok := k.values[alpha]
	if !ok {
		v = k.Curve.At(alpha)
		k.values[alpha] = v
	}
	return v
}

func (k kept) corners() []float64 { return corners(k.Curve) }

// corners are the orders at which a curve bends or ends: the best may be exactly there.
func corners(c Curve) []float64 {
	if k, ok := c.(interface{ corners() []float64 }); ok {
		return k.corners()
	}
	return nil
}

// Group is the curve for datasets that differ in up to size records, 1 to MaxGroup. Of noise and of
// concentrated privacy it is exact: the sensitivity grows with size, rho with its square (Bun and
// Steinke 2016, proposition 1.9). Randomised response hides the group as one record. Otherwise it
// is, at order alpha, 3^c times the curve at 2^c alpha (Mironov 2017, proposition 2) with 2^c the
// power of two at or above size, orders below 2 taking the value at 2; where the largest log ratio
// is finite, the curve of size times that, if lower.
func Group(c Curve, size int) Curve {
	bounds.Refuse(size < 1 || size > MaxGroup, "group size out of range")
	k := float64(size)
	if size == 1 {
		return c
	}
	switch c := c.(type) {
	case Gaussian:
		return Gaussian{c.Sigma, k * c.Sensitivity}
	case Laplace:
		return Laplace{c.Scale, k * c.Sensitivity}
	case Concentrated:
		return Concentrated{k * k * c.Rho}
	case PureDP:
		return PureDP{k * c.Epsilon}
	case RandomisedResponse:
		return c
	case Repeat:
		return Repeat{Group(c.Curve, size), c.K}
	case Sum:
		return Sum(audit.Each(c, func(c Curve) Curve { return Group(c, size) }))
	}
	return grouped{c, size}
}

type grouped struct {
	curve Curve
	size  int
}

func (g grouped) At(alpha float64) float64 {
	mustBeOrder(alpha)
	c := stability(g.size)
	value := inf
	if alpha != inf {
		value = math.Pow(3, float64(c)) * g.curve.At(math.Ldexp(max(2, alpha), c))
	}
	if top := g.curve.At(inf); top != inf {
		value = min(value, PureDP{float64(g.size) * top}.At(alpha))
	}
	return value
}

func (g grouped) corners() []float64 {
	all := []float64{2}
	for _, alpha := range corners(g.curve) {
		if a := math.Ldexp(alpha, -stability(g.size)); a > 1 {
			all = append(all, a)
		}
	}
	return all
}

// stability is the least c with 2^c >= size.
func stability(size int) int { return bits.Len(uint(size - 1)) }

// groupApproximate returns size eps and delta (e^(size eps)-1)/(e^eps-1), at most 1: the sum of
// delta e^(i eps) over i < size (Lu et al. 2022, lemma 3.4).
func groupApproximate(eps, delta float64, size int) (float64, float64) {
	total := float64(size) * eps
	if delta == 0 {
		return total, 0
	}
	growth := float64(size)
	switch {
	case total > 700: // avoids infinity over infinity
		growth = math.Exp(total - eps - math.Log1p(-math.Exp(-eps)))
	case eps > 0:
		growth = math.Expm1(total) / math.Expm1(eps)
	}
	return total, min(1, delta*growth)
}
