package main

import (
	"context"
	"sync"

	"github.com/dpscope/dpscope/core"
)

// progressEvery is the time between two progress messages, in seconds.
const progressEvery = 0.1

// throttle passes progress on, ten times a second at most, but never holds
// back the start of a phase or the news of a lost worker.
type throttle struct {
	now  func() float64
	pass func(core.Progress)
	last core.Progress
	at   float64
}

func newThrottle(now func() float64, pass func(core.Progress)) *throttle {
	return &throttle{now: now, pass: pass, at: -progressEvery}
}

func (t *throttle) tell(p core.Progress) {
	at := t.now()
	news := p.Phase != t.last.Phase || p.Message != "" && p.Message != t.last.Message
	if !news && at-t.at < progressEvery {
		return
	}
	t.last, t.at = p, at
	t.pass(p)
}

// watched is a worker whose outputs are counted, for a replay, which tells no
// progress of its own.
type watched struct {
	core.Worker
	tell *throttle

	mu       sync.Mutex
	progress core.Progress
}

// Execute implements [core.Worker].
func (w *watched) Execute(ctx context.Context, t core.Task, progress func(rows int)) (core.Result, error) {
	return w.Worker.Execute(ctx, t, func(rows int) {
		progress(rows)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.progress.Rows = min(w.progress.Rows+rows, w.progress.Total)
		w.tell.tell(w.progress)
	})
}
