package finders_test

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
)

// A whole search of 50 trials, without the trials themselves.
func BenchmarkSearch(b *testing.B) {
	domain := audit.Domain{Columns: 1, MinRows: 10, MaxRows: 10, Lower: []float64{-4.5}, Upper: []float64{5.5}, Reach: 1}
	for _, spec := range searches() {
		b.Run(spec.Name, func(b *testing.B) {
			for b.Loop() {
				search(b, spec, audit.FinderProblem{Relation: audit.LInfinity, Domain: domain, Stream: seeded(1), Trials: 50}, spread)
			}
		})
	}
}
