package published_test

import (
	"fmt"

	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/published"
)

func ExampleKatz() {
	// Undefined where the second dataset never shows the event.
	fmt.Printf("%.3f %.3f\n", published.Katz(bounds.Counts{X: 200, N1: 500, Y: 5, N0: 500}, 0, 0.025),
		published.Katz(bounds.Counts{X: 200, N1: 500, Y: 0, N0: 500}, 0, 0.025))
	// Output: 2.810 -Inf
}

func ExampleCorrectedRenyi() {
	fmt.Printf("C = 1.6, alpha = 2: published %.1f million samples, corrected %.0f million\n",
		published.RenyiSamples(2, 1.6, 0.0086, 1.0/3)/1e6, published.CorrectedRenyiSamples(2, 1.6, 0.0086, 1.0/3)/1e6)
	// Output: C = 1.6, alpha = 2: published 1.8 million samples, corrected 29 million
}

func ExampleTightMMDDelta() {
	s := published.MMDSummary{N: 200_000, Mean: 0.16, Variance: 4.3, Signed: true}
	fmt.Printf("delta at least %.3f; published formula %.3f, truth 0.2\n", published.TightMMDDelta(s, 0, 0.05), published.MMDDelta(s, 0, 0.05))
	// Output: delta at least 0.192; published formula 0.271, truth 0.2
}

func ExampleHistogramDelta() {
	first, second := []int{5000, 3000, 2000}, []int{2000, 3000, 5000}
	fmt.Printf("at epsilon = 0.1 delta is at least %.2f, estimate %.2f\n",
		published.HistogramDelta(first, second, 0.1, 0.05), published.HistogramDivergence(first, second, 0.1))
	// Output: at epsilon = 0.1 delta is at least 0.25, estimate 0.28
}
