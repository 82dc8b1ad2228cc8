package accounting

import (
	"fmt"
	"math"
	"math/bits"
)

// Group returns the curve of a mechanism for datasets that differ in up to size
// records. Of noise and of concentrated privacy it is exact: the sensitivity
// grows with size, rho with its square (Bun and Steinke 2016, proposition 1.9).
// A report by randomised response hides the whole group as it hides one record.
// Of pure privacy it is that of size epsilon. Otherwise it is the rule of
// [GroupRenyi] with 2^c the power of two at or above size, orders below 2
// taking the value at 2; where the largest log ratio is finite, the curve of
// size times that, if lower. It panics if size is not in [1, MaxGroup].
func Group(c Curve, size int) Curve {
	mustBeGroup(size)
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
		return Concentrated{GroupConcentrated(c.Rho, size)}
	case PureDP:
		return PureDP{GroupPure(c.Epsilon, size)}
	case RandomisedResponse:
		return c
	case Repeat:
		return Repeat{Group(c.Curve, size), c.K}
	case Sum:
		all := make(Sum, len(c))
		for i := range c {
			all[i] = Group(c[i], size)
		}
		return all
	}
	return grouped{c, size}
}

// grouped is the rule for any curve.
type grouped struct {
	curve Curve
	size  int
}

func (g grouped) Validate() error {
	if err := CheckGroup(g.size); err != nil {
		return err
	}
	if r, ok := g.curve.(RenyiDP); ok {
		if _, _, err := GroupRenyi(r.Alpha, r.Epsilon, stability(g.size)); err != nil {
			return err
		}
	}
	return g.curve.Validate()
}

func (g grouped) At(alpha float64) float64 {
	mustBeOrder(alpha)
	c := stability(g.size)
	value := math.Inf(1)
	if !math.IsInf(alpha, 1) {
		value = math.Pow(3, float64(c)) * g.curve.At(math.Ldexp(math.Max(2, alpha), c))
	}
	if top := g.curve.At(math.Inf(1)); !math.IsInf(top, 1) {
		value = math.Min(value, PureDP{float64(g.size) * top}.At(alpha))
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

// GroupRenyi returns the order and the divergence that hold for groups of 2^c
// records: (alpha/2^c, 3^c eps), which needs alpha >= 2^(c+1) (Mironov 2017,
// proposition 2). A [audit.InputError] says the least alpha. It panics if c is
// negative or above 20.
func GroupRenyi(alpha, eps float64, c int) (float64, float64, error) {
	if c < 0 || c > 20 {
		panic("accounting: a group is of 2^0 to 2^20 records")
	}
	if err := CheckAlpha(alpha); err != nil {
		return 0, 0, err
	}
	if err := checkEpsilon("epsilon", eps); err != nil {
		return 0, 0, err
	}
	if least := math.Ldexp(2, c); alpha < least && c > 0 {
		return 0, 0, fault("alpha", number(alpha), fmt.Sprintf("at least %v for a group of %d", least, 1<<c),
			"the order falls to alpha/2^c and has to stay at 2 or above; take a larger order or a smaller group")
	}
	return math.Ldexp(alpha, -c), math.Pow(3, float64(c)) * eps, nil
}

// GroupPure returns size eps. It panics on arguments out of range, as all below.
func GroupPure(eps float64, size int) float64 {
	mustBeEpsilon(eps)
	mustBeGroup(size)
	return float64(size) * eps
}

// GroupConcentrated returns size^2 rho (Bun and Steinke 2016, proposition 1.9).
func GroupConcentrated(rho float64, size int) float64 {
	mustBeEpsilon(rho)
	mustBeGroup(size)
	return float64(size) * float64(size) * rho
}

// GroupApproximate returns size eps and delta (e^(size eps)-1)/(e^eps-1), at
// most 1: the sum of delta e^(i eps) over i < size (Lu et al. 2022, lemma 3.4).
// delta lies in [0, 1).
func GroupApproximate(eps, delta float64, size int) (float64, float64) {
	total := GroupPure(eps, size)
	if !(delta >= 0 && delta < 1) {
		panic("accounting: delta outside [0, 1)")
	}
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
	return total, math.Min(1, delta*growth)
}
