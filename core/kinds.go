// Package core joins the kinds of audits: what resolves, runs and replays an audit of any.
package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/canary"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
	"github.com/dpscope/dpscope/core/report"
	"github.com/dpscope/dpscope/core/scores"
	"github.com/dpscope/dpscope/mechanisms/source"
)

// Env is what an audit or a replay can need besides its plan or report.
type Env struct {
	Catalogue audit.Catalogue // what is known, the user's own among it
	Sources   []source.Spec   // of canaries; nil: all
	Pool      *engine.Pool
	File      []byte         // of an audit with canaries; nil: it has none
	Scores    *scores.Scores // of an audit of scores; of a replay nil: bounds are computed from the report's counts
	Continue  *canary.Parent // that an audit with canaries goes on from; nil: it begins

	Generator audit.Generator
	Now       func() float64        // seconds of a clock; nil: no timing
	Pair      func(pair.Progress)   // of audits of pairs, may be nil
	Canaries  func(canary.Progress) // of audits with canaries, may be nil
}

func (g Env) runner() *engine.Runner { return &engine.Runner{Pool: g.Pool, Now: g.Now} }

func (g Env) sources() []source.Spec {
	if g.Sources == nil {
		return source.Sources()
	}
	return g.Sources
}

// Codecs read the tasks of every kind of audit.
func (g Env) Codecs() engine.Codecs {
	return append(pair.Codecs(g.Catalogue), canary.Codecs(g.sources())...)
}

// Audit is an audit of any kind: a plan that was checked, with its defaults.
type Audit interface {
	Plan() any        // of the kind's own type
	Cost() Cost       // of drawing it; none where it draws nothing
	TooSmall() string // says that no outcome refutes the claim; empty where one may
	// FirstTraining is what the program that trains is asked first: who is a member, and the seed.
	FirstTraining() (members []bool, seed uint64, err error)
	Run(ctx context.Context, g Env) (report.View, error) // see [report.Do]

	// Search does what machines that share the audit do not divide, see [report.Shared].
	Search(ctx context.Context, g Env) (found json.RawMessage, err error)
	Shared(found json.RawMessage) (Shared, error) // the audit after a search that found this
}

// Shared is an audit that machines share.
type Shared struct {
	Pieces int
	Draw   func(ctx context.Context, g Env, first, end int) (json.RawMessage, error)
	Merge  func(g Env, parts iter.Seq2[report.Part, error]) (report.View, error)
}

// Kind is one kind of audit, as all that serves every kind sees it.
type Kind struct {
	Name      string // of its reports
	Parse     func(data []byte) (report.View, error)
	ParsePlan func(data []byte) (any, error)

	reworded func(r report.View, plain bool) report.View
	plan     func(report.View) any
	owns     func(plan any) bool
	resolve  func(plan any, g Env) (Audit, error)
	verify   func(ctx context.Context, r report.View, g Env, whole bool) (engine.Verification, error)
}

// Kinds are all kinds of audits.
func Kinds() []Kind {
	return []Kind{
		kind(report.Pair, pair.ParseReport, pair.ParsePlan, func(r pair.Report) pair.Plan { return r.Plan },
			func(p pair.Plan, g Env) (Audit, error) {
				a, err := p.Resolve(g.Catalogue)
				if err != nil {
					return nil, err
				}
				outputs, bytes := a.Cost()
				return audited(a, a.Plan, Cost{outputs, bytes}, func(g Env) func(pair.Progress) { return g.Pair }), nil
			},
			func(ctx context.Context, r pair.Report, g Env, whole bool) (engine.Verification, error) {
				return pair.Verify(ctx, g.Catalogue, g.Pool, r, whole)
			}),
		kind(canary.Kind, canary.ParseReport, canary.ParsePlan, func(r canary.Report) canary.Plan { return r.Plan },
			func(p canary.Plan, g Env) (Audit, error) {
				a, err := p.Resume(g.sources(), g.File, g.Continue)
				if err != nil {
					return nil, err
				}
				p = a.Plan
				size := p.K + p.M
				cost := Cost{(p.Runs + p.Explore) * size, 8 * max(1, p.Explore) * size}
				return audited(a, p, cost, func(g Env) func(canary.Progress) { return g.Canaries }), nil
			},
			func(ctx context.Context, r canary.Report, g Env, whole bool) (v engine.Verification, err error) {
				a, err := r.Plan.Resolve(g.sources(), g.File)
				if err != nil {
					return v, err
				}
				return report.Verify(ctx, a, &engine.Runner{Pool: g.Pool}, r, whole)
			}),
		kind(scores.Kind, scores.ParseReport, scores.ParsePlan, func(r scores.Report) scores.Plan { return r.Plan },
			func(p scores.Plan, g Env) (Audit, error) {
				a, err := p.Resolve(g.Scores)
				if err != nil {
					return nil, err
				}
				return audited(a, a.Plan, Cost{}, func(Env) func(struct{}) { return nil }), nil
			},
			func(_ context.Context, r scores.Report, g Env, _ bool) (engine.Verification, error) {
				return scores.Verify(r, g.Scores)
			}),
	}
}

