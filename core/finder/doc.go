// Package finder proposes the pairs of neighbouring datasets that an audit
// explores. Which pair is explored matters more than how many outputs are
// drawn: a fault that is loud on one record against two may be faint on
// twenty against twenty-one.
//
// [All] is the registry. A finder draws from its own stream alone and proposes
// pairs that pass [core.Relation.Check], each at most once.
package finder

import "github.com/dpscope/dpscope/core"

// All is the registry of finders, one line each.
var All = []core.FinderSpec{
	candidates,
	random,
	auto,
}
