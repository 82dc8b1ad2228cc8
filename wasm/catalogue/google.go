//go:build !js || google

package catalogue

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/google"
)

// Google is what the core with Google's library knows: everything, and that.
func Google() audit.Catalogue {
	all := All()
	all.Mechanisms = slices.Concat(all.Mechanisms, google.All())
	return all
}
