// Package tutorial is the mechanism that docs/tutorial.md audits, and its tests.
package tutorial

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
)

// Count releases how many people say yes, with Laplace noise. A row is an answer, 0 or 1.
type Count struct{ Scale float64 }

// Columns implements [audit.Mechanism].
func (Count) Columns() []audit.Column {
	return []audit.Column{{Name: "count", Kind: audit.Real}}
}

// Sample implements [audit.Mechanism].
func (c Count) Sample(d audit.Dataset, s *stream.Stream, out []float64) error {
	yes := 0.0
	for i := range d.Len() {
		yes += d.Row(i)[0]
	}
	s.Laplace(out, c.Scale)
	for i := range out {
		out[i] += yes
	}
	return nil
}
