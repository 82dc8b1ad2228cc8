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
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
)

// Given is what an audit or a replay can need besides its plan or report.
type Given struct {
	Catalogue audit.Catalogue // what is known, the user's own among it
	Sources   []source.Spec   // of canaries; nil: all
	Pool      *engine.Pool    // of workers that know all kinds
	File      []byte          // of an audit with canaries, of many runs or of one; nil: it has none
	Scores    *scores.Scores  // of an audit of scores; of a replay nil: bounds are computed again from the report's counts
	Whole     bool            // of a replay: draw everything again; else what follows from the report's own evidence

	Generator audit.Generator
	Now       func() float64        // seconds of a clock; nil: no timing
	Pair      func(pair.Progress)   // of audits of pairs, may be nil
	Canaries  func(canary.Progress) // of audits with canaries, may be nil
}

// Kind is one kind of audit, as all that serves every kind sees it. A plan is of the
// kind's own type, as is the report in a view.
type Kind struct {
	Name string // of its reports
	// Parse reads a report of the kind.
	Parse func(data []byte) (report.View, error)
	// Reworded is a report with the words that its numbers make, whatever its own are.
	Reworded func(report.View) report.View
	// Plain is a report without the words that a replay does not make again: how to run
	// it, its limitations and references. Its headline and summary are made of its numbers.
	Plain func(report.View) report.View
	// Plan is that of a report.
	Plan func(report.View) any
	// Owns tells whether a plan is of the kind.
	Owns func(plan any) bool
	// Resolve checks a plan and fills in its defaults.
	Resolve func(plan any, g Given) (any, error)
	// Run does the audit of a plan. A report comes with an error where the run failed,
	// and is nil where it never began.
	Run func(ctx context.Context, plan any, g Given) (report.View, error)
	// Verify replays a report.
	Verify func(ctx context.Context, r report.View, g Given) (engine.Verification, error)
}

// typed is a kind with plans of type P and reports of type R.
type typed[P any, R report.View] struct {
	name    string
	parse   func([]byte) (R, error)
	plan    func(R) P
	resolve func(P, Given) (P, error)
	run     func(context.Context, P, Given) (R, error)
	verify  func(context.Context, R, Given) (engine.Verification, error)
}

// Kinds are all kinds of audits.
func Kinds() []Kind {
	return []Kind{
		kind(typed[pair.Plan, pair.Report]{report.Pair, pair.ParseReport,
			func(r pair.Report) pair.Plan { return r.Plan },
			func(p pair.Plan, g Given) (pair.Plan, error) {
				a, err := p.Resolve(g.Catalogue)
				if err != nil {
					return p, err
				}
				return a.Plan, nil
			},
			func(ctx context.Context, p pair.Plan, g Given) (pair.Report, error) {
				return pair.Run{Plan: p, Catalogue: g.Catalogue, Pool: g.Pool, Generator: g.Generator, Progress: g.Pair, Now: g.Now}.Do(ctx)
			},
			func(ctx context.Context, r pair.Report, g Given) (engine.Verification, error) {
				return pair.Verify(ctx, g.Catalogue, g.Pool, r, g.Whole)
			}}),
		kind(typed[canary.Plan, canary.Report]{canary.Kind, canary.ParseReport,
			func(r canary.Report) canary.Plan { return r.Plan },
			func(p canary.Plan, g Given) (canary.Plan, error) {
				a, err := p.Resolve(g.Sources, g.File)
				if err != nil {
					return p, err
				}
				return a.Plan, nil
			},
			func(ctx context.Context, p canary.Plan, g Given) (canary.Report, error) {
				return canary.Run{Plan: p, File: g.File, Sources: g.Sources, Pool: g.Pool, Generator: g.Generator, Progress: g.Canaries, Now: g.Now}.Do(ctx)
			},
			func(ctx context.Context, r canary.Report, g Given) (engine.Verification, error) {
				return canary.Verify(ctx, g.Sources, g.Pool, r, g.File, g.Whole)
			}}),
		kind(typed[onerun.Plan, onerun.Report]{onerun.Kind, onerun.ParseReport,
			func(r onerun.Report) onerun.Plan { return r.Plan },
			func(p onerun.Plan, g Given) (onerun.Plan, error) {
				a, err := p.Resolve(g.Sources, g.File)
				if err != nil {
					return p, err
				}
				return a.Plan, nil
			},
			func(ctx context.Context, p onerun.Plan, g Given) (onerun.Report, error) {
				return onerun.Run{Plan: p, File: g.File, Sources: g.Sources, Pool: g.Pool, Generator: g.Generator, Now: g.Now}.Do(ctx)
			},
			func(ctx context.Context, r onerun.Report, g Given) (engine.Verification, error) {
				return onerun.Verify(ctx, g.Sources, g.Pool, r, g.File, g.Whole)
			}}),
		kind(typed[scores.Plan, scores.Report]{scores.Kind, scores.ParseReport,
			func(r scores.Report) scores.Plan { return r.Plan },
			func(p scores.Plan, g Given) (scores.Plan, error) { return scores.Resolve(p, *g.Scores) },
			func(_ context.Context, p scores.Plan, g Given) (scores.Report, error) {
				return scores.Run(p, *g.Scores, g.Generator)
			},
			func(_ context.Context, r scores.Report, g Given) (engine.Verification, error) {
				return scores.Verify(r, g.Scores)
			}}),
	}
}

