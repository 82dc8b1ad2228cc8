package estimators

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// storedSteps is how many steps L-BFGS estimates the curvature from, gonum's
// default.
const storedSteps = 15

// smoothFunction is a differentiable function of a point. Neither point nor
// gradient may be kept, nor the point changed.
type smoothFunction struct {
	value    func(x []float64) float64
	gradient func(gradient, x []float64)
	check    func() error // called after each of them; an error ends the work
}

// minimise runs L-BFGS from x, which it changes, until the gradient's largest
// entry falls below tolerance. It returns the best point found if it has to
// stop before: after as many iterations, the start being the first, or three
// times as many values, or where a line search finds nothing better, which is
// as good as rounding allows.
//
// It returns the error of check, or one if value or gradient is not finite at x.
//
// optimize.Minimize with optimize.LBFGS goes through the same points; but it
// talks to the method through goroutines and has the linker keep all that it
// could have run instead.
func (f smoothFunction) minimise(x []float64, tolerance float64, iterations int) ([]float64, error) {
	at := &optimize.Location{X: x, F: f.value(x), Gradient: make([]float64, len(x))}
	if err := f.check(); err != nil {
		return nil, err
	}
	f.gradient(at.Gradient, x)
	if err := f.check(); err != nil {
		return nil, err
	}
	steepest := largest(at.Gradient)
	if start := at.F + steepest; math.IsNaN(start) || math.IsInf(start, 0) {
		return nil, fmt.Errorf("the loss of a fit is %v at its start, its gradient up to %v", at.F, steepest)
	}
	best := slices.Clone(x)
	if steepest < tolerance || iterations < 2 {
		return best, nil
	}
	method := optimize.LinesearchMethod{NextDirectioner: &optimize.LBFGS{Store: storedSteps}, Linesearcher: &optimize.Bisection{}}
	steps, values := 1, 1
	for next := method.Init; ; next = method.Iterate {
		operation, err := next(at)
		if err != nil {
			return best, nil
		}
		if operation == optimize.MajorIteration {
			copy(best, at.X)
			steps++
			if steps >= iterations || math.IsInf(at.F, -1) || largest(at.Gradient) < tolerance {
				return best, nil
			}
			continue
		}
		if operation&optimize.FuncEvaluation != 0 {
			at.F = f.value(at.X)
			values++
		}
		if operation&optimize.GradEvaluation != 0 {
			f.gradient(at.Gradient, at.X)
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		if values >= 3*iterations {
			return best, nil
		}
	}
}

// largest is the largest absolute value in list, or NaN if that is in it.
func largest(list []float64) float64 {
	most := 0.0
	for _, v := range list {
		most = max(most, math.Abs(v))
	}
	return most
}
