package audit_test

import (
	"fmt"

	"github.com/dpscope/dpscope/audit"
)

func ExampleDPClaim() {
	c := audit.DPClaim(1, 0)
	fmt.Println(c.Kind, c.Validate())
	renyi, ok := c.ImpliedRenyi(2) // what it limits the Rényi divergence of order 2 to
	fmt.Printf("%.4f %v\n", renyi, ok)
	// Output:
	// pure <nil>
	// 0.7353 true
}

// A dataset is a table of numbers; two of them are neighbours by a relation.
func ExampleRecords() {
	first, second := audit.Records(1, 2, 3), audit.Records(1, 3)
	fmt.Println(first.Len(), second.Len(), audit.AddRemove)
	// Output: 3 2 add-remove
}

// An error about what a user gave says where it is, what was found and what is allowed.
func ExampleInputError() {
	err := audit.UnknownName("learner", "histgram", []string{"histogram", "logistic"})
	fmt.Println(err)
	fmt.Println(audit.IsInput(err))
	// Output:
	// learner is "histgram", must be a known name; did you mean "histogram"? Known: histogram, logistic
	// true
}
