package onerun

import (
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Conclude implements [report.Audit]: ev is nil if there is no evidence.
func (a *Audit) Conclude(ev *Evidence, end audit.Termination) (Report, error) {
	p := a.Plan
	r := Report{Report: report.New(Kind, p.Source, p.StatedClaim(), p.Beta), Plan: p, Source: a.Spec.Note(a.Setup), Evidence: ev}
	r.Quantity, r.Termination, r.Reproduce = string(report.Epsilon), end, a.Reproduce()
	r.Power = &report.Power{Largest: p.guessing().Largest(report.MethodOneRun), Needed: membership.Needed(report.MethodOneRun, p.rule(), r.Claim.Epsilon), Unit: "canaries"}
	r.Limitations, r.References = limitations(p), report.OneRunReferences
	if ev != nil {
		r.Termination.SamplesUsed = p.Canaries
		r.Tables = []report.Table{{Name: report.Bounds, Title: membership.Title(p.Beta), Rows: p.guessing().Rows(ev.Guessed, r.Claim.Epsilon)}}
		if ev.Membership != nil {
			r.Tables = append(r.Tables, ev.Membership.Table(r.Claim, p.StatedClaim().Relation, membership.OneTraining, p.Beta))
		}
		pv := p.guessing().PValue(ev.Guessed, r.Claim.Epsilon)
		r.PValue = &pv
	}
	r.Choose(report.MethodOneRun)
	r.Warnings = r.cautions()
	r.Reword()
	return r, nil
}
