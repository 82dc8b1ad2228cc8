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

// How much noise do 1000 steps at rate .01 need for epsilon 2?
func ExampleLeastNoise() {
	sigma := accounting.LeastNoise(2, 1e-5, func(noise float64) accounting.Composition {
		return accounting.Composition{{Mechanism: accounting.SubsampledGaussian{Sigma: noise, Sensitivity: 1, Rate: 0.01}, Count: 1000}}
	})
	fmt.Printf("%.3f\n", sigma)
	// Output: 0.959
}
