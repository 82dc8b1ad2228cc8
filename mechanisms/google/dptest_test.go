package google_test

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/mechanisms/google"
)

// The library's mechanisms are audited in go test like any other. It fails with
// probability at most 1e-6.
func TestInGoTest(t *testing.T) {
	dptest.RequireNoViolation(t, dptest.From(google.All(), "google-count", "epsilon=0.5"), audit.DPClaim(0.5, 0),
		dptest.Options{Samples: 3000, Trials: 1, FalseAlarm: 1e-6})
}
