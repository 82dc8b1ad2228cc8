package core

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/onerun"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/report"
)

// ParseReport reads a report of any kind of audit. The result is a [pair.Report], a
// [canary.Report], a [onerun.Report] or a [scores.Report].
func ParseReport(data []byte) (report.View, error) {
	switch report.ReportKindOf(data) {
	case canary.Kind:
		return canary.ParseReport(data)
	case onerun.Kind:
		return onerun.ParseReport(data)
	case scores.Kind:
		return scores.ParseReport(data)
	}
	r, newer, err := pair.ParseReport(data)
	if err == nil && newer {
		err = &audit.InputError{Field: "report: field schemaVersion", Found: fmt.Sprint(r.SchemaVersion), Want: fmt.Sprintf("at most %d", pair.SchemaVersion),
			Remedy: "verify it with the version of dpscope that wrote it"}
	}
	return r, err
}

// Given is what a replay takes beside the report.
type Given struct {
	Catalogue audit.Catalogue // what is known, the user's own among it
	Pool      *engine.Pool    // of workers that know all kinds
	File      []byte          // of an audit with canaries, of many runs or of one; nil: it had none
	Scores    *scores.Scores  // of an audit of scores; nil: bounds are computed again from the report's counts
	Whole     bool            // draw everything again; else what follows from the report's own evidence
}

// Verify replays a report of any kind.
func Verify(ctx context.Context, r report.View, g Given) (engine.Verification, error) {
	switch r := r.(type) {
	case pair.Report:
		if !r.Certified() {
			return pair.VerifyEnded(g.Catalogue, r)
		}
		return pair.Verify(ctx, g.Catalogue, g.Pool, r, g.Whole)
	case canary.Report:
		return canary.Verify(ctx, source.Sources(), g.Pool, r, g.File, g.Whole)
	case onerun.Report:
		return onerun.Verify(ctx, source.Sources(), g.Pool, r, g.File, g.Whole)
	case scores.Report:
		return scores.Verify(r, g.Scores)
	}
	return engine.Verification{}, fmt.Errorf("a report of no known kind: %T", r)
}

// PlanOf is the plan of a report of any kind, with every default filled in.
func PlanOf(r report.View) any {
	switch r := r.(type) {
	case pair.Report:
		return r.Plan()
	case canary.Report:
		return r.Plan
	case onerun.Report:
		return r.Plan
	case scores.Report:
		return r.Plan
	}
	return nil
}
