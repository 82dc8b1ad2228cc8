package command

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/mechanisms/user/process"
)

type runner struct {
	ctx     context.Context
	command string
	timeout time.Duration // of one request
	path    string
	argv    []string
	env     []string // beside ours
	pool    process.Pool[*worker]

	parent *worker
	turn   chan *worker // the parent, while nobody asks it
	lost   error        // why it is asked no more, once turn is closed
}

// newRunner finds the program; nothing is started yet.
func newRunner(ctx context.Context, command string, parent *Parent, timeout time.Duration, env ...string) (*runner, error) {
	argv, err := audit.ShellWords("-exec", command)
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, command: command, timeout: timeout, argv: argv, env: env, turn: make(chan *worker, 1)}
	if parent != nil {
		p := process.Running(parent.Requests, parent.Answers)
		r.parent = &worker{Process: p, parent: true, frames: parent.Frames}
		r.turn <- r.parent
		return r, nil
	}
	if r.path, err = exec.LookPath(argv[0]); err != nil {
		remedy := "give its path, or put its folder on the PATH"
		if strings.Contains(argv[0], "=") {
			remedy = fmt.Sprintf("no shell reads the line; to set a variable, write -exec 'env %s ...'", argv[0])
		}
		return nil, audit.Fault("-exec", fmt.Sprintf("%q, whose program %q is not found (%v)", command, argv[0], errors.Unwrap(err)), "a program that can be run", remedy)
	}
	return r, nil
}

func (r *runner) Close() {
	if r.parent != nil {
		r.parent.End(0)
	}
	r.pool.Close(process.Grace)
}

func (r *runner) take() (*worker, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if r.parent == nil {
		return r.pool.Take(r.start)
	}
	select {
	case x, there := <-r.turn:
		if !there {
			return nil, r.lost
		}
		return x, nil
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
}

// another returns a process that was asked nothing yet, or the parent.
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
	case x.parent:
		r.turn <- x
	default:
		r.pool.Release(x)
	}
}

func (r *runner) start() (*worker, error) {
	env := slices.Concat(os.Environ(), r.env)
	if os.Getenv("PYTHONUNBUFFERED") == "" {
		env = append(env, "PYTHONUNBUFFERED=1") // an answer that is never flushed is the usual fault
	}
	p, err := process.Start(r.path, r.argv, env)
	if err != nil {
		return nil, r.fault(nil, fmt.Errorf("it does not start: %w", err))
	}
	return &worker{Process: p}, nil
}

// drop ends a process and returns what to tell of it.
func (r *runner) drop(x *worker, err error) error {
	x.dropped = true
	told := r.fault(x, err)
	if x.parent {
		x.End(0)
		r.lost = told
		close(r.turn)
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
	if x != nil {
		e.Stderr = x.Stderr()
	}
	return e
}

// blocks are seeds, by the hash of their numbers.
type blocks struct{ sync.Map }

var hasher = maphash.MakeSeed()

// note remembers the numbers of a seed, or returns another seed that gave them before.
func (b *blocks) note(seed uint64, numbers []float64) (other uint64, repeated bool) {
	text, _ := binary.Append(nil, binary.LittleEndian, numbers)
	first, _ := b.LoadOrStore(maphash.Bytes(hasher, text), seed)
	return first.(uint64), first != seed
}
