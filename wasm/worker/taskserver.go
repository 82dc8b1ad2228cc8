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

// serveTasks is the role of a task worker. A task comes after the last one's result, and runs in a goroutine.
func serveTasks(cat audit.Catalogue, page port, number int, pause func()) {
	page.listen(func(m message) {
		if m.Type != msgServe || m.Port == nil {
			return
		}
		port, id, cancel := m.Port, 0, func() {}
		port.listen(func(m message) {
			switch m.Type {
			case msgTask:
				ctx, end := context.WithCancel(context.Background())
				id, cancel = m.ID, end
				go func() {
					defer end()
					port.post(replyTo(m, msgDone, msgFailed, "a task", func() (any, error) {
						t, err := core.Env{Catalogue: cat}.Codecs().Task([]byte(m.JSON))
						if err != nil {
							return nil, err
						}
						return pausing{pause}.Execute(ctx, t, func(rows int) { port.post(message{Type: msgRows, ID: m.ID, Rows: rows}) },
							func(part any) { port.post(message{Type: msgPart, ID: m.ID, JSON: mustJSON(part)}) })
					}))
				}()
			case msgCancel:
				if m.ID == id {
					cancel()
				}
			}
		})
	})
	page.post(message{Type: msgReady, Worker: number})
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
