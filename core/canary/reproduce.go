package canary

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/settings"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
)

// Reproduce says how to run the audit again.
func (a *Audit) Reproduce() audit.Reproduce {
	p := a.Plan
	single := a.Spec.Baseline && p.K > 1
	otherwise := Plan{Design: a.Spec.Designs[0], Pool: &source.Pool{Scale: source.UnitNorm}, M: p.K, Explore: p.Runs, Interval: bounds.CanaryPairedBetting, Single: &single, Beta: 0.05}
	return source.Again("canaries", settings.Written(Keys(), p, otherwise), a.Spec, a.Setup, p.CSV, p.Data)
}
