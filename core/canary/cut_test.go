package canary

import (
	"math"
	"slices"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
)

// TestTableOfScores: counts by binary search are those by counting, ties and
// diverged runs among them.
func TestTableOfScores(t *testing.T) {
	const k, m, runs = 5, 3, 400
	st := stream.New(stream.Key{Purpose: "test/cut"})
	scores := make([]float64, runs*(k+m))
	for i := range scores {
		scores[i] = float64(st.Intn(7))
		if st.Intn(30) == 0 {
			scores[i] = -math.MaxFloat64
		}
	}
	e := NewExplored(k, m, slices.Clone(scores))
	for _, at := range []float64{-1, 0, 0.5, 3, 6, 7} {
		want := bounds.NewCanaryTable(k, m)
		for i := range runs {
			run := scores[i*(k+m):][:k+m]
			want.Add(above(run[:k], at), above(run[k:], at), 1)
		}
		if got := e.Table(at, runs); !slices.Equal(got.Cells, want.Cells) {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if e.pooled[0] == -math.MaxFloat64 || !slices.IsSorted(e.pooled) {
		t.Error("pooled scores hold diverged runs or are not sorted")
	}
}

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
	inside := slices.Sorted(slices.Values(s.explored.in))
	for _, q := range []float64{0.1, 0.3, 0.49} {
		at := s.Judge(bounds.CanaryPairedBetting, q).Threshold
		x := float64(AboveSorted(inside, at)) / float64(len(inside))
		if x < q-1e-3 || x > 1-q+1e-3 {
			t.Errorf("quantile %v: %v of the scores inside are above the threshold", q, x)
		}
	}
	// The best event is rarer than a tenth: log(p1/p0) grows with the threshold.
	at := s.Judge(bounds.CanaryPairedBetting, 0).Threshold
	if x := float64(AboveSorted(inside, at)) / float64(len(inside)); x > 0.1 {
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
}
