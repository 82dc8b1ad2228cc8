package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Worker executes one task at a time, somewhere.
type Worker interface {
	// Execute runs t, calls progress with the number of outputs drawn since the
	// last call, and part with pointers to parts of the result, of tasks that tell of
	// any, and returns a pointer to the result. It returns soon after ctx ends. An error that wraps
	// [ErrWorkerLost] says that the worker died or hung and left no result;
	// the Worker then stands for a fresh one.
	Execute(ctx context.Context, t Task, progress func(rows int), part func(any)) (any, error)
}

// ErrWorkerLost marks the error of a task whose worker died or hung.
var ErrWorkerLost = errors.New("worker lost")

// maxLosses is how many workers one task may cost before the run ends.
const maxLosses = 2

// LostWorker begins the warning about a worker that was lost.
const LostWorker = "a worker was lost and its task ran again: "

// TaskError is the error of one task of a [Do].
type TaskError struct {
	Index int // of the task
	Err   error
}

// Error implements the error interface.
func (e *TaskError) Error() string { return e.Err.Error() }

// Unwrap returns the task's own error.
func (e *TaskError) Unwrap() error { return e.Err }

// LocalWorker executes tasks in this process.
type LocalWorker struct{}

// Execute implements [Worker].
func (LocalWorker) Execute(ctx context.Context, t Task, progress func(rows int), part func(any)) (any, error) {
	return Execute(t, func(rows int) error {
		if rows > 0 {
			progress(rows)
		}
		return ctx.Err()
	}, part)
}

// Pool runs tasks on workers, each of which is fed by a goroutine.
type Pool struct{ workers []Worker }

// NewPool makes a pool of these workers; it needs at least one.
func NewPool(workers ...Worker) *Pool {
	if len(workers) == 0 {
		panic("engine: a pool needs a worker")
	}
	return &Pool{workers: workers}
}

// LocalPool is a pool of n goroutines.
func LocalPool(n int) *Pool {
	workers := make([]Worker, max(1, n))
	for i := range workers {
		workers[i] = LocalWorker{}
	}
	return NewPool(workers...)
}

// Split divides the workers: the first n, and all others.
func (p *Pool) Split(n int) (*Pool, *Pool) {
	return &Pool{p.workers[:n]}, &Pool{p.workers[n:]}
}

// Size is the number of workers; of nil, 0.
func (p *Pool) Size() int {
	if p == nil {
		return 0
	}
	return len(p.workers)
}

// Events are told what happens while a pool works on tasks whose results are R; any
// may be nil. They are called one at a time.
type Events[R any] struct {
	Rows func(total int)        // outputs drawn so far, of all tasks; falls when a worker is lost
	Done func(i int, r *R)      // task i is done
	Lost func(i int, err error) // task i lost its worker and will run again
	Part func(i int, r *R)      // task i tells of a part of its result; after a loss it begins anew
}

// Do executes all tasks and returns their results in the order of the tasks;
// results[i] is nil where task i was not finished. It ends early when ctx
// does, when a task fails, and when one task has lost two workers. The results
// that it has are returned with the error.
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
	for i, t := range tasks {
		d.tasks = append(d.tasks, t)
		d.open = append(d.open, len(tasks)-1-i)
	}
	d.wake = sync.NewCond(&d.mu)
	stop := context.AfterFunc(ctx, func() { d.mu.Lock(); d.wake.Broadcast(); d.mu.Unlock() })
	defer stop()
	var wg sync.WaitGroup
	for _, w := range p.workers[:min(len(p.workers), len(tasks))] {
		wg.Go(func() { d.feed(w) })
	}
	wg.Wait()
	if d.err == nil {
		d.err = context.Cause(ctx)
	}
	if d.left == 0 {
		d.err = nil
	}
	return results, d.err
}

// dispatch is the state of one Do.
type dispatch struct {
	ctx    context.Context
	cancel context.CancelFunc
	tasks  []Task
	told   func(rows int)
	part   func(i int, res any)
	done   func(i int, res any)
	lost   func(i int, err error)

	mu     sync.Mutex
	wake   *sync.Cond
	open   []int // indices of tasks to run, the next one last
	left   int   // tasks not finished
	rows   []int // outputs drawn by the running or finished attempt
	total  int
	losses []int
	err    error
}

func (d *dispatch) feed(w Worker) {
	for {
		i, ok := d.take()
		if !ok {
			return
		}
		res, err := w.Execute(d.ctx, d.tasks[i], func(rows int) { d.drew(i, rows) }, func(part any) { d.tellPart(i, part) })
		d.finish(i, res, err)
	}
}

// take waits for a task to run; false when there will be none.
func (d *dispatch) take() (int, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.open) == 0 && d.left > 0 && d.ctx.Err() == nil {
		d.wake.Wait()
	}
	if d.left == 0 || d.ctx.Err() != nil {
		return 0, false
	}
	i := d.open[len(d.open)-1]
	d.open = d.open[:len(d.open)-1]
	return i, true
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

func (d *dispatch) finish(i int, res any, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wake.Broadcast()
	switch {
	case err == nil:
		d.left--
		d.done(i, res)
	case errors.Is(err, ErrWorkerLost) && d.ctx.Err() == nil:
		d.total -= d.rows[i]
		d.rows[i] = 0
		if d.losses[i]++; d.losses[i] >= maxLosses {
			d.fail(&TaskError{i, fmt.Errorf("task %q lost %d workers: %w", d.tasks[i].Name(), d.losses[i], err)})
			return
		}
		d.open = append(d.open, i)
		if d.lost != nil {
			d.lost(i, err)
		}
	case d.ctx.Err() == nil:
		d.fail(&TaskError{i, err})
	}
}

func (d *dispatch) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.cancel()
}
