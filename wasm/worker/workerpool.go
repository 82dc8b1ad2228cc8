package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
)

// Patience with task workers.
const (
	hangAfter   = 20 * time.Second       // without a sign of life: tasks that compute a bound give none
	cancelAfter = 500 * time.Millisecond // for a cancelled task to end
	attachAfter = 10 * time.Second       // without any live worker
	// hangTicks cut hangAfter: after sleep a machine wakes to one tick, not to a verdict.
	hangTicks = 20
)

// workerPool is the task workers that the page attached: a [engine.Worker] that executes as many tasks at
// once as are alive. A task goes to any that is idle.
type workerPool struct {
	replace   func(number int, reason string) // asks the page for a fresh worker
	hangAfter time.Duration

	mu     sync.Mutex
	change chan struct{} // closed and made anew when an acquire may succeed
	all    []*taskWorker // by number
	lastID int
}

type taskWorker struct {
	number int
	port   port      // nil after a loss
	lost   time.Time // when the port was lost
	job    *job      // nil while idle
}

type job struct {
	id   int
	port port
	mail mailbox
}

func newWorkerPool(hangAfter time.Duration, replace func(int, string)) *workerPool {
	return &workerPool{replace: replace, hangAfter: hangAfter, change: make(chan struct{})}
}

func (c *workerPool) attach(number int, p port) {
	c.lose(number, "another worker took its place")
	c.mu.Lock()
	i, found := slices.BinarySearchFunc(c.all, number, func(s *taskWorker, n int) int { return s.number - n })
	if !found {
		c.all = slices.Insert(c.all, i, &taskWorker{number: number})
	}
	s := c.all[i]
	s.port = p
	c.announce()
	c.mu.Unlock()
	p.listen(func(m message) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.port == p && s.job != nil && s.job.id == m.ID {
			s.job.mail.put(m)
		}
	})
}

func (c *workerPool) detach(number int) {
	c.lose(number, "it was dismissed")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(c.all, func(s *taskWorker) bool { return s.number == number })
}

func (c *workerPool) lose(number int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.all {
		if s.number == number && s.port != nil {
			s.port.close()
			s.port, s.lost = nil, time.Now()
			if s.job != nil {
				s.job.mail.put(message{Type: msgLost, Reason: reason})
				s.job = nil
			}
			c.announce()
		}
	}
}

func (c *workerPool) dismiss(s *taskWorker, j *job, reason string) {
	c.mu.Lock()
	current := s.port == j.port
	c.mu.Unlock()
	if current { // and not a fresh one that took its place meanwhile
		c.lose(s.number, reason)
		c.replace(s.number, reason)
	}
}

func (c *workerPool) announce() {
	close(c.change)
	c.change = make(chan struct{})
}

// pool has a place for each worker that is alive or about to be replaced.
func (c *workerPool) pool(worker engine.Worker) *engine.Pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	places := 0
	for _, s := range c.all {
		if s.port != nil || time.Since(s.lost) < attachAfter {
			places++
		}
	}
	return engine.NewPool(slices.Repeat([]engine.Worker{worker}, max(1, places))...) // of none it waits for the first
}

func (c *workerPool) acquire(ctx context.Context) (*taskWorker, *job, error) {
	deadline := time.NewTimer(attachAfter)
	for {
		c.mu.Lock()
		alive := false
		for _, s := range c.all {
			if s.port != nil && s.job == nil {
				c.lastID++
				j := &job{id: c.lastID, port: s.port, mail: newMailbox()}
				s.job = j
				c.mu.Unlock()
				return s, j, nil
			}
			alive = alive || s.port != nil
		}
		change := c.change
		c.mu.Unlock()
		late := deadline.C
		if alive {
			late = nil // it will be idle, or lost, sooner or later
			deadline.Reset(attachAfter)
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-change:
		case <-late:
			return nil, nil, fmt.Errorf("%w: none was attached within %v", engine.ErrWorkerLost, attachAfter)
		}
	}
}

func (c *workerPool) Execute(ctx context.Context, t engine.Task, progress func(rows int), part func(any)) (any, error) {
	data, err := engine.EncodeTask(t)
	if err != nil {
		return nil, err
	}
	s, j, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.job == j {
			s.job = nil
			c.announce()
		}
	}()
	j.port.post(message{Type: msgTask, ID: j.id, JSON: string(data)})
	done, tick := ctx.Done(), time.Tick(max(c.hangAfter/hangTicks, time.Millisecond))
	var late <-chan time.Time // of a task that was cancelled
	for silent := 0; ; {
		select {
		case <-done:
			j.port.post(message{Type: msgCancel, ID: j.id})
			done, tick, late = nil, nil, time.After(cancelAfter)
		case <-late:
			c.dismiss(s, j, fmt.Sprintf("did not stop within %v", cancelAfter))
			return nil, ctx.Err()
		case all := <-j.mail:
			silent = 0
			for _, m := range all {
				final := m.Type != msgRows && m.Type != msgPart
				switch {
				case late != nil && final:
					return nil, ctx.Err()
				case late != nil:
				case m.Type == msgRows:
					progress(m.Rows)
				default:
					res, err := conclude(s.number, t, m)
					if err != nil || final {
						return res, err
					}
					part(res)
				}
			}
		case <-tick:
			if silent++; silent > hangTicks {
				reason := fmt.Sprintf("no sign of life for %v", c.hangAfter)
				c.dismiss(s, j, reason)
				return nil, lossOf(s.number, reason)
			}
		}
	}
}

func conclude(number int, t engine.Task, m message) (res any, err error) {
	switch m.Type {
	case msgDone, msgPart:
		res, err = core.Env{}.Codecs().Result(t, []byte(m.JSON))
	case msgFailed:
		var r remoteError
		if err = json.Unmarshal([]byte(m.JSON), &r); err == nil {
			return nil, r
		}
	case msgLost:
		return nil, lossOf(number, m.Reason)
	default:
		err = fmt.Errorf("message %q instead of a result", m.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("worker %d: %w", number, err)
	}
	return res, nil
}

func lossOf(number int, reason string) error {
	return fmt.Errorf("worker %d: %w: %s", number, engine.ErrWorkerLost, reason)
}

// mailbox is an unbounded queue, all in one piece: a handler may always put.
type mailbox chan []message

func newMailbox() mailbox { return make(mailbox, 1) }

func (b mailbox) put(m message) {
	for all := []message{m}; ; {
		select {
		case b <- all:
			return
		case before := <-b:
			all = append(before, all...)
		}
	}
}
