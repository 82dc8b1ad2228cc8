// Package engine runs audits of every kind: it spreads tasks over workers and checks reports. To execute
// a task is a pure function of it: a run does not depend on which workers there are.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dpscope/dpscope/audit"
)

// Worker executes one task at a time, somewhere.
type Worker interface {
	// Execute runs t, calls progress with the outputs drawn since the last call and part with pointers
	// to parts of the result, and returns a pointer to it, soon after ctx ends. After an error that
	// wraps [ErrWorkerLost] the Worker stands for a fresh one.
	Execute(ctx context.Context, t Task, progress func(rows int), part func(any)) (any, error)
}

// ErrWorkerLost marks the error of a task whose worker died or hung.
var ErrWorkerLost = errors.New("worker lost")

const maxLosses = 2

// LostWorker begins the warning about a worker that was lost.
const LostWorker = "a worker was lost and its task ran again: "

// TaskError is the error of one task of a [Do].
type TaskError struct {
	Index int // of the task
	Err   error
}

func (e *TaskError) Error() string { return e.Err.Error() }

func (e *TaskError) Unwrap() error { return e.Err }

// LocalWorker executes tasks in this process.
type LocalWorker struct{}

func (LocalWorker) Execute(ctx context.Context, t Task, progress func(rows int), part func(any)) (any, error) {
	return Execute(t, func(rows int) error {
		if rows > 0 {
			progress(rows)
		}
		return ctx.Err()
	}, part)
}

// Pool runs tasks on workers.
type Pool struct{ workers []Worker }

// NewPool needs at least one worker.
func NewPool(workers ...Worker) *Pool {
	if len(workers) == 0 {
		panic("engine: a pool needs a worker")
	}
	return &Pool{workers: workers}
}

// LocalPool has n workers, at least one, in this process.
func LocalPool(n int) *Pool {
	return NewPool(slices.Repeat([]Worker{LocalWorker{}}, max(1, n))...)
}

// Size is the number of workers; of nil, 0.
func (p *Pool) Size() int {
	if p == nil {
		return 0
	}
	return len(p.workers)
}

// Events are told what happens while a pool works, one at a time; any may be nil.
type Events[R any] struct {
	Rows func(total int)        // outputs drawn so far, of all tasks; falls when a worker is lost
	Done func(i int, r *R)      // task i is done
	Lost func(i int, err error) // task i will run again
	Part func(i int, r *R)      // a part of task i's result; after a loss it begins anew
}

// Do returns the results of tasks, nil of one not finished. It ends early when ctx does, when a task
// fails, and when one has lost two workers.
func Do[R any, T Task](ctx context.Context, p *Pool, tasks []T, ev Events[R]) ([]*R, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]*R, len(tasks))
	d := &dispatch{ctx: ctx, cancel: cancel, told: ev.Rows, lost: ev.Lost, rows: make([]int, len(tasks)), losses: make([]int, len(tasks)), left: len(tasks),
		part: func(i int, res any) {
			if ev.Part != nil {
				ev.Part(i, res.(*R))
			}
		},
		done: func(i int, res any) {
			results[i] = res.(*R)
			if ev.Done != nil {
				ev.Done(i, results[i])
			}
		}}
	for _, t := range tasks {
		d.tasks = append(d.tasks, t)
	}
	var wg sync.WaitGroup
	for _, w := range p.workers[:min(len(p.workers), len(tasks))] {
		wg.Go(func() { d.feed(w) })
	}
	wg.Wait()
	if d.left == 0 {
		return results, nil
	}
	return results, cmp.Or(d.err, context.Cause(ctx))
}

type dispatch struct {
	ctx    context.Context
	cancel context.CancelFunc
	tasks  []Task
	told   func(rows int)
	part   func(i int, res any)
	done   func(i int, res any)
	lost   func(i int, err error)

	mu     sync.Mutex
	next   int   // task
	left   int   // tasks not finished
	rows   []int // outputs drawn by the running or finished attempt
	total  int
	losses []int
	err    error
}

func (d *dispatch) feed(w Worker) {
	for i, ok := d.take(); ok; i, ok = d.take() {
		for lost := true; lost; {
			res, err := w.Execute(d.ctx, d.tasks[i], func(rows int) { d.drew(i, rows) }, func(part any) { d.tellPart(i, part) })
			lost = d.finish(i, res, err)
		}
	}
}

func (d *dispatch) take() (i int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, ok = d.next, d.next < len(d.tasks) && d.ctx.Err() == nil
	d.next++
	return i, ok
}

func (d *dispatch) drew(i, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows[i] += rows
	d.total += rows
	if d.told != nil && d.ctx.Err() == nil {
		d.told(d.total)
	}
}

func (d *dispatch) tellPart(i int, part any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() == nil {
		d.part(i, part)
	}
}

// finish takes what a task came to; lost: it is to run again.
func (d *dispatch) finish(i int, res any, err error) (lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.left--
		d.done(i, res)
	case errors.Is(err, ErrWorkerLost) && d.ctx.Err() == nil:
		d.total -= d.rows[i]
		d.rows[i] = 0
		if d.losses[i]++; d.losses[i] >= maxLosses {
			d.fail(&TaskError{i, fmt.Errorf("task %q lost %d workers: %w", d.tasks[i].Name(), d.losses[i], err)})
			return false
		}
		if d.lost != nil {
			d.lost(i, err)
		}
		return true
	case d.ctx.Err() == nil:
		d.fail(&TaskError{i, err})
	}
	return false
}

func (d *dispatch) fail(err error) {
	d.err = cmp.Or(d.err, err)
	d.cancel()
}

// Runner is what an audit runs on, and what its run notes.
type Runner struct {
	Pool *Pool
	Now  func() float64 // seconds of a clock; nil: no timing

	Timing   audit.Timing
	Warnings []string // for the report
}

// Clock is the time, 0 without a clock.
func (r *Runner) Clock() float64 {
	if r.Now == nil {
		return 0
	}
	return r.Now()
}

// Timed does something, and adds to spent how long it took (s).
func (r *Runner) Timed(spent *float64, do func() error) error {
	start := r.Clock()
	err := do()
	*spent += r.Clock() - start
	return err
}

// paceFrom is the part of a stage to be done before its time left is told: what is first costs more.
const paceFrom = 0.2

// Pace tells how long a run still takes, by the work of the stage that is on. The zero value is ready.
type Pace struct {
	// Even: all units cost the same: the time left is told as soon as one took some.
	Even bool

	stage  string
	begun  float64 // by the caller's clock
	before int     // units that were done then
	on     bool
}

// Left is how many seconds the units that are not done take if each costs what those of this stage did;
// false while too few are done.
func (p *Pace) Left(now float64, stage string, done, total int) (float64, bool) {
	if !p.on || stage != p.stage || done < p.before { // less is done when a worker was lost
		*p = Pace{Even: p.Even, stage: stage, begun: now, before: done, on: true}
	}
	of, all := done-p.before, total-p.before
	switch {
	case done >= total:
		return 0, true
	case of <= 0 || !p.Even && float64(of) < paceFrom*float64(all) || now <= p.begun:
		return 0, false
	}
	return (now - p.begun) * float64(total-done) / float64(of), true
}
