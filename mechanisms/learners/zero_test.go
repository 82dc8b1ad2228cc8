package learners

import (
	"math"
	"testing"
)

// No table holds -0, which JSON in JavaScript loses: an address with a pair of it would
// be of another pair.
func TestNoNegativeZero(t *testing.T) {
	for _, table := range BuiltIn() {
		for i, v := range table.Rows.Values {
			if v == 0 && math.Signbit(v) {
				t.Fatalf("%s: value %d is -0", table.Name, i)
			}
		}
	}
}
