package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpscope/dpscope/internal/must"
)

// shard is a task by its number.
type shard int

func (s shard) Kind() string { return "test/shard" }
func (s shard) Name() string { return fmt.Sprintf("certify, shard %d", int(s)) }

func (s shard) Run(Hook, func(any)) (any, error) { return new(int(s)), nil }

// fakeWorker answers tasks with their number.
type fakeWorker struct {
	before func(t shard, attempt int) error
	mu     *sync.Mutex
	tries  map[int]int
}

func (w fakeWorker) Execute(ctx context.Context, task Task, progress func(int), _ func(any)) (any, error) {
	t := task.(shard)
	w.mu.Lock()
	w.tries[int(t)]++
	n := w.tries[int(t)]
	w.mu.Unlock()
	progress(5)
	if w.before != nil {
		if err := w.before(t, n); err != nil {
			return nil, err
		}
	}
	progress(5)
	n = int(t)
	return &n, ctx.Err()
}

func fakePool(n int, before func(t shard, attempt int) error) *Pool {
	w := fakeWorker{before, &sync.Mutex{}, map[int]int{}}
	workers := make([]Worker, n)
	for i := range workers {
		workers[i] = w
	}
	return NewPool(workers...)
}

func shards(n int) []shard {
	tasks := make([]shard, n)
	for i := range tasks {
		tasks[i] = shard(i)
	}
	return tasks
}

func TestPoolKeepsOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 8, 40} {
		var last atomic.Int64
		results := must.Get(Do(context.Background(), fakePool(workers, nil), shards(30), Events[int]{Rows: func(n int) { last.Store(int64(n)) }}))(t)
		for i, r := range results {
			if *r != i {
				t.Errorf("%d workers: result %d is that of task %d", workers, i, *r)
			}
		}
		if last.Load() != 300 {
			t.Errorf("%d workers: %d rows, want 300", workers, last.Load())
		}
	}
}

func TestPoolRunsALostTaskAgain(t *testing.T) {
	var lost []int
	total := 0
	pool := fakePool(3, func(task shard, attempt int) error {
		if int(task)%7 == 3 && attempt == 1 {
			return fmt.Errorf("terminated: %w", ErrWorkerLost)
		}
		return nil
	})
	results := must.Get(Do(context.Background(), pool, shards(20), Events[int]{Rows: func(n int) { total = n }, Lost: func(i int, _ error) { lost = append(lost, i) }}))(t)
	for i, r := range results {
		if r == nil || *r != i {
			t.Errorf("result %d is %+v", i, r)
		}
	}
	if len(lost) != 3 || total != 200 {
		t.Errorf("lost %v and counted %d rows, want three losses and 200 rows: what a lost worker drew does not count", lost, total)
	}
}

func TestPoolEndsWhenATaskKillsTwoWorkers(t *testing.T) {
	pool := fakePool(2, func(task shard, _ int) error {
		if int(task) == 4 {
			return fmt.Errorf("out of memory: %w", ErrWorkerLost)
		}
		return nil
	})
	results, err := Do(context.Background(), pool, shards(10), Events[int]{})
	if err == nil || !errors.Is(err, ErrWorkerLost) || !strings.Contains(err.Error(), `"certify, shard 4" lost 2 workers`) {
		t.Fatalf("error is %v", err)
	}
	if results[0] == nil {
		t.Error("the results that there were are gone")
	}
}

func TestPoolEndsWhenATaskFails(t *testing.T) {
	broken := errors.New("broken")
	pool := fakePool(2, func(task shard, _ int) error {
		if int(task) == 2 {
			return broken
		}
		return nil
	})
	if _, err := Do(context.Background(), pool, shards(1000), Events[int]{}); !errors.Is(err, broken) {
		t.Fatalf("error is %v", err)
	}
}

func TestPoolStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pool := fakePool(2, func(task shard, _ int) error {
		if int(task) == 5 {
			cancel()
		}
		return ctx.Err()
	})
	results, err := Do(ctx, pool, shards(1000), Events[int]{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
	if results[0] == nil || results[999] != nil {
		t.Error("want the first result and not the last")
	}
}
