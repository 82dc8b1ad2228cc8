// Package catalogue says what each of the page's cores knows.
package catalogue

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/finders"
	"github.com/dpscope/dpscope/mechanisms"
)

// Common is what the first core knows.
func Common() audit.Catalogue {
	return audit.Catalogue{Mechanisms: mechanisms.Common(), Learners: estimators.Common(), Finders: finders.All}
}
