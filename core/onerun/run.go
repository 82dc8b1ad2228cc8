package onerun

import (
	"context"
	"fmt"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/audit/stream"
	"github.com/dpscope/dpscope/audit/stream/ranks"
	"github.com/dpscope/dpscope/core/canary/source"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/membership"
	"github.com/dpscope/dpscope/core/report"
)

// Task is the one run of an audit. It returns a [Evidence].
type Task struct {
	Plan Plan   `json:"plan"`           // resolved
	Data []byte `json:"data,omitempty"` // the user's file
}

// Kind and Name implement [engine.Task].
func (Task) Kind() string { return "one-run/draw" }

func (t Task) Name() string { return "the run of source " + t.Plan.Source }

// Executors execute the tasks of audits in one run.
func Executors(sources []source.Spec) engine.Executors {
	return engine.Executors{engine.NewExecutor(func(t Task, hook engine.Hook) (*Evidence, error) { return t.execute(sources, hook) })}
}

// LocalPool is a pool of n goroutines for audits in one run.
func LocalPool(sources []source.Spec, n int) *engine.Pool {
	return engine.LocalPool(Executors(sources), n)
}

// stream is that of the run.
func (a *Audit) stream() *stream.Stream {
	return stream.New(stream.Key{Seed: a.Plan.Seed, Purpose: "canary/one-run", Trial: a.Plan.Canaries})
}

// FirstTraining is the request for the one training of an audit of a trainer's: who is a
// member, and the seed.
func (a *Audit) FirstTraining() (members []bool, seed uint64, err error) {
	return source.FirstTraining(func(s source.Spec) error {
		src, err := s.OneRun.New(a.Setup)
		if err == nil {
			_, err = src.OneRun(a.stream(), make([]float64, a.Plan.Canaries), make([]bool, a.Plan.Canaries))
		}
		return err
	})
}

// execute runs the source once. The streams are those of a shard.
func (t Task) execute(sources []source.Spec, hook engine.Hook) (*Evidence, error) {
	a, err := t.Plan.Resolve(sources, t.Data)
	if err != nil {
		return nil, err
	}
	m := a.Plan.Canaries
	if a.Spec.OneRun.New == nil {
		return nil, a.Plan.Trainer.Undrawn()
	}
	src, err := a.Spec.OneRun.New(a.Setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	if x, ok := src.(source.Interruptible); ok && hook != nil {
		x.InterruptedBy(func() error { return hook(0) })
	}
	scores, member := make([]float64, m), make([]bool, m)
	diverged, err := src.OneRun(a.stream(), scores, member)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	one := &Evidence{Diverged: source.Useless(scores) || diverged}
	in, out := membership.Split(scores, member)
	one.In = len(in)
	one.Guessed = a.Plan.guessing().Made(ranks.Rank(scores).Load(0), member)
	if one.In > 0 && one.In < m {
		one.Membership = membership.Count(in, out, a.Plan.Beta)
	}
	if hook != nil {
		err = hook(1)
	}
	return one, err
}

// Run is one such audit to be done.
type Run struct {
	Plan      Plan
	File      []byte // the user's, nil if there is none
	Sources   []source.Spec
	Pool      *engine.Pool
	Generator audit.Generator
	Now       func() float64 // seconds of a clock; nil: no timing
}

// Do runs the audit. When ctx ends first the report has no bound and the verdict
// is inconclusive.
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Sources, r.File)
	if err != nil {
		return Report{}, err
	}
	now := func() float64 {
		if r.Now == nil {
			return 0
		}
		return r.Now()
	}
	start := now()
	var ev *Evidence
	var warnings []string
	drawn, err := engine.Do(ctx, r.Pool, []Task{{Plan: a.Plan, Data: r.File}}, engine.Events[Evidence]{
		Lost: func(_ int, err error) { warnings = append(warnings, engine.LostWorker+err.Error()) },
	})
	if err == nil {
		if err = drawn[0].check(a.Plan); err == nil {
			ev = drawn[0]
		}
	}
	end, err := report.Ended(ctx, err)
	made := Conclude(a, ev, end, warnings)
	took := now() - start
	made.Generator, made.Timing = r.Generator, audit.Timing{Certify: took, Total: took, Workers: r.Pool.Size()}
	return made, err
}
