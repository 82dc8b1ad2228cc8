package main

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/report"
	"github.com/dpscope/dpscope/wasm/catalogue"
)

// listing is catalogue.json: what all cores know. The page shows it before any
// core has arrived.
type listing struct {
	Mechanisms []mechanism `json:"mechanisms"`
	Learners   []named     `json:"learners"`
	Finders    []named     `json:"finders"`
	// The larger core alone does these.
	Accounts    []accountKind `json:"accounts"`
	Calibration calibrating   `json:"calibration"`
	Canaries    canaries      `json:"canaries"`
}

// canaries is what the page offers to audit with canaries.
type canaries struct {
	Sources   []canarySource   `json:"sources"`
	Intervals []canaryInterval `json:"intervals"` // the first is the default
	Scales    []source.Scale   `json:"scales"`    // of vectors from a file, the first is the default
	Methods   []report.Method  `json:"methods"`   // for scores without runs, the first is the default
}

type canarySource struct {
	Name      string            `json:"name"`
	Title     string            `json:"title"`
	Params    []audit.ParamSpec `json:"params"`
	Relations []audit.Relation  `json:"relations"` // the first is the default, as of designs
	Designs   []canaryDesign    `json:"designs"`
	Examples  bool              `json:"examples,omitempty"` // a file of examples may be given
	Runs      int               `json:"runs"`               // by default
	// Canaries of one run and their design, by default; absent where the source
	// cannot be audited so.
	OneRun       int           `json:"oneRun,omitempty"`
	OneRunDesign source.Design `json:"oneRunDesign,omitempty"`
}

type canaryDesign struct {
	Name    source.Design `json:"name"`
	Vectors bool          `json:"vectors,omitempty"` // of a file, which must be given
}

type canaryInterval struct {
	Name  bounds.CanaryInterval `json:"name"`
	Valid bool                  `json:"valid,omitempty"` // at every number of runs
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

// mechanism is a mechanism. Larger: the first core does not know it. Library: it
// runs that library, and only the core with the library knows it. Samples: of a
// plan that does not say.
type mechanism struct {
	audit.MechanismListing
	Larger  bool   `json:"larger,omitempty"`
	Library string `json:"library,omitempty"`
	Samples int    `json:"samples,omitempty"`
	Museum  string `json:"museum,omitempty"` // the page about its fault, from the root of the site
}

// named is a learner or a finder. Larger: the first core does not know it.
type named struct {
	audit.NamedListing
	Larger bool `json:"larger,omitempty"`
}

// list lists everything. museum are pages by mechanism.
func list(museum map[string]string) listing {
	common, all := catalogue.Common().Listing(), catalogue.All().Listing()
	var l listing
	for _, m := range all.Mechanisms {
		known := slices.ContainsFunc(common.Mechanisms, func(c audit.MechanismListing) bool { return c.Name == m.Name })
		l.Mechanisms = append(l.Mechanisms, mechanism{MechanismListing: m, Larger: !known, Museum: museum[m.Name]})
	}
	for _, m := range catalogue.Google().Listing().Mechanisms[len(all.Mechanisms):] {
		l.Mechanisms = append(l.Mechanisms, mechanism{MechanismListing: m, Larger: true, Library: google.Title, Samples: google.Samples(m.Name), Museum: museum[m.Name]})
	}
	l.Learners, l.Finders = marked(all.Learners, common.Learners), marked(all.Finders, common.Finders)
	l.Accounts = accountKinds()
	l.Calibration = calibrations()
	l.Canaries = canaryOffer()
	return l
}

func canaryOffer() canaries {
	c := canaries{Methods: scores.FlatMethods(), Scales: []source.Scale{source.UnitNorm, source.MedianNorm, source.OwnNorm}}
	for _, s := range source.Sources() {
		x := canarySource{Name: s.Name, Title: s.Title, Params: s.Params, Relations: s.Relations, Examples: s.TakesData, Runs: s.Runs}
		for _, d := range s.Designs {
			x.Designs = append(x.Designs, canaryDesign{d, s.NeedsData != nil && s.NeedsData(d)})
		}
		if s.OneRun != nil {
			x.OneRun, x.OneRunDesign = s.OneRun.Canaries, s.OneRun.Designs[0]
		}
		c.Sources = append(c.Sources, x)
	}
	for _, kind := range bounds.CanaryIntervals() {
		c.Intervals = append(c.Intervals, canaryInterval{kind, kind.Valid()})
	}
	return c
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

func marked(all, common []audit.NamedListing) []named {
	var out []named
	for _, x := range all {
		known := slices.ContainsFunc(common, func(c audit.NamedListing) bool { return c.Name == x.Name })
		out = append(out, named{x, !known})
	}
	return out
}
