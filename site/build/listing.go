package main

import (
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/bounds/accounting"
	"github.com/dpscope/dpscope/core/calibration"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/catalogue"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/google"
	"github.com/dpscope/dpscope/mechanisms/source"
	"github.com/dpscope/dpscope/site/pages"
)

// listing is catalogue.json: what the core knows, for the page's forms before the core has arrived.
type listing struct {
	Mechanisms  []mechanism          `json:"mechanisms"`
	Learners    []audit.NamedListing `json:"learners"`
	Finders     []audit.NamedListing `json:"finders"`
	Accounts    []accountKind        `json:"accounts"`
	Calibration calibrating          `json:"calibration"`
	Canaries    canaries             `json:"canaries"`
}

// accountKind has the fields of its [accounting.Query] in the order in which to show them.
type accountKind struct {
	Kind   accounting.Kind `json:"kind"`
	Title  string          `json:"title"`
	Fields []string        `json:"fields"`
}

// canaries is what the page offers to audit with canaries.
type canaries struct {
	Sources   []canarySource   `json:"sources"`
	Intervals []canaryInterval `json:"intervals"` // the first is the default
	Scales    []source.Scale   `json:"scales"`    // of vectors, the first is the default
	Methods   []report.Method  `json:"methods"`   // for scores without runs, the first is the default
}

type canarySource struct {
	Name      string            `json:"name"`
	Title     string            `json:"title"`
	Params    []audit.ParamSpec `json:"params"`
	Relations []audit.Relation  `json:"relations"` // the first is the default, as of designs
	Designs   []source.Design   `json:"designs"`
	Examples  bool              `json:"examples,omitempty"` // a file of examples may be given
	Runs      int               `json:"runs"`               // by default
	// By default; absent where the source cannot be audited so.
	OneRun       int           `json:"oneRun,omitempty"`
	OneRunDesign source.Design `json:"oneRunDesign,omitempty"`
}

type canaryInterval struct {
	Name  bounds.CanaryInterval `json:"name"`
	Valid bool                  `json:"valid,omitempty"` // at every number of runs
}

// calibrating is what the page offers to calibrate: its plan, the mechanisms chosen at first, and all.
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

// mechanism: Library is the one that it runs, Samples of a plan that does not say.
type mechanism struct {
	audit.MechanismListing
	Library string `json:"library,omitempty"`
	Samples int    `json:"samples,omitempty"`
	Museum  string `json:"museum,omitempty"` // the page about its fault, from the root of the site
	// Lines are those of a function with its fault, and those in their place.
	Lines []string `json:"lines,omitempty"`
}

func list(museum map[string]pages.Exhibit) listing {
	all := catalogue.All().Listing()
	l := listing{Learners: all.Learners, Finders: all.Finders, Calibration: calibrations(), Canaries: canaryOffer()}
	l.Accounts = audit.Each(accounting.Kinds(), func(k accounting.Kind) accountKind { return accountKind{k, k.Title(), k.Fields()} })
	for _, m := range all.Mechanisms {
		entry := mechanism{MechanismListing: m, Samples: google.Samples(m.Name), Museum: museum[m.Name].Page}
		if e := museum[m.Name]; e.Mended != "" {
			entry.Lines = []string{e.Broken, e.Mended}
		}
		if entry.Samples > 0 {
			entry.Library = google.Title
		}
		l.Mechanisms = append(l.Mechanisms, entry)
	}
	return l
}

func canaryOffer() canaries {
	c := canaries{Methods: scores.FlatMethods(), Scales: []source.Scale{source.UnitNorm, source.MedianNorm}}
	for _, s := range source.Sources() {
		x := canarySource{Name: s.Name, Title: s.Title, Params: s.Params, Relations: s.Relations, Designs: s.Designs, Examples: s.TakesData, Runs: canary.UsualRuns(s)}
		if len(s.OneRunDesigns) > 0 {
			x.OneRun, x.OneRunDesign = source.OneRunCanaries, s.OneRunDesigns[0]
		}
		c.Sources = append(c.Sources, x)
	}
	c.Intervals = audit.Each(bounds.CanaryIntervals(), func(k bounds.CanaryInterval) canaryInterval { return canaryInterval{k, k.Valid()} })
	return c
}

func calibrations() calibrating {
	every := calibration.Small()
	every.Mechanisms = nil
	seeded := catalogue.All() // without a seed no run of it can be had again
	seeded.Mechanisms = slices.DeleteFunc(seeded.Mechanisms, func(m audit.MechanismSpec) bool { return m.Unseeded != "" })
	cells, _, err := every.Cells(seeded)
	if err != nil {
		panic("build: the page's calibration: " + err.Error())
	}
	all := calibration.Settings(cells)
	return calibrating{calibration.Small(), audit.Listed(len(all), func(i int) calibratingMechanism {
		return calibratingMechanism{Name: all[i].Mechanism, Claim: all[i].Claim, Why: all[i].Why, Met: cells[i].Met}
	})}
}
