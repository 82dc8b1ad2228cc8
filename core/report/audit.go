package report

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

// Audit is a plan that was checked, with its defaults. P is what its run tells while it works, F is
// what it finds: all that its report R follows from, besides the plan and why the run ended.
type Audit[P, F, R any] interface {
	// Run draws, and says what it found, if it was stopped or failed all that there is. tell may be nil,
	// and is called one at a time. The outcome does not depend on the pool.
	Run(ctx context.Context, on *engine.Runner, tell func(P)) (F, audit.Termination, error)
	Conclude(found F, end audit.Termination) (R, error) // a function of its arguments
	// Replay refuses a report that no run makes. Without whole, nothing is drawn. v has what it skips.
	Replay(v *engine.Verification, r R, whole bool) (Replay[F], error)
}

// Replay is how a report is replayed.
type Replay[F any] struct {
	// Draw draws what the report holds, and no more; nil: the report's evidence is taken.
	Draw     func(ctx context.Context, on *engine.Runner) (F, error)
	Found    F        // that is taken
	Taken    []string // fields that are the report's own word
	Warnings []string // of the report, that nothing follows from
}

// Shared is an audit whose certification several machines share. What they found goes through JSON.
type Shared[P, F any] interface {
	// Search does all that is not shared.
	Search(ctx context.Context, on *engine.Runner, tell func(P)) (F, error)
	Pieces(found F) (int, error) // how many there are to draw. It refuses what no search of the audit finds.
	// Draw draws the pieces in [first, end).
	Draw(ctx context.Context, on *engine.Runner, tell func(P), found F, first, end int) (any, error)
	// Join is all that was found, with what all pieces came to.
	Join(found F, parts iter.Seq2[Part, error]) (F, audit.Termination, error)
}

// Part is what the pieces in [First, End) came to. Parts come in order, without gaps.
type Part struct {
	First, End int
	Result     json.RawMessage // of [Shared.Draw]
}

// Pointer is a pointer to a report of type R, see [Replayed].
type Pointer[R any] interface {
	*R
	Replayed
}

// Do runs an audit. When ctx ends first, or the run fails, the report is of what there is.
func Do[P, F, R any, W Pointer[R]](ctx context.Context, a Audit[P, F, R], on *engine.Runner, tell func(P), g audit.Generator) (R, error) {
	start := on.Clock()
	found, end, err := a.Run(ctx, on, tell)
	on.Timing.Total, on.Timing.Workers = on.Clock()-start, on.Pool.Size()
	r, wrong := a.Conclude(found, end)
	h := W(&r).Common()
	h.Generator, h.Timing, h.Warnings = g, on.Timing, append(h.Warnings, on.Warnings...)
	return r, audit.First(err, wrong)
}

// Different ends a replay at a difference that leaves nothing else to compare.
type Different struct{ What, How string }

// Error implements the error interface.
func (d *Different) Error() string { return d.What + ": " + d.How }

// Verify replays a report of an audit. With whole it draws again what can be drawn; all other
// evidence is taken from the report, which must be what follows.
func Verify[P, F, R any, W Pointer[R]](ctx context.Context, a Audit[P, F, R], on *engine.Runner, r R, whole bool) (v engine.Verification, err error) {
	replay, err := a.Replay(&v, r, whole)
	if err != nil {
		return v, err
	}
	found, taken := replay.Found, replay.Taken
	if replay.Draw != nil {
		found, err = replay.Draw(ctx, on)
		err = audit.First(err, ctx.Err())
	}
	if d := new(Different); errors.As(err, &d) {
		v.Summary = "The replay came to no verdict."
		v.Same(false, d.What, "%s", d.How)
		return v, nil
	}
	if err != nil {
		return v, err
	}
	own := W(&r).Common().Termination
	end := audit.Termination{Reason: own.Reason, Message: EndMessages[own.Reason]}
	if end.Reason == audit.Failed {
		end.Message, taken = own.Message, append(taken, "termination.message")
		v.Skip("only the report says why a run failed", "termination.message")
	}
	want, err := a.Conclude(found, end)
	if err != nil {
		return v, err
	}
	h := W(&want).Common()
	h.Warnings = append(append(h.Warnings, replay.Warnings...), on.Warnings...)
	Compare(&v, W(&r), W(&want), taken...)
	if end.Reason == audit.Failed {
		v.Summary = "Invalid: the run failed." // for a reason that is the report's own word
	}
	return v, nil
}
