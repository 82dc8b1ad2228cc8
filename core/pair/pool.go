package pair

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dpscope/dpscope/audit"
)

// Worker executes one task at a time, somewhere.
type Worker interface {
	// Execute runs t and calls progress with the number of outputs drawn since
	// the last call. It returns soon after ctx ends. An error that wraps
	// [ErrWorkerLost] says that the worker died or hung and left no result;
	// the Worker then stands for a fresh one.
	Execute(ctx context.Context, t Task, progress func(rows int)) (Result, error)
}

// ErrWorkerLost marks the error of a task whose worker died or hung.
var ErrWorkerLost = errors.New("worker lost")

// maxLosses is how many workers one task may cost before the run ends.
const maxLosses = 2

// taskError is the error of one task of a Do.
type taskError struct {
	index int
	err   error
}

func (e *taskError) Error() string { return e.err.Error() }

func (e *taskError) Unwrap() error { return e.err }

// LocalWorker executes tasks in this process.
type LocalWorker struct{ Catalogue audit.Catalogue }

// Execute implements [Worker]. What prepares and bounds draws nothing and is never
// looked at on its way: when ctx ends first, it is left to itself.
func (w LocalWorker) Execute(ctx context.Context, t Task, progress func(rows int)) (Result, error) {
	if t.Kind == PrepareTask || t.Kind == BoundTask {
		return abandonable(ctx, func() (Result, error) { return Execute(w.Catalogue, t, nil) })
	}
	return Execute(w.Catalogue, t, func(rows int) error {
		if rows > 0 {
			progress(rows)
		}
		return ctx.Err()
	})
}

func abandonable(ctx context.Context, do func() (Result, error)) (Result, error) {
	type answer struct {
		Result
		error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := do()
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		return a.Result, a.error
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Pool runs tasks on workers, each of which is fed by a goroutine.
type Pool struct{ workers []Worker }

// NewPool makes a pool of these workers; it needs at least one.
func NewPool(workers ...Worker) *Pool {
	if len(workers) == 0 {
		panic("core: a pool needs a worker")
	}
	return &Pool{workers: workers}
}

// LocalPool is a pool of n goroutines.
func LocalPool(cat audit.Catalogue, n int) *Pool {
	workers := make([]Worker, max(1, n))
	for i := range workers {
		workers[i] = LocalWorker{cat}
	}
	return NewPool(workers...)
}

// Size is the number of workers.
func (p *Pool) Size() int { return len(p.workers) }

// Events are told what happens while a pool works; any may be nil. They are
// called one at a time.
type Events struct {
	Rows func(total int)        // outputs drawn so far, of all tasks; falls when a worker is lost
	Done func(i int, r Result)  // task i is done
	Lost func(i int, err error) // task i lost its worker and will run again
}

// Do executes all tasks and returns their results in the order of the tasks;
// results[i] is nil where task i was not finished. It ends early when ctx
// does, when a task fails, and when one task has lost two workers. The results
// that it has are returned with the error.
func (p *Pool) Do(ctx context.Context, tasks []Task, ev Events) ([]*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &dispatch{ctx: ctx, cancel: cancel, tasks: tasks, ev: ev,
		results: make([]*Result, len(tasks)), rows: make([]int, len(tasks)), losses: make([]int, len(tasks))}
	for i := len(tasks) - 1; i >= 0; i-- {
		d.open = append(d.open, i)
	}
	d.left = len(tasks)
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
	return d.results, d.err
}

// dispatch is the state of one Do.
type dispatch struct {
	ctx    context.Context
	cancel context.CancelFunc
	tasks  []Task
	ev     Events

	mu      sync.Mutex
	wake    *sync.Cond
	open    []int // indices of tasks to run, the next one last
	left    int   // tasks not finished
	results []*Result
	rows    []int // outputs drawn by the running or finished attempt
	total   int
	losses  []int
	err     error
}

func (d *dispatch) feed(w Worker) {
	for {
		i, ok := d.take()
		if !ok {
			return
		}
		res, err := w.Execute(d.ctx, d.tasks[i], func(rows int) { d.drew(i, rows) })
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
	if d.ev.Rows != nil && d.ctx.Err() == nil {
		d.ev.Rows(d.total)
	}
}

func (d *dispatch) finish(i int, res Result, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.wake.Broadcast()
	switch {
	case err == nil:
		d.results[i] = &res
		d.left--
		if d.ev.Done != nil {
			d.ev.Done(i, res)
		}
	case errors.Is(err, ErrWorkerLost) && d.ctx.Err() == nil:
		d.total -= d.rows[i]
		d.rows[i] = 0
		if d.losses[i]++; d.losses[i] >= maxLosses {
			d.fail(&taskError{i, fmt.Errorf("task %q lost %d workers: %w", d.tasks[i].Name(), d.losses[i], err)})
			return
		}
		d.open = append(d.open, i)
		if d.ev.Lost != nil {
			d.ev.Lost(i, err)
		}
	case d.ctx.Err() == nil:
		d.fail(&taskError{i, err})
	}
}

func (d *dispatch) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.cancel()
}
