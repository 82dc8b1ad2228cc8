package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dpscope/dpscope/bounds"
)

// workshop spreads runs over goroutines.
type workshop struct {
	ctx     context.Context
	workers int
	say     func(format string, a ...any) // progress
}

// count is how many of the runs 0, 1, ... report true.
func (w workshop) count(runs int, do func(run int) bool) (int, error) {
	var yes atomic.Int64
	err := each(w.ctx, w.workers, runs, func(_ context.Context, run int) error {
		if do(run) {
			yes.Add(1)
		}
		return nil
	})
	return int(yes.Load()), err
}

// results are those of the jobs 0 to n-1, in order, so many done at a time.
func results[R any](ctx context.Context, workers, n int, do func(ctx context.Context, job int) (R, error)) ([]R, error) {
	all := make([]R, n)
	err := each(ctx, workers, n, func(ctx context.Context, job int) (err error) {
		all[job], err = do(ctx, job)
		return err
	})
	return all, err
}

// significant reports whether an exact binomial test at this level refutes that
// the rate is at most beta.
func significant(alarms, runs int, level, beta float64) bool {
	return bounds.LowerProportion(alarms, runs, level) > beta
}

func median(xs []float64) float64 {
	s := slices.Sorted(slices.Values(xs))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}

func span(xs []float64) string { return fmt.Sprintf("%.4f..%.4f", slices.Min(xs), slices.Max(xs)) }
