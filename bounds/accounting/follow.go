package accounting

import (
	"math"
	"slices"
)

// Trace is how epsilon changes: points (steps, epsilon) at the query's delta and (delta,
// epsilon) at its steps, in increasing order of both, epsilon rounded up. Where nothing
// finite holds there is no point.
type Trace struct {
	OverSteps [][2]float64 `json:"overSteps"`
	OverDelta [][2]float64 `json:"overDelta"`
}

// Follow accounts a query, of which the noise is known, at some other numbers of steps, to
// twice as many at least, and at other deltas. It asks before every point whether to go on.
// The error is that of [Answer].
func Follow(q Query, goOn func() bool) (t Trace, err error) {
	if err = q.Validate(); err != nil {
		return t, err
	}
	q = q.filled()
	own, delta := *q.Steps, *q.Delta
	point := func(list *[][2]float64, at float64, steps int, delta float64) {
		if !goOn() {
			return
		}
		q.Steps = &steps
		parts, fault := q.parts()
		if err = fault; err != nil {
			return
		}
		w, best := newWorksheet(q, parts), math.Inf(1)
		w.brief = true
		for _, by := range w.ways() {
			eps, _, _ := by.epsilon(delta)
			if best = math.Min(best, eps); slices.Contains([]Method{MethodGaussian, MethodLosses, MethodOptimal}, by.method) {
				break // no other says less
			}
		}
		if !math.IsInf(best, 1) {
			*list = append(*list, [2]float64{at, roundUp(best)})
		}
	}
	steps, deltas := []int{own}, []float64{delta}
	for k := 1; k <= min(2*own, MaxSteps/5); k *= 10 {
		steps = append(steps, k, 2*k, 5*k)
	}
	for e := -12; e < 0; e++ {
		deltas = append(deltas, math.Pow10(e))
	}
	slices.Sort(steps)
	slices.Sort(deltas)
	for _, k := range slices.Compact(steps) {
		point(&t.OverSteps, float64(k), k, delta)
	}
	for _, d := range slices.Compact(deltas) {
		point(&t.OverDelta, d, own, d)
	}
	return t, err
}
