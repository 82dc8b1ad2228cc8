package suite_test

import (
	"fmt"

	"github.com/dpscope/dpscope/core/suite"
)

// A file of audits that err with probability 0.05 at most, all together.
func ExampleParse() {
	file, err := suite.Parse([]byte(`{
		"version": 1,
		"audits": [
			{"name": "mean", "mechanism": "laplace-mean", "claim": {"epsilon": 1}},
			{"name": "vector", "mechanism": "svt4", "claim": {"epsilon": 1}}
		]
	}`), "dpscope.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range file.Plan.Audits {
		fmt.Println(e.Name, suite.Share(0.05, len(file.Plan.Audits)))
	}
	// Output:
	// mean 0.025
	// vector 0.025
}
