package train_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms/train"
)

func ExampleNew() {
	s, err := train.New(train.Config{Epsilon: 2, Delta: 1e-5, Steps: 50}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := s.Config()
	fmt.Printf("%d weights, sigma %.3f, epsilon %.2f\n", s.Parameters(), c.Sigma, c.Guarantee())
	in, out := make([]float64, 3), make([]float64, 3)
	diverged, err := s.Run(stream.New(stream.Key{Seed: 1, Purpose: "example"}), in, out)
	fmt.Printf("%.2f %.2f %v %v\n", in, out, diverged, err)
	// Output:
	// 1860 weights, sigma 1.890, epsilon 2.00
	// [-0.48 0.75 -0.08] [0.57 -0.39 -0.03] false <nil>
}

func ExampleReadCSV() {
	d, err := train.ReadCSV([]byte("age,smoker,ill\n50,1,yes\n20,0,no\n"), train.CSV{Bounds: map[string][2]float64{"age": {0, 100}, "smoker": {0, 1}}})
	fmt.Println(d.X, d.Labels, d.Classes, err)
	_, err = train.ReadCSV([]byte("50,1,yes\n20,x,no\n"), train.CSV{Header: "no"})
	fmt.Println(err)
	// Output:
	// [0 1 -0.6 -1] [1 0] [no yes] <nil>
	// data, line 2, column 2 (column 2) is "x", must be a finite number; turn words into numbers, or say which column holds the label
}
