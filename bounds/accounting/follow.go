package accounting

import (
	"math"
	"slices"
)

// Trace is how epsilon changes with the steps and with delta: points (steps, epsilon) at the
// query's delta and (delta, epsilon) at its steps, in increasing order of both, epsilon
// rounded up.
type Trace struct {
	OverSteps [][2]float64 `json:"overSteps"`
	OverDelta [][2]float64 `json:"overDelta"`
}

const leastExponent = -12 // of the deltas of a trace

// Follow accounts a query at other numbers of steps, up to ten times as many, and at other
// deltas. It takes some thirty times as long as one bound from above; the noise must be
// known. The error is that of [Query.Validate].
func Follow(q Query) (t Trace, err error) {
	if err := q.Validate(); err != nil {
		return t, err
	}
	q = q.filled()
	point := func(list [][2]float64, at float64, steps int, delta float64) [][2]float64 {
		each := q
		each.Steps = &steps
		var parts []Query
		if parts, err = each.parts(); err != nil {
			return nil
		}
		w := newWorksheet(each, parts)
		w.brief = true
		ways, best := w.ways(), math.Inf(1)
		if slices.Contains([]Method{MethodGaussian, MethodLosses, MethodOptimal}, ways[0].method) {
			ways = ways[:1] // no other says less
		}
		for _, by := range ways {
			if eps, _, _ := by.epsilon(delta); eps < best {
				best = eps
			}
		}
		if math.IsInf(best, 1) {
			return list
		}
		return append(list, [2]float64{at, roundUp(best)})
	}
	asked := *q.Steps
	for k := 1; k <= min(10*asked, MaxSteps) && err == nil; k = next(k) {
		if t.OverSteps = point(t.OverSteps, float64(k), k, *q.Delta); k < asked && asked < next(k) {
			t.OverSteps = point(t.OverSteps, float64(asked), asked, *q.Delta)
		}
	}
	for e := leastExponent; e < 0 && err == nil; e++ {
		delta := math.Pow10(e)
		if t.OverDelta = point(t.OverDelta, delta, asked, delta); delta < *q.Delta && *q.Delta < 10*delta {
			t.OverDelta = point(t.OverDelta, *q.Delta, asked, *q.Delta)
		}
	}
	return t, err
}

// next is the number after k of 1, 2, 5, 10, 20, ...
func next(k int) int {
	first := k
	for first >= 10 {
		first /= 10
	}
	if first == 2 {
		return k / 2 * 5
	}
	return 2 * k
}
