package core

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/report"
)

// typed is an audit of a kind with progress T, findings F and reports R.
type typed[T, F any, R report.View, W report.Pointer[R]] struct {
	report.Audit[T, F, R]
	plan any
	cost Cost
	tell func(Env) func(T) // nil: it tells nothing
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
	on, tell := a.on(g)
	return report.Do[T, F, R, W](ctx, a.Audit, on, tell, g.Generator)
}

func (a typed[T, F, R, W]) on(g Env) (on *engine.Runner, tell func(T)) {
	if a.tell != nil {
		tell = a.tell(g)
	}
	return &engine.Runner{Pool: g.Pool, Now: g.Now}, tell
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
	on, tell := a.on(g)
	f, err := s.Search(ctx, on, tell)
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
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
		on, tell := a.on(g)
		drawn, err := s.Draw(ctx, on, tell, f, first, end)
		if err != nil {
			return nil, err
		}
		return json.Marshal(drawn)
	}
	out.Merge = func(g Env, parts iter.Seq2[report.Part, error]) (report.View, error) {
		on, _ := a.on(g)
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
