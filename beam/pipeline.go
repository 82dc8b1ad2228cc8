package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/dpscope/dpscope/audit"
	"github.com/dpscope/dpscope/core"
	"github.com/dpscope/dpscope/core/partial"
	"github.com/dpscope/dpscope/core/parts"
	"github.com/dpscope/dpscope/internal/cli"
	"github.com/dpscope/dpscope/internal/shares"
)

func init() {
	register.DoFn3x1[context.Context, int, func(string, tally), error](&drawFn{})
	register.DoFn3x1[context.Context, string, tally, error](&mergeFn{})
	register.Emitter2[string, tally]()
	register.Function2x1(add)
	beam.RegisterType(reflect.TypeFor[tally]())
}

// catalogue is all that is registered.
var catalogue = cli.Catalogue()

// given is what a part needs, with so many goroutines and, where a program trains, that.
func given(workers int, t trainer) (g core.Given, err error) {
	g = core.Given{Catalogue: catalogue, Generator: cli.Generator(), Now: cli.Clock()}
	g.Sources, err = t.sources()
	g.Pool = g.LocalPool(workers)
	return g, err
}

// tally says what workers did.
type tally struct {
	Shares  int
	Seconds float64 // of all workers
}

func add(a, b tally) tally { return tally{a.Shares + b.Shares, a.Seconds + b.Seconds} }

// searched is a search that was read, of which shares are drawn.
type searched struct {
	name    string
	header  partial.Header
	search  partial.Search
	trainer trainer
}

// readSearch reads the search of an audit, for which t trains.
func readSearch(ctx context.Context, s store, t trainer) (*searched, error) {
	h, whole, err := partial.ReadSearch(s.search(), s.open(ctx))
	return &searched{s.search(), h, whole, t}, err
}

// draw draws a share with so many goroutines, and returns its partial and of how many
// pieces the longest stage of the audit is.
func (s *searched) draw(ctx context.Context, index, of, workers int) (data []byte, pieces int, err error) {
	part, err := shares.Of(s.name, s.header, s.search, index, of)
	if err != nil {
		return nil, 0, err
	}
	g, err := given(workers, s.trainer)
	if err != nil {
		return nil, 0, err
	}
	audits, err := parts.Read(s.header.Kind, s.search, g)
	if err != nil {
		return nil, 0, err
	}
	g.Pool = g.Pool.ForDivision(part.Division)
	if err := audits.Run(ctx, g, nil); err != nil {
		return nil, 0, err
	}
	var out bytes.Buffer
	err = part.Write(&out)
	return out.Bytes(), part.Division.Pieces(), err
}

// drawFn draws shares into a store.
type drawFn struct {
	Store   store
	Of      int
	Workers int
	Trainer trainer

	searched *searched
}

// ProcessElement draws one share.
func (f *drawFn) ProcessElement(ctx context.Context, index int, emit func(string, tally)) error {
	began := time.Now()
	if f.searched == nil {
		s, err := readSearch(ctx, f.Store, f.Trainer)
		if err != nil {
			return err
		}
		f.searched = s
	}
	data, _, err := f.searched.draw(ctx, index, f.Of, f.Workers)
	if err == nil {
		err = f.Store.write(ctx, f.Store.share(index, f.Of), data)
	}
	if err != nil {
		return fmt.Errorf("share %d of %d: %w", index, f.Of, err)
	}
	emit("", tally{1, time.Since(began).Seconds()})
	return nil
}

// mergeFn merges the shares of a store into its report, once all are drawn.
type mergeFn struct {
	Store   store
	Of      int
	Missing int // shares that this job draws
}

// ProcessElement merges.
func (f *mergeFn) ProcessElement(ctx context.Context, _ string, t tally) error {
	if t.Shares != f.Missing {
		return fmt.Errorf("%d shares were drawn, must be %d", t.Shares, f.Missing)
	}
	return merge(ctx, f.Store, f.Of)
}

// mergeGarbage is how much a merge lets its memory grow between collections, in percent.
const mergeGarbage = 30

// merge writes the report of all shares into their store.
func merge(ctx context.Context, s store, of int) error {
	defer debug.SetGCPercent(debug.SetGCPercent(mergeGarbage))
	m, err := partial.NewMerge(cli.Generator().Version, s.all(of), s.open(ctx))
	if err != nil {
		return err
	}
	g, err := given(runtime.GOMAXPROCS(0), trainer{}) // a merge trains nothing
	if err != nil {
		return err
	}
	audits, err := parts.Read(m.Header.Kind, m.Search, g)
	if err != nil {
		return err
	}
	g.Pool = g.Pool.ForDivision(m.Division())
	if err := audits.Run(ctx, g, nil); err != nil {
		return err
	}
	data, err := audit.Canonical(audits.Report(g.Generator))
	if err != nil {
		return err
	}
	return s.write(ctx, s.report(), data)
}

// pipeline draws the missing shares, and merges all. The shares are dealt to so many lanes,
// which prism runs at once: what one lane has, it splits too late.
func pipeline(s store, missing []int, of, workers, lanes int, t trainer) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	dealt := make([][]int, min(lanes, len(missing)))
	for i, share := range missing {
		dealt[i%len(dealt)] = append(dealt[i%len(dealt)], share)
	}
	var drawn []beam.PCollection
	for _, lane := range dealt {
		todo := beam.Reshuffle(root, beam.CreateList(root, lane)) // so that no two shares are bound to one worker
		drawn = append(drawn, beam.ParDo(root, &drawFn{Store: s, Of: of, Workers: workers, Trainer: t}, todo))
	}
	beam.ParDo0(root, &mergeFn{s, of, len(missing)}, beam.CombinePerKey(root, add, beam.Flatten(root, drawn...)))
	return p
}