// kind has plans of type P and reports of type R.
func kind[P any, R report.View, W report.Pointer[R]](name string, parse func([]byte) (R, error), parsePlan func([]byte) (P, error), plan func(R) P,
	resolve func(P, Env) (Audit, error), verify func(context.Context, R, Env, bool) (engine.Verification, error)) Kind {
	return Kind{
		Name:      name,
		Parse:     func(data []byte) (report.View, error) { return parse(data) },
		ParsePlan: func(data []byte) (any, error) { return parsePlan(data) },
		reworded: func(v report.View, plain bool) report.View {
			r := v.(R)
			W(&r).Reword()
			if h := W(&r).Common(); plain {
				h.Reproduce, h.Limitations, h.References = audit.Reproduce{}, []string{}, []string{}
			}
			return r
		},
		plan: func(v report.View) any { return plan(v.(R)) },
		owns: func(plan any) (own bool) {
			_, own = plan.(P)
			return own
		},
		resolve: func(plan any, g Env) (Audit, error) { return resolve(plan.(P), g) },
		verify: func(ctx context.Context, v report.View, g Env, whole bool) (engine.Verification, error) {
			return verify(ctx, v.(R), g, whole)
		},
	}
}

func find(what any, is func(Kind) bool) Kind {
	all := Kinds()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		panic(fmt.Sprintf("core: %T is of no known kind", what))
	}
	return all[i]
}

func of(r report.View) Kind { return find(r, func(k Kind) bool { return k.Name == r.Head().Kind }) }

// KindOf is the kind of a plan.
func KindOf(plan any) Kind { return find(plan, func(k Kind) bool { return k.owns(plan) }) }

// ParseReport reads a report of any kind.
func ParseReport(data []byte) (report.View, error) {
	name := cmp.Or(report.KindOf(data), report.Pair) // whose parser says what it is instead of a report
	k, err := audit.Find("report: field kind", name, Kinds(), func(k Kind) string { return k.Name })
	if err == nil {
		return k.Parse(data)
	}
	return nil, cmp.Or(report.CheckVersion(data), err)
}

// Reworded is a report with the words that its numbers make, whatever its own are.
func Reworded(r report.View) report.View { return of(r).reworded(r, false) }

// Plain is a report without words that a replay does not make again. Headline and summary it makes.
func Plain(r report.View) report.View { return of(r).reworded(r, true) }

// PlanOf is the plan of a report.
func PlanOf(r report.View) any { return of(r).plan(r) }

// Trainer is the program that trains for the audit of a plan; nil where none does.
func Trainer(plan any) *source.Trainer {
	if p, ok := plan.(canary.Plan); ok {
		return p.Trainer
	}
	return nil
}

// Resolve checks a plan of any kind and fills in its defaults.
func Resolve(plan any, g Env) (Audit, error) { return KindOf(plan).resolve(plan, g) }

// Verify replays a report of any kind, see [report.Verify]. Without whole, it needs nothing of the
// user's, or refuses with an [audit.InputError].
func Verify(ctx context.Context, r report.View, g Env, whole bool) (engine.Verification, error) {
	return of(r).verify(ctx, r, g, whole)
}

