package accounting

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// TestFollow: every point of a trace is the least that the query's own account says there, and
// the query's is one of them.
func TestFollow(t *testing.T) {
	for _, q := range []Query{
		{Mechanism: KindGaussian, Sigma: new(2.0), Rate: new(0.05), Steps: new(30), Delta: new(3e-6)},
		{Mechanism: KindGaussian, TargetEpsilon: new(1.0), Steps: new(2)},
		{Mechanism: KindPure, Epsilon: new(0.1), Steps: new(7)},
		{Mechanism: KindRenyi, Alpha: new(4.0), Epsilon: new(0.1), Steps: new(3)},
		{Mechanism: KindApproximate, Epsilon: new(0.1), StepDelta: new(1e-6), Steps: new(5), Delta: new(1e-3)},
	} {
		q = must.Get(Answer(q))(t).Query
		trace := must.Get(Follow(q, func() bool { return true }))(t)
		left, own := 2, 0
		if few := must.Get(Follow(q, func() bool { left--; return left >= 0 }))(t); len(few.OverSteps)+len(few.OverDelta) > 2 {
			t.Errorf("%s: it went on to %v", q.Mechanism, few)
		}
		for i, p := range append(trace.OverSteps, trace.OverDelta...) {
			at := q
			if i < len(trace.OverSteps) {
				at.Steps = new(int(p[0]))
			} else {
				at.Delta = new(p[0])
			}
			if *at.Steps == *q.Steps && *at.Delta == *q.Delta {
				own++
			}
			if want := must.Get(Answer(at))(t); want.Epsilon == nil || math.Abs(*want.Epsilon-p[1]) > 1e-6*p[1] {
				t.Errorf("%s, %d steps at delta = %v: %v, the account has %v", q.Mechanism, *at.Steps, *at.Delta, p[1], *want.Epsilon)
			}
		}
		if own != 2 || len(trace.OverSteps) < 3 || len(trace.OverDelta) < 3 {
			t.Errorf("%s: %d points of the query's own, %v", q.Mechanism, own, trace)
		}
	}
	must.Refuse(t, must.Err(Follow(Query{Mechanism: KindGaussian}, nil)), "sigma", "no noise")
}
