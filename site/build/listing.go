package main

import (
	"slices"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// listing is catalogue.json: what the larger core knows. The page shows it before
// any core has arrived.
type listing struct {
	Mechanisms []mechanism   `json:"mechanisms"`
	Learners   []named       `json:"learners"`
	Finders    []named       `json:"finders"`
	Accounts   []accountKind `json:"accounts"` // the larger core alone accounts
}

// mechanism is a mechanism. Larger: the first core does not know it.
type mechanism struct {
	core.MechanismListing
	Larger bool `json:"larger,omitempty"`
}

// named is a learner or a finder. Larger: the first core does not know it.
type named struct {
	core.NamedListing
	Larger bool `json:"larger,omitempty"`
}

// list lists everything.
func list() listing {
	common, all := catalogue.Common().Listing(), catalogue.All().Listing()
	var l listing
	for _, m := range all.Mechanisms {
		known := slices.ContainsFunc(common.Mechanisms, func(c core.MechanismListing) bool { return c.Name == m.Name })
		l.Mechanisms = append(l.Mechanisms, mechanism{m, !known})
	}
	l.Learners, l.Finders = marked(all.Learners, common.Learners), marked(all.Finders, common.Finders)
	l.Accounts = accountKinds()
	return l
}

func marked(all, common []core.NamedListing) []named {
	var out []named
	for _, x := range all {
		known := slices.ContainsFunc(common, func(c core.NamedListing) bool { return c.Name == x.Name })
		out = append(out, named{x, !known})
	}
	return out
}
