package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

// sharing divides the jobs of a bench among machines, and joins what they came to.
type sharing struct {
	shares.Flags
	merge string
	pool  *engine.Pool
}

func (s *sharing) register(c *call) {
	s.RegisterShares(c.Flags)
	c.StringVar(&s.merge, "merge", "", "measure nothing: join the shares in this `folder`, with their settings")
}

// begin begins the bench of this kind and plan, which is made of flags of these names. Where
// shares are joined the plan becomes theirs.
func (s *sharing) begin(c *call, kind string, plan any, flags ...string) (err error) {
	s.pool = core.LocalPool(catalogue, 1)
	if s.merge == "" {
		s.pool, err = s.Begin(kind, plan, nil, s.pool)
		return err
	}
	for _, name := range append(flags, "shards", "partial") {
		if c.Given(name) {
			return &audit.InputError{Field: "-" + name, Found: "given beside -merge", Want: "absent: the shares say it"}
		}
	}
	m, err := partial.NewMerge(cli.Generator().Version, shares.Names([]string{s.merge}, os.Stdin), shares.Open)
	if err != nil {
		return err
	}
	if m.Header.Kind != kind {
		return &audit.InputError{Field: "-merge", Found: "shares of " + m.Header.Kind, Want: "those of " + kind}
	}
	s.pool = s.pool.ForDivision(m.Division())
	return audit.DecodeStrict(m.Search.Plan, "partial: plan", plan)
}

// staged does the jobs 0 to n-1 of a stage, so many at a time, and returns what they came
// to, in order. Of a share it does some, spread over all, and returns nothing.
func staged[R any](ctx context.Context, s *sharing, workers int, stage string, n int, do func(ctx context.Context, job int) (R, error)) ([]R, error) {
	// Neighbouring jobs take equally long.
	order := rand.New(rand.NewPCG(uint64(n), 1)).Perm(n)
	results, next := make([]R, n), 0
	draw := func(first, end int) ([]*R, error) {
		drawn := make([]*R, end-first)
		err := each(ctx, workers, end-first, func(ctx context.Context, i int) error {
			r, err := do(ctx, order[first+i])
			drawn[i] = &r
			return err
		})
		return drawn, err
	}
	take := func(_, _ int, r *R) error {
		if next >= n {
			return &audit.InputError{Field: "partial: stage " + stage, Found: "more results than jobs", Want: fmt.Sprint(n)}
		}
		results[order[next]] = *r
		next++
		return nil
	}
	divided, err := engine.Divide(s.pool, stage, n, draw, take)
	if errors.Is(err, engine.ErrDivided) {
		return nil, nil
	}
	if err == nil && !divided {
		var all []*R
		all, err = draw(0, n)
		for i, r := range all {
			if err == nil {
				err = take(i, i+1, r)
			}
		}
	}
	if err == nil && next < n {
		err = &audit.InputError{Field: "partial: stage " + stage, Found: fmt.Sprintf("%d results", next), Want: fmt.Sprint(n)}
	}
	return results, err
}
