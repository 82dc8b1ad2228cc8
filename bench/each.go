package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dpscope/dpscope/internal/cli"
)

// each does the jobs 0, 1, ..., n-1 in this order, so many at a time. The first error
// ends it, and is returned; the jobs' context ends with it. An end of ctx is
// cli.ErrStopped.
func each(ctx context.Context, workers, n int, do func(ctx context.Context, job int) error) error {
	jobs, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for jobs.Err() == nil {
				job := int(next.Add(1)) - 1
				if job >= n {
					return
				}
				if err := do(jobs, job); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(jobs); errors.Is(err, context.Canceled) {
		return cli.ErrStopped
	} else if err != nil {
		return err
	}
	return nil
}
