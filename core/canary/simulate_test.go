package canary

import (
	"math"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/membership"
)

// TestQuantile: the threshold stays between the quantiles of the scores inside,
// and the choice with all of them free is elsewhere.
func TestQuantile(t *testing.T) {
	p := samplePlan(1024, 16)
	a, err := p.Resolve(source.Sources(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Simulate(a)
	if err != nil {
		t.Fatal(err)
	}
	above := func(q float64) float64 {
		x, _ := membership.Shares(s.Judge(bounds.CanaryPairedBetting, q).Explored)
		return x
	}
	for _, q := range []float64{0.1, 0.3, 0.49} {
		if x := above(q); x < q-1e-3 || x > 1-q+1e-3 {
			t.Errorf("quantile %v: %v of the scores inside are above the threshold", q, x)
		}
	}
	// The best event is rarer than a tenth: log(p1/p0) grows with the threshold.
	if x := above(0); x > 0.1 {
		t.Errorf("free: %v of the scores inside are above the threshold", x)
	}
}

// TestSimulateIsTheAudit: what a simulation says by the plan's interval is what
// the audit's report says.
func TestSimulateIsTheAudit(t *testing.T) {
	p := samplePlan(300, 7)
	r := runAudit(t, p, 2)
	a, err := p.Resolve(source.Sources(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Simulate(a)
	if err != nil {
		t.Fatal(err)
	}
	j := s.Judge(r.Plan.Interval, 0)
	if j.Threshold != r.Evidence.Threshold || math.Max(0, j.Epsilon) != *r.LowerBound || !audit.EqualJSON(j.Table, r.Evidence.Certified.Table) {
		t.Errorf("%v %v, in the report %v %v", j.Threshold, j.Epsilon, r.Evidence.Threshold, *r.LowerBound)
	}
	// The first runs are those of a smaller audit.
	p.Runs, p.Explore = 100, 100
	if a, err = p.Resolve(source.Sources(), nil); err != nil {
		t.Fatal(err)
	}
	less, err := Simulate(a)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Part(0, 100).Judge(bounds.CanaryWilson2, 0.1), less.Judge(bounds.CanaryWilson2, 0.1); !audit.EqualJSON(got, want) {
		t.Errorf("a part has %+v, the audit of as many runs %+v", got, want)
	}
	if got, want := s.Part(100, 100).Judge(bounds.CanaryWilson2, 0.1), less.Judge(bounds.CanaryWilson2, 0.1); audit.EqualJSON(got.Table, want.Table) {
		t.Error("two parts are the same")
	}
}
