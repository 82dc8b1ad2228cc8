package tutorial

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/dptest"
)

var (
	claim   = audit.DPClaim(1, 0)
	options = dptest.Options{Domain: &audit.Domain{Columns: 1, MaxRows: 5, Lower: []float64{0}, Upper: []float64{1}, Integer: true}}
)

// Noise of scale 1 is what epsilon 1 needs.
func TestCount(t *testing.T) {
	dptest.RequireNoViolation(t, Count{Scale: 1}, claim, options)
}

// A test that can fail: half the noise is found out.
func TestHalfTheNoise(t *testing.T) {
	dptest.ExpectViolation(t, Count{Scale: 0.5}, claim, options)
}
