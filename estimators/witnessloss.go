package estimators

import (
	"math"

	"github.com/dpscope/dpscope/stream"
)

// witnessLoss is what a witness h is trained to make small, given its values on
// outputs of the two sides. With alpha above 1 it is -R^h, the Rényi objective
// of DP-Auditorium (Kong et al. 2023), definition 4.2, and of Birrell et al.
// 2021; else the logistic loss of telling the sides apart, an output of the
// second side counting theta times (lemma 4.9 there, theta = e^epsilon), with h
// the log likelihood ratio: log odds h - log theta.
type witnessLoss struct {
	alpha float64
	theta float64 // > 0; of the logistic loss
}

// value returns the loss and writes its derivatives by each h of the first and
// of the second side, of which neither may be empty.
func (l witnessLoss) value(first, second, slopeFirst, slopeSecond []float64) float64 {
	if l.alpha > 1 {
		k := l.alpha / (l.alpha - 1)
		a := softmax(first, l.alpha-1, slopeFirst)
		b := softmax(second, l.alpha, slopeSecond)
		for i := range slopeFirst {
			slopeFirst[i] *= -l.alpha // k (alpha - 1)
		}
		for i := range slopeSecond {
			slopeSecond[i] *= l.alpha
		}
		return b - float64(k*a)
	}
	shift := stream.Log(l.theta)
	one := 1 / (1 + l.theta) // weights of the sides, adding up to 1
	loss := 0.0
	scale := one / float64(len(first))
	for i, h := range first {
		z := h - shift
		loss += float64(scale * logLoss(z))
		slopeFirst[i] = float64(scale * -stream.Logistic(-z))
	}
	scale = float64(one*l.theta) / float64(len(second))
	for i, h := range second {
		z := h - shift
		loss += float64(scale * logLoss(-z))
		slopeSecond[i] = float64(scale * stream.Logistic(z))
	}
	return loss
}

// softmax returns log of the mean of e^(rate h) and writes the shares of each
// in the sum.
func softmax(h []float64, rate float64, share []float64) float64 {
	top := math.Inf(-1)
	for _, v := range h {
		top = max(top, float64(rate*v))
	}
	sum := 0.0
	for i, v := range h {
		e := stream.Exp(float64(rate*v) - top)
		share[i] = e
		sum += e
	}
	for i := range share {
		share[i] /= sum
	}
	return top + stream.Log(sum/float64(len(h)))
}

// bounded is bound tanh(x/bound), and its derivative: a witness within bound
// that is x itself near 0.
func bounded(x, bound float64) (h, slope float64) {
	u := math.Abs(x) / bound
	e := stream.Expm1(float64(-2 * u))
	t := -e / (2 + e)
	h = float64(bound * t)
	if x < 0 {
		h = -h
	}
	return h, 1 - float64(t*t)
}
