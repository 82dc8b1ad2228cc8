package plain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/plain"
	"github.com/dpscope/dpscope/internal/must"
)

func ExampleConclude() {
	claimed := 1.0
	r, err := plain.Conclude(plain.Plan{Counts: bounds.Counts{X: 40, N1: 50, Y: 2, N0: 50}, Delta: 1e-5, Beta: 0.05, Claimed: &claimed})
	fmt.Println(r.Verdict, err)
	fmt.Println(r.Summary)
	// Output:
	// violation <nil>
	// Violation: epsilon >= 1.796 at delta = 1e-05 with 95 % confidence, exact; claimed 1.
}

// The bound and the verdict agree with the bound of package bounds in both directions;
// what no counts could show is inconclusive.
func TestConclude(t *testing.T) {
	for _, c := range []struct {
		counts  bounds.Counts
		claimed float64
		want    audit.Verdict
	}{
		{bounds.Counts{X: 40, N1: 50, Y: 2, N0: 50}, 2.5, audit.NoViolation},
		{bounds.Counts{X: 50, N1: 50, Y: 0, N0: 50}, 1, audit.Violation},
		{bounds.Counts{X: 50, N1: 50, Y: 20, N0: 50}, 1.5, audit.Violation}, // by the complement, out over in
		{bounds.Counts{X: 5, N1: 5, Y: 0, N0: 5}, 4, audit.Inconclusive},
	} {
		r, err := plain.Conclude(plain.Plan{Counts: c.counts, Beta: 0.1, Claimed: &c.claimed})
		if err != nil || r.Verdict != c.want {
			t.Errorf("%+v: %s, %v, want %s", c, r.Verdict, err, c.want)
		}
		k := c.counts
		rest := bounds.Counts{X: k.N0 - k.Y, N1: k.N0, Y: k.N1 - k.X, N0: k.N1}
		want := max(bounds.Exact(k, 0, 0.05), bounds.Exact(rest, 0, 0.05))
		if *r.LowerBound != want || !strings.Contains(r.Text(), "exact-unconditional") {
			t.Errorf("%+v: bound %v, want %v\n%s", c, *r.LowerBound, want, r.Text())
		}
	}
	if r, err := plain.Conclude(plain.Plan{Counts: bounds.Counts{X: 1, N1: 2, Y: 1, N0: 2}, Beta: 0.05}); err != nil || r.Verdict != "" || r.PValue != nil {
		t.Errorf("without a claim: %+v, %v", r, err)
	}
	for _, p := range []plain.Plan{{Delta: 1, Beta: 0.05}, {Beta: 0}, {Beta: 0.05, Claimed: new(float64)}} {
		must.Input(t, must.Err(plain.Conclude(p)), "", p)
	}
}
