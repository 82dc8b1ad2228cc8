package scene

import (
	"encoding/json"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/pair"
)

// Report is what a report of the audit of a mechanism holds, without what it can do:
// the methods of its type would bring plans, mechanisms and settings into the program
// that shows it.
type Report pair.Report

// Input is what the page sends: a report, or how far a run has come.
type Input struct {
	Report *Report     `json:"report"`
	Curves pair.Curves `json:"curves"`
	// Course is that of the run that is on its way, or made the report.
	Course *Course `json:"course"`
	// Canary is a canary audit's report, instead.
	Canary *CanaryReport `json:"canary"`
	// Progress is of a run on its way.
	Progress *pair.Progress `json:"progress"`
}

// epsilonOf is that of a claim of (epsilon, delta), and whether it is one.
func epsilonOf(c audit.Claim) (float64, bool) {
	return c.Epsilon, c.Kind == audit.Pure || c.Kind == audit.Approximate
}

// limitOf is what is claimed of the quantity that an audit bounds.
func limitOf(c audit.Claim) float64 {
	switch c.Kind {
	case audit.ZCDP:
		return c.Rho
	case audit.GaussianDP:
		return c.Mu
	}
	return c.Epsilon
}

// Parse reads what the page sends.
func Parse(text string) (Input, error) {
	var in Input
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return in, fmt.Errorf("view: the page sent what is no report: %w", err)
	}
	return in, nil
}
