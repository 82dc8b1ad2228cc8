package command

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

// runner keeps the processes of a program, or the parent, whatever they are asked.
type runner struct {
	ctx     context.Context
	command string
	timeout time.Duration // of one request
	path    string
	argv    []string
	env     []string // beside ours
	pool    process.Pool[*worker]

	parent *worker
	turn   chan struct{} // who asks the parent has put something in
	lost   error         // why the parent is asked no more; for whose turn it is
}

// newRunner finds the program; nothing is started yet.
func newRunner(ctx context.Context, command string, parent *Parent, timeout time.Duration, env ...string) (*runner, error) {
	argv, err := audit.ShellWords("-exec", command)
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, command: command, timeout: timeout, argv: argv, env: env, turn: make(chan struct{}, 1)}
	if parent != nil {
		r.parent = &worker{In: parent.Requests, Out: bufio.NewReaderSize(parent.Answers, 1<<16), frames: parent.Frames}
		return r, nil
	}
	if r.path, err = exec.LookPath(argv[0]); err != nil {
		remedy := "give its path, or put its folder on the PATH"
		if strings.Contains(argv[0], "=") {
			remedy = fmt.Sprintf("no shell reads the line; to set a variable, write -exec 'env %s ...'", argv[0])
		}
		return nil, &audit.InputError{Field: "-exec", Found: fmt.Sprintf("%q, whose program %q is not found (%v)", command, argv[0], errors.Unwrap(err)), Want: "a program that can be run", Remedy: remedy}
	}
	return r, nil
}

func (r *runner) Close() {
	if r.parent != nil {
		r.parent.End(0)
	}
	r.pool.Close(process.Grace)
}

// take returns a process that waits for a request.
func (r *runner) take() (*worker, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.parent == nil {
		return r.pool.Take(r.start)
	}
	select {
	case r.turn <- struct{}{}:
		if r.lost != nil {
			<-r.turn
			return nil, r.lost
		}
		return r.parent, nil
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
}

// another returns a process that answered nothing yet, or the parent.
func (r *runner) another() (*worker, error) {
	if r.parent != nil {
		return r.take()
	}
	return r.pool.Start(r.start)
}

// release gives a process back, unless it was dropped.
func (r *runner) release(x *worker) {
	switch {
	case x.dropped:
	case x == r.parent:
		<-r.turn
	default:
		r.pool.Release(x)
	}
}

func (r *runner) start() (*worker, error) {
	x, err := startWorker(r.path, r.argv, r.env)
	if err != nil {
		return nil, r.fault(nil, fmt.Errorf("it does not start: %w", err))
	}
	return x, nil
}

// drop ends a process because of an error, and returns what to tell of it.
func (r *runner) drop(x *worker, err error) error {
	x.dropped = true
	told := r.fault(x, err)
	if x == r.parent {
		x.End(0)
		r.lost = told
		<-r.turn
	} else {
		r.pool.Drop(x)
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return told
}

func (r *runner) fault(x *worker, err error) error {
	e := &Error{Command: r.command, Err: err}
	if x != nil && x.process != nil {
		e.Stderr = x.process.Stderr()
	}
	return e
}

type blocks struct {
	hasher maphash.Seed
	seen   sync.Map // seeds, by the hash of their numbers
}

// note remembers the numbers of a seed, or returns the other seed that gave the same before.
func (b *blocks) note(seed uint64, numbers []float64) (other uint64, repeated bool) {
	text, _ := binary.Append(nil, binary.LittleEndian, numbers)
	first, _ := b.seen.LoadOrStore(maphash.Bytes(b.hasher, text), seed)
	return first.(uint64), first != seed
}
