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

// Kind is one kind of audit, as all that serves every kind sees it.
type Kind struct {
	Name string // of its reports
	// Parse reads a report of the kind, of every schema version.
	Parse func(data []byte) (report.View, error)
	// Reworded is a report with the words that its numbers make, whatever its own are.
	Reworded func(report.View) report.View
	// Verify replays a report.
	Verify func(ctx context.Context, r report.View, g Given) (engine.Verification, error)
	// Plan is that of a report.
	Plan func(report.View) any
}

// Given is what a replay can need besides the report.
type Given struct {
	Catalogue audit.Catalogue // what is known, the user's own among it
	Sources   []source.Spec   // of canaries; nil: all
	Pool      *engine.Pool    // of workers that know all kinds
	File      []byte          // of an audit with canaries, of many runs or of one; nil: it had none
	Scores    *scores.Scores  // of an audit of scores; nil: bounds are computed again from the report's counts
	Whole     bool            // draw everything again; else what follows from the report's own evidence
}

// Kinds are all kinds of audits.
func Kinds() []Kind {
	return []Kind{
		kind(report.Pair, pair.ParseReport, func(r pair.Report) any { return r.Plan }, func(ctx context.Context, r pair.Report, g Given) (engine.Verification, error) {
			return pair.Verify(ctx, g.Catalogue, g.Pool, r, g.Whole)
		}),
		kind(canary.Kind, canary.ParseReport, func(r canary.Report) any { return r.Plan }, func(ctx context.Context, r canary.Report, g Given) (engine.Verification, error) {
			return canary.Verify(ctx, g.Sources, g.Pool, r, g.File, g.Whole)
		}),
		kind(onerun.Kind, onerun.ParseReport, func(r onerun.Report) any { return r.Plan }, func(ctx context.Context, r onerun.Report, g Given) (engine.Verification, error) {
			return onerun.Verify(ctx, g.Sources, g.Pool, r, g.File, g.Whole)
		}),
		kind(scores.Kind, scores.ParseReport, func(r scores.Report) any { return r.Plan }, func(_ context.Context, r scores.Report, g Given) (engine.Verification, error) {
			return scores.Verify(r, g.Scores)
		}),
	}
}

// kind is the kind whose reports are of type R.
func kind[R report.View, P interface {
	*R
	Reword()
}](name string, parse func([]byte) (R, error), plan func(R) any, verify func(context.Context, R, Given) (engine.Verification, error)) Kind {
	return Kind{
		Name:  name,
		Parse: func(data []byte) (report.View, error) { return parse(data) },
		Reworded: func(v report.View) report.View {
			r := v.(R)
			P(&r).Reword()
			return r
		},
		Plan: func(v report.View) any { return plan(v.(R)) },
		Verify: func(ctx context.Context, v report.View, g Given) (engine.Verification, error) {
			return verify(ctx, v.(R), g)
		},
	}
}

// KindOf finds the kind of that name.
func KindOf(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, audit.UnknownName("report: field kind", name, names)
}

// ParseReport reads a report of any kind.
func ParseReport(data []byte) (report.View, error) {
	name := report.KindOf(data)
	if name == "" {
		name = report.Pair // whose parser says what it is instead of a report
	}
	k, err := KindOf(name)
	if err != nil {
		return nil, err
	}
	return k.Parse(data)
}

// of is the kind of a report that was parsed.
func of(r report.View) Kind {
	k, err := KindOf(r.Head().Kind)
	if err != nil {
		panic(fmt.Sprintf("core: a report of no known kind: %v", err))
	}
	return k
}

// Reworded is a report with the words that its numbers make, whatever its own are.
func Reworded(r report.View) report.View { return of(r).Reworded(r) }

// PlanOf is the plan of a report.
func PlanOf(r report.View) any { return of(r).Plan(r) }

// Verify replays a report of any kind.
func Verify(ctx context.Context, r report.View, g Given) (engine.Verification, error) {
	if g.Sources == nil {
		g.Sources = source.Sources()
	}
	return of(r).Verify(ctx, r, g)
}