// rewording is a report that can put itself into words.
type rewording[R any] interface {
	*R
	report.Replayed
}

func kind[P any, R report.View, W rewording[R]](k typed[P, R]) Kind {
	return Kind{
		Name:  k.name,
		Parse: func(data []byte) (report.View, error) { return k.parse(data) },
		Reworded: func(v report.View) report.View {
			r := v.(R)
			W(&r).Reword()
			return r
		},
		Plain: func(v report.View) report.View {
			r := v.(R)
			W(&r).Reword()
			h := W(&r).Common()
			h.Reproduce, h.Limitations, h.References = audit.Reproduce{}, []string{}, []string{}
			return r
		},
		Plan: func(v report.View) any { return k.plan(v.(R)) },
		Owns: func(plan any) bool {
			_, own := plan.(P)
			return own
		},
		Resolve: func(plan any, g Given) (any, error) { return k.resolve(plan.(P), g.complete()) },
		Run: func(ctx context.Context, plan any, g Given) (report.View, error) {
			r, err := k.run(ctx, plan.(P), g.complete())
			if r.Head().Schema == "" {
				return nil, err
			}
			return r, err
		},
		Verify: func(ctx context.Context, v report.View, g Given) (engine.Verification, error) {
			return k.verify(ctx, v.(R), g.complete())
		},
	}
}

// complete fills in what is all there is.
func (g Given) complete() Given {
	if g.Sources == nil {
		g.Sources = source.Sources()
	}
	return g
}

// find is the kind for which is holds; there is one.
func find(what string, is func(Kind) bool) Kind {
	for _, k := range Kinds() {
		if is(k) {
			return k
		}
	}
	panic("core: of no known kind: " + what)
}

func of(r report.View) Kind {
	name := r.Head().Kind
	return find("a report of "+name, func(k Kind) bool { return k.Name == name })
}

// KindOf names the kind of report that a plan leads to.
func KindOf(plan any) string { return kindOf(plan).Name }

func kindOf(plan any) Kind {
	return find(fmt.Sprintf("a plan of type %T", plan), func(k Kind) bool { return k.Owns(plan) })
}

// ParseReport reads a report of any kind.
func ParseReport(data []byte) (report.View, error) {
	name := report.KindOf(data)
	if name == "" {
		name = report.Pair // whose parser says what it is instead of a report
	}
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k.Parse(data)
		}
		names = append(names, k.Name)
	}
	if err := report.CheckVersion(data); err != nil {
		return nil, err
	}
	return nil, audit.UnknownName("report: field kind", name, names)
}

// Reworded is a report with the words that its numbers make, whatever its own are.
func Reworded(r report.View) report.View { return of(r).Reworded(r) }

// Plain is a report without words that nobody has checked, see [Kind].
func Plain(r report.View) report.View { return of(r).Plain(r) }

// PlanOf is the plan of a report.
func PlanOf(r report.View) any { return of(r).Plan(r) }

// Trainer is the program that trains for the audit of a plan; nil where none does.
func Trainer(plan any) *source.Trainer {
	switch p := plan.(type) {
	case canary.Plan:
		return p.Trainer
	case onerun.Plan:
		return p.Trainer
	}
	return nil
}

// WithRepeats is the plan of an audit for which a program trains, with what asking it twice
// gave.
func WithRepeats(plan any, r source.Repeats) any {
	t := *Trainer(plan)
	t.Repeats = r
	switch p := plan.(type) {
	case canary.Plan:
		p.Trainer = &t
		return p
	case onerun.Plan:
		p.Trainer = &t
		return p
	}
	return plan
}

// FirstTraining is what the program that trains for the audit of a plan is asked first: who
// is a member, and the seed.
func FirstTraining(plan any, g Given) (members []bool, seed uint64, err error) {
	switch p := plan.(type) {
	case canary.Plan:
		a, err := p.Resolve(g.Sources, g.File)
		if err != nil {
			return nil, 0, err
		}
		return a.FirstTraining()
	case onerun.Plan:
		a, err := p.Resolve(g.Sources, g.File)
		if err != nil {
			return nil, 0, err
		}
		return a.FirstTraining()
	}
	return nil, 0, fmt.Errorf("core: a plan of type %T without trainings", plan)
}

// Verify replays a report of any kind.
func Verify(ctx context.Context, r report.View, g Given) (engine.Verification, error) {
	return of(r).Verify(ctx, r, g)
}

// Resolve checks a plan of any kind and fills in its defaults.
func Resolve(plan any, g Given) (any, error) { return kindOf(plan).Resolve(plan, g) }

// Run does the audit of a plan of any kind, see [Kind].
func Run(ctx context.Context, plan any, g Given) (report.View, error) {
	return kindOf(plan).Run(ctx, plan, g)
}
