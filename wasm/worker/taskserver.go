package main

import (
	"context"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
)

// sliceTime is how long a task works before it lets messages in, as a cancel.
const sliceTime = 16 * time.Millisecond

// taskServer executes a port's tasks. Each comes after the last one's result.
type taskServer struct {
	cat    audit.Catalogue
	pause  func() // lets messages in that have arrived, and returns soon
	port   port
	id     int // of the last task
	cancel context.CancelFunc
}

// serveTasks is the role of a task worker. Tasks run in goroutines.
func serveTasks(cat audit.Catalogue, page port, number int, pause func()) {
	page.listen(func(m message) {
		if m.Type == msgServe && m.Port != nil {
			s := &taskServer{cat: cat, pause: pause, port: m.Port}
			s.port.listen(s.handle)
		}
	})
	page.post(message{Type: msgReady, Worker: number})
}

func (s *taskServer) handle(m message) {
	switch m.Type {
	case msgTask:
		ctx, cancel := context.WithCancel(context.Background())
		s.id, s.cancel = m.ID, cancel
		go func() {
			defer cancel()
			s.port.post(replyTo(m, msgDone, msgFailed, "a task", func() (any, error) { return s.execute(ctx, m) }))
		}()
	case msgCancel:
		if m.ID == s.id && s.cancel != nil {
			s.cancel()
		}
	}
}

func (s *taskServer) execute(ctx context.Context, m message) (any, error) {
	t, err := core.Env{Catalogue: s.cat}.Codecs().Task([]byte(m.JSON))
	if err != nil {
		return nil, err
	}
	return pausing{s.pause}.Execute(ctx, t, func(rows int) { s.port.post(message{Type: msgRows, ID: m.ID, Rows: rows}) },
		func(part any) { s.port.post(message{Type: msgPart, ID: m.ID, JSON: mustJSON(part)}) })
}

// pausing executes tasks here, and lets messages in meanwhile.
type pausing struct{ pause func() }

// Execute tells progress with no rows too, a sign of life.
func (w pausing) Execute(ctx context.Context, t engine.Task, progress func(rows int), part func(any)) (any, error) {
	fresh, last := 0, time.Now()
	res, err := engine.Execute(t, func(rows int) error {
		fresh += rows
		if time.Since(last) >= sliceTime {
			progress(fresh)
			fresh = 0
			w.pause()
			last = time.Now()
		}
		return ctx.Err()
	}, part)
	if err == nil && fresh > 0 {
		progress(fresh)
	}
	return res, err
}
