package estimators

import "github.com/dpscope/dpscope/stream"

// caution is how many standard errors from 0 a log ratio must lie for its
// score to keep half of it.
const caution = 2

// logRatio estimates log(p/q) from a of n outputs on the first side and b of m
// on the second, with half a count added to each, and the variance of the
// estimate.
func logRatio(a, n, b, m int) (ratio, variance float64) {
	x, y := float64(a)+0.5, float64(b)+0.5
	ratio = stream.Log(x) - stream.Log(y) - stream.Log(float64(n)+1) + stream.Log(float64(m)+1)
	return ratio, 1/x + 1/y
}

// cautious shrinks an estimated log ratio L of variance V to L^3/(L^2 + 4 V).
// It keeps the order of ratios that are equally well known and moves those that
// are mostly noise to the middle, so that rare outcomes do not lead the ranking
// by accident.
func cautious(ratio, variance float64) float64 {
	square := float64(ratio * ratio)
	return ratio * (square / (square + float64(caution*caution*variance)))
}

// logLoss is -log of the probability that the logistic model gives to the right
// side, for log odds z of an output that came from the first.
func logLoss(z float64) float64 {
	if z < 0 {
		return stream.Log1p(stream.Exp(z)) - z
	}
	return stream.Log1p(stream.Exp(-z))
}
