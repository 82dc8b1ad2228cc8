package main

import "sync"

// mailbox is an unbounded queue: a handler may always put, whatever the reader does.
type mailbox struct {
	mu    sync.Mutex
	queue []message
	ready chan struct{} // holds a token while the queue may not be empty
}

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

func (b *mailbox) put(m message) {
	b.mu.Lock()
	b.queue = append(b.queue, m)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *mailbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.queue
	b.queue = nil
	return all
}
