package accounting_test

import (
	"fmt"

	"github.com/dpscope/dpscope/bounds/accounting"
)

// What does private training with noise 1, sampling rate .01 and 1000 steps give?
func ExampleAnswer() {
	a, err := accounting.Answer(accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(1.0), Rate: new(0.01), Steps: new(1000), Delta: new(1e-5)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Title)
	for _, g := range a.Epsilons {
		if g.AtLeast != nil {
			fmt.Printf("%s: epsilon %.2f, and not below %.2f\n", g.Method, g.Epsilon, *g.AtLeast)
			continue
		}
		fmt.Printf("%s: epsilon %.3f at order %.1f\n", g.Method, g.Epsilon, *g.Order)
	}
	// Output:
	// 1000 steps of Gaussian noise, sigma 1, sensitivity 1, Poisson sampling at rate 0.01
	// privacy-loss: epsilon 1.83, and not below 1.83
	// renyi-optimal: epsilon 2.101 at order 7.8
	// renyi-tight: epsilon 2.101 at order 7.8
	// renyi-classical: epsilon 2.538 at order 7.9
}

func ExampleQuery_Validate() {
	fmt.Println(accounting.Query{Mechanism: accounting.KindGaussian, Sigma: new(1.0), Rate: new(1.5)}.Validate())
	// Output: rate is 1.5, must be above 0 and at most 1; it is the probability that a record takes part in a step
}

func ExampleBestEpsilon() {
	curve := accounting.Sum{accounting.Repeat{Curve: accounting.SubsampledGaussian{Sigma: 1, Sensitivity: 1, Rate: 0.01}, K: 1000}, accounting.PureDP{Epsilon: 0.1}}
	best := accounting.BestEpsilon(curve, 1e-5, accounting.Tight)
	fmt.Printf("epsilon %.3f at order %.2f\n", best.Epsilon, best.Alpha)
	// Output: epsilon 2.137 at order 7.76
}

func ExampleBestDelta() {
	best := accounting.BestDelta(accounting.Laplace{Scale: 1, Sensitivity: 1}, 0.9, accounting.Tight)
	fmt.Printf("delta %.3f\n", best.Delta)
	// Output: delta 0.050
}

func ExampleOptimalEpsilon() {
	fmt.Printf("100 mechanisms of epsilon .1: %.2f\n", accounting.OptimalEpsilon(0.1, 0, 100, 1e-5))
	// Output: 100 mechanisms of epsilon .1: 4.31
}

func ExampleGaussianSigma() {
	fmt.Printf("%.3f\n", accounting.GaussianSigma(0.5, 1e-5, 1))
	// Output: 7.032
}

func ExamplePreserve() {
	lo, hi := accounting.Preserve(1e-3, 0.1, 10)
	fmt.Printf("%.5f to %.5f\n", lo, hi)
	// Output: 0.00042 to 0.00218
}

// How much noise do 1000 steps at rate .01 need for epsilon 2?
func ExampleLeastNoise() {
	sigma := accounting.LeastNoise(2, 1e-5, func(noise float64) accounting.Composition {
		return accounting.Composition{{Mechanism: accounting.SubsampledGaussian{Sigma: noise, Sensitivity: 1, Rate: 0.01}, Count: 1000}}
	})
	fmt.Printf("%.3f\n", sigma)
	// Output: 0.959
}
