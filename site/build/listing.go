package main

import (
	"slices"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// listing is catalogue.json: what the larger core knows. The page shows it before
// any core has arrived.
type listing struct {
	Mechanisms []mechanism `json:"mechanisms"`
	Learners   []named     `json:"learners"`
	Finders    []named     `json:"finders"`
	// The larger core alone does these.
	Accounts    []accountKind `json:"accounts"`
	Calibration calibrating   `json:"calibration"`
}

// calibrating is what the page offers to calibrate: its plan, whose mechanisms
// are those chosen at first, and all that there are.
type calibrating struct {
	Plan       calibration.Plan       `json:"plan"`
	Mechanisms []calibratingMechanism `json:"mechanisms"`
}

type calibratingMechanism struct {
	Name  string `json:"name"`
	Claim string `json:"claim"`
	Why   string `json:"why"` // the claim is met, or that it is not known
	Met   bool   `json:"met"`
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
	l.Calibration = calibrations()
	return l
}

func calibrations() calibrating {
	out := calibrating{Plan: calibration.Small()}
	every := out.Plan
	every.Mechanisms = nil
	cells, _, err := every.Cells(catalogue.All())
	if err != nil {
		panic("build: the page's calibration: " + err.Error())
	}
	for i, s := range calibration.Settings(cells) {
		out.Mechanisms = append(out.Mechanisms, calibratingMechanism{Name: s.Mechanism, Claim: s.Claim, Why: s.Why, Met: cells[i].Met})
	}
	return out
}

func marked(all, common []core.NamedListing) []named {
	var out []named
	for _, x := range all {
		known := slices.ContainsFunc(common, func(c core.NamedListing) bool { return c.Name == x.Name })
		out = append(out, named{x, !known})
	}
	return out
}
