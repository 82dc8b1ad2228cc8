package core

import (
	"context"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
)

// Recompute checks that what a report of any kind says follows from the counts in it. It
// draws nothing and needs none of the user's files, see [pair.Recompute]; a report of
// which that cannot be said without them is refused with an [audit.InputError].
func Recompute(cat audit.Catalogue, r report.View) (engine.Verification, error) {
	if own, ok := r.(pair.Report); ok {
		return pair.Recompute(cat, own)
	}
	return Verify(context.Background(), r, Given{Catalogue: cat})
}
