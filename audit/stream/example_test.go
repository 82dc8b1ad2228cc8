package stream_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit/stream"
)

func ExampleNew() {
	s := stream.New(stream.Key{Seed: 42, Purpose: "certify", Side: 1, Shard: 3})
	noise := make([]float64, 3)
	s.Laplace(noise, 2)
	fmt.Printf("%.4f\n", noise)
	s.Gaussian(noise, 1)
	fmt.Printf("%.4f\n", noise)
	s.Geometric(noise, 0.1)
	fmt.Println(noise)
	// Output:
	// [-0.1785 11.5481 0.3753]
	// [-0.5104 0.4712 0.9527]
	// [11 11 13]
}
