package main

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/engine"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string, int), error](&drawFn{})
	register.DoFn3x1[context.Context, string, int, error](&mergeFn{})
	register.Emitter2[string, int]()
	register.Function2x1(add)
}

var catalogue = cli.Catalogue()

func given(workers int, t trainer) (core.Env, error) {
	o, err := t.program()
	return core.Env{Catalogue: catalogue, Generator: cli.Generator(), Now: cli.Clock(), Sources: o.sources,
		Pool: engine.LocalPool(workers)}, err
}

func add(a, b int) int { return a + b }

type drawFn struct {
	Store   store
	Of      int
	Workers int
	Trainer trainer

	searched *shares.Search
}

func (f *drawFn) ProcessElement(ctx context.Context, index int, emit func(string, int)) error {
	if f.searched == nil {
		s, err := shares.ReadSearch(f.Store.search(), f.Store.open(ctx))
		if err != nil {
			return err
		}
		f.searched = &s
	}
	g, err := given(f.Workers, f.Trainer)
	if err != nil {
		return err
	}
	data, _, err := f.searched.Draw(ctx, g, index, f.Of, nil)
	if err == nil {
		err = f.Store.write(ctx, f.Store.share(index, f.Of), data)
	}
	if err != nil {
		return fmt.Errorf("share %d of %d: %w", index, f.Of, err)
	}
	emit("", 1)
	return nil
}

type mergeFn struct {
	Store   store
	Of      int
	Missing int // shares that this job draws
}

func (f *mergeFn) ProcessElement(ctx context.Context, _ string, drawn int) error {
	if drawn != f.Missing {
		return fmt.Errorf("%d shares were drawn, must be %d", drawn, f.Missing)
	}
	return merge(ctx, f.Store, f.Of)
}

func merge(ctx context.Context, s store, of int) error {
	g, err := given(1, trainer{}) // a merge trains nothing
	if err != nil {
		return err
	}
	audits, err := shares.Merge(ctx, s.all(of), s.open(ctx), g)
	if err != nil {
		return err
	}
	data, err := audit.Canonical(audits.Report(g.Generator))
	if err != nil {
		return err
	}
	return s.write(ctx, s.report(), data)
}

// pipeline draws the missing shares, dealt to lanes, which prism runs at once, and merges all.
func (j *job) pipeline(missing []int, of int) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	dealt := make([][]int, min(j.lanes(), len(missing)))
	for i, share := range missing {
		dealt[i%len(dealt)] = append(dealt[i%len(dealt)], share)
	}
	var drawn []beam.PCollection
	for _, lane := range dealt {
		todo := beam.Reshuffle(root, beam.CreateList(root, lane)) // so that no two shares are bound to one worker
		draw := &drawFn{Store: j.store, Of: of, Workers: j.goroutines(), Trainer: j.trainer}
		drawn = append(drawn, beam.ParDo(root, draw, todo))
	}
	beam.ParDo0(root, &mergeFn{j.store, of, len(missing)}, beam.CombinePerKey(root, add, beam.Flatten(root, drawn...)))
	return p
}