type typed[T, F any, R report.View, W report.Pointer[R]] struct {
	report.Audit[T, F, R]
	plan any
	cost Cost
	tell func(Env) func(T)
}

func audited[T, F any, R report.View, W report.Pointer[R]](a report.Audit[T, F, R], plan any, cost Cost, tell func(Env) func(T)) Audit {
	return typed[T, F, R, W]{a, plan, cost, tell}
}

func (a typed[T, F, R, W]) Plan() any  { return a.plan }
func (a typed[T, F, R, W]) Cost() Cost { return a.cost }

func (a typed[T, F, R, W]) TooSmall() string {
	if t, ok := any(a.Audit).(interface{ TooSmall() string }); ok {
		return t.TooSmall()
	}
	return ""
}

func (a typed[T, F, R, W]) FirstTraining() (members []bool, seed uint64, err error) {
	if t, ok := any(a.Audit).(interface {
		FirstTraining() ([]bool, uint64, error)
	}); ok {
		return t.FirstTraining()
	}
	return nil, 0, fmt.Errorf("core: a plan of type %T without trainings", a.plan)
}

func (a typed[T, F, R, W]) Run(ctx context.Context, g Env) (report.View, error) {
	return report.Do[T, F, R, W](ctx, a.Audit, g.runner(), a.tell(g), g.Generator)
}

func (a typed[T, F, R, W]) shared() (report.Shared[T, F], error) {
	if s, ok := any(a.Audit).(report.Shared[T, F]); ok {
		return s, nil
	}
	return nil, fmt.Errorf("core: a plan of type %T draws nothing that can be shared", a.plan)
}

func (a typed[T, F, R, W]) Search(ctx context.Context, g Env) (json.RawMessage, error) {
	s, err := a.shared()
	if err != nil {
		return nil, err
	}
	return encoded(s.Search(ctx, g.runner(), a.tell(g)))
}

func encoded(found any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

func (a typed[T, F, R, W]) Shared(found json.RawMessage) (out Shared, err error) {
	s, err := a.shared()
	if err != nil {
		return out, err
	}
	var f F
	if err := audit.DecodeStrict(found, "partial: search", &f); err != nil {
		return out, err
	}
	if out.Pieces, err = s.Pieces(f); err != nil {
		return out, err
	}
	out.Draw = func(ctx context.Context, g Env, first, end int) (json.RawMessage, error) {
		return encoded(s.Draw(ctx, g.runner(), a.tell(g), f, first, end))
	}
	out.Merge = func(g Env, parts iter.Seq2[report.Part, error]) (report.View, error) {
		on := g.runner()
		start := on.Clock()
		whole, end, err := s.Join(f, parts)
		if err != nil {
			return nil, err
		}
		r, err := a.Conclude(whole, end)
		h := W(&r).Common()
		h.Generator, h.Timing = g.Generator, audit.Timing{Total: on.Clock() - start, Workers: 1}
		return r, err
	}
	return out, nil
}

// Cost is what drawing an audit takes, at most.
type Cost struct {
	Outputs int // drawn, or scores of canaries
	Bytes   int // of outputs that are held at once
}

// CostOf is the cost of replaying a report; none where what is given does not suffice to draw it.
func CostOf(r report.View, g Env) (cost Cost) {
	if _, recorded := r.(scores.Report); recorded { // nothing is drawn
		return cost
	}
	if a, err := Resolve(PlanOf(r), g); err == nil {
		cost = a.Cost()
	}
	return cost
}

// Within refuses what costs more than most.
func (c Cost) Within(most Cost) error {
	if c.Outputs <= most.Outputs && c.Bytes <= most.Bytes {
		return nil
	}
	words := func(c Cost) string {
		return fmt.Sprintf("%d outputs, of which %d MiB are held at once", c.Outputs, c.Bytes>>20)
	}
	return &audit.InputError{Field: "report: plan", Path: "/plan", Found: "an audit of " + words(c), Want: "at most " + words(most),
		Remedy: "send the report as a file: dpscope verify replays it without this limit"}
}
