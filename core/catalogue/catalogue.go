// Package catalogue says what the page's core knows: everything that is registered.
package catalogue

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/finders"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/mechanisms"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/mechanisms/learners"
)

// All is everything, the mechanisms of Google's library last.
func All() audit.Catalogue {
	return audit.Catalogue{Mechanisms: slices.Concat(mechanisms.All(), learners.All(), google.All()), Learners: estimators.Registry(), Finders: finders.Registry()}
}
