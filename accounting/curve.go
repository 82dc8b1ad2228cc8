package accounting

import (
	"math"

	"github.com/dpscope/dpscope/bounds"
)

// Curve bounds the Renyi divergence of a mechanism's outputs on neighbouring
// datasets, whichever of the two comes first.
type Curve interface {
	// Validate reports the first parameter out of range, nil if there is none.
	Validate() error
	// At returns the bound in nats at alpha in [1, +Inf], non-decreasing in alpha:
	// at 1 on the Kullback-Leibler divergence, at +Inf on the largest log ratio.
	// +Inf if nothing finite is known. It panics if alpha is below 1 or NaN.
	// The parameters must be valid.
	At(alpha float64) float64
}

// Gaussian is the noise N(0, Sigma^2) on a value of L2 sensitivity Sensitivity:
// alpha Sensitivity^2/(2 Sigma^2), attained (Mironov 2017, corollary 3).
type Gaussian struct{ Sigma, Sensitivity float64 }

func (g Gaussian) Validate() error { return checkNoise("sigma", g.Sigma, g.Sensitivity) }

func checkNoise(field string, noise, sensitivity float64) error {
	if err := checkPositive(field, noise); err != nil {
		return err
	}
	return checkPositive("sensitivity", sensitivity)
}

func (g Gaussian) At(alpha float64) float64 {
	mustBeOrder(alpha)
	mu := g.Sensitivity / g.Sigma
	return alpha * mu * mu / 2
}

// Laplace is Laplace noise of scale Scale on a value of L1 sensitivity
// Sensitivity (Mironov 2017, corollary 2), attained. With s = Sensitivity/Scale:
//
//	log(alpha/(2 alpha-1) e^((alpha-1)s) + (alpha-1)/(2 alpha-1) e^(-alpha s))/(alpha-1),
//
// s + e^-s - 1 at alpha = 1, s at +Inf.
type Laplace struct{ Scale, Sensitivity float64 }

func (l Laplace) Validate() error { return checkNoise("scale", l.Scale, l.Sensitivity) }

func (l Laplace) At(alpha float64) float64 {
	mustBeOrder(alpha)
	s := l.Sensitivity / l.Scale
	t := alpha - 1
	switch {
	case math.IsInf(alpha, 1):
		return s
	case t*s > 500:
		return s + (math.Log(alpha/(2*alpha-1))+math.Log1p(t/alpha*math.Exp(-(2*alpha-1)*s)))/t
	case alpha*s < 0.5:
		// The sum over n >= 2 of s^n (t^(n-1) + (-1)^n alpha^(n-1))/n!, times
		// alpha/(2 alpha-1): the first-order terms cancel.
		sum, up, down := 0.0, s, -s
		for n := 2.0; n < 20; n++ {
			up, down = up*t*s/n, down*-alpha*s/n
			sum += up + down
		}
		return logOver(t, alpha*sum/(2*alpha-1))
	}
	return logOver(t, (alpha*expOver(t, s)+math.Expm1(-alpha*s))/(2*alpha-1))
}

// expOver is (e^(ts)-1)/t, s at t = 0.
func expOver(t, s float64) float64 {
	if t == 0 {
		return s
	}
	return math.Expm1(t*s) / t
}

// logOver is log(1+tx)/t, x at t = 0.
func logOver(t, x float64) float64 {
	if t == 0 {
		return x
	}
	return math.Log1p(t*x) / t
}

// PureDP is any mechanism that is Epsilon differentially private: the divergence
// of randomised response at that epsilon is the largest, see
// [bounds.RandomisedResponseRenyi]. Epsilon tanh(Epsilon/2) at alpha = 1.
type PureDP struct{ Epsilon float64 }

func (p PureDP) Validate() error { return checkEpsilon("epsilon", p.Epsilon) }

func (p PureDP) At(alpha float64) float64 {
	mustBeOrder(alpha)
	switch {
	case alpha == 1:
		return p.Epsilon * math.Tanh(p.Epsilon/2)
	case math.IsInf(alpha, 1):
		return p.Epsilon
	}
	return bounds.RandomisedResponseRenyi(p.Epsilon, alpha)
}

// RandomisedResponse reports a bit truthfully with probability P and flipped
// otherwise (Mironov 2017, proposition 5). Attained.
type RandomisedResponse struct{ P float64 }

func (r RandomisedResponse) Validate() error {
	if !(r.P > 0 && r.P < 1) {
		return fault("p", number(r.P), "above 0 and below 1", "the probability of the true answer")
	}
	return nil
}

// Epsilon is the pure differential privacy of the report, |log(P/(1-P))|.
func (r RandomisedResponse) Epsilon() float64 { return math.Abs(math.Log(r.P) - math.Log1p(-r.P)) }

func (r RandomisedResponse) At(alpha float64) float64 { return PureDP{r.Epsilon()}.At(alpha) }

// Concentrated is a mechanism of Rho zero-concentrated differential privacy:
// Rho alpha (Bun and Steinke 2016, definition 1.1).
type Concentrated struct{ Rho float64 }

func (c Concentrated) Validate() error { return checkEpsilon("rho", c.Rho) }

func (c Concentrated) At(alpha float64) float64 {
	mustBeOrder(alpha)
	if c.Rho == 0 {
		return 0
	}
	return c.Rho * alpha
}

// RenyiDP is a mechanism of which only (Alpha, Epsilon) Renyi differential
// privacy is known: Epsilon up to Alpha, by monotony, and +Inf above.
type RenyiDP struct{ Alpha, Epsilon float64 }

func (r RenyiDP) Validate() error {
	if err := CheckAlpha(r.Alpha); err != nil {
		return err
	}
	return checkEpsilon("epsilon", r.Epsilon)
}

func (r RenyiDP) At(alpha float64) float64 {
	mustBeOrder(alpha)
	if alpha > r.Alpha {
		return math.Inf(1)
	}
	return r.Epsilon
}

func (r RenyiDP) corners() []float64 { return []float64{r.Alpha} }

// Repeat is the adaptive composition of K mechanisms of one curve, K times the
// curve (Mironov 2017, proposition 1).
type Repeat struct {
	Curve Curve
	K     int
}

func (r Repeat) Validate() error {
	if err := CheckSteps(r.K); err != nil {
		return err
	}
	return r.Curve.Validate()
}

func (r Repeat) At(alpha float64) float64 { return float64(r.K) * r.Curve.At(alpha) }

func (r Repeat) corners() []float64 { return corners(r.Curve) }

// Sum is the adaptive composition of mechanisms (Mironov 2017, proposition 1).
type Sum []Curve

func (s Sum) Validate() error {
	for _, c := range s {
		if err := c.Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (s Sum) At(alpha float64) float64 {
	mustBeOrder(alpha)
	total := 0.0
	for _, c := range s {
		total += c.At(alpha)
	}
	return total
}

func (s Sum) corners() []float64 {
	var all []float64
	for _, c := range s {
		all = append(all, corners(c)...)
	}
	return all
}

// corners are the orders at which a curve bends or ends, so that the best order
// may be exactly there.
func corners(c Curve) []float64 {
	if k, ok := c.(interface{ corners() []float64 }); ok {
		return k.corners()
	}
	return nil
}
