package estimators_test

import (
	"testing"

	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/nativetest"
)

// TestEveryLearner holds every line of the registry to the contract.
func TestEveryLearner(t *testing.T) {
	nativetest.Only(t)
	seen := map[string]bool{}
	for _, spec := range estimators.Registry() {
		if seen[spec.Name] {
			t.Errorf("%s is there twice", spec.Name)
		}
		seen[spec.Name] = true
		t.Run(spec.Name, func(t *testing.T) { dptest.TestLearner(t, spec) })
	}
}
