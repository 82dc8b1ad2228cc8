package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
)

// coordinator answers the page. Its tasks go to the crew, so that it can hear a stop. That of the user's
// samples has no crew and works by itself.
type coordinator struct {
	cat       audit.Catalogue
	page      port
	workers   *workerPool
	own       *sampleStore // nil where there is a crew
	worker    engine.Worker
	pool      func(engine.Worker) *engine.Pool // the worker in as many places as it can work at once
	known     func() audit.Catalogue
	generator audit.Generator
	now       func() float64 // seconds

	last      atomic.Pointer[answeredReport]
	trainings trainings
	traced    atomic.Int64 // id of the last trace that was asked for

	mu     sync.Mutex
	active int // id of the request under way that needs the crew, 0 for none
	cancel context.CancelFunc
}

// coordinate is the role of the coordinator, or of samples if it has a pause, which lets messages in.
func coordinate(cat audit.Catalogue, page port, generator audit.Generator, hang time.Duration, pause func()) {
	start := time.Now()
	c := &coordinator{cat: cat, page: page, generator: generator,
		now: func() float64 { return time.Since(start).Seconds() }}
	c.workers = newWorkerPool(cmp.Or(max(0, hang), hangAfter), func(number int, reason string) {
		page.post(message{Type: msgReplace, Worker: number, Reason: reason})
	})
	c.worker, c.pool, c.known = c.workers, c.workers.pool, func() audit.Catalogue { return cat }
	if pause != nil {
		c.own = &sampleStore{c: c, pause: pause}
		c.own.held.Store(&heldFiles{})
		c.worker, c.known = pausing{pause}, c.own.catalogue
		c.pool = func(w engine.Worker) *engine.Pool { return engine.NewPool(w) }
	}
	page.listen(c.handle)
	page.post(message{Type: msgReady, JSON: mustJSON(ready{generator.Version, generator.Go})})
}

func (c *coordinator) handle(m message) {
	switch m.Type {
	case msgAttach:
		if m.Port != nil {
			c.workers.attach(m.Worker, m.Port)
		}
	case msgDetach:
		c.workers.detach(m.Worker)
	case msgLost:
		c.workers.lose(m.Worker, m.Reason)
	case msgStop:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.active == m.ID && c.cancel != nil {
			c.cancel()
		}
	default:
		switch i := slices.IndexFunc(calls, func(x call) bool { return x.name == m.Type }); {
		case i < 0:
			c.refuse(m, fmt.Errorf("no such request: %q", m.Type))
		case calls[i].tells != nil:
			c.begin(m, calls[i].does)
		default:
			go c.answer(context.Background(), m, calls[i].does)
		}
	}
}
