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

// coordinator answers the page. Its tasks go to the crew, so that it is always free to hear a
// stop. That of the user's samples has no crew and works by itself.
type coordinator struct {
	cat       audit.Catalogue
	page      port
	workers   *workerPool
	own       *sampleStore // nil where there is a crew
	generator audit.Generator
	now       func() float64 // seconds

	drawn  pictured
	traced atomic.Int64 // id of the last trace that was asked for

	mu     sync.Mutex
	active int // id of the request under way that needs the crew, 0 for none
	cancel context.CancelFunc
}

func (c *coordinator) known() audit.Catalogue {
	if c.own != nil {
		return c.own.catalogue()
	}
	return c.cat
}

func (c *coordinator) worker() engine.Worker {
	if c.own != nil {
		return pausing{c.own.pause}
	}
	return c.workers
}

// pool is the worker in as many places as it can work at once.
func (c *coordinator) pool(w engine.Worker) *engine.Pool {
	if c.own != nil {
		return engine.NewPool(w)
	}
	return c.workers.pool(w)
}

// options is what the page says when it starts a coordinator.
type options struct {
	CoreSHA256 string
	HangAfter  time.Duration // 0: the default
	// Pause makes it the role of samples. It lets messages in that have arrived, and returns soon.
	Pause func()
}

// coordinate is the role of the coordinator. It returns at once: requests run in goroutines.
func coordinate(cat audit.Catalogue, page port, generator audit.Generator, set options) {
	generator.CoreSHA256 = set.CoreSHA256
	start := time.Now()
	c := &coordinator{cat: cat, page: page, generator: generator,
		now: func() float64 { return time.Since(start).Seconds() }}
	c.workers = newWorkerPool(cmp.Or(max(0, set.HangAfter), hangAfter), func(number int, reason string) {
		page.post(message{Type: msgReplace, Worker: number, Reason: reason})
	})
	if set.Pause != nil {
		c.own = &sampleStore{c: c, pause: set.Pause}
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
			go c.answer(context.Background(), m, refusing(fmt.Errorf("no such request: %q", m.Type)))
		case calls[i].needs:
			c.begin(m, calls[i].does)
		default:
			go c.answer(context.Background(), m, calls[i].does)
		}
	}
}
