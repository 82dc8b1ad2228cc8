package estimators_test

import (
	"testing"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/dptest"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/internal/must"
	"github.com/dpscope/dpscope/internal/testsize"
)

// TestEveryLearner holds every line of the registry to the contract.
func TestEveryLearner(t *testing.T) {
	testsize.Native(t)
	// Networks of 100 units take seconds. Small ones of each loss stand for them in the
	// short tests.
	large := map[string]bool{"renyi-tester": true, "hockeystick-tester": true}
	cat := audit.Catalogue{Learners: estimators.Registry()}
	for name := range large {
		spec := must.Get(cat.Learner(name + ":units=8:batch=128"))(t)
		t.Run(spec.Name, func(t *testing.T) { dptest.TestLearner(t, spec) })
	}
	seen := map[string]bool{}
	for _, spec := range estimators.Registry() {
		if seen[spec.Name] {
			t.Errorf("%s is there twice", spec.Name)
		}
		seen[spec.Name] = true
		t.Run(spec.Name, func(t *testing.T) {
			if large[spec.Name] {
				testsize.Long(t)
			}
			dptest.TestLearner(t, spec)
		})
	}
	for name := range large {
		if !seen[name] {
			t.Errorf("there is no learner %s", name)
		}
	}
}
