package accounting

import "math"

// Preserve returns the range in which the probability of an event lies on one
// dataset when it is q on a neighbouring one and the Renyi divergence at order
// alpha is at most d nats, both ways:
//
//	e^-d q^(alpha/(alpha-1)) <= p <= (e^d q)^((alpha-1)/alpha),
//
// the upper end at most 1 (Mironov 2017, proposition 10, by Hölder's
// inequality; the lower end is the same with p and q exchanged). The upper
// exponent is (alpha-1)/alpha: with its reciprocal, as it is sometimes printed,
// the statement fails already for two equal distributions. At alpha = +Inf it is
// e^-d q to e^d q. It panics unless q is in [0, 1], d at least 0 and alpha above
// 1.
func Preserve(q, d, alpha float64) (lo, hi float64) {
	if !(q >= 0 && q <= 1 && d >= 0 && alpha > 1) {
		panic("accounting: needs a probability, a divergence of at least 0 and an order above 1")
	}
	if q == 0 {
		return 0, 0
	}
	inverse := 1 / alpha
	lo = math.Exp(math.Log(q)/(1-inverse) - d)
	hi = math.Exp(math.Min(0, (1-inverse)*(math.Log(q)+d)))
	return lo, hi
}
