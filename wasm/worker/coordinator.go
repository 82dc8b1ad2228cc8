package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/pair"
)

// coordinator answers the page: it runs the engine, whose tasks go to the
// crew. It draws nothing and learns nothing itself, so that it is always free
// to hear a stop. That of the user's samples has no crew and works by itself.
type coordinator struct {
	cat       audit.Catalogue
	page      port
	crew      *crew
	own       desk // nil where there is a crew
	generator audit.Generator
	now       func() float64 // seconds

	drawn pictured

	mu     sync.Mutex
	active int // id of the request under way that needs the crew, 0 for none
	cancel context.CancelFunc
}

// desk is where the user's samples are.
type desk interface {
	// inspect reads files and says what is in them.
	inspect(ctx context.Context, m message) (message, error)
	// catalogue is what is known, the samples included.
	catalogue() audit.Catalogue
	// replay is the catalogue to replay a report with, for the request of that id:
	// the files that are here, read as the report says.
	replay(ctx context.Context, id int, r pair.Report) (audit.Catalogue, error)
	// worker executes tasks here.
	worker() engine.Worker
}

// known is what the coordinator can audit now.
func (c *coordinator) known() audit.Catalogue {
	if c.own != nil {
		return c.own.catalogue()
	}
	return c.cat
}

// worker is where tasks go.
func (c *coordinator) worker() engine.Worker {
	if c.own != nil {
		return c.own.worker()
	}
	return c.crew
}

// pool is the worker in as many places as it can work at once.
func (c *coordinator) pool(w engine.Worker) *engine.Pool {
	if c.own != nil {
		return engine.NewPool(w)
	}
	return c.crew.pool(w)
}

// settings is what the page says when it starts a coordinator.
type settings struct {
	CoreSHA256 string
	HangAfter  time.Duration // 0: the default
}

// coordinate is the role of the coordinator. It returns at once; requests are
// answered in goroutines of their own.
func coordinate(cat audit.Catalogue, page port, generator audit.Generator, set settings) {
	coordinateWith(nil, cat, page, generator, set)
}

func coordinateWith(own func(*coordinator) desk, cat audit.Catalogue, page port, generator audit.Generator, set settings) {
	generator.CoreSHA256 = set.CoreSHA256
	if set.HangAfter <= 0 {
		set.HangAfter = hangAfter
	}
	start := time.Now()
	c := &coordinator{cat: cat, page: page, generator: generator,
		now: func() float64 { return time.Since(start).Seconds() }}
	c.crew = newCrew(set.HangAfter, func(number int, reason string) {
		page.post(message{Type: msgReplace, Worker: number, Reason: reason})
	})
	if own != nil {
		c.own = own(c)
	}
	page.listen(c.handle)
	page.post(message{Type: msgReady, JSON: mustJSON(ready{generator.Version, generator.Go})})
}

func (c *coordinator) handle(m message) {
	switch m.Type {
	case msgAttach:
		if m.Port != nil {
			c.crew.attach(m.Worker, m.Port)
		}
	case msgDetach:
		c.crew.detach(m.Worker)
	case msgLost:
		c.crew.lose(m.Worker, m.Reason)
	case msgStop:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.active == m.ID && c.cancel != nil {
			c.cancel()
		}
	case msgCheck:
		go c.answer(m, c.check)
	case msgOpen:
		go c.answer(m, c.open)
	case msgGlance:
		go c.answer(m, c.glance)
	case msgLook:
		go c.answer(m, look)
	case msgPicture:
		go c.answer(m, c.picture)
	case msgAccount:
		go c.answer(m, accounted)
	case msgRun:
		c.begin(m, c.run)
	case msgVerify:
		c.begin(m, c.verify)
	case msgCalibrate:
		c.begin(m, c.calibrate)
	case msgCanaries:
		c.begin(m, c.canaries)
	case msgSamples:
		if c.own != nil {
			c.begin(m, c.own.inspect)
			return
		}
		fallthrough
	default:
		go c.answer(m, func(message) (message, error) {
			return message{}, fmt.Errorf("no such request: %q", m.Type)
		})
	}
}

// answer posts exactly one answer to a request, whatever happens.
func (c *coordinator) answer(m message, do func(message) (message, error)) {
	out, err := guard(m, do)
	if err != nil {
		out = message{Type: msgRefused, JSON: mustJSON(refusalOf(err))}
	}
	out.ID = m.ID
	c.page.post(out)
}

// guard turns a panic into an error.
func guard(m message, do func(message) (message, error)) (out message, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error in %q: %v", m.Type, p)
		}
	}()
	return do(m)
}

var errBusy = errors.New("a run is under way; stop it first")

// begin answers a request that needs the crew, which serves one at a time.
func (c *coordinator) begin(m message, do func(context.Context, message) (message, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		go c.answer(m, func(message) (message, error) { return message{}, errBusy })
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.active, c.cancel = m.ID, cancel
	go c.answer(m, func(m message) (message, error) {
		defer func() {
			cancel()
			c.mu.Lock()
			c.active, c.cancel = 0, nil
			c.mu.Unlock()
		}()
		return do(ctx, m)
	})
}
