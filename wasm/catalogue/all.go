//go:build !js || coreall

package catalogue

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/estimators"
	"github.com/dpscope/dpscope/finders"
	"github.com/dpscope/dpscope/mechanisms"
)

// All is what the larger core knows: everything. It is not built for the first,
// since the packages that it imports would leave their initialisation there.
func All() audit.Catalogue {
	return audit.Catalogue{Mechanisms: mechanisms.All(), Learners: estimators.Registry(), Finders: finders.Registry()}
}
