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

func ExampleClopperPearson() {
	explore := bounds.Counts{X: 1000, N1: 1000, Y: 0, N0: 1000}
	split := bounds.TuneSplit(explore, 10_000, 10_000, 0, 0.05)
	c := bounds.Counts{X: 10_000, N1: 10_000, Y: 0, N0: 10_000}
	fmt.Printf("even split %.2f, tuned %.2f\n", bounds.ClopperPearson(c, 0, 0.05, 0.5), bounds.ClopperPearson(c, 0, 0.05, split))
	// Output: even split 7.90, tuned 8.11
}

func ExampleScore() {
	// Koopman's example: 36 of 40 against 16 of 80.
	c := bounds.Counts{X: 36, N1: 40, Y: 16, N0: 80}
	fmt.Printf("score %.3f (asymptotic), exact %.3f\n", bounds.Score(c, 0, 0.05), bounds.Exact(c, 0, 0.05))
	// Output: score 1.143 (asymptotic), exact 1.143
}

func ExampleSmallestDetectable() {
	eps := bounds.SmallestDetectable(1, 0, 0.05, 10_000, 10_000, 0.1)
	fmt.Printf("10000 outputs a side show a violation of epsilon = 1 from %.2f on, and certify at most %.2f\n",
		eps, bounds.MaxCertifiable(10_000, 10_000, 0, 0.05))
	// Output: 10000 outputs a side show a violation of epsilon = 1 from 1.06 on, and certify at most 8.11
}

func ExampleLowerProportion() {
	fmt.Printf("%.4f to %.4f\n", bounds.LowerProportion(5, 500, 0.025), bounds.UpperProportion(5, 500, 0.025))
	// Output: 0.0033 to 0.0232
}

func ExampleCounts_Validate() {
	fmt.Println(bounds.Counts{X: 12, N1: 10, Y: 0, N0: 10}.Validate())
	// Output: counts: X is 12, must be 0 to N1 = 10
}
