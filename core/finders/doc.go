// Package finders proposes the pairs of neighbours that an audit explores: each passes
// [audit.Relation.Check], comes once, and is a function of the finder's own stream and the history.
// Searches that learn (gp-ucb, nsga2) begin with the same [space.openings] for every mechanism.
package finders

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/finders/poison"
)

// All are the finders that the default one is made of.
var All = []audit.FinderSpec{candidates, random, auto}

// Named are the finders that are used only when a plan names them.
func Named() []audit.FinderSpec {
	return []audit.FinderSpec{patterns, grid, nsga2, gpUCB}
}

// Registry is all of them, with those that poison a learner's table.
func Registry() []audit.FinderSpec { return slices.Concat(All, Named(), poison.All()) }
