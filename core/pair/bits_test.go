package pair_test

import (
	"testing"

	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/internal/testsize"
)

// How numbers are rounded is bet on where the claim is about doubles: of a mechanism that
// says so, and where the plan names a learner that reads it. Elsewhere a claim holds for
// real numbers, and noise that is added in floating point keeps it.
func TestBitsAreReadWhereTheClaimIsAboutThem(t *testing.T) {
	testsize.Native(t)
	for _, c := range []struct {
		mechanism, learner string
		refuted            bool
	}{
		{"laplace-float", "", true},
		{"laplace-count", "float-bits", true},
		{"laplace-count", "", false},
		{"laplace-snapping", "", false},
		{"laplace-snapping", "float-bits", false},
	} {
		for seed := uint64(1); seed <= 3; seed++ {
			r := runAudit(t, pair.Plan{Mechanism: c.mechanism, Learner: c.learner, Mode: pair.UntilRefuted, Samples: 2000, Beta: 1e-6, Seed: seed}, 1)
			if r.Sequential.Refuted > 0 != c.refuted {
				t.Errorf("%s, learner %q, seed %d: refuted %v after %d epochs", c.mechanism, c.learner, seed, r.Sequential.Refuted, len(r.Sequential.Epochs))
			}
		}
	}
	for _, mechanism := range []string{"laplace-float", "laplace-count"} {
		r := runAudit(t, pair.Plan{Mechanism: mechanism, Samples: 2000, Explore: 2000, Trials: 1, Seed: 1}, 1)
		if bits := r.Evidence.Witness.Learner == "float-bits"; bits != (mechanism == "laplace-float") {
			t.Errorf("%s: found by %q", mechanism, r.Evidence.Witness.Learner)
		} else if event := r.Rows(report.Bounds)[1].Event; bits != (event.Where.Words == "the value has telling last bits") || bits != (event.Where.Intervals == nil) {
			t.Errorf("%s: the event is that %s", mechanism, event.Where.Words)
		}
	}
}
