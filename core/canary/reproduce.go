package canary

import (
	"fmt"
	"strings"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/bounds"
	"github.com/dpscope/dpscope/core/canary/source"
)

// reproduce says how to run the audit again.
func reproduce(a *Audit) audit.Reproduce {
	p := a.Plan
	w := source.NewAgain("canaries", p.Source, p.Promise())
	add := w.Add
	if p.Design != a.Spec.Designs[0] {
		add("design", string(p.Design))
	}
	if x := p.Pool; x != nil {
		if x.Tail > 0 {
			add("tail", fmt.Sprint(x.Tail))
		}
		if x.Scale != "" && x.Scale != source.UnitNorm {
			add("scale", string(x.Scale))
		}
		if x.Distinct {
			add("distinct", "true")
		}
	}
	w.Csv(p.CSV)
	add("n", fmt.Sprint(p.Runs))
	add("k", fmt.Sprint(p.K))
	if p.M != p.K {
		add("m", fmt.Sprint(p.M))
	}
	if p.Explore != p.Runs {
		add("explore", fmt.Sprint(p.Explore))
	}
	if p.Interval != bounds.CanaryPairedBetting {
		add("interval", string(p.Interval))
	}
	if p.Quantile > 0 {
		add("quantile", audit.Exactly(p.Quantile))
	}
	if *p.Single != (a.Spec.Baseline && p.K > 1) {
		add("single", fmt.Sprint(*p.Single))
	}
	r := w.End(a.Spec, p.Parameters, *p.Claim, p.CSV, p.Data, p.Beta, p.Seed)
	// A flag without a value of its own is a switch.
	r.CLI = strings.ReplaceAll(r.CLI, " -distinct true", " -distinct")
	r.CLI = strings.ReplaceAll(strings.ReplaceAll(r.CLI, " -single true", " -single=true"), " -single false", " -single=false")
	return r
}
