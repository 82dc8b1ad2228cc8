package onerun

import (
	"context"
	"fmt"
	"iter"

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

	audit *Audit // of the plan
}

// Kind and Name implement [engine.Task].
func (Task) Kind() string { return "one-run/draw" }

func (t Task) Name() string { return "the run of source " + t.Plan.Source }

// Codecs read the tasks of audits in one run.
func Codecs(sources []source.Spec) engine.Codecs {
	return engine.Codecs{engine.NewCodec[Task, Evidence](func(t *Task) (err error) {
		t.audit, err = t.Plan.Resolve(sources, t.Data)
		return err
	})}
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

// Run implements [engine.Task]: it runs the source once. The streams are those of a shard.
func (t Task) Run(hook engine.Hook, _ func(any)) (any, error) {
	a := t.audit
	m := a.Plan.Canaries
	if a.Spec.OneRun.New == nil {
		return nil, a.Plan.Trainer.Undrawn()
	}
	src, err := a.Spec.OneRun.New(a.Setup)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", a.Spec.Name, err)
	}
	if x, ok := src.(source.Interruptible); ok {
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
	return one, hook(1)
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

// Do runs the audit, see [report.Do].
func (r Run) Do(ctx context.Context) (Report, error) {
	a, err := r.Plan.Resolve(r.Sources, r.File)
	if err != nil {
		return Report{}, err
	}
	return report.Do(ctx, a, &engine.Runner{Pool: r.Pool, Now: r.Now}, nil, r.Generator)
}

// Run implements [report.Audit].
func (a *Audit) Run(ctx context.Context, on *engine.Runner, _ func(struct{})) (*Evidence, audit.Termination, error) {
	ev, err := a.draw(ctx, on)
	end, err := report.Ended(ctx, err)
	return ev, end, err
}

func (a *Audit) draw(ctx context.Context, on *engine.Runner) (ev *Evidence, err error) {
	err = on.Timed(&on.Timing.Certify, func() error {
		drawn, err := engine.Do(ctx, on.Pool, []Task{{Plan: a.Plan, Data: a.file, audit: a}}, engine.Events[Evidence]{
			Lost: func(_ int, err error) { on.Warnings = append(on.Warnings, engine.LostWorker+err.Error()) },
		})
		if err == nil {
			if err = drawn[0].check(a.Plan); err == nil {
				ev = drawn[0]
			}
		}
		return err
	})
	return ev, err
}

// Search implements [report.Shared]: it does the one run.
func (a *Audit) Search(ctx context.Context, on *engine.Runner, _ func(struct{})) (*Evidence, error) {
	return a.draw(ctx, on)
}

// Pieces implements [report.Shared]: there are none.
func (a *Audit) Pieces(ev *Evidence) (int, error) {
	if ev == nil {
		return 0, &audit.InputError{Field: "search", Found: "without a run", Want: "the run"}
	}
	return 0, ev.check(a.Plan)
}

// Draw implements [report.Shared].
func (a *Audit) Draw(context.Context, *engine.Runner, func(struct{}), *Evidence, int, int) (any, error) {
	return nil, nil
}

// Join implements [report.Shared].
func (a *Audit) Join(ev *Evidence, _ iter.Seq2[report.Part, error]) (*Evidence, audit.Termination, error) {
	return ev, audit.Termination{Reason: audit.Completed}, nil
}
