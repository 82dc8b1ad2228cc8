package mechanisms_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/mechanisms"
)

// A mechanism is looked up by name, built with its parameters, and sampled on a
// dataset.
func Example() {
	spec, err := audit.Catalogue{Mechanisms: mechanisms.All()}.Mechanism("randomised-response")
	if err != nil {
		fmt.Println(err)
		return
	}
	params := audit.Params{"epsilon": {Number: 1}, "p": {Number: 0.75}}
	m, err := spec.New(params)
	if err != nil {
		fmt.Println(err)
		return
	}
	pair := spec.Pairs(params, audit.Replace)[0]
	out := make([]float64, 8)
	if err := m.Sample(pair.First, stream.New(stream.Key{Seed: 42, Purpose: "example"}), out); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.Claim(params))
	fmt.Println(pair.Label, out)
	// Output:
	// epsilon = 1.098612289
	// the bit 1 against the bit 0 [1 1 1 0 1 0 1 0]
}
