package process

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Pool holds processes that answer one request at a time each.
type Pool[P interface {
	comparable
	End(wait time.Duration)
}] struct {
	mu    sync.Mutex
	idle  []P
	all   map[P]bool
	ended atomic.Bool // set with mu
}

var errEnded = errors.New("the program was closed")

// Take returns a process that waits for a request, or starts one.
func (p *Pool[P]) Take(start func() (P, error)) (P, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 && !p.ended.Load() {
		x := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return x, nil
	}
	p.mu.Unlock()
	return p.Start(start)
}

// Start starts one more process.
func (p *Pool[P]) Start(start func() (P, error)) (x P, err error) {
	if p.ended.Load() {
		return x, errEnded
	}
	if x, err = start(); err != nil {
		return x, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.Load() {
		x.End(0)
		return x, errEnded
	}
	if p.all == nil {
		p.all = map[P]bool{}
	}
	p.all[x] = true
	return x, nil
}

func (p *Pool[P]) Release(x P) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, x)
}

func (p *Pool[P]) Drop(x P) {
	x.End(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, x)
}

// Close ends all, each of which has so long to end by itself.
func (p *Pool[P]) Close(wait time.Duration) {
	p.mu.Lock()
	p.ended.Store(true)
	var wg sync.WaitGroup
	for x := range p.all {
		wg.Go(func() { x.End(wait) })
	}
	p.mu.Unlock()
	wg.Wait()
}
