package estimators

import (
	"math"

	"github.com/dpscope/dpscope/stream/matmul"
)

// adam is stochastic gradient descent with a step for each parameter, by
// running means of the gradient and its square (Kingma and Ba 2015, algorithm
// 1, with its constants).
type adam[T matmul.Real] struct {
	mean, square           []T
	meanPower, squarePower float64 // beta1^t, beta2^t
}

const (
	adamMean    = 0.9
	adamSquare  = 0.999
	adamEpsilon = 1e-8
)

func newAdam[T matmul.Real](n int) *adam[T] {
	return &adam[T]{mean: make([]T, n), square: make([]T, n), meanPower: 1, squarePower: 1}
}

// step moves the parameters against the gradient.
func (a *adam[T]) step(params, gradient []T, rate float64) {
	a.meanPower = float64(a.meanPower * adamMean)
	a.squarePower = float64(a.squarePower * adamSquare)
	move := T(rate / (1 - a.meanPower))
	correct := T(1 / (1 - a.squarePower))
	mean, square := a.mean[:len(params)], a.square[:len(params)]
	gradient = gradient[:len(params)]
	for i, g := range gradient {
		m := T(adamMean*mean[i]) + T((1-adamMean)*g)
		s := T(adamSquare*square[i]) + T(T((1-adamSquare)*g)*g)
		mean[i], square[i] = m, s
		params[i] -= T(move*m) / (T(math.Sqrt(float64(T(s*correct)))) + adamEpsilon)
	}
}
