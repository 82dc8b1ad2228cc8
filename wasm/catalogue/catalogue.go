// Package catalogue says what each of the page's cores knows.
package catalogue

import (
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/finders"
	"github.com/dpscope/dpscope/mechanisms"
)

// Common is what the first core knows.
func Common() core.Catalogue {
	return core.Catalogue{Mechanisms: mechanisms.Common(), Learners: estimators.Common(), Finders: finders.All}
}
