package train

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dpscope/dpscope/accounting"
	"github.com/dpscope/dpscope/audit"
)

const (
	leastSigma   = accounting.MinNoise
	largestSigma = 1e6
)

// guarantee is the epsilon at Delta of a training with this sigma, by Rényi
// accounting and the tight conversion: of neighbours by replacement as of two
// examples, which is exact at rate 1 and else generous.
func (c Config) guarantee(sigma float64) float64 {
	var step accounting.Curve = accounting.SubsampledGaussian{Sigma: sigma, Sensitivity: 1, Rate: c.Rate}
	if c.Rate == 1 {
		step = accounting.Gaussian{Sigma: sigma, Sensitivity: 1}
	}
	if c.Relation == Replace {
		step = accounting.Group(step, 2)
	}
	return accounting.BestEpsilon(accounting.Repeat{Curve: step, K: c.Steps}, c.Delta, accounting.Tight).Epsilon
}

// Guarantee is the epsilon that a resolved configuration's training has at Delta
// by accounting, were it not for its faults.
func (c Config) Guarantee() float64 { return c.guarantee(c.Sigma) }

// calibrate finds the least sigma that keeps the claim, rounded up to four
// digits.
func (c Config) calibrate() (float64, error) {
	lo, hi := leastSigma, 1.0
	for c.guarantee(hi) > c.Epsilon {
		lo = hi
		if hi *= 4; hi > largestSigma {
			return 0, &audit.InputError{Field: "epsilon", Found: fmt.Sprintf("%g over %d steps", c.Epsilon, c.Steps), Want: "one that some noise gives at this delta", Remedy: "take a larger epsilon or delta, or fewer steps"}
		}
	}
	if c.guarantee(lo) <= c.Epsilon {
		return lo, nil
	}
	for hi/lo > 1+1e-6 {
		if mid := math.Sqrt(lo * hi); c.guarantee(mid) <= c.Epsilon {
			hi = mid
		} else {
			lo = mid
		}
	}
	unit := math.Pow(10, math.Floor(math.Log10(hi))-3)
	up, err := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(hi/unit)*unit, 'g', 4, 64), 64)
	return up, err
}

func format(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
