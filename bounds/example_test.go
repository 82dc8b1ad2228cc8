package bounds_test

import (
	"fmt"

	"github.com/dpscope/dpscope/bounds"
)

// A mechanism claims epsilon = 1. Of 10000 outputs a side the event was seen
// 4000 times on the first dataset and 900 times on the second.
func ExampleExact() {
	c := bounds.Counts{X: 4000, N1: 10_000, Y: 900, N0: 10_000}
	fmt.Printf("epsilon >= %.3f with 95 %% confidence\n", bounds.Exact(c, 1e-5, 0.05))
	// Output: epsilon >= 1.436 with 95 % confidence
}

func ExampleSmallestDetectable() {
	eps := bounds.SmallestDetectable(1, 0, 0.05, 10_000, 10_000, 0.1)
	fmt.Printf("10000 outputs a side show a violation of epsilon = 1 from %.2f on, and certify at most %.2f\n",
		eps, bounds.MaxCertifiable(10_000, 10_000, 0, 0.05))
	// Output: 10000 outputs a side show a violation of epsilon = 1 from 1.06 on, and certify at most 8.11
}
